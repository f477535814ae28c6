//! Diagnostics as JSON.

use serde_json::{Value, json};

use super::sections::clamp;
use crate::diagnostic::{Diagnostic, Label};
use crate::source::SourceMap;

const VERSION: u32 = 1;

pub(super) fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> Value {
    let diagnostics: Vec<Value> = diagnostics.iter().map(|diagnostic| object(diagnostic, sources)).collect();
    json!({ "version": VERSION, "diagnostics": diagnostics })
}

fn object(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = diagnostic.labels.iter().map(|each| label(each, sources)).collect();
    json!({
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "labels": labels,
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    })
}

fn label(label: &Label, sources: &SourceMap) -> Value {
    let Some(file) = sources.get(label.span.file) else {
        return json!({ "file": null, "message": label.message, "primary": label.primary });
    };
    let range = clamp(&file.text, label.span.range());
    let (line, column) = file.position(range.start as u32);
    let (end_line, end_column) = file.position(range.end as u32);
    json!({
        "file": *file.name,
        "start": range.start,
        "end": range.end,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "message": label.message,
        "primary": label.primary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    #[test]
    fn positions_are_bytes_and_characters() {
        let mut sources = SourceMap::new();
        let file = sources.add("model.scl", "é = 1\nb = é\n");
        let diagnostic = Diagnostic::error("E0301", "wrong", Span::new(file, 11, 99)).here("here").note("a fact").help("do it");
        let expected = json!({
            "version": 1,
            "diagnostics": [{
                "severity": "error", "code": "E0301", "message": "wrong", "notes": ["a fact"], "help": "do it",
                "labels": [{
                    "file": "model.scl", "start": 11, "end": 14, "line": 2, "column": 5, "end_line": 3, "end_column": 1,
                    "message": "here", "primary": true,
                }],
            }],
        });
        assert_eq!(render(&[diagnostic], &sources), expected);
    }

    #[test]
    fn an_unknown_file_has_no_positions() {
        let warning = Diagnostic::warning("E0302", "strange", Span::new(FileId(3), 1, 2));
        let label = json!({ "file": null, "message": "", "primary": true });
        assert_eq!(render(&[warning], &SourceMap::new())["diagnostics"][0]["labels"], json!([label]));
    }
}
