//! Types of arithmetic and comparisons: kinds of numbers, units and dimensions.

use super::{Checker, Scope};
use crate::check::faults;
use crate::check::faults::dimensions::Side;
use crate::model::{Comparison, Expr, ExprKind, NumberType, ProductOp, SumOp, Type, UnitType};
use crate::ops;
use crate::source::Span;
use crate::units::Unit;
use crate::value::{Number, Value};

impl Checker<'_> {
    /// An operand that must be a number.
    pub(super) fn number(&mut self, operand: &Expr, ty: &Type, operation: &str) -> Type {
        match ty {
            Type::Number { .. } => ty.clone(),
            Type::Any | Type::Native(_) => Type::Number { kind: NumberType::Number, unit: ty.unit().loosened() },
            _ => {
                self.say(faults::operand_help(faults::operand(operand.span, operation, "a number", ty), ty));
                Type::number(NumberType::Number)
            }
        }
    }

    /// Integers stay integers when all units are known and the same; otherwise a conversion may make floats of them.
    pub(super) fn sum(&mut self, first: &Expr, rest: &[(SumOp, Expr)], scope: &Scope) -> Type {
        let ty = self.infer(first, scope);
        let mut total = Total { ty: self.number(first, &ty, "`+` or `-`"), first, giver: first, is_sound: true };
        for (op, term) in rest {
            let ty = self.infer(term, scope);
            let ty = self.number(term, &ty, "`+` or `-`");
            self.add(&mut total, *op, term, &ty, scope);
        }
        total.ty
    }

    /// Adds a term; says when it has another dimension than those before it, once in a sum.
    pub(super) fn add<'e>(&mut self, total: &mut Total<'e>, op: SumOp, term: &'e Expr, ty: &Type, scope: &Scope) {
        if !total.is_sound {
            total.ty = add(&total.ty, ty).with_unit(UnitType::Any);
            return;
        }
        if let Some(sides) = self.conflict((total.giver, &total.ty), (term, ty), scope) {
            self.say_of_dimensions(faults::dimensions::sum(op, sides));
            total.is_sound = false;
            total.ty = add(&total.ty, ty).with_unit(UnitType::Any);
            return;
        }
        if let (Some(left), Some(right)) = (total.ty.unit().exact(), ty.unit().exact())
            && (left != right || left.has_affine())
            && let Err(fault) = ops::quantity::sum_units(left, right, op == SumOp::Subtract)
        {
            self.say_of_dimensions(fault.at(total.first.span.to(term.span)));
        }
        if total.ty.unit().known().is_none() {
            total.giver = term;
        }
        total.ty = add(&total.ty, ty);
    }

    pub(super) fn product(&mut self, first: &Expr, rest: &[(ProductOp, Expr)], scope: &Scope) -> Type {
        let ty = self.infer(first, scope);
        let mut total = self.number(first, &ty, "`*` or `/`");
        for (op, factor) in rest {
            let ty = self.infer(factor, scope);
            let ty = self.number(factor, &ty, "`*` or `/`");
            total = multiply(&total, *op, &ty);
        }
        total
    }

    pub(super) fn power(&mut self, base: &Expr, exponent: &Expr, scope: &Scope) -> Type {
        let ty = self.infer(base, scope);
        let base_ty = self.number(base, &ty, "`**`");
        let ty = self.infer(exponent, scope);
        let exponent_ty = self.number(exponent, &ty, "`**`");
        if let Some((_, unit)) = UnitType::NONE.conflict(exponent_ty.unit()) {
            let side = self.side(exponent, unit, scope);
            self.say_of_dimensions(faults::dimensions::exponent(side));
        }
        let value = constant(exponent);
        let unit = match value {
            Some(value) => base_ty.unit().power(value),
            None if UnitType::NONE.conflict(base_ty.unit()).is_none() => base_ty.unit().loosened(),
            None => UnitType::Any,
        };
        let is_whole = matches!(exponent_ty, Type::Number { kind: NumberType::Integer, .. }) && value.is_none_or(|value| value >= 0.0);
        match (&base_ty, &exponent_ty) {
            (Type::Number { kind: NumberType::Integer, unit: UnitType::Exact(base) }, _) if is_whole => {
                Type::Number { kind: NumberType::Integer, unit: if base.is_none() { UnitType::NONE } else { unit } }
            }
            (Type::Number { kind: left, .. }, Type::Number { kind: right, .. }) => {
                Type::Number { kind: (*left).max(*right).max(NumberType::Float), unit }
            }
            _ => Type::Number { kind: NumberType::Number, unit },
        }
    }

    pub(super) fn comparison(&mut self, span: Span, op: Comparison, left: &Expr, right: &Expr, scope: &Scope) -> Type {
        let (left_ty, right_ty) = (self.infer(left, scope), self.infer(right, scope));
        for (operand, ty) in [(left, &left_ty), (right, &right_ty)] {
            if !matches!(ty, Type::Any | Type::Native(_) | Type::Bool | Type::Str | Type::Number { .. }) {
                self.say(faults::comparison_type(operand.span, ty));
                return Type::Bool;
            }
        }
        let mismatch = !left_ty.is_any() && !right_ty.is_any() && left_ty.name() != right_ty.name();
        if mismatch {
            self.say(faults::comparison_mismatch(span, (left.span, &left_ty), (right.span, &right_ty)));
        } else if op.is_equality() {
            if let Some(sides) = self.conflict((left, &left_ty), (right, &right_ty), scope) {
                self.say(faults::dimensions::equality(op, sides));
            }
        } else {
            let unordered = |ty: &&Type| matches!(ty, Type::Bool | Type::Str | Type::Number { kind: NumberType::Complex, .. });
            if let Some(ty) = [&left_ty, &right_ty].into_iter().find(unordered) {
                self.say(faults::comparison_order(span, op, ty));
            } else if let Some(sides) = self.conflict((left, &left_ty), (right, &right_ty), scope) {
                self.say_of_dimensions(faults::dimensions::comparison(op, sides));
            }
        }
        Type::Bool
    }

    /// Both sides, when it is certain that their dimensions differ.
    pub(super) fn conflict(&self, left: (&Expr, &Type), right: (&Expr, &Type), scope: &Scope) -> Option<[Side; 2]> {
        let (first, second) = left.1.unit().conflict(right.1.unit())?;
        Some([self.side(left.0, first, scope), self.side(right.0, second, scope)])
    }

    pub(super) fn side(&self, expr: &Expr, unit: Unit, scope: &Scope) -> Side {
        Side { span: expr.span, unit, origin: self.origin(expr, scope) }
    }
}

/// A sum so far.
pub(super) struct Total<'e> {
    pub(super) ty: Type,
    pub(super) first: &'e Expr,
    /// The first term of which the unit is known.
    pub(super) giver: &'e Expr,
    /// Whether all terms have one dimension, as far as is known.
    pub(super) is_sound: bool,
}

/// The value of a literal number.
pub(super) fn constant(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Literal(Value::Quantity(quantity)) if quantity.unit.is_none() => match quantity.number {
            Number::Int(value) => Some(value as f64),
            Number::Float(value) => Some(value),
            Number::Null | Number::Complex(_) | Number::Uncertain(_) => None,
        },
        _ => None,
    }
}

/// The type of a sum whose terms have no known conflict of dimensions.
fn add(left: &Type, right: &Type) -> Type {
    let (Type::Number { kind: a, unit: u }, Type::Number { kind: b, unit: v }) = (left, right) else {
        return Type::number(NumberType::Number);
    };
    let kind = (*a).max(*b);
    let same = u.exact().is_some() && u == v;
    let unit = match (u.exact(), u.known(), v.known()) {
        (Some(unit), ..) if !unit.has_affine() && unit.is_delta().is_none() => *u,
        (_, Some(unit), _) | (_, None, Some(unit)) => UnitType::Like(if unit.has_affine() { unit.root() } else { unit }),
        (_, None, None) => UnitType::Any,
    };
    match kind {
        NumberType::Integer if !same => Type::Number { kind: NumberType::Float, unit },
        NumberType::Integer | NumberType::Float | NumberType::Complex | NumberType::Number => Type::Number { kind, unit },
    }
}

fn multiply(left: &Type, op: ProductOp, right: &Type) -> Type {
    let (Type::Number { kind: a, unit: u }, Type::Number { kind: b, unit: v }) = (left, right) else {
        return Type::number(NumberType::Number);
    };
    let kind = (*a).max(*b);
    let unit = match op {
        ProductOp::Multiply => u.multiply(*v),
        ProductOp::Divide => u.divide(*v),
    };
    let same = u.exact().is_some() && u == v;
    match (kind, op) {
        (NumberType::Integer, ProductOp::Multiply) if same => Type::Number { kind, unit },
        (NumberType::Integer, _) => Type::Number { kind: NumberType::Float, unit },
        (NumberType::Float | NumberType::Complex | NumberType::Number, _) => Type::Number { kind, unit },
    }
}
