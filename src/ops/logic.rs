//! Three-valued logic: `None` is null, which may still turn out to be either.

use std::cmp::Ordering;

use super::compare::equal;
use super::convert::to_unit;
use super::number;
use crate::value::{Column, Number, Series, Value};

/// `not`
pub fn not(operand: Option<bool>) -> Option<bool> {
    operand.map(|operand| !operand)
}

/// `and`: false as soon as one operand is.
pub fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        (None, _) | (_, None) => None,
    }
}

/// `or`: true as soon as one operand is.
pub fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    not(and(not(left), not(right)))
}

/// `any(…)`, which looks no further than the first true operand.
pub fn any(operands: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    not(all(operands.into_iter().map(not)))
}

/// `all(…)`, which looks no further than the first false operand.
pub fn all(operands: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for operand in operands {
        result = and(result, operand);
        if result == Some(false) {
            break;
        }
    }
    result
}

/// `item in (set…)`: true when an element is equal (units are converted), else null when an element is missing, else false.
///
/// A missing item is in the set when the set has a missing element. An item that no element could equal by its type is not in the
/// set, whatever is missing.
pub fn membership(item: &Value, set: impl IntoIterator<Item = Value>) -> Option<bool> {
    let mut missing = false;
    let mut typed = false;
    let mut foreign = true;
    for element in set {
        if element.is_null() {
            if item.is_null() {
                return Some(true);
            }
            missing = true;
            continue;
        }
        typed = true;
        foreign &= element.type_name() != item.type_name();
        if equal(item, &element) == Some(true) {
            return Some(true);
        }
    }
    let open = missing && !item.is_null() && !(typed && foreign);
    if open { None } else { Some(false) }
}

/// `item in series`, as [`membership`] in its elements: a real number is converted once.
pub fn membership_in_series(item: &Value, series: &Series) -> Option<bool> {
    let Value::Quantity(quantity) = item else { return membership(item, series.values()) };
    if series.data.range().is_some() || !matches!(quantity.number, Number::Int(_) | Number::Float(_)) {
        return membership(item, series.values());
    }
    let same = |number: &Number, element: Number| number::order(number, &element) == Some(Ordering::Equal);
    // A number that does not convert equals no element.
    let converted = to_unit(quantity, series.unit).ok().map(|quantity| quantity.number);
    let found = match (&*series.data, &converted) {
        (Column::Int(array), Some(number)) => array.iter().flatten().any(|int| same(number, int.into())),
        (Column::Float(array), Some(Number::Float(float))) => array.iter().flatten().any(|other| other == *float),
        (Column::Float(array), Some(number)) => array.iter().flatten().any(|float| same(number, float.into())),
        (Column::Int(_) | Column::Float(_), None) => false,
        _ => return membership(item, series.values()),
    };
    if found {
        return Some(true);
    }
    if series.data.null_count() > 0 { None } else { Some(false) }
}
