//! Warnings of the two rules of precedence that give another number than most people expect: `-x**2` and `10-1+2 j`.

use super::faults;
use crate::diagnostic::Diagnostic;
use crate::syntax::ast::{AddOp, Expr, ExprKind, Number, Sign};

/// What is surprising about an expression, its parts aside; parentheses say that it is meant.
pub(super) fn surprise(expr: &Expr) -> Option<Diagnostic> {
    match &expr.kind {
        ExprKind::Power(base, exponent) => signed_base(base, exponent).or_else(|| complex_operand([base.as_ref(), exponent])),
        ExprKind::Product(first, rest) => complex_operand([first.as_ref()].into_iter().chain(rest.iter().map(|(_, factor)| factor))),
        ExprKind::Sum(_, rest) => complex_operand(rest.iter().filter(|(op, _)| *op == AddOp::Subtract).map(|(_, term)| term)),
        _ => None,
    }
}

/// `-x**2`; an odd exponent gives the same either way.
fn signed_base(base: &Expr, exponent: &Expr) -> Option<Diagnostic> {
    let signed = matches!(base.kind, ExprKind::Sign(Sign::Minus, _));
    (signed && !is_odd(exponent)).then(|| faults::sign_before_power(base.span))
}

fn is_odd(exponent: &Expr) -> bool {
    match &exponent.kind {
        ExprKind::Number { number: Number::Int(digits), .. } => digits.ends_with(['1', '3', '5', '7', '9']),
        ExprKind::Sign(_, operand) => is_odd(operand),
        _ => false,
    }
}

/// `10-1+2 j`, `2*1+2 j`
fn complex_operand<'e>(operands: impl IntoIterator<Item = &'e Expr>) -> Option<Diagnostic> {
    let is_complex = |expr: &&Expr| matches!(expr.kind, ExprKind::Number { number: Number::Complex { real, .. }, .. } if real != 0.0);
    operands.into_iter().find(is_complex).map(|number| faults::complex_operand(number.span))
}
