//! Tests of the room `syntax`.

use std::fmt::Write;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use scl::source::{FileId, SourceMap};
use scl::syntax::lexer::Lexeme;
use scl::syntax::token::Token;
use scl::syntax::{self, Completeness, dump, layout, lexer};

use crate::golden;

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let mut trials = golden::folder("syntax/tokens", tokens);
    trials.extend(golden::folder("syntax/layout", pieces));
    trials.extend(golden::folder("syntax/tree", tree));
    trials.extend(golden::folder("syntax/outline", outline));
    trials.extend(golden::folder("syntax/diagnostics", diagnostics));
    let properties: [(&str, Test); 13] = [
        ("any text is parsed without a panic", any_text),
        ("any tokens are parsed without a panic", any_tokens),
        ("a newline between statements is a semicolon", separators),
        ("a faulty statement leaves its neighbours alone", neighbours),
        ("the lexer leaves nothing out", nothing_lost),
        ("nesting has a bound", deep_nesting),
        ("what is within the bound is parsed", shallow_nesting),
        ("long chains are flat", long_chains),
        ("many statements, many faults", many_statements),
        ("odd texts", odd_texts),
        ("completeness", completeness),
        ("bare expressions", bare_expressions),
        ("places of comments", comments),
    ];
    trials.extend(properties.into_iter().map(|(name, test)| Trial::test(format!("syntax: {name}"), test)));
    trials
}

// Renderers of the goldens

fn tokens(path: &Path, text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text);
    let mut out = String::new();
    for lexeme in lexer::lex(text) {
        let (line, column) = sources.get(file).map_or((0, 0), |file| file.position(lexeme.start));
        let first = if lexeme.first { " first" } else { "" };
        let _ = writeln!(out, "{line}:{column} {:?} {:?}{first}", lexeme.token, lexeme.text(text));
    }
    out
}

fn pieces(_: &Path, text: &str) -> String {
    let layout = layout::layout(text);
    let mut out = String::new();
    for piece in &layout.pieces {
        let words: Vec<String> = layout.tokens[piece.tokens.clone()].iter().map(|lexeme| word(*lexeme, text)).collect();
        let deep = if piece.too_deep.is_some() { " (too deep)" } else { "" };
        let _ = writeln!(out, "{}{deep}", words.join(" "));
    }
    out
}

/// A token's kind, and its text where that does not follow from the kind.
fn word(lexeme: Lexeme, text: &str) -> String {
    let token = lexeme.token;
    let open = token.is_name() || token.is_number() || token.is_faulty() || matches!(token, Token::Key | Token::Str | Token::RealPart);
    if open || token == Token::Atomistic { format!("{token:?}({})", lexeme.text(text)) } else { format!("{token:?}") }
}

fn tree(path: &Path, text: &str) -> String {
    let (ast, _) = syntax::parse(FileId::default(), text);
    dump::dump(&ast) + &diagnostics(path, text)
}

fn outline(path: &Path, text: &str) -> String {
    let (ast, _) = syntax::parse(FileId::default(), text);
    dump::outline(&ast, text) + &diagnostics(path, text)
}

fn diagnostics(path: &Path, text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add(path.file_name().unwrap_or_default().to_string_lossy(), text);
    let (_, faults) = syntax::parse(file, text);
    faults.iter().map(|fault| golden::diagnostic_text(&sources, fault)).collect()
}

// Properties

/// Words and signs of the language, in which random texts are written.
pub const VOCABULARY: &[&str] = &[
    "a",
    "b",
    "f",
    "j",
    "x",
    "name",
    "array",
    "1",
    "2.5",
    ".5",
    "1e3",
    "'s'",
    "\"t\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ":=",
    "=",
    "==",
    "<",
    "!=",
    ".",
    "+",
    "-",
    "*",
    "/",
    "**",
    "+/-",
    "?",
    ";",
    "\n",
    "\n",
    "and",
    "or",
    "not",
    "in",
    "if",
    "else",
    "for",
    "on",
    "with",
    "core",
    "cores",
    "file",
    "url",
    "use",
    "from",
    "to",
    "step",
    "chunks",
    "print",
    "view",
    "vary",
    "tag",
    "select",
    "where",
    "column",
    "map",
    "filter",
    "reduce",
    "sum",
    "any",
    "all",
    "real",
    "imag",
    "range",
    "info",
    "Table",
    "Series",
    "Structure",
    "Species",
    "true",
    "null",
    "True",
    "andcolumn",
    "°C",
    "# c\n",
    "\"\"\"c\"\"\"",
    "'",
    "\"\"\"",
    "^",
    "\u{0}",
    "é",
    "x@0123456789abcdef0123456789abcdef",
    "x@1",
];

/// Sound statements that end on their line.
const SOUND: &[&str] = &[
    "a = 1",
    "b = a + 2 [m]",
    "f(x, y) = x * y",
    "print(a, b [cm])",
    "use sqrt from math",
    "from math use pi, e",
    "m = map((x: x ** 2), s) in 2 chunks on 2 cores",
    "t = ((a: 1, 2), (b: 'x', 'y'))",
    "a to file 'a.yaml'",
    "vary ((h: 1, 2))",
    "c = 'x' if a > 1 else t.b[0]",
    "d := range from 1 to 5 step 2",
    "q = t select a, b where column:a > 1",
    "on = 3",
    "z = 1-2 j for 1 [h]",
];

/// Statements with a fault that does not reach beyond them.
const FAULTY: &[&str] = &["a = ", "b = 1 2", "c + 1", "print(1", "sum = 2", "d = (1]", "e = 5 ^ 2", "f = \"open", "x = 1 < 2 < 3", "g = )"];

/// A property of so many values.
pub fn check<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) -> Result<(), Failed> {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    Ok(TestRunner::new(config).run(&strategy, test).map_err(|error| error.to_string())?)
}

/// Part of a property.
pub fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), TestCaseError> {
    if holds { Ok(()) } else { Err(TestCaseError::fail(otherwise())) }
}

/// Parses in every way there is, and looks at the places of all that comes out.
fn exercise(text: &str) -> Result<(), TestCaseError> {
    let (ast, faults) = syntax::parse(FileId::default(), text);
    let pieces = layout::layout(text).pieces.len();
    require(ast.statements.len() + faults.len() == pieces || faults.len() > 50, || format!("{pieces} pieces"))?;
    let starts: Vec<u32> = faults.iter().map(|fault| fault.span().start).collect();
    require(starts.is_sorted(), || format!("places {starts:?}"))?;
    let places = faults.iter().flat_map(|fault| &fault.labels).all(|label| text.get(label.span.range()).is_some());
    require(places, || "a label that is no part of the text".to_owned())?;
    let _ = dump::outline(&ast, text);
    let _ = syntax::parse_expression(FileId::default(), text);
    let _ = syntax::completeness(text);
    Ok(())
}

fn any_text() -> Result<(), Failed> {
    check(512, any::<String>(), |text| exercise(&text))
}

fn any_tokens() -> Result<(), Failed> {
    let soup = proptest::collection::vec((select(VOCABULARY), select(&["", " ", " ", "\t"][..])), 0..40);
    check(1024, soup, |words| exercise(&words.iter().flat_map(|(word, blank)| [*word, *blank]).collect::<String>()))
}

fn separators() -> Result<(), Failed> {
    check(256, proptest::collection::vec(select(SOUND), 1..8), |statements| {
        let trees = [";", "\n", " ;\n;; # c\n", "\n\n\"\"\"c\n\"\"\""]
            .map(|separator| syntax::parse(FileId::default(), &statements.join(separator)));
        let dumps = trees.map(|(ast, faults)| (ast.statements.len(), dump::dump(&ast), faults));
        require(dumps[0].0 == statements.len() && dumps.iter().all(|dump| *dump == dumps[0]), || format!("{dumps:?}"))
    })
}

fn neighbours() -> Result<(), Failed> {
    check(256, (select(SOUND), select(FAULTY), select(SOUND)), |(before, faulty, after)| {
        let alone = dump::dump(&syntax::parse(FileId::default(), &format!("{before};{after}")).0);
        let (ast, faults) = syntax::parse(FileId::default(), &format!("{before}\n{faulty}\n{after}"));
        require(faults.len() == 1 && dump::dump(&ast) == alone, || format!("{faults:?}\n{ast:?}"))
    })
}

fn nothing_lost() -> Result<(), Failed> {
    check(512, any::<String>(), |text| {
        let mut end = 0;
        for lexeme in lexer::lex(&text) {
            let skipped = &text[end..lexeme.range().start];
            require(skipped.chars().all(|char| matches!(char, ' ' | '\t' | '\r' | '\x0c' | '\u{FEFF}')), || {
                format!("skipped {skipped:?}")
            })?;
            end = lexeme.range().end;
        }
        require(text[end..].trim().is_empty(), || "the end is missing".to_owned())
    })
}

fn codes(text: &str) -> Vec<String> {
    syntax::parse(FileId::default(), text).1.into_iter().map(|fault| fault.code).collect()
}

fn same<T: PartialEq + std::fmt::Debug>(actual: T, expected: T) -> Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?} instead of {expected:?}").into()) }
}

fn deep_nesting() -> Result<(), Failed> {
    const MANY: usize = 10_000;
    let nested = [
        format!("x = {}1{}", "(".repeat(MANY), ")".repeat(MANY)),
        format!("x = {}", "(".repeat(MANY)),
        format!("x = {}1{}", "[".repeat(MANY), "]".repeat(MANY)),
        format!("x = {}1{}", "{a: ".repeat(MANY), "}".repeat(MANY)),
        format!("x = {}1{}", "f(".repeat(MANY), ")".repeat(MANY)),
        format!("x = {}1", "2**".repeat(MANY)),
        format!("x = {}1", "-".repeat(MANY)),
        format!("x = {}true", "not ".repeat(MANY)),
        format!("x = {}1", "1 if a else ".repeat(MANY)),
        format!("x = {}1", "1 if column:a else ".repeat(MANY)),
        format!("x = {}1", "a == not ".repeat(MANY)),
        format!("x = a{}", ".a".repeat(MANY)),
        format!("x = a{}", "[0]".repeat(MANY)),
        format!("x = {}1{}", "(1 if a else not -2**".repeat(MANY), ")".repeat(MANY)),
    ];
    nested.iter().try_for_each(|text| same(codes(text), vec!["E0105".to_owned()]))
}

fn shallow_nesting() -> Result<(), Failed> {
    let nested = [
        format!("x = {}1{}", "(".repeat(120), ")".repeat(120)),
        format!("x = {}1", "1 if a else ".repeat(250)),
        format!("x = a{}", ".a[0]".repeat(120)),
        format!("x = {}", vec!["-a.b[1]**-2**x"; 300].join(" + ")),
        format!("x = ({})", vec!["not -2**3"; 300].join(", ")),
        format!("x = {}", vec!["not -2**3 < a.b"; 300].join(" and ")),
    ];
    nested.iter().try_for_each(|text| same(codes(text), Vec::new()))
}

fn long_chains() -> Result<(), Failed> {
    const MANY: usize = 100_000;
    let chains = ["+", "-", "*", "/", " and ", " or "].map(|operator| format!("x = {}", vec!["1"; MANY].join(operator)));
    let lists = [format!("x = ({})", vec!["1"; MANY].join(",")), format!("x = 1 [{}]", vec!["m"; MANY].join("*"))];
    chains.iter().chain(&lists).try_for_each(|text| same(codes(text), Vec::new()))
}

fn many_statements() -> Result<(), Failed> {
    let (ast, faults) = syntax::parse(FileId::default(), &"a = 1 + 2 * b\n".repeat(100_000));
    same((ast.statements.len(), faults.len()), (100_000, 0))?;
    let faults = codes(&"a = \n".repeat(1000));
    same((faults.len(), faults.last().map(String::as_str)), (51, Some("E0199")))
}

fn odd_texts() -> Result<(), Failed> {
    same(codes(""), Vec::new())?;
    same(codes("\u{FEFF} \r\n ;; # nothing"), Vec::new())?;
    same(codes("a\0 = 1"), vec!["E0101".to_owned()])?;
    same(codes(&format!("x = {}", "a".repeat(10_000_000))), Vec::new())?;
    same(codes(&"\\'\n".repeat(300_000)).len(), 1)?;
    same(codes(&"a = '\n".repeat(3)).len(), 1)?;
    same(codes(&format!("x = '{}'", "é\n".repeat(100_000))), Vec::new())
}

fn completeness() -> Result<(), Failed> {
    let incomplete = |indent| Completeness::Incomplete { indent };
    let cases = [
        ("", Completeness::Complete),
        ("a = 1", Completeness::Complete),
        ("a + 1", Completeness::Complete),
        ("b [cm]", Completeness::Complete),
        ("a = ", incomplete(4)),
        ("a = (1,\n     2", incomplete(5)),
        ("print(f(1)", incomplete(6)),
        ("a = 1 +", incomplete(4)),
        ("1 +", incomplete(0)),
        ("x = 'abc", incomplete(0)),
        ("x = 'abc\ndef\n\nghi", incomplete(0)),
        ("x = ^ 'abc\ndef", Completeness::Invalid),
        ("x = 1 \"\"\" abc", incomplete(0)),
        ("a = )", Completeness::Invalid),
        ("a = ; b = 1", Completeness::Invalid),
        ("a = 1 2", Completeness::Invalid),
        ("a = ^ (", Completeness::Invalid),
    ];
    cases.into_iter().try_for_each(|(text, expected)| same((text, syntax::completeness(text)), (text, expected)))
}

fn bare_expressions() -> Result<(), Failed> {
    let tree = |text| syntax::parse_expression(FileId::default(), text).0.map(|expr| dump::dump_expression(&expr));
    same(tree("a + 1"), Some("(sum a (+ 1))".to_owned()))?;
    let unit = syntax::parse_parameter(FileId::default(), "b [cm]").0.and_then(|parameter| parameter.unit);
    same(unit.map(|unit| unit.factors.len()), Some(1))?;
    let faults = [("", "E0140"), ("b [cm]", "E0119"), ("1; 2", "E0141"), ("a = 1", "E0127"), ("1 +", "E0110"), ("'x", "E0102")];
    faults.into_iter().try_for_each(|(text, code)| {
        let (expr, faults) = syntax::parse_expression(FileId::default(), text);
        same((expr, faults.first().map(|fault| fault.code.as_str())), (None, Some(code)))
    })
}

fn comments() -> Result<(), Failed> {
    let text = "# one\na = '# no' # two\n\"\"\"three\n# still\"\"\"b = 1 \"\"\"open";
    let found: Vec<&str> = lexer::comments(text).into_iter().map(|range| &text[range]).collect();
    same(found, vec!["# one", "# two", "\"\"\"three\n# still\"\"\"", "\"\"\"open"])
}
