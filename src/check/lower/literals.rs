//! Literals: numbers, units, arrays, series.

use std::mem::discriminant;
use std::sync::Arc;

use num_complex::Complex64;

use super::{Lowerer, UNKNOWN, literal};
use crate::check::faults;
use crate::diagnostic::{At, Diagnostic};
use crate::model::{Expr, ExprKind};
use crate::source::{Span, Spanned};
use crate::syntax::ast::{self, Name, Number as Digits, Sign, UnitBase};
use crate::units::{Unit, UnitError};
use crate::value::{Array, Column, Number, Quantity, Value};

impl<'a> Lowerer<'a> {
    /// A number literal with its sign, its uncertainty and its unit.
    pub(super) fn number(
        &mut self,
        span: Span,
        digits: &Digits,
        uncertainty: Option<&ast::Expr>,
        unit: Option<&ast::UnitExpr>,
        sign: Sign,
    ) -> Expr {
        let unit = unit.map_or(Some(Unit::NONE), |unit| self.unit(unit));
        let number = self.keep(number(span, digits, sign));
        let (Some(unit), Some(number)) = (unit, number) else {
            return Expr { span, kind: UNKNOWN };
        };
        let Some(uncertainty) = uncertainty else {
            return literal(span, Quantity { number, unit });
        };
        let kind = match self.keep(uncertain(span, &number, uncertainty)) {
            Some((nominal, deviation)) => ExprKind::Uncertain { nominal, deviation, unit },
            None => UNKNOWN,
        };
        Expr { span, kind }
    }

    /// A sign belongs to a number that follows it: `-2` is a literal, which matters for `-2**2`.
    pub(super) fn sign(&mut self, span: Span, sign: Sign, operand: &'a ast::Expr) -> Expr {
        if let ast::ExprKind::Number { number, uncertainty, unit } = &operand.kind {
            return self.number(span, number, uncertainty.as_deref(), unit.as_deref(), sign);
        }
        let operand = Box::new(self.expr(operand));
        let kind = match sign {
            Sign::Minus => ExprKind::Negate(operand),
            Sign::Plus => ExprKind::Plus(operand),
        };
        Expr { span, kind }
    }

    /// `(name: …) [unit]`; with a unit all elements are bare.
    pub(super) fn series(&mut self, name: &Name, elements: &'a [ast::Expr], unit: Option<&ast::UnitExpr>) -> ExprKind {
        if let Some(unit) = unit
            && let Some(element) = elements.iter().find(|element| !is_bare(element))
        {
            return self.refuse(faults::unit_of_series_with_units(element.span, unit.span));
        }
        let unit = match unit {
            None => None,
            Some(unit) => match self.unit(unit) {
                Some(unit) => Some(unit),
                None => return UNKNOWN,
            },
        };
        ExprKind::Series { name: name.node.clone(), elements: self.list(elements), unit }
    }

    /// An array literal of bare elements, rectangular and of one type.
    pub(super) fn array(&mut self, span: Span, elements: &[ast::Expr], unit: Option<&ast::UnitExpr>) -> ExprKind {
        if let Some(unit) = unit
            && let Some(element) = elements.iter().find(|element| !is_bare(element))
        {
            return self.refuse(faults::unit_of_no_numbers(element.span, unit.span));
        }
        let unit = match unit.map(|unit| self.unit(unit)) {
            Some(None) => return UNKNOWN,
            Some(Some(unit)) => unit,
            None => Unit::NONE,
        };
        let mut shape = Vec::new();
        let mut flat = Vec::new();
        let array = flatten(elements, 0, &mut shape, &mut flat).and_then(|()| {
            let array = Column::from_values(flat).and_then(|(column, _)| Array::new(shape, column, unit)).at(span);
            array.map_err(|fault| *fault)
        });
        match self.keep(array) {
            Some(array) => ExprKind::Literal(Value::Array(Arc::new(array))),
            None => UNKNOWN,
        }
    }
}

/// Elements in row-major order; each row must have the shape of the first.
fn flatten(elements: &[ast::Expr], depth: usize, shape: &mut Vec<usize>, flat: &mut Vec<Value>) -> Result<(), Diagnostic> {
    match shape.get(depth) {
        None => shape.push(elements.len()),
        Some(len) if *len == elements.len() => {}
        Some(len) => {
            return Err(faults::ragged_array(elements.first().map_or_else(Span::default, |first| first.span), *len, elements.len()));
        }
    }
    for element in elements {
        match &element.kind {
            // single elements came before this row
            ast::ExprKind::Array { .. } if shape.len() == depth + 1 && !flat.is_empty() => return Err(faults::uneven_array(element.span)),
            ast::ExprKind::Array { elements: inner, unit: None } => flatten(inner, depth + 1, shape, flat)?,
            _ if shape.len() != depth + 1 => return Err(faults::uneven_array(element.span)),
            _ => {
                let value = array_element(element)?;
                match flat.first().filter(|first| discriminant(*first) != discriminant(&value)) {
                    Some(first) => return Err(faults::array_types(element.span, first, &value)),
                    None => flat.push(value),
                }
            }
        }
    }
    Ok(())
}

fn array_element(element: &ast::Expr) -> Result<Value, Diagnostic> {
    let bare = |digits: &Digits, sign: Sign| {
        let number = number(element.span, digits, sign)?;
        Ok(Value::Quantity(Quantity { number, unit: Unit::NONE }))
    };
    match &element.kind {
        ast::ExprKind::Number { number, uncertainty: None, unit: None } => bare(number, Sign::Plus),
        ast::ExprKind::Sign(sign, operand) => match &operand.kind {
            ast::ExprKind::Number { number, uncertainty: None, unit: None } => bare(number, *sign),
            _ => Err(faults::array_element(element.span)),
        },
        ast::ExprKind::String(text) => Ok(Value::Str(text.clone())),
        ast::ExprKind::Bool(value) => Ok(Value::Bool(*value)),
        _ => Err(faults::array_element(element.span)),
    }
}

/// A number or null without a unit, or an array of them.
fn is_bare(element: &ast::Expr) -> bool {
    match &element.kind {
        ast::ExprKind::Number { unit, .. } => unit.is_none(),
        ast::ExprKind::Array { elements, unit } => unit.is_none() && elements.iter().all(is_bare),
        ast::ExprKind::Sign(_, operand) => is_bare(operand),
        ast::ExprKind::Null => true,
        _ => false,
    }
}

fn number(span: Span, digits: &Digits, sign: Sign) -> Result<Number, Diagnostic> {
    let negative = sign == Sign::Minus;
    match digits {
        Digits::Int(text) => {
            let value: i128 = text.parse().map_err(|_| faults::integer_too_large(span))?;
            Ok(Number::Int(if negative { -value } else { value }))
        }
        Digits::Float(text) => {
            let value: f64 = text.parse().expect("floats of the lexer are floats of Rust");
            Ok(Number::Float(if negative { -value } else { value }))
        }
        Digits::Complex { real, imaginary } => {
            let value = Complex64::new(*real, *imaginary);
            Ok(Number::Complex(if negative { -value } else { value }))
        }
    }
}

/// Nominal value and standard deviation.
fn uncertain(span: Span, nominal: &Number, deviation: &ast::Expr) -> Result<(f64, f64), Diagnostic> {
    let real = |number: &Number| match number {
        Number::Int(value) => Some(*value as f64),
        Number::Float(value) => Some(*value),
        Number::Null | Number::Complex(_) | Number::Uncertain(_) => None,
    };
    let (digits, sign) = match &deviation.kind {
        ast::ExprKind::Number { number, .. } => (number, Sign::Plus),
        ast::ExprKind::Sign(sign, operand) => match &operand.kind {
            ast::ExprKind::Number { number, .. } => (number, *sign),
            _ => return Err(faults::deviation_kind(deviation.span)),
        },
        _ => return Err(faults::deviation_kind(deviation.span)),
    };
    let nominal = real(nominal).ok_or_else(|| faults::nominal_kind(span))?;
    let deviation_value = real(&number(deviation.span, digits, sign)?).ok_or_else(|| faults::deviation_kind(deviation.span))?;
    if deviation_value < 0.0 {
        return Err(faults::negative_deviation(deviation.span));
    }
    Ok((nominal, deviation_value))
}

/// An index as written, with its sign.
pub(super) fn index(text: &Spanned<Arc<str>>) -> Result<i64, Diagnostic> {
    let digits = text.node.strip_prefix('+').unwrap_or(&text.node);
    digits.parse().map_err(|_| faults::index_too_large(text.span))
}

/// The unit that a unit expression means.
pub(super) fn unit(expr: &ast::UnitExpr) -> Result<Unit, Diagnostic> {
    let mut factors = Vec::with_capacity(expr.factors.len());
    for factor in &expr.factors {
        let exponent = match &factor.exponent {
            None => 1.0,
            Some(text) => {
                text.node.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(|| faults::unit_exponent(text.span))?
            }
        };
        match &factor.base {
            UnitBase::Name(name) => factors.push((name.as_ref(), if factor.divide { -exponent } else { exponent })),
            UnitBase::Number(digits) if is_one(digits) => {}
            UnitBase::Number(_) => return Err(faults::scaled_unit(factor.span)),
        }
    }
    Unit::from_factors(factors).map_err(|error| unit_fault(expr, error))
}

fn is_one(digits: &str) -> bool {
    digits.parse::<f64>().is_ok_and(|value| value == 1.0)
}

fn unit_fault(expr: &ast::UnitExpr, error: UnitError) -> Diagnostic {
    let UnitError::Unknown { name, suggestion } = &error else {
        return faults::unit(expr.span, &error);
    };
    let at = expr.factors.iter().find(|factor| matches!(&factor.base, UnitBase::Name(written) if written.as_ref() == name.as_str()));
    faults::unknown_unit(at.map_or(expr.span, |factor| factor.span), name, suggestion.as_deref())
}
