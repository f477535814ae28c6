//! One fault, one diagnostic.
//!
//! Each sound program of the golden folders is broken at one place after another: a name becomes one that nobody knows, a unit too.
//! However often the broken thing is used from there on, exactly one diagnostic may say so.

use std::path::Path;

use libtest_mimic::{Failed, Trial};
use scl::check::{self, Extent, Mode};
use scl::diagnostic::{Diagnostic, Severity, has_errors};
use scl::source::SourceMap;
use scl::syntax;
use scl::syntax::layout::layout;
use scl::syntax::token::Token;

use crate::golden;

/// One test for each sound program.
pub fn trials() -> Vec<Trial> {
    let folders = ["tests/run", "tests/runs-here", "tests/graph", "examples"];
    folders.into_iter().flat_map(|folder| golden::each("cascades", folder, once)).collect()
}

/// What stands in place of a name, a key, a unit.
const UNKNOWN: &str = "zq_nowhere";

fn once(path: &Path, text: &str) -> Result<(), Failed> {
    if has_errors(&diagnostics(text)) {
        return Ok(());
    }
    let names = layout(text).tokens.into_iter().filter(|lexeme| lexeme.token == Token::Name);
    for name in names {
        let (start, end) = (name.start as usize, name.end as usize);
        let broken = format!("{}{UNKNOWN}{}", &text[..start], &text[end..]);
        let found = diagnostics(&broken);
        let errors: Vec<&Diagnostic> = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
        // where the name was defined there are as many faults as uses, each saying the name that is gone
        let gone = format!("unknown name `{0}`|unknown function `{0}`|column `{0}`|key `{0}`|column \"{0}\"", &text[start..end]);
        let is_definition = errors.iter().any(|error| gone.split('|').any(|gone| error.message.contains(gone)));
        if errors.len() > 1 && !is_definition {
            let all: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.code, error.message)).collect();
            return Err(format!("{}: {} diagnostics of one fault\n{}\n{broken}", path.display(), errors.len(), all.join("\n")).into());
        }
    }
    Ok(())
}

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let file = SourceMap::new().add("m.scl", text);
    let (ast, faults) = syntax::parse(file, text);
    if has_errors(&faults) { faults } else { check::check(&ast, Mode::Workflow, Extent::Outputs).1 }
}
