//! `scl explain CODE`.

use std::process::ExitCode;

use super::{WRONG, print, unwritable};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::pages::{self, Page, Part};
use crate::report::{self, Style};
use crate::source::{FileId, SourceMap, Span};

/// Prints the page of a code, or a list of all codes.
pub(super) fn run(code: Option<&str>) -> ExitCode {
    let text = match code {
        None => pages::pages().map(|page| format!("{}  {}\n", page.code, page.title)).collect(),
        Some(code) => match pages::page(code) {
            Some(page) => shown(&page),
            None => {
                eprint!("{}", report::text(&[unknown(code)], &SourceMap::new(), Style::default()));
                return ExitCode::from(WRONG);
            }
        },
    };
    ExitCode::from(print(&text).map_or_else(|error| unwritable(&error), |()| 0))
}

/// A page for a terminal.
fn shown(page: &Page) -> String {
    let parts = page.parts().into_iter().map(|part| match part {
        Part::Text(text) => format!("\n{text}\n"),
        Part::Wrong { mode: None, program } => block("Wrong:", program),
        Part::Wrong { mode: Some(mode), program } => block(&format!("Wrong with `--mode {mode}`:"), program),
        Part::File { name, content } => block(&format!("The file {name}:"), content),
        Part::Right { program } => block("Right:", program),
    });
    std::iter::once(format!("{}: {}\n", page.code, page.title)).chain(parts).collect()
}

fn block(heading: &str, lines: &str) -> String {
    let indented = lines.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
    format!("\n{heading}\n\n{}", indented.collect::<String>())
}

fn unknown(code: &str) -> Diagnostic {
    let nowhere = Span { file: FileId::NOWHERE, start: 0, end: 0 };
    let fault = Diagnostic::error("E0003", format!("there is no code `{code}`"), nowhere);
    match pages::nearest_code(code, "") {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("`scl explain` lists all codes"),
    }
}
