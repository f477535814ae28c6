//! Reading a program's text.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};

/// Reads a program and gives it a place among the sources; `-` is standard input.
pub fn program(path: &Path, sources: &mut SourceMap) -> Result<(FileId, Arc<str>), Box<Diagnostic>> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let bytes = if is_stdin { stdin() } else { std::fs::read(path) };
    let bytes = bytes.map_err(|error| Box::new(unreadable(&name, &error)))?;
    match String::from_utf8(bytes) {
        Ok(text) => {
            let text: Arc<str> = text.into();
            Ok((sources.add(name, text.clone()), text))
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let file = sources.add(name, text);
            Err(Box::new(not_utf8(Span::new(file, at, at + '\u{fffd}'.len_utf8()))))
        }
    }
}

fn stdin() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// There is no text to point into.
fn unreadable(name: &str, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("E0001", format!("cannot read `{name}`: {error}"), Span { file: FileId::NOWHERE, start: 0, end: 0 })
}

fn not_utf8(span: Span) -> Diagnostic {
    Diagnostic::error("E0002", "the program is not UTF-8 text", span)
        .here("not a character")
        .help("save the file in UTF-8, or check that it is an SCL program")
}
