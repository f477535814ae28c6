//! Pure operations on values: no spans, no side effects, the same result whoever calls them.
//!
//! Numbers follow Python (integers are checked, division is always real, powers of negative numbers may turn complex), units follow
//! Pint: products combine units without reducing them, sums and comparisons convert the right operand to the unit of the left
//! one. A missing number makes the result missing, with the unit that it would have had.
//!
//! # Codes
//!
//! | code | fault | code | fault |
//! |---|---|---|---|
//! | E0401 | elements of several types | E0422 | result too large for a float |
//! | E0402 | elements of several units | E0423 | incompatible units |
//! | E0403 | integer too wide for a column | E0424 | offset unit in an ambiguous operation |
//! | E0404 | repeated column name | E0425 | operand of a wrong type |
//! | E0405 | columns of unequal lengths | E0426 | comparison of two types |
//! | E0406 | array that is not rectangular | E0427 | index out of range |
//! | E0407 | damaged bytes of a value | E0428 | slice step of zero |
//! | E0408 | lossy cast of a column | E0429 | key or column not found |
//! | E0409 | column beyond Arrow's limits | E0430 | access that the type does not have |
//! | E0410 | null in an array | E0431 | bad range |
//! | E0420 | division by zero | E0432 | exponent that cannot be used |
//! | E0421 | integer overflow | E0433 | unequal lengths |
//! | E0434 | kinds of numbers without the operation | E0435 | order of what has none |
//! | E0436 | range step of zero | | |

use crate::diagnostic::Fault;
use crate::value::{Quantity, Value};

pub use access::{Property, index, key, position, property, slice, slice_positions};
pub use aggregate::{range, sum_scalars, sum_series};
pub use compare::{Comparison, compare, equal};
pub use convert::{Target, convert};
pub use gather::{concat, drop_nulls, filter, gather, select};
pub use logic::{all, and, any, membership, membership_in_series, not, or};

pub mod access;
pub mod aggregate;
pub mod compare;
pub mod complex;
pub mod convert;
pub mod fault;
pub mod gather;
pub mod logic;
pub mod number;
pub mod quantity;
pub mod uncertain;

#[cfg(test)]
mod tests;

/// `left + right`
pub fn add(left: &Value, right: &Value) -> Result<Value, Fault> {
    binary("+", left, right, quantity::add)
}

/// `left - right`
pub fn subtract(left: &Value, right: &Value) -> Result<Value, Fault> {
    binary("-", left, right, quantity::subtract)
}

/// `left * right`
pub fn multiply(left: &Value, right: &Value) -> Result<Value, Fault> {
    binary("*", left, right, quantity::multiply)
}

/// `left / right`
pub fn divide(left: &Value, right: &Value) -> Result<Value, Fault> {
    binary("/", left, right, quantity::divide)
}

/// `left ** right`
pub fn power(left: &Value, right: &Value) -> Result<Value, Fault> {
    binary("**", left, right, quantity::power)
}

/// `-value`
pub fn negate(value: &Value) -> Result<Value, Fault> {
    unary("-", value, quantity::negate)
}

/// The real part, with the unit; a real number is its own.
pub fn real(value: &Value) -> Result<Value, Fault> {
    unary("real", value, quantity::real)
}

/// The imaginary part, with the unit; zero for a real number.
pub fn imag(value: &Value) -> Result<Value, Fault> {
    unary("imag", value, quantity::imag)
}

/// A numeric scalar; untyped null is a missing number without unit.
pub fn scalar(operation: &str, value: &Value) -> Result<Quantity, Fault> {
    match value {
        Value::Quantity(quantity) => Ok(quantity.clone()),
        Value::Null => Ok(Quantity::null(crate::units::Unit::NONE)),
        other => Err(fault::operand(operation, other)),
    }
}

type Binary = fn(&Quantity, &Quantity) -> Result<Quantity, Fault>;

fn binary(operation: &str, left: &Value, right: &Value, apply: Binary) -> Result<Value, Fault> {
    if let (Value::Quantity(left), Value::Quantity(right)) = (left, right) {
        return apply(left, right).map(Value::Quantity);
    }
    apply(&scalar(operation, left)?, &scalar(operation, right)?).map(Value::Quantity)
}

fn unary(operation: &str, value: &Value, apply: fn(&Quantity) -> Result<Quantity, Fault>) -> Result<Value, Fault> {
    match value {
        Value::Null => Ok(Value::Null),
        _ => apply(&scalar(operation, value)?).map(Value::Quantity),
    }
}
