//! Warnings of what is sound and yet hardly meant: a rule a file, the words of all in [`warnings`].
//!
//! Two rules of precedence ([`lower`](super::lower)) and what has no effect are said wherever a program is checked; the rules here
//! only of a whole program, as a session goes on and may use tomorrow what it does not use today.

use crate::check::Extent;
use crate::check::names::Names;
use crate::diagnostic::Diagnostic;
use crate::model::{Expr, Model, Output};
use crate::syntax::ast::Ast;

mod allowances;
mod conversions;
mod jobs;
mod names;
mod unused;
mod warnings;

pub(super) use allowances::silence;

/// What is suspicious about a program without errors, in the order of the rules.
pub(super) fn lint(ast: &Ast, names: &Names, model: &Model, extent: Extent, said: &[Diagnostic]) -> Vec<Diagnostic> {
    // what is computed because the user asked for everything is not unused
    let unused = if extent == Extent::All { Vec::new() } else { unused::variables(model, said) };
    let rules = [unused, names::imports_and_parameters(ast, names), jobs::wasted(model), conversions::by_hand(model)];
    rules.into_iter().flatten().chain(allowances::faulty(ast)).collect()
}

/// All expressions of a model, each as a whole.
fn exprs(model: &Model) -> impl Iterator<Item = &Expr> {
    let variables = model.variables.iter().map(|variable| &variable.expr);
    let functions = model.functions.iter().map(|function| &function.body);
    variables.chain(functions).chain(model.outputs.iter().flat_map(Output::exprs))
}
