//! Comparison of scalars.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use super::convert::to_unit;
use super::{fault, number};
use crate::diagnostic::Fault;
use crate::value::{Number, Quantity, Value};

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        })
    }
}

impl Comparison {
    /// Whether it asks for equality only, which all scalars have.
    pub fn is_equality(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::NotEqual)
    }

    /// The operator that gives the same with the operands exchanged.
    pub fn mirrored(self) -> Comparison {
        match self {
            Comparison::Equal | Comparison::NotEqual => self,
            Comparison::Less => Comparison::Greater,
            Comparison::LessEqual => Comparison::GreaterEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterEqual => Comparison::LessEqual,
        }
    }

    /// Whether this order satisfies the operator; no order (a NaN) satisfies only `!=`.
    pub fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Compares two scalars; `None` when one is missing.
///
/// Strings, booleans and complex numbers have only `==` and `!=`. Numbers of different dimensions are unequal and have no order, which
/// is a fault.
pub fn compare(operator: Comparison, left: &Value, right: &Value) -> Result<Option<bool>, Fault> {
    match (left, right) {
        (Value::Quantity(left), Value::Quantity(right)) => compare_quantities(operator, left, right),
        (Value::Null, other) | (other, Value::Null) => comparable(operator, other).map(|()| None),
        (Value::Bool(a), Value::Bool(b)) => equality(operator, "Boolean", a == b),
        (Value::Str(a), Value::Str(b)) => equality(operator, "String", a == b),
        (Value::Quantity(quantity), other) | (other, Value::Quantity(quantity)) if quantity.is_null() && quantity.unit.is_none() => {
            comparable(operator, other).map(|()| None)
        }
        _ => {
            comparable(operator, left)?;
            comparable(operator, right)?;
            Err(fault::mismatch(left, right))
        }
    }
}

/// Whether two values are equal, without any fault: values of different types are not; `None` when one is missing.
pub fn equal(left: &Value, right: &Value) -> Option<bool> {
    if left.is_null() || right.is_null() {
        return None;
    }
    compare(Comparison::Equal, left, right).unwrap_or(Some(false))
}

fn compare_quantities(operator: Comparison, left: &Quantity, right: &Quantity) -> Result<Option<bool>, Fault> {
    if operator.is_equality() {
        let equal = quantities_equal(left, right);
        return Ok(equal.map(|equal| equal == (operator == Comparison::Equal)));
    }
    if let Some(Number::Complex(_)) = [&left.number, &right.number].into_iter().find(|number| matches!(number, Number::Complex(_))) {
        return Err(fault::comparison("Complex Quantity", &operator.to_string()));
    }
    let untyped = |quantity: &Quantity| quantity.is_null() && quantity.unit.is_none();
    if untyped(left) || untyped(right) {
        return Ok(None);
    }
    if left.unit == right.unit {
        return Ok(ordered(operator, &left.number, &right.number));
    }
    if left.unit.dimension() != right.unit.dimension() {
        return Err(fault::dimensions(left.unit, right.unit));
    }
    // As Pint does it, an order is that of the magnitudes in root units, while equality converts left to right.
    let (left, right) = (to_unit(left, left.unit.root())?, to_unit(right, right.unit.root())?);
    Ok(ordered(operator, &left.number, &right.number))
}

fn quantities_equal(left: &Quantity, right: &Quantity) -> Option<bool> {
    if left.is_null() || right.is_null() {
        return None;
    }
    if left.unit == right.unit {
        return number::equal(&left.number, &right.number);
    }
    match to_unit(left, right.unit) {
        Ok(left) => number::equal(&left.number, &right.number),
        Err(_) => Some(false),
    }
}

/// Uncertain numbers are in order by their nominal values, but equal only when they are the same variable.
fn ordered(operator: Comparison, left: &Number, right: &Number) -> Option<bool> {
    let equal = number::equal(left, right)?;
    let order = match number::order(left, right) {
        Some(Ordering::Equal) if !equal => None,
        order => order,
    };
    Some(operator.holds(order))
}

fn equality(operator: Comparison, type_name: &str, equal: bool) -> Result<Option<bool>, Fault> {
    match operator {
        Comparison::Equal => Ok(Some(equal)),
        Comparison::NotEqual => Ok(Some(!equal)),
        Comparison::Less | Comparison::LessEqual | Comparison::Greater | Comparison::GreaterEqual => {
            Err(fault::comparison(type_name, &operator.to_string()))
        }
    }
}

/// Whether values of this type can be operands at all.
fn comparable(operator: Comparison, value: &Value) -> Result<(), Fault> {
    match value {
        Value::Bool(_) | Value::Str(_) if operator.is_equality() => Ok(()),
        Value::Null | Value::Quantity(_) => Ok(()),
        Value::Bool(_)
        | Value::Str(_)
        | Value::Tuple(_)
        | Value::Dict(_)
        | Value::Series(_)
        | Value::Table(_)
        | Value::Array(_)
        | Value::Function(_) => Err(fault::comparison(value.type_name(), &operator.to_string())),
    }
}
