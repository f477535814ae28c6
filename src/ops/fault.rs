//! The faults of operations, one constructor each.

use crate::diagnostic::Fault;
use crate::units::{Unit, UnitError};
use crate::value::Value;

/// Division by zero, or zero to a negative power.
pub fn division_by_zero() -> Fault {
    Fault::new("E0420", "division by zero")
}

/// An integer result has no place in 128 bits (64 in a column).
pub fn integer_overflow(operation: &str) -> Fault {
    Fault::new("E0421", format!("integer overflow in {operation}")).help("make one operand a float, as in 2.0, for an approximate result")
}

/// A float power has no finite result.
pub fn float_overflow() -> Fault {
    Fault::new("E0422", "the result of ** is too large for a float")
}

/// A conversion between these units does not exist.
pub fn conversion(error: &UnitError) -> Fault {
    let text = error.to_string();
    let mut chars = text.chars();
    let message = chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or(text);
    let fault = Fault::new("E0423", message);
    match error {
        UnitError::Dimension { from, to } if from.is_none() != to.is_none() => {
            fault.help(plain_number(*if from.is_none() { to } else { from }))
        }
        _ => fault,
    }
}

/// How a plain number gets a unit, or loses it.
pub fn plain_number(unit: Unit) -> String {
    match unit.affine() {
        // a product would count from absolute zero
        Some(difference) => format!("write the number with its unit, `25 [{unit}]`, or `25 [{difference}]` for a difference"),
        None => format!("multiply by `1 [{unit}]` to give a plain number the unit, or divide by it to take the unit off"),
    }
}

/// Two units have different dimensions.
pub fn dimensions(from: Unit, to: Unit) -> Fault {
    conversion(&UnitError::Dimension { from, to })
}

/// A sum of two points on scales with a zero of their own.
pub fn offset(left: Unit, right: Unit) -> Fault {
    let message = format!("Ambiguous operation with offset unit ({}, {})", left.info_name(), right.info_name());
    let fault = Fault::new("E0424", message);
    if left.is_level() || right.is_level() {
        return fault.help("levels, as in decibel, have no sum; convert them to what they are levels of first");
    }
    fault.help("a temperature difference has a unit of its own, such as delta_degC; or convert to kelvin first")
}

/// An operand is of a type that the operation does not take.
pub fn operand(operation: &str, value: &Value) -> Fault {
    let fault = Fault::new("E0425", format!("Invalid type in expression: {operation} takes numbers, not {}", value.type_name()));
    match value {
        Value::Series(_) | Value::Table(_) => fault.help("use map to compute with the elements of a series or table"),
        _ => fault,
    }
}

/// An operation that these kinds of numbers do not have.
pub fn kinds(operation: &str, detail: &str) -> Fault {
    Fault::new("E0434", format!("{operation} is not possible: {detail}"))
}

/// Two types that cannot be compared.
pub fn mismatch(left: &Value, right: &Value) -> Fault {
    Fault::new("E0426", format!("Type mismatch: comparison of {} with {}", left.type_name(), right.type_name()))
}

/// A comparison that the type does not have.
pub fn comparison(type_name: &str, operator: &str) -> Fault {
    let fault = Fault::new("E0435", format!("comparison of {type_name} not possible with \"{operator}\" operator"));
    match type_name {
        "String" | "Boolean" | "Complex Quantity" => fault.help("only == and != compare these"),
        _ => fault,
    }
}

/// An index beyond the ends.
pub fn index(index: i64, len: usize) -> Fault {
    Fault::new("E0427", format!("Index out of range, index: {index}, data length: {len}"))
}

/// A slice whose step is zero.
pub fn slice_step() -> Fault {
    Fault::new("E0428", "Slice step cannot be zero")
}

/// A range whose step is zero.
pub fn range_step() -> Fault {
    Fault::new("E0436", "division by zero: the step of a range cannot be zero")
}

/// A key or column that is not there.
pub fn missing<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Fault {
    let fault = Fault::new("E0429", format!("{what} {name} not found"));
    match crate::diagnostic::nearest(name, known) {
        Some(near) => fault.help(format!("did you mean {near}?")),
        None => fault,
    }
}

/// An access that the type does not have.
pub fn access(what: &str, value: &Value) -> Fault {
    Fault::new("E0430", format!("{} has no {what}", value.type_name()))
}

/// A range that cannot be built.
pub fn range(detail: impl std::fmt::Display) -> Fault {
    Fault::new("E0431", format!("Range parameter {detail}"))
}

/// An exponent that gives no unit.
pub fn exponent(detail: &str) -> Fault {
    Fault::new("E0432", format!("a number with a unit cannot have {detail} exponent"))
}

/// Two lengths that must be equal.
pub fn lengths(left: usize, right: usize) -> Fault {
    Fault::new("E0433", format!("must have equal size: {left} and {right}"))
}
