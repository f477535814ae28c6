//! Rules of the house: who may use whom, what a code means, how long a file may be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

/// The rooms of `src`, in their order: a room uses only rooms above it. Beside each, the crates that are named in it; a crate that is
/// not among them is named nowhere in the room outside of its tests. `serde`, `thiserror` are only attributes of types and stand
/// wherever there are types that are written to files or that are errors.
const ROOMS: &[(&str, &[&str])] = &[
    ("hash", &[]),
    ("source", &["serde"]),
    ("diagnostic", &["serde"]),
    // the generated parser
    ("syntax", &["logos", "lalrpop_util"]),
    ("units", &["serde", "thiserror"]),
    // columns are Arrow arrays, in huge pages; bytes of values are hashed
    (
        "value",
        &[
            "arrow_array",
            "arrow_buffer",
            "arrow_ipc",
            "arrow_schema",
            "arrow_select",
            "bytes",
            "indexmap",
            "libc",
            "num_complex",
            "serde",
            "serde_json",
            "sha2",
        ],
    ),
    ("ops", &["indexmap", "serde"]),
    // functions of real numbers whose last digit does not depend on the platform
    ("builtin", &["libm"]),
    // durations and amounts of memory
    ("resources", &["serde", "thiserror", "uom"]),
    ("model", &["arrow_array", "serde", "serde_json"]),
    ("check", &["indexmap", "num_complex"]),
    ("graph", &["petgraph", "serde_json"]),
    ("eval", &["arrow_array", "rayon"]),
    // results are mapped
    ("job", &["memmap2", "nix", "serde", "serde_json", "sha2", "thiserror"]),
    ("site", &["process_control", "toml"]),
    ("batch", &["libc", "nix", "signal_hook", "thiserror"]),
    // the index is an SQLite file
    ("store", &["rusqlite", "serde", "serde_json", "thiserror"]),
    // foreign formats; a dict is an ordered map
    ("io", &["csv", "flate2", "indexmap", "saphyr_parser", "sha2"]),
    ("python", &[]),
    ("external", &[]),
    ("run", &["rayon"]),
    ("worker", &["nix", "signal_hook"]),
    ("session", &["rustyline"]),
    ("report", &["ariadne", "indicatif", "serde_json"]),
    ("cli", &["bytesize", "clap", "humantime", "serde_json", "signal_hook"]),
];

/// Files that may be longer than others. None is, so far.
const LONG_FILES: &[&str] = &[];

/// The most lines of a file.
const MOST_LINES: usize = 800;

type Rule = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let rules: [(&str, Rule); 6] = [
        ("every file is in a room", every_file_has_a_room),
        ("rooms use only rooms above them", layers),
        ("crates are named only in their rooms", crates),
        ("each code has one meaning", codes),
        ("files are short", lengths),
        ("the rules find offenders", rules_find_offenders),
    ];
    rules.into_iter().map(|(name, rule)| Trial::test(format!("house: {name}"), rule)).collect()
}

fn every_file_has_a_room() -> Result<(), Failed> {
    none(
        sources()
            .iter()
            .filter(|source| source.room != "lib" && source.room != "main" && rank(&source.room).is_none())
            .map(|source| source.name.clone()),
    )
}

fn layers() -> Result<(), Failed> {
    none(
        sources()
            .iter()
            .flat_map(|source| climbs(&source.room, &source.text).into_iter().map(|used| format!("{} uses {used}", source.name))),
    )
}

fn crates() -> Result<(), Failed> {
    let known: BTreeSet<&str> = ROOMS.iter().flat_map(|(_, crates)| crates.iter().copied()).collect();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml"))?;
    let dependencies = manifest.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
    let dependencies: BTreeSet<String> = dependencies.lines().filter_map(|line| Some(line.split_once(" =")?.0.replace('-', "_"))).collect();
    let homeless = dependencies.iter().filter(|name| !known.contains(name.as_str())).map(|name| format!("no room may name {name}"));
    let strays = sources().into_iter().flat_map(|source| {
        let strays = strays(&source.room, &source.text, &dependencies);
        strays.into_iter().map(move |name| format!("{} names {name}", source.name))
    });
    none(homeless.chain(strays))
}

/// A code stands in one file, and where it stands twice, the message begins alike.
fn codes() -> Result<(), Failed> {
    let mut meanings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        for (code, message) in coded(&source.text) {
            meanings.entry(code).or_default().insert(format!("{}: {message}", source.name));
        }
    }
    if meanings.len() < 100 {
        return Err(format!("only {} codes were found: the search is broken", meanings.len()).into());
    }
    none(meanings.into_iter().filter(|(_, places)| places.len() > 1).map(|(code, places)| format!("{code} means {places:?}")))
}

/// Whatever looks like a code in the sources, without comments and tests.
pub fn codes_of_sources() -> BTreeSet<String> {
    let word = |text: &str| text.split(|letter: char| !letter.is_ascii_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
    sources().iter().flat_map(|source| word(&source.text)).filter(|word| is_code(word)).collect()
}

fn lengths() -> Result<(), Failed> {
    let too_long = |source: &Source| source.lines > MOST_LINES && !LONG_FILES.contains(&source.name.as_str());
    none(sources().iter().filter(|source| too_long(source)).map(|source| format!("{} has {} lines", source.name, source.lines)))
}

fn rules_find_offenders() -> Result<(), Failed> {
    let dependencies = BTreeSet::from(["clap".to_owned(), "nix".to_owned()]);
    assert_eq!(
        climbs("units", "use crate::source::Span;\nuse crate::{cli, value::Value};\nlet x = crate::run::STACK;"),
        ["cli", "run", "value"]
    );
    assert_eq!(strays("check", "use clap::Parser;\n/// clap::Parser\nlet now = nix::unistd::getpid();", &dependencies), ["clap", "nix"]);
    assert_eq!(strays("cli", "use clap::Parser; let phoenix::x = 1;", &dependencies), Vec::<String>::new());
    let found = coded("Fault::new(\"E0123\", format!(\"no {x}\"))\nDiagnostic::error(\n    \"W0001\",\n    \"plain\",\n)");
    assert_eq!(found, [("E0123".to_owned(), "format!(\"no {x}\"))".to_owned()), ("W0001".to_owned(), "\"plain\",".to_owned())]);
    Ok(())
}

/// A file of `src` without its tests.
struct Source {
    name: String,
    room: String,
    text: String,
    lines: usize,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut files = Vec::new();
    collect(&src, &mut files);
    files.sort();
    files.iter().filter_map(|path| Source::read(&src, path)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

impl Source {
    /// `None` for files of tests alone.
    fn read(src: &Path, path: &Path) -> Option<Source> {
        let name = path.strip_prefix(src).ok()?.to_string_lossy().into_owned();
        let parts: Vec<&str> = name.trim_end_matches(".rs").split('/').collect();
        if !name.ends_with(".rs") || parts.iter().any(|part| matches!(*part, "tests" | "fixture")) {
            return None;
        }
        let text = std::fs::read_to_string(path).expect("sources can be read");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        Some(Source { room: parts[0].to_owned(), text: code.join("\n"), lines: text.lines().count(), name })
    }
}

fn rank(room: &str) -> Option<usize> {
    ROOMS.iter().position(|(name, _)| *name == room)
}

/// The rooms below its own that a text uses; `lib` and `main` may use all.
fn climbs(room: &str, text: &str) -> Vec<String> {
    let Some(own) = rank(room) else { return Vec::new() };
    let mut used = BTreeSet::new();
    for path in text.split("crate::").skip(1) {
        let group = path.strip_prefix('{').map(|group| group.split('}').next().unwrap_or_default());
        match group {
            Some(group) => used.extend(group.split(',').map(first_word)),
            None => used.extend([first_word(path)]),
        }
    }
    used.into_iter().filter(|name| rank(name).is_some_and(|rank| rank > own)).map(str::to_owned).collect()
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
}

/// The dependencies that a text names though its room may not.
fn strays(room: &str, text: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let allowed = rank(room).map_or(&[] as &[&str], |rank| ROOMS[rank].1);
    let names = |name: &&String| {
        let path = format!("{name}::");
        text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
            let mut places = line.match_indices(&path);
            places.any(|(at, _)| !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':'))
        })
    };
    dependencies.iter().filter(|name| !allowed.contains(&name.as_str())).filter(names).cloned().collect()
}

/// All codes of a text, each with the beginning of what stands after it.
fn coded(text: &str) -> Vec<(String, String)> {
    let code = |place: &str| {
        let (code, rest) = (place.get(..5)?, place.get(5..)?.strip_prefix("\",")?);
        let message = rest.trim_start().lines().next().unwrap_or_default();
        is_code(code).then(|| (code.to_owned(), message.chars().take(32).collect()))
    };
    text.match_indices('"').filter_map(|(at, _)| code(&text[at + 1..])).collect()
}

/// `E0301`
fn is_code(word: &str) -> bool {
    word.len() == 5 && word.starts_with(['E', 'W']) && word[1..].bytes().all(|digit| digit.is_ascii_digit())
}

/// No offender.
fn none(offenders: impl Iterator<Item = String>) -> Result<(), Failed> {
    let offenders: Vec<String> = offenders.collect();
    if offenders.is_empty() { Ok(()) } else { Err(offenders.join("\n").into()) }
}
