//! Variables that nothing needs.

use super::{exprs, warnings};
use crate::diagnostic::Diagnostic;
use crate::model::{ExprKind, Model};

/// Variables to which nothing refers. What is used only by one of them is not said, as it may be needed once that is used.
///
/// A program without any output gets one warning instead of many; if it has functions it may be there to be imported, and gets none.
/// A name that begins with `_` is meant to be unused.
pub fn variables(model: &Model) -> Vec<Diagnostic> {
    if model.outputs.is_empty() {
        let last = model.variables.last().filter(|_| model.functions.is_empty());
        return last.map(|variable| warnings::no_output(variable.name_span)).into_iter().collect();
    }
    let mut used = vec![false; model.variables.len()];
    exprs(model).for_each(|expr| {
        expr.visit(&mut |expr| {
            if let ExprKind::Variable(id) = expr.kind {
                used[id.index()] = true;
            }
        });
    });
    let unused = model.variables.iter().zip(used).filter(|(variable, used)| !used && !variable.name.starts_with('_'));
    unused.map(|(variable, _)| warnings::unused_variable(variable)).collect()
}
