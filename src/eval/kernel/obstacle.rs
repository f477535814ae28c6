//! What a lambda has in it that has no column form, as far as that can be seen without values.

use super::compile::uses;
use crate::builtin::{self, ResultKind};
use crate::diagnostic::Diagnostic;
use crate::model::{Callee, Child, Expr, ExprKind, Function, Model, Set};
use crate::source::Span;

/// No more expressions than this are looked at for one function: calls inside calls may be many.
const MOST_EXPRESSIONS: u32 = 10_000;

/// A warning for each map, filter and reduce that is computed row by row, in the order of the text. Others may be too, when the kinds
/// or units of their results depend on the data.
pub fn obstacles(model: &Model) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let functions = &model.functions;
    let bodies = functions.iter().map(|function| &function.body);
    let outputs = model.outputs.iter().flat_map(|output| output.exprs());
    for expr in model.variables.iter().map(|variable| &variable.expr).chain(outputs).chain(bodies) {
        expr.visit(&mut |expr| {
            let (what, function) = match &expr.kind {
                ExprKind::Map { function, .. } => ("map", function),
                ExprKind::Filter { function, .. } => ("filter", function),
                ExprKind::Reduce { function, .. } => ("reduce", function),
                _ => return,
            };
            if let Some((span, obstacle)) = of_callee(function, functions) {
                found.push(warning(what, function.span(), span, &obstacle));
            }
        });
    }
    found.sort_by_key(|warning| (warning.span().file, warning.span().start));
    found
}

fn warning(what: &str, function: Span, obstacle: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0447", format!("this {what} is computed row by row, which takes about a hundred times longer"), function)
        .label(obstacle, format!("{name} has no form for whole columns"))
        .help("compute it outside of the function if it is the same for all rows, or with numbers, truth values and strings only")
}

fn of_callee(function: &Callee, functions: &[Function]) -> Option<(Span, String)> {
    let mut left = MOST_EXPRESSIONS;
    match function {
        Callee::Lambda { body, parameters, .. } => of_expr(body, &vec![true; parameters.len()], functions, &mut left),
        Callee::Function(id, _) => {
            let function = functions.get(id.index())?;
            of_expr(&function.body, &vec![true; function.parameters.len()], functions, &mut left)
        }
        Callee::Native(name, span) => of_native(&name.module, &name.name, *span),
    }
}

/// `varies` tells which parameters in sight differ from row to row.
fn of_expr(expr: &Expr, varies: &[bool], functions: &[Function], left: &mut u32) -> Option<(Span, String)> {
    let depends = |expr: &Expr| {
        let mut used = vec![false; varies.len()];
        uses(expr, 0, &mut used);
        used.iter().zip(varies).any(|(used, varies)| *used && *varies)
    };
    *left = left.checked_sub(1)?;
    let name = match &expr.kind {
        ExprKind::Uncertain { .. } => Some("an uncertain number"),
        ExprKind::Tuple(_) => Some("a tuple"),
        ExprKind::Series { .. } => Some("a series that is made for each row"),
        ExprKind::Table(_) => Some("a table that is made for each row"),
        ExprKind::Index(..) | ExprKind::Slice(..) => Some("an index"),
        ExprKind::Property(..) => Some("a property"),
        ExprKind::Range { .. } => Some("a range that is made for each row"),
        ExprKind::Source { .. } => Some("a file that is read for each row"),
        ExprKind::Map { .. } | ExprKind::Filter { .. } | ExprKind::Reduce { .. } => Some("a map, filter or reduce within a function"),
        ExprKind::Info { .. } => Some("`info`"),
        ExprKind::Query { .. } => Some("a query within a function"),
        ExprKind::In(_, set) => match &**set {
            Set::Series(series) if depends(series) => return Some((series.span, "a series that is made for each row".to_owned())),
            Set::Values(values) => {
                let value = values.iter().find(|value| depends(value));
                if let Some(value) = value {
                    return Some((value.span, "a member of a list that differs from row to row".to_owned()));
                }
                None
            }
            Set::Series(_) => None,
        },
        _ => None,
    };
    if let Some(name) = name {
        let always = matches!(expr.kind, ExprKind::Uncertain { .. });
        return (always || depends(expr)).then(|| (expr.span, name.to_owned()));
    }
    match &expr.kind {
        ExprKind::Native(name, _) => {
            if let Some(found) = of_native(&name.module, &name.name, expr.span).filter(|_| depends(expr)) {
                return Some(found);
            }
        }
        ExprKind::Call(id, arguments) => {
            let varies: Vec<bool> = arguments.iter().map(depends).collect();
            let function = functions.get(id.index())?;
            if let Some(found) = of_expr(&function.body, &varies, functions, left) {
                return Some(found);
            }
        }
        _ => {}
    }
    let mut found = None;
    expr.children(&mut |child| {
        if let (None, Child::Expr(part)) = (&found, child) {
            found = of_expr(part, varies, functions, left);
        }
    });
    found
}

fn of_native(module: &str, name: &str, span: Span) -> Option<(Span, String)> {
    let native = builtin::native(module, name)?;
    matches!(native.result, ResultKind::Tuple | ResultKind::String).then(|| (span, format!("the result of `{name}`")))
}
