//! Diagnostics, and the progress of a run, for people and for tools.
//!
//! [`text()`] draws the source with marks under it (crate ariadne); [`json()`] gives the same facts as a versioned object. Both accept
//! any diagnostic: a span out of range, inside of a character or of an unknown file is moved or left out, never a panic, and the
//! effort is about linear in the sizes of the sources and of the output, whatever the length of a line.

use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;

mod json;
pub mod progress;
mod sections;
mod text;

/// How a text report looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// With escape sequences for colour.
    pub color: bool,
    /// With box-drawing characters instead of ASCII.
    pub unicode: bool,
}

/// All diagnostics as text for a terminal, in the given order, each after an empty line but the first.
pub fn text(diagnostics: &[Diagnostic], sources: &SourceMap, style: Style) -> String {
    text::render(diagnostics, sources, style)
}

/// All diagnostics as one object: `{"version": 1, "diagnostics": [{severity, code, message, labels, notes, help}]}`.
///
/// A label is `{file, start, end, line, column, end_line, end_column, message, primary}`: byte offsets from 0, lines and columns
/// (in characters) from 1; `file` is `null` and the positions are missing when the text is not known.
pub fn json(diagnostics: &[Diagnostic], sources: &SourceMap) -> Value {
    json::render(diagnostics, sources)
}
