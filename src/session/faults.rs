//! One constructor for each fault of a session: `E0850` to `E0859`, and warnings of these numbers.

use std::io;
use std::path::Path;

use crate::diagnostic::{Diagnostic, nearest};
use crate::source::{FileId, Span};

const NOWHERE: Span = Span { file: FileId::NOWHERE, start: 0, end: 0 };

pub fn unknown_magic(span: Span, name: &str, known: &[&str]) -> Diagnostic {
    let fault = Diagnostic::error("E0850", format!("there is no magic `%{name}`"), span);
    let known_list = known.iter().map(|name| format!("`%{name}`")).collect::<Vec<_>>().join(", ");
    match nearest(name, known.iter().copied()) {
        Some(meant) => fault.note(format!("there are {known_list}")).help(format!("did you mean `%{meant}`?")),
        None => fault.help(format!("there are {known_list}")),
    }
}

pub fn needless_argument(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0851", format!("`%{name}` stands alone on its line"), span).here("this is too much")
}

pub fn missing_path(span: Span) -> Diagnostic {
    Diagnostic::error("E0852", "which program is to be loaded?", span).help("write its path in quotes: `%load 'model.scl'`")
}

pub fn unknown_topic(span: Span, topic: &str, known: &[&str]) -> Diagnostic {
    let fault = Diagnostic::error("E0853", format!("there is no help on `{topic}`"), span);
    let topics =
        format!("there are texts on {}, on each function that can be imported, and on each code of a diagnostic", known.join(", "));
    match nearest(topic, known.iter().copied()) {
        Some(meant) => fault.note(topics).help(format!("did you mean `%help {meant}`?")),
        None => fault.help(topics),
    }
}

/// Of an input that makes the checker panic.
pub fn broken_check(span: Span) -> Diagnostic {
    Diagnostic::error("E0854", "internal error: checking broke off; the model is unchanged", span)
        .help("this is a fault of scl, not of the program; please report it with the program")
}

/// The session ends: there is no way to know what would come next.
pub fn unreadable_input(error: &io::Error) -> Diagnostic {
    let fault = Diagnostic::error("E0855", format!("the next input cannot be read: {error}"), NOWHERE);
    match error.kind() {
        io::ErrorKind::InvalidData => fault.help("inputs are UTF-8 text"),
        _ => fault,
    }
}

pub fn unusable_history(path: &Path, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::warning("W0850", format!("the history of inputs cannot be kept in `{}`: {error}", path.display()), NOWHERE)
        .help("set XDG_STATE_HOME to a directory that can be written")
}

pub fn no_place_for_history() -> Diagnostic {
    Diagnostic::warning("W0851", "the history of inputs is not kept: there is no home directory", NOWHERE)
        .help("set HOME, or XDG_STATE_HOME to a directory that can be written")
}
