//! Names that are hard on shells and on carelessness: of models, directories, stores and data files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};

use crate::binary::{Place, Ran};

/// All of them.
pub fn trials() -> Vec<Trial> {
    names().into_iter().map(|(what, name)| Trial::test(format!("hostile: {what}"), move || everywhere(&name))).collect()
}

/// Names of at most 251 bytes, to which a suffix is added.
fn names() -> Vec<(&'static str, OsString)> {
    let text = |name: &str| OsString::from(name);
    vec![
        ("blanks", text(" a  b ")),
        ("quotes", text("it's \"quoted\" `so`")),
        ("commands", text("a;touch hacked;$(touch hacked)&&touch hacked|touch hacked")),
        ("variables", text("$HOME ${PATH} ~ %s %n")),
        ("line ends", text("a\nb\r\nc")),
        ("a dash", text("-rf")),
        ("a hash", text("#a # b")),
        ("patterns", text("*?[a-z]{b,c}")),
        ("backslashes", text("a\\b\\nc\\")),
        ("control characters", text("a\tb\u{1b}[31mc\u{7f}")),
        ("characters of other scripts", text("größe 温度 Δ\u{202e}x")),
        ("bytes that are no text", OsString::from_vec(b"a\xff\xfeb".to_vec())),
        ("as many bytes as there may be", text(&"n".repeat(251))),
    ]
}

/// A model of this name in a directory of this name, with a store and, where a program can say it, a file of this name.
fn everywhere(name: &OsStr) -> Result<(), Failed> {
    let place = Place::new();
    let directory = place.path().join(name);
    std::fs::create_dir(&directory)?;
    let model = suffixed(name, ".scl");
    std::fs::write(directory.join(&model), program(name))?;
    let first = run(&directory, &model, name, &[])?;
    first.ends(0, "42 5\n", &["1 done, 0 failed, 0 kept"])?;
    if let Some(data) = data(name) {
        let saved = std::fs::read(directory.join(OsStr::from_bytes(data.as_bytes())))?;
        if saved.is_empty() {
            return Err("the export is empty".into());
        }
    }
    run(&directory, &model, name, &[])?.ends(0, "42 5\n", &["0 done, 0 failed, 1 kept"])?;
    // a fault names the file, whatever it is called, without doing anything to the terminal
    std::fs::write(directory.join(&model), "print(1 + 'a')\n")?;
    let faulty = run(&directory, &model, name, &[])?;
    faulty.is_refused(&["E0320"])?;
    if faulty.stderr.chars().any(|letter| letter.is_control() && !matches!(letter, '\n' | '\t')) {
        return Err(format!("control characters are printed: {:?}", faulty.stderr).into());
    }
    match std::fs::read_dir(&directory)?.flatten().any(|entry| entry.file_name() == "hacked") || Path::new("hacked").exists() {
        true => Err("a part of the name was run".into()),
        false => Ok(()),
    }
}

/// A job, an export and, from it, an import.
fn program(name: &OsStr) -> String {
    let job = "größe_1 = 6 * 7 on 1 core\n";
    match data(name) {
        Some(data) => {
            let quoted = data.replace('\'', "\\'");
            format!("{job}five = 5\nfive to file '{quoted}'\nprint(größe_1, five)\n")
        }
        None => format!("{job}print(größe_1, 5)\n"),
    }
}

/// The name of a data file; none when a program, which is text, cannot say it.
fn data(name: &OsStr) -> Option<String> {
    Some(format!("{}.yml", name.to_str()?))
}

fn suffixed(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

fn run(directory: &Path, model: &OsStr, name: &OsStr, more: &[&str]) -> Result<Ran, Failed> {
    let mut store = OsString::from("--store=");
    store.push(suffixed(name, ".st"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_scl"));
    command.arg("run").arg(store).args(more).arg("--").arg(model).current_dir(directory).stdin(Stdio::null());
    Ok(Ran::from(command.output()?))
}
