//! Units converted by hand: `x * 1000 [m/km]`.

use super::{exprs, warnings};
use crate::diagnostic::Diagnostic;
use crate::model::{Expr, ExprKind, Model};
use crate::units::Unit;
use crate::value::{Number, Quantity, Value};

/// A factor written by hand is seldom more exact.
const TOLERANCE: f64 = 1e-4;

/// Warns of factors that are one: with them a value stays the same, only written in other units.
pub fn by_hand(model: &Model) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    exprs(model).for_each(|expr| {
        expr.visit(&mut |part| {
            if let ExprKind::Product(first, rest) = &part.kind {
                let factors = std::iter::once(first.as_ref()).chain(rest.iter().map(|(_, factor)| factor));
                warnings.extend(factors.filter(|factor| is_one(factor)).map(|factor| warnings::factor_of_one(factor.span)));
            }
        });
    });
    warnings
}

/// Whether it is a literal ratio of units of one dimension, and equal to one, as `60 [s/min]`.
fn is_one(expr: &Expr) -> bool {
    let ExprKind::Literal(Value::Quantity(Quantity { number, unit })) = &expr.kind else { return false };
    let number = match number {
        Number::Int(int) => *int as f64,
        Number::Float(float) => *float,
        Number::Null | Number::Complex(_) | Number::Uncertain(_) => return false,
    };
    is_ratio(*unit) && (number * unit.root_factor() - 1.0).abs() < TOLERANCE
}

fn is_ratio(unit: Unit) -> bool {
    let factors = unit.factors();
    let has = |sign: f64| factors.iter().any(|(_, exponent)| exponent * sign > 0.0);
    unit.is_dimensionless() && has(1.0) && has(-1.0)
}
