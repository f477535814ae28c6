//! Division with remainder of numbers with units.

use super::arguments::{plain, quantity};
use super::kinds;
use crate::diagnostic::Fault;
use crate::ops::convert::to_unit;
use crate::value::{Quantity, Value};

/// How often the right number fits into the left one, rounded down, and what remains, in the unit of the left one.
///
/// The right number is converted to the unit of the left one, so the quotient is a plain number.
pub(super) fn floor_divide(name: &str, left: &Value, right: &Value) -> Result<(Value, Value), Fault> {
    let left = quantity(left)?;
    let unit = left.unit;
    let right = quantity(right)?;
    if left.is_null() || right.is_null() {
        return Ok((Value::Null, Value::Null));
    }
    let right = to_unit(&right, unit)?;
    let (quotient, number) = kinds::floor_divide(name, &[left.number, right.number])?;
    Ok((plain(quotient), Value::Quantity(Quantity { number, unit })))
}
