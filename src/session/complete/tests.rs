use std::sync::Arc;

use super::*;
use crate::model::Type;
use crate::syntax::lexer::lex;

fn vocabulary() -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    for name in ["alpha", "andes", "beta", "gases"] {
        vocabulary.add(&Arc::from(name));
    }
    let columns = ["mass", "name", "radius"].map(|name| (Arc::from(name), Type::Any));
    vocabulary.add_variable(&Arc::from("gases"), &Type::Table { columns: Some(Arc::from(columns)), len: None }, None);
    vocabulary
}

/// The candidates at the end of a text, as the whole texts that come of them.
fn completed(text: &str) -> Vec<String> {
    let Completion { start, candidates } = complete(text, text.len(), &vocabulary());
    candidates.into_iter().map(|candidate| format!("{}{}", &text[..start], candidate.inserted)).collect()
}

#[test]
fn names_and_words() {
    assert_eq!(completed("x = a"), ["x = all", "x = alpha", "x = and", "x = andes", "x = any"]);
    assert_eq!(completed("be"), ["beta"]);
    assert_eq!(completed("y = 2; x = be"), ["y = 2; x = beta"]);
    assert_eq!(completed("x = ("), ["x = (alpha", "x = (andes", "x = (beta", "x = (gases"]);
    assert_eq!(completed("re"), ["real", "reduce"]);
    assert_eq!(completed("x = 'be"), [""; 0]);
    assert_eq!(completed("x = 1 # be"), [""; 0]);
    assert_eq!(complete("beta + 1", 2, &vocabulary()).candidates, [Candidate::plain("beta")], "what follows the cursor does not count");
}

#[test]
fn every_word_is_one() {
    for word in WORDS {
        let tokens: Vec<Token> = lex(word).map(|lexeme| lexeme.token).collect();
        assert!(matches!(tokens.as_slice(), [token] if token.is_reserved()), "{word} is {tokens:?}");
    }
}

#[test]
fn columns() {
    assert_eq!(completed("gases."), ["gases.mass", "gases.name", "gases.radius"]);
    assert_eq!(completed("x = gases.ma"), ["x = gases.mass"]);
    assert_eq!(completed("alpha."), [""; 0]);
}

#[test]
fn imports() {
    assert_eq!(completed("use exp from mat"), ["use exp from math"]);
    assert_eq!(completed("use join from os.p"), ["use join from os.path"]);
    assert_eq!(completed("from math use expm"), ["from math use expm1"]);
    assert_eq!(completed("use math.expm"), ["use math.expm1"]);
    assert_eq!(completed("use hypo"), ["use hypot"]);
    assert_eq!(completed("use exp, hypo"), ["use exp, hypot"]);
}

#[test]
fn units_stand_in_brackets() {
    assert_eq!(completed("x = 1 [electron_v"), ["x = 1 [electron_volt"]);
    assert!(completed("x [GP").contains(&"x [GPa".to_owned()));
    assert_eq!(completed("x [kJ"), ["x [kJ"]);
    let kilo = completed("x = 1 [kilom");
    assert!(kilo.contains(&"x = 1 [kilometer".to_owned()) && kilo.contains(&"x = 1 [kilomole".to_owned()), "{kilo:?}");
    assert!(completed("x = 1 [J/kil").contains(&"x = 1 [J/kilogram".to_owned()));
    assert!(completed("x = 1 [").contains(&"x = 1 [kg".to_owned()));
    assert_eq!(completed("x = ["), completed("x = (").into_iter().map(|text| text.replace('(', "[")).collect::<Vec<_>>());
    for partial in ["m", "k", "micro", "milli", "e", "°"] {
        assert!(completed(&format!("x [{partial}")).len() < 400, "{partial} has too many");
    }
}

#[test]
fn magics() {
    assert_eq!(completed("%he"), ["%help"]);
    assert_eq!(completed("%help uni"), ["%help units"]);
    assert_eq!(completed("%help hypo"), ["%help hypot"]);
    assert_eq!(completed("%help E085"), ["0", "1", "2", "3", "4", "5"].map(|last| format!("%help E085{last}")));
    assert_eq!(completed("%new x"), [""; 0]);
}

#[test]
fn files() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().display();
    std::fs::write(folder.path().join("data.yaml"), "").expect("it can be written");
    std::fs::write(folder.path().join(".data"), "").expect("it can be written");
    std::fs::create_dir(folder.path().join("datasets")).expect("it can be made");
    let begun = format!("t = Table from file '{path}/da");
    assert_eq!(completed(&begun), [format!("t = Table from file '{path}/data.yaml'"), format!("t = Table from file '{path}/datasets/")]);
    assert_eq!(completed(&format!("t to file \"{path}/datas")), [format!("t to file \"{path}/datasets/")]);
    assert_eq!(completed(&format!("%load '{path}/data.")), [format!("%load '{path}/data.yaml'")]);
    assert_eq!(completed(&format!("%load {path}/data.")), [format!("%load {path}/data.yaml")]);
}

#[test]
fn any_text_can_be_completed() {
    for text in ["", "%", "é", "x = [", "))", "use", "from", "use .", "a.", ".", "\"\"\"", "x [", "x = 1 [m/", "°", "x = 'é"] {
        completed(text);
    }
}
