//! From values to the bare numbers that functions compute with, and back.

use super::fault;
use crate::diagnostic::Fault;
use crate::ops::convert::{conversion, convert_number};
use crate::units::Unit;
use crate::value::{Number, Quantity, Value};

/// A scalar number with its unit. A boolean counts as 0 or 1 and `null` as a missing number without unit.
pub(super) fn quantity(value: &Value) -> Result<Quantity, Fault> {
    match value {
        Value::Quantity(quantity) => Ok(quantity.clone()),
        Value::Bool(flag) => Ok(Quantity { number: Number::Int(i128::from(*flag)), unit: Unit::NONE }),
        Value::Null => Ok(Quantity { number: Number::Null, unit: Unit::NONE }),
        Value::Str(_) | Value::Tuple(_) | Value::Dict(_) | Value::Series(_) | Value::Table(_) | Value::Array(_) | Value::Function(_) => {
            Err(fault::wrong_type("a number", value.type_name()))
        }
    }
}

/// A number without unit as a value.
pub(super) fn plain(number: impl Into<Number>) -> Value {
    Value::Quantity(Quantity { number: number.into(), unit: Unit::NONE })
}

/// A real number as a double; uncertain and complex numbers are of a wrong type.
pub(super) fn real(number: &Number) -> Result<f64, Fault> {
    match number {
        Number::Int(int) => Ok(*int as f64),
        Number::Float(float) => Ok(*float),
        Number::Null | Number::Complex(_) | Number::Uncertain(_) => Err(fault::wrong_type("a real number", number_name(number))),
    }
}

/// A whole number, also one that is written as a float (`4.0`).
pub(super) fn integer(number: &Number) -> Result<i128, Fault> {
    match number {
        Number::Int(int) => Ok(*int),
        // Below 2^127 the cast is exact, and a whole double is what a conversion of units makes of an integer.
        Number::Float(float) if float.fract() == 0.0 && float.abs() < i128::MAX as f64 => Ok(*float as i128),
        Number::Float(_) | Number::Null | Number::Complex(_) | Number::Uncertain(_) => {
            Err(fault::wrong_type("an integer", number_name(number)))
        }
    }
}

/// A double without fractional part as an integer; `None` when it is too large or not finite.
pub(super) fn whole(float: f64) -> Option<i128> {
    (float.abs() < i128::MAX as f64).then_some(float as i128)
}

/// The name of a kind of number as users know it.
pub(super) fn number_name(number: &Number) -> &'static str {
    match number {
        Number::Null => "null",
        Number::Int(_) => "an integer",
        Number::Float(_) => "a float",
        Number::Complex(_) => "a complex number",
        Number::Uncertain(_) => "an uncertain number",
    }
}

/// A number in another unit; unchanged, also in kind, when the units are the same.
pub(super) fn convert(number: &Number, from: Unit, to: Unit) -> Result<Number, Fault> {
    convert_number(number, &conversion(from, to)?)
}

/// The only argument as a plain real number; `None` when it is missing.
pub(super) fn plain_real(arg: &Value) -> Result<Option<f64>, Fault> {
    let arg = quantity(arg)?;
    match convert(&arg.number, arg.unit, Unit::NONE)? {
        Number::Null => Ok(None),
        number => real(&number).map(Some),
    }
}

/// What orders a number among others: the nominal value of an uncertain one; complex numbers have no order.
pub(super) fn comparable(number: &Number) -> Result<f64, Fault> {
    match number {
        Number::Uncertain(uncertain) => Ok(uncertain.nominal),
        Number::Null | Number::Int(_) | Number::Float(_) | Number::Complex(_) => real(number),
    }
}
