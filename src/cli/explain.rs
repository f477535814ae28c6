//! `scl explain CODE`.

use std::process::ExitCode;

use super::{WRONG, print, unwritable};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::pages;
use crate::report::{self, Style};
use crate::source::{FileId, SourceMap, Span};

/// Prints the page of a code, or a list of all codes.
pub(super) fn run(code: Option<&str>) -> ExitCode {
    let text = match code {
        None => pages::pages().map(|page| format!("{}  {}\n", page.code, page.title)).collect(),
        Some(code) => match pages::page(code) {
            Some(page) => page.text(),
            None => {
                complain_as_is!(report::text(&[unknown(code)], &SourceMap::new(), Style::default()));
                return ExitCode::from(WRONG);
            }
        },
    };
    ExitCode::from(print(&text).map_or_else(|error| unwritable(&error), |()| 0))
}

fn unknown(code: &str) -> Diagnostic {
    let nowhere = Span { file: FileId::NOWHERE, start: 0, end: 0 };
    let fault = Diagnostic::error("E0003", format!("there is no code `{code}`"), nowhere);
    match pages::nearest_code(code, "") {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("`scl explain` lists all codes"),
    }
}
