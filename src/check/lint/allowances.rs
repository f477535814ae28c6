//! `# allow(…)`: what it silences, and codes in it that it cannot silence.

use std::collections::HashMap;
use std::sync::Arc;

use super::warnings;
use crate::diagnostic::pages::{self, Page};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Span, Spanned};
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

/// For so many codes another is suggested; who has more is not helped by suggestions, which take their time.
const SUGGESTIONS: usize = 100;

/// Codes that do not exist, and those of errors.
pub fn faulty(ast: &Ast) -> Vec<Diagnostic> {
    let codes = ast.allowances.iter().flat_map(|allowance| &allowance.codes);
    let known = codes.map(|code| (code, pages::page(&code.node)));
    let faulty = known.filter(|(_, page)| !page.is_some_and(|page| page.code.starts_with('W')));
    let warning = |(at, (code, page)): (usize, (&Spanned<Arc<str>>, Option<Page>))| {
        let nearest = if at < SUGGESTIONS { pages::nearest_code(&code.node, "W") } else { None };
        warnings::not_allowed(code, page.is_some(), nearest)
    };
    faulty.enumerate().map(warning).collect()
}
