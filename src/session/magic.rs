//! Magics: lines that begin with `%` and are for the session itself.

use super::{faults, help};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// A magic that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Magic {
    /// `%help [topic]`: a text to be shown.
    Help(String),
    /// `%hist`: what was accepted.
    History,
    /// `%load 'file'`: the path.
    Load(String),
    /// `%new`: an empty model.
    New,
    /// `%type expression`: the input with blanks before the expression, so that places in it are right.
    Type(String),
    /// `%version`
    Version,
    /// `%exit` and its other names.
    Leave,
}

/// A magic's names, the usual one first, how it is written and what it does.
pub struct Entry {
    /// Without the `%`.
    pub names: &'static [&'static str],
    /// What follows the name.
    pub argument: &'static str,
    /// In one line.
    pub doc: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Help,
    History,
    Load,
    New,
    Type,
    Version,
    Leave,
}

/// All magics.
pub const MAGICS: &[Entry] = &[
    Entry { names: &["help"], argument: "[topic]", doc: "Explain a topic, a function or a code", kind: Kind::Help },
    Entry { names: &["hist", "history"], argument: "", doc: "Show the accepted statements", kind: Kind::History },
    Entry { names: &["load"], argument: "'file'", doc: "Take the statements of a program", kind: Kind::Load },
    Entry { names: &["new"], argument: "", doc: "Begin an empty model", kind: Kind::New },
    Entry { names: &["type"], argument: "expression", doc: "Tell what is known before anything is computed", kind: Kind::Type },
    Entry { names: &["version"], argument: "", doc: "Tell the version", kind: Kind::Version },
    Entry { names: &["exit", "quit", "close", "bye"], argument: "", doc: "Leave; so does Ctrl-D", kind: Kind::Leave },
];

/// All names of magics, without the `%`.
pub fn names() -> impl Iterator<Item = &'static str> {
    MAGICS.iter().flat_map(|entry| entry.names.iter().copied())
}

/// Understands a magic.
pub fn read(file: FileId, text: &str) -> Result<Magic, Diagnostic> {
    let start = text.len() - text.trim_start().len();
    let line = text.trim();
    let name = line.trim_start_matches(super::input::MAGIC);
    let name = name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    let end = start + 1 + name.len();
    let head = Span::new(file, start, end.min(text.len()));
    let argument = text.get(end..).unwrap_or_default();
    let place = Span::new(file, end + argument.len() - argument.trim_start().len(), end + argument.trim_end().len());
    let argument = argument.trim();
    let Some(entry) = MAGICS.iter().find(|entry| entry.names.contains(&name)) else {
        return Err(faults::unknown_magic(head, name, &names().collect::<Vec<_>>()));
    };
    let alone = |magic| if argument.is_empty() { Ok(magic) } else { Err(faults::needless_argument(place, name)) };
    match entry.kind {
        Kind::Help => match help::text(argument) {
            Some(text) => Ok(Magic::Help(text)),
            None => Err(faults::unknown_topic(place, argument, &help::names().collect::<Vec<_>>())),
        },
        Kind::History => alone(Magic::History),
        Kind::Load => match unquoted(argument) {
            "" => Err(faults::missing_path(head)),
            path => Ok(Magic::Load(path.to_owned())),
        },
        Kind::New => alone(Magic::New),
        Kind::Type => Ok(Magic::Type(format!("{}{}", " ".repeat(end), text.get(end..).unwrap_or_default()))),
        Kind::Version => alone(Magic::Version),
        Kind::Leave => alone(Magic::Leave),
    }
}

/// A path may stand in quotes of either kind, or in none.
fn unquoted(argument: &str) -> &str {
    let inner = |quote: char| argument.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(argument)
}
