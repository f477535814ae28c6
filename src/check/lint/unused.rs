//! Variables that nothing needs.

use std::collections::BTreeSet;

use super::{exprs, warnings};
use crate::diagnostic::Diagnostic;
use crate::model::{ExprKind, Model, Variable};
use crate::source::{FileId, Span};

/// Variables to which nothing refers. What is used only by one of them is not said, as it may be needed once that is used.
///
/// A program without any output gets one warning instead of many; if it has functions it may be there to be imported, and gets none.
/// A name that begins with `_` is meant to be unused; one of which something else was said, such as that its dimensions are wrong, is
/// known to the user already.
pub fn variables(model: &Model, said: &[Diagnostic]) -> Vec<Diagnostic> {
    if model.outputs.is_empty() {
        let last = model.variables.last().filter(|_| model.functions.is_empty());
        let has_jobs = model.variables.iter().any(|variable| variable.request.is_some());
        return last.map(|variable| warnings::no_output(variable.name_span, has_jobs)).into_iter().collect();
    }
    let mut used = vec![false; model.variables.len()];
    exprs(model).for_each(|expr| {
        expr.visit(&mut |expr| {
            if let ExprKind::Variable(id) = expr.kind {
                used[id.index()] = true;
            }
        });
    });
    let places: BTreeSet<(FileId, u32)> =
        said.iter().flat_map(|diagnostic| &diagnostic.labels).map(|label| (label.span.file, label.span.start)).collect();
    let is_known = |span: Span| places.range((span.file, span.start)..(span.file, span.end)).next().is_some();
    let is_meant = |variable: &Variable| variable.name.starts_with('_') || is_known(variable.span);
    let unused = model.variables.iter().zip(used).filter(|(variable, used)| !used && !is_meant(variable));
    unused.map(|(variable, _)| warnings::unused_variable(variable)).collect()
}
