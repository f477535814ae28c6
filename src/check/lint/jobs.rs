//! Annotations that waste the time of people or machines: jobs with nothing to do, and jobs that should be two.

use super::warnings;
use crate::check::cycles::{self, Node};
use crate::diagnostic::Diagnostic;
use crate::model::{Child, Expr, ExprKind, Model, Type, Variable};
use crate::source::Span;

/// Warns of both.
pub fn wasted(model: &Model) -> Vec<Diagnostic> {
    let annotated = || model.variables.iter().filter_map(|variable| Some((variable, variable.request.as_ref()?.span)));
    if annotated().next().is_none() {
        return Vec::new();
    }
    let heavy = heavy_functions(model);
    let warning = |(variable, request): (&Variable, Span)| {
        if is_trivial(&variable.expr) {
            return Some(warnings::trivial_job(variable, request));
        }
        let mut calls = Vec::new();
        collect_heavy(&variable.expr, model, &heavy, &mut calls);
        match calls.as_slice() {
            [first, second, ..] => Some(warnings::two_heavy_calls(first.span, second.span, request)),
            _ => None,
        }
    };
    annotated().filter_map(warning).collect()
}

/// Whether it is made of literals, names and scalar operators only.
fn is_trivial(expr: &Expr) -> bool {
    let mut trivial = true;
    expr.visit(&mut |part| trivial &= !calls_or_iterates(part));
    trivial
}

fn calls_or_iterates(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(..)
        | ExprKind::Native(..)
        | ExprKind::Map { .. }
        | ExprKind::Filter { .. }
        | ExprKind::Reduce { .. }
        | ExprKind::Aggregate(..)
        | ExprKind::Range { .. }
        | ExprKind::Source { .. }
        | ExprKind::Query { .. } => true,
        ExprKind::Literal(_)
        | ExprKind::Uncertain { .. }
        | ExprKind::Variable(_)
        | ExprKind::Local { .. }
        | ExprKind::Negate(_)
        | ExprKind::Plus(_)
        | ExprKind::Sum(..)
        | ExprKind::Product(..)
        | ExprKind::Power(..)
        | ExprKind::Compare(..)
        | ExprKind::In(..)
        | ExprKind::Not(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::If(..)
        | ExprKind::Tuple(_)
        | ExprKind::Dict(_)
        | ExprKind::Series { .. }
        | ExprKind::Table(_)
        | ExprKind::Key(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Property(..)
        | ExprKind::Part(..)
        | ExprKind::Info { .. } => false,
    }
}

/// Which functions go through series or tables, by themselves or by what they call.
fn heavy_functions(model: &Model) -> Vec<bool> {
    let mut heavy = vec![false; model.functions.len()];
    for node in cycles::order(model).0.unwrap_or_default() {
        let Node::Function(id) = node else { continue };
        let mut found = false;
        model.functions[id.index()].body.visit(&mut |part| found |= iterates(part) || is_call_of(part, &heavy));
        heavy[id.index()] = found;
    }
    heavy
}

fn iterates(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Map { .. } | ExprKind::Filter { .. } | ExprKind::Reduce { .. })
}

fn is_call_of(expr: &Expr, functions: &[bool]) -> bool {
    matches!(expr.kind, ExprKind::Call(id, _) if functions[id.index()])
}

/// The calls that may take long, the outer before the inner. What a lambda does is part of the call that it is given to.
fn collect_heavy<'a>(expr: &'a Expr, model: &Model, functions: &[bool], found: &mut Vec<&'a Expr>) {
    let over_collection = matches!(&expr.kind, ExprKind::Call(_, arguments) if arguments.iter().any(|arg| is_collection(arg, model)));
    if iterates(expr) || is_call_of(expr, functions) || over_collection {
        found.push(expr);
    }
    expr.children(&mut |child| match child {
        Child::Expr(inner) => collect_heavy(inner, model, functions, found),
        Child::Lambda(_) | Child::Function(..) | Child::Native(_) => {}
    });
}

/// Whether it is surely a series, table or array.
fn is_collection(expr: &Expr, model: &Model) -> bool {
    match &expr.kind {
        ExprKind::Variable(id) => matches!(model.variables[id.index()].ty, Type::Series { .. } | Type::Table { .. } | Type::Array { .. }),
        ExprKind::Series { .. } | ExprKind::Table(_) | ExprKind::Range { .. } | ExprKind::Query { .. } => true,
        _ => iterates(expr),
    }
}
