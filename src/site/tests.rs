use std::fs;
use std::time::Duration;

use super::*;
use crate::diagnostic::Severity;
use crate::job::Cause;

const KILLED: Cause = Cause::Signal { signal: 9 };

/// Reads files with these contents, the first one first.
fn read(texts: &[&str]) -> (Site, Vec<Diagnostic>, SourceMap) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let place = |(number, text): (usize, &&str)| {
        let path = directory.path().join(format!("{number}.toml"));
        fs::write(&path, text).expect("writable");
        Place { path, named: true }
    };
    let places: Vec<_> = texts.iter().enumerate().map(place).collect();
    let mut sources = SourceMap::new();
    let (site, diagnostics) = load(&places, &mut sources);
    (site, diagnostics, sources)
}

/// Of each fault its code, the text that it marks, and all that it says.
fn faults(text: &str) -> Vec<(String, String, String)> {
    let (_, diagnostics, sources) = read(&[text]);
    let fault = |fault: &Diagnostic| {
        let marked = sources.text(fault.span()).to_owned();
        (fault.code.clone(), marked, format!("{} {} {}", fault.message, fault.labels[0].message, fault.help.as_deref().unwrap_or_default()))
    };
    diagnostics.iter().map(fault).collect()
}

#[test]
fn the_more_special_file_counts_key_by_key() {
    let general = "[retries]\nsignal = 1\nwalltime = 4\npause_seconds = 0.5\n";
    let (site, faults, _) = read(&[general, "", "[retries]\nsignal = 0\nlongest_pause_seconds = 2\n"]);
    assert_eq!(faults, []);
    assert_eq!(site.retries.pause(&KILLED, &[]), None);
    let walltime = Cause::Walltime { limit_ns: 1 };
    let pauses: Vec<_> = (0..5).map(|tries| site.retries.pause(&walltime, &vec![walltime.clone(); tries])).collect();
    let milliseconds = |pause: u64| Some(Duration::from_millis(pause));
    assert_eq!(pauses, [milliseconds(500), milliseconds(1000), milliseconds(2000), milliseconds(2000), None]);
}

#[test]
fn the_example_is_sound_and_names_every_key() {
    let example: String = include_str!("../site.rs").lines().filter_map(|line| line.strip_prefix("//! ")).collect::<Vec<_>>().join("\n");
    let example = example.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let (site, faults, _) = read(&[example]);
    assert_eq!(faults, []);
    assert!(super::retries::KINDS.iter().all(|(kind, _, _)| site.retries.counts.contains_key(kind)), "{site:?}");
}

#[test]
fn what_is_not_known_is_an_error_with_the_nearest_key() {
    let found = faults("[retries]\nsignals = 1\nwall_time = 2\ncolour = 3\n[retry]\nsignal = 1\n");
    let told = [("signals", "`signal`?"), ("wall_time", "`walltime`?"), ("colour", "known: `signal`"), ("retry", "known: `retries`")];
    assert_eq!(found.len(), told.len(), "{found:?}");
    for ((code, marked, text), (key, says)) in found.iter().zip(told) {
        assert!(code == "E0832" && marked == key && text.contains(says), "{code} {marked}: {text}");
    }
}

#[test]
fn values_are_checked() {
    let lines = [
        ("signal = -1", "-1"),
        ("signal = 1.5", "1.5"),
        ("signal = 5000000000", "5000000000"),
        ("signal = 0x10", "0x10"),
        ("signal = \"2\"", "\"2\""),
        ("signal = true", "true"),
        ("pause_seconds = -0.1", "-0.1"),
        ("pause_seconds = nan", "nan"),
        ("pause_seconds = inf", "inf"),
        ("longest_pause_seconds = 1e9", "1e9"),
        ("longest_pause_seconds = [1]", "[1]"),
    ];
    for (line, value) in lines {
        let found = faults(&format!("[retries]\n{line}\n"));
        assert!(matches!(found.as_slice(), [(code, marked, _)] if code == "E0833" && marked == value), "{line}: {found:?}");
    }
    assert!(matches!(faults("retries = 3").as_slice(), [(code, marked, _)] if code == "E0833" && marked == "3"));
}

#[test]
fn what_is_no_toml_is_marked() {
    for text in ["[retries", "retries = ", "[retries]\nsignal = 1\nsignal = 2\n", "\u{0}", "a = \"é"] {
        let found = faults(text);
        assert!(matches!(found.as_slice(), [(code, ..)] if code == "E0831"), "{text}: {found:?}");
    }
}

#[test]
fn files_are_looked_for_where_they_are_expected() {
    let set = |name: &str| match name {
        "HOME" => Some("/home/me".into()),
        "SCL_SITE" => Some("/etc/scl.toml".into()),
        _ => None,
    };
    let paths: Vec<_> = places(set, Path::new("models"), Path::new("elsewhere/.scl")).into_iter().map(|place| place.path).collect();
    let expected = ["/home/me/.config/scl/site.toml", "models/site.toml", "elsewhere/.scl/site.toml", "/etc/scl.toml"];
    assert_eq!(paths, expected.map(PathBuf::from));
    let moved = |name: &str| if name == "XDG_CONFIG_HOME" { Some("/config".into()) } else { Some(OsString::new()) };
    assert_eq!(places(moved, Path::new(""), Path::new(".scl"))[0].path, Path::new("/config/scl/site.toml"));
    assert_eq!(places(|_| None, Path::new(""), Path::new(".scl")).len(), 2);
}

#[test]
fn only_a_file_that_someone_named_must_be_there() {
    let missing = |named| load(&[Place { path: "/nowhere/site.toml".into(), named }], &mut SourceMap::new()).1;
    assert_eq!(missing(false), []);
    // a directory is there, and cannot be read as a file
    let unreadable = load(&[Place { path: "/".into(), named: false }], &mut SourceMap::new()).1;
    assert!(matches!(unreadable.as_slice(), [said] if said.code == "W0830" && said.severity == Severity::Warning), "{unreadable:?}");
    assert!(matches!(missing(true).as_slice(), [fault] if fault.code == "E0830" && fault.message.contains("/nowhere/site.toml")));
}
