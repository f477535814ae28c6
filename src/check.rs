//! From tree to model: names are resolved, units and requests understood, types inferred; every fault is found that can be found
//! without evaluating anything.
//!
//! The order: names are collected ([`names`]), statements lowered to the model's trees ([`lower`]), cycles refused ([`cycles`]),
//! then types inferred in the order of dependence ([`types`]). Where a part is faulty its type is unknown, so that one fault gives
//! one diagnostic. Of a whole program without errors it is also said what is hardly meant (`lint`).

use crate::diagnostic::{Diagnostic, has_errors};
use crate::model::Model;
use crate::source::FileId;
use crate::syntax::ast::Ast;

mod annotations;
mod cycles;
mod faults;
mod lint;
mod lower;
mod names;
mod types;

/// How a program is going to be evaluated; a few rules depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Locally, expression by expression.
    Instant,
    /// Locally, after everything was checked.
    Deferred,
    /// As a graph of tasks, annotated ones as jobs.
    Workflow,
}

/// What is going to be computed; where nothing is, wrong dimensions are only warned of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What outputs need.
    Outputs,
    /// That, and all variables that this text defines.
    Text(FileId),
    /// Everything.
    All,
}

/// Checks a program, or what there is of it so far. Without errors among the diagnostics the model is complete; otherwise it must not
/// be run.
pub fn check(ast: &Ast, mode: Mode, extent: Extent) -> (Model, Vec<Diagnostic>) {
    let (_, model, diagnostics) = checked(ast, mode, extent);
    (model, diagnostics)
}

/// Checks a whole program. One without errors is also warned of what is hardly meant, such as a variable that nothing uses.
pub fn check_and_lint(ast: &Ast, mode: Mode, extent: Extent) -> (Model, Vec<Diagnostic>) {
    let (names, model, mut diagnostics) = checked(ast, mode, extent);
    if !has_errors(&diagnostics) {
        let more = lint::lint(ast, &names, &model, extent, &diagnostics);
        diagnostics.extend(more);
        tidy(ast, &mut diagnostics);
    }
    (model, diagnostics)
}

fn checked(ast: &Ast, mode: Mode, extent: Extent) -> (names::Names, Model, Vec<Diagnostic>) {
    let (names, mut diagnostics) = names::collect(ast, mode);
    let (mut model, faults) = lower::lower(ast, &names, mode);
    diagnostics.extend(faults);
    let (order, faults) = cycles::order(&model);
    diagnostics.extend(faults);
    if let Some(order) = order {
        diagnostics.extend(types::infer(&mut model, &order, mode, extent));
    }
    debug_assert!(has_errors(&diagnostics) || model.variables.len() == names.variables.len());
    tidy(ast, &mut diagnostics);
    (names, model, diagnostics)
}

/// Leaves what no comment allows, in the order of the text.
fn tidy(ast: &Ast, diagnostics: &mut Vec<Diagnostic>) {
    lint::silence(ast, diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span().file, diagnostic.span().start));
}
