//! Diagnostics, free of any renderer.
//!
//! A phase returns its value **and** a list of [`Diagnostic`]s. Each fault has one constructor, in the phase that finds it, and
//! one stable code (`E0301`). Operations that know no place (room `ops`) return a [`Fault`]; the caller adds the place with
//! [`At::at`]. What each code means stands in [`pages`].

use serde::{Deserialize, Serialize};

use crate::source::Span;

pub mod pages;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing runs, or a result is missing.
    Error,
    /// It runs, and may not do what was meant.
    Warning,
}

/// A place and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What stands there; may be empty.
    pub message: String,
    /// The place of the fault itself, as against one that explains it.
    pub primary: bool,
}

/// One fault or warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable, for people to look up and tools to match.
    pub code: String,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// Facts that help to understand.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &str, message: impl Into<String>, span: Span) -> Self {
        Diagnostic::new(Severity::Error, code, message.into(), span)
    }

    /// A warning at `span`.
    pub fn warning(code: &str, message: impl Into<String>, span: Span) -> Self {
        Diagnostic::new(Severity::Warning, code, message.into(), span)
    }

    fn new(severity: Severity, code: &str, message: String, span: Span) -> Self {
        let label = Label { span, message: String::new(), primary: true };
        Diagnostic { severity, code: code.to_owned(), message, labels: vec![label], notes: Vec::new(), help: None }
    }

    /// Says something at the primary place.
    pub fn here(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = message.into();
        }
        self
    }

    /// Adds a place that explains the fault.
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into(), primary: false });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels.first().map_or_else(Span::default, |label| label.span)
    }
}

/// Whether anything in the list forbids going on.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// A fault that knows no place yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// As in [`Diagnostic::code`].
    pub code: String,
    /// As in [`Diagnostic::message`].
    pub message: String,
    /// As in [`Diagnostic::help`].
    pub help: Option<String>,
}

impl Fault {
    /// A fault with a code and a message.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Fault { code: code.to_owned(), message: message.into(), help: None }
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// An error at `span`.
    pub fn at(self, span: Span) -> Diagnostic {
        Diagnostic { help: self.help, ..Diagnostic::error(&self.code, self.message, span) }
    }
}

/// Adds a place to a fault.
pub trait At<T> {
    /// Turns the fault into an error at `span`.
    fn at(self, span: Span) -> Result<T, Box<Diagnostic>>;
}

impl<T> At<T> for Result<T, Fault> {
    fn at(self, span: Span) -> Result<T, Box<Diagnostic>> {
        self.map_err(|fault| Box::new(fault.at(span)))
    }
}

/// The candidate nearest to `name` by edit distance, when it is near enough to be a slip of the keyboard.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = match length {
        0..=1 => 0,
        2..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    // the distance is never less than the difference in length, which is quickly known
    let possible = |candidate: &&str| *candidate != name && candidate.chars().count().abs_diff(length) <= limit;
    let scored = candidates.into_iter().filter(possible).map(|candidate| (edit_distance(name, candidate), candidate));
    let best = scored.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, candidate)| (*distance, candidate.len()));
    best.map(|(_, candidate)| candidate)
}

/// Levenshtein distance with transpositions of neighbours; a change of case costs nothing.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().flat_map(char::to_lowercase).collect();
    let right: Vec<char> = right.chars().flat_map(char::to_lowercase).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}
