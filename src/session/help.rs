//! What `%help` explains: topics, with examples that a test runs, every function that can be imported, and the codes of diagnostics.

use std::fmt::Write;

use super::magic::MAGICS;
use crate::builtin;
use crate::diagnostic::pages;

/// A text of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic {
    /// What to ask for.
    pub name: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// The text. Lines of an example begin with four blanks: `    > ` before an input, the others are what it prints.
    pub text: &'static str,
}

macro_rules! topic {
    ($name:literal, $title:literal) => {
        Topic { name: $name, title: $title, text: include_str!(concat!("help/", $name, ".txt")) }
    };
}

/// All topics, in the order in which a newcomer reads them.
pub const TOPICS: &[Topic] = &[
    topic!("session", "how a session works"),
    topic!("units", "numbers with units, and conversions"),
    topic!("series", "columns of numbers; map, filter and reduce"),
    topic!("tables", "columns side by side, and queries"),
    topic!("functions", "functions of one's own, and imported ones"),
    topic!("files", "data from and to files"),
    topic!("jobs", "statements that run as jobs"),
];

/// What can be asked for besides functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name).chain(["magics"])
}

/// The help on a topic, an imported function or a code, or an overview; `None` when there is none. The beginning of one topic's name will do.
pub fn text(asked: &str) -> Option<String> {
    match asked {
        "" => return Some(overview()),
        "magics" => return Some(magics()),
        _ => {}
    }
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == asked) {
        return Some(topic.text.to_owned());
    }
    if let Some(page) = pages::page(asked) {
        return Some(page.text());
    }
    let functions = functions(asked);
    if !functions.is_empty() {
        return Some(functions);
    }
    let mut near = names().filter(|name| name.starts_with(asked));
    match (near.next(), near.next()) {
        (Some(only), None) => text(only),
        (Some(_) | None, _) => None,
    }
}

fn overview() -> String {
    let mut out = "Type statements (`v = 36.0 [km/h]`), expressions (`v [m/s]`) or magics.\n\n".to_owned();
    for topic in TOPICS {
        let _ = writeln!(out, "    %help {:<10} {}", topic.name, topic.title);
    }
    let _ = writeln!(out, "    %help {:<10} what begins with `%`", "magics");
    let _ = writeln!(out, "    %help {:<10} a function that can be imported, such as `exp`", "NAME");
    let _ = writeln!(out, "    %help {:<10} what a diagnostic means\n", "E0201");
    out.push_str("Tab completes names, units, columns and files. Ctrl-C clears the line or ends a computation, Ctrl-D leaves.\n");
    out
}

fn magics() -> String {
    let mut out = String::new();
    for entry in MAGICS {
        let names = entry.names.iter().map(|name| format!("%{name}")).collect::<Vec<_>>().join(" ");
        let written = format!("{names} {}", entry.argument);
        let _ = writeln!(out, "    {:<28} {}", written.trim_end(), entry.doc);
    }
    out
}

/// What is known of the functions of a name; several modules may have the same.
fn functions(name: &str) -> String {
    let mut known: Vec<(String, Vec<&str>)> = Vec::new();
    for native in builtin::modules().filter_map(|module| builtin::native(module, name)) {
        let line = format!("    {:<28} {}", native.signature(), native.doc);
        match known.iter_mut().find(|(same, _)| *same == line) {
            Some((_, modules)) => modules.push(native.module),
            None => known.push((line, vec![native.module])),
        }
    }
    known.iter().map(|(line, modules)| format!("{line}\n    use {name} from {}\n", modules.join(" | "))).collect()
}
