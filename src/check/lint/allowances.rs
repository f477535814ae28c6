//! `# allow(…)`: what it silences, and codes in it that it cannot silence.

use std::collections::HashMap;

use super::warnings;
use crate::diagnostic::{Diagnostic, Severity, pages};
use crate::source::Span;
use crate::syntax::ast::Ast;

/// Takes away the warnings that a comment allows.
pub fn silence(ast: &Ast, diagnostics: &mut Vec<Diagnostic>) {
    let mut allowed: HashMap<String, Vec<Span>> = HashMap::new();
    for allowance in &ast.allowances {
        for code in &allowance.codes {
            let spans = allowed.entry(code.node.to_ascii_uppercase()).or_default();
            if spans.last() != Some(&allowance.within) {
                spans.push(allowance.within);
            }
        }
    }
    diagnostics.retain(|diagnostic| {
        let spans = allowed.get(&diagnostic.code).filter(|_| diagnostic.severity == Severity::Warning);
        !spans.is_some_and(|spans| is_within(diagnostic.span(), spans))
    });
}

/// Whether one of the spans, which are in the order of the text, contains the place.
fn is_within(place: Span, spans: &[Span]) -> bool {
    let next = spans.partition_point(|span| span.end < place.end);
    spans.get(next).is_some_and(|span| span.file == place.file && span.start <= place.start)
}

/// Codes that do not exist, and those of errors.
pub fn faulty(ast: &Ast) -> Vec<Diagnostic> {
    let codes = ast.allowances.iter().flat_map(|allowance| &allowance.codes);
    let faults = codes.filter_map(|code| match pages::page(&code.node) {
        Some(page) if page.code.starts_with('W') => None,
        found => Some(warnings::not_allowed(code, found.is_some(), pages::nearest_code(&code.node, "W"))),
    });
    faults.collect()
}
