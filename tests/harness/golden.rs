//! Golden folders: one test per case file.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use scl::diagnostic::{Diagnostic, Severity};
use scl::source::SourceMap;

/// One test for each `.scl` file of `tests/<name>`: `render`, given its path and text, must give what the `.expected` file beside it
/// holds. One more test sees that no expected text has lost its case.
pub fn folder(name: &str, render: fn(&Path, &str) -> String) -> Vec<Trial> {
    cases(name, &format!("tests/{name}"), render)
}

/// The same for the cases of any folder of the project; the names of the tests begin with `name`.
pub fn cases(name: &str, folder: &str, render: fn(&Path, &str) -> String) -> Vec<Trial> {
    let files = files_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let mut trials: Vec<Trial> = files_of_folder(folder, "scl").into_iter().map(|path| case(name, path, render)).collect();
    trials.push(Trial::test(format!("{name}::has no orphans"), move || no_orphans(&files)));
    trials
}

/// One test for each case of a folder that has nothing to do with what is expected there.
pub fn each(name: &str, folder: &str, test: fn(&Path, &str) -> Result<(), Failed>) -> Vec<Trial> {
    let files = files_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    let cases = files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "scl"));
    let trial = |path: PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("{name}::{stem}"), move || test(&path, &std::fs::read_to_string(&path)?))
    };
    cases.map(trial).collect()
}

/// A diagnostic as text without colours: its place and message, then what is said of each place, notes and help.
pub fn diagnostic_text(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let mut out = format!("{}: {severity}[{}]: {}\n", place(sources, diagnostic), diagnostic.code, diagnostic.message);
    for label in &diagnostic.labels {
        let says = if label.message.is_empty() { String::new() } else { format!(": {}", label.message) };
        let mark = if label.primary { "^" } else { "-" };
        let _ = writeln!(out, "  {mark} {:?}{says}", sources.text(label.span));
    }
    diagnostic.notes.iter().for_each(|note| out.push_str(&format!("  note: {note}\n")));
    diagnostic.help.iter().for_each(|help| out.push_str(&format!("  help: {help}\n")));
    out
}

fn place(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let span = diagnostic.span();
    sources.get(span.file).map_or_else(String::new, |file| {
        let (line, column) = file.position(span.start);
        format!("{}:{line}:{column}", file.name)
    })
}

/// The files of a folder of the project with a suffix, sorted.
pub fn files_of_folder(folder: &str, suffix: &str) -> Vec<PathBuf> {
    let files = files_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == suffix)).collect()
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn case(folder: &str, path: PathBuf, render: fn(&Path, &str) -> String) -> Trial {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(format!("{folder}::{stem}"), move || compare(&path, render))
}

fn compare(path: &Path, render: fn(&Path, &str) -> String) -> Result<(), Failed> {
    let actual = render(path, &std::fs::read_to_string(path)?);
    let golden = path.with_extension("expected");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        return Ok(std::fs::write(golden, actual)?);
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    if actual == expected { Ok(()) } else { Err(difference(&golden, &expected, &actual).into()) }
}

/// The lines from the first to the last that differ.
fn difference(golden: &Path, expected: &str, actual: &str) -> String {
    let (expected, actual): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let same = expected.iter().zip(&actual).take_while(|(left, right)| left == right).count();
    let rest = expected.len().min(actual.len()) - same;
    let same_end = expected.iter().rev().zip(actual.iter().rev()).take(rest).take_while(|(left, right)| left == right).count();
    let mut out = format!("{} differs from line {} on (BLESS=1 rewrites it)\n", golden.display(), same + 1);
    expected[same..expected.len() - same_end].iter().for_each(|line| out.push_str(&format!("- {line}\n")));
    actual[same..actual.len() - same_end].iter().for_each(|line| out.push_str(&format!("+ {line}\n")));
    out
}

fn no_orphans(files: &[PathBuf]) -> Result<(), Failed> {
    if !files.iter().any(|path| path.extension().is_some_and(|extension| extension == "scl")) {
        return Err("the folder has no cases".into());
    }
    let is_orphan =
        |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "expected") && !path.with_extension("scl").exists();
    match files.iter().find(is_orphan) {
        Some(orphan) => Err(format!("{} has no case", orphan.display()).into()),
        None => Ok(()),
    }
}
