//! Faults of dimensions that are found before anything is computed.

use crate::diagnostic::{Diagnostic, Severity};
use crate::model::{Comparison, SumOp};
use crate::ops::fault::plain_number;
use crate::source::Span;
use crate::units::Unit;

/// A value of which the dimension is known.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Where it is used.
    pub span: Span,
    /// A unit that it may have.
    pub unit: Unit,
    /// What gave it this unit.
    pub origin: Span,
}

pub fn sum(op: SumOp, [left, right]: [Side; 2]) -> Diagnostic {
    let (verb, preposition) = match op {
        SumOp::Add => ("add", "to"),
        SumOp::Subtract => ("subtract", "from"),
    };
    let message = format!("cannot {verb} {} {preposition} {}", spoken(right.unit), spoken(left.unit));
    two_sides("E0360", message, left, right)
}

pub fn comparison(op: Comparison, [left, right]: [Side; 2]) -> Diagnostic {
    two_sides("E0361", format!("`{op}` cannot compare {} with {}", spoken(left.unit), spoken(right.unit)), left, right)
}

/// Not an error: numbers of different dimensions are unequal.
pub fn equality(op: Comparison, [left, right]: [Side; 2]) -> Diagnostic {
    let always = op == Comparison::NotEqual;
    let message = format!("`{op}` is always {always} of {} and {}", spoken(left.unit), spoken(right.unit));
    Diagnostic { severity: Severity::Warning, ..two_sides("W0621", message, left, right) }
}

pub fn branches([then, otherwise]: [Side; 2]) -> Diagnostic {
    let message = format!("one branch is {}, the other {}", spoken(then.unit), spoken(otherwise.unit));
    two_sides("E0362", message, then, otherwise)
}

pub fn exponent(side: Side) -> Diagnostic {
    let fault = Diagnostic::error("E0363", format!("an exponent must be a plain number, not {}", spoken(side.unit)), side.span);
    with_origin(fault.here(found(side)), side).help(divide(side.unit))
}

/// `other` is a module with a function of this name that takes the argument.
pub fn argument(function: &str, side: Side, expected: Unit, other: Option<&str>) -> Diagnostic {
    let message = if expected.is_dimensionless() {
        format!("`{function}` takes a number without dimension, not {}", spoken(side.unit))
    } else {
        format!("`{function}` takes {} here, not {}", spoken(expected), spoken(side.unit))
    };
    let fault = with_origin(Diagnostic::error("E0364", message, side.span).here(found(side)), side);
    match other {
        Some(module) => fault.help(format!("`{function}` of `{module}` takes units: `use {function} from {module}`")),
        None if expected.is_dimensionless() => fault.help(divide(side.unit)),
        None => fault,
    }
}

pub fn print_conversion(side: Side, target: Span, to: Unit) -> Diagnostic {
    let message = format!("{} cannot be printed in `{}`", spoken(side.unit), to.info_name());
    let dimension = to.dimension();
    let kind = dimension.name().map_or_else(|| dimension.to_string(), str::to_owned);
    let fault = Diagnostic::error("E0365", message, target).here(format!("this is the unit of {kind}")).label(side.span, found(side));
    with_origin(fault, side)
}

pub fn range([start, other]: [Side; 2]) -> Diagnostic {
    let message = format!("a range from {} cannot have {} here", spoken(start.unit), spoken(other.unit));
    two_sides("E0366", message, start, other)
}

/// Elements of different units, if of one dimension or not.
pub fn elements([first, other]: [Side; 2]) -> Diagnostic {
    two_sides("E0328", "numeric series must have elements of the same units".to_owned(), first, other)
        .help("elements of a series are not converted")
}

/// The same as a warning, for a statement that nothing needs.
pub fn unneeded(fault: Diagnostic, name: &str) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, code: "W0620".to_owned(), ..fault }
        .note(format!("nothing that is printed or saved needs `{name}`, so it is not computed"))
}

fn two_sides(code: &str, message: String, left: Side, right: Side) -> Diagnostic {
    let fault = Diagnostic::error(code, message, right.span).here(found(right)).label(left.span, found(left));
    let fault = with_origin(with_origin(fault, left), right);
    match (left.unit.is_none(), right.unit.is_none()) {
        (true, false) => fault.help(plain_number(right.unit)),
        (false, true) => fault.help(plain_number(left.unit)),
        _ => fault,
    }
}

fn with_origin(fault: Diagnostic, side: Side) -> Diagnostic {
    let within = side.origin.file == side.span.file && side.span.start <= side.origin.start && side.origin.end <= side.span.end;
    let is_known = within || fault.labels.iter().any(|label| label.span == side.origin);
    if is_known { fault } else { fault.label(side.origin, format!("{} comes from here", spoken_origin(side.unit))) }
}

fn divide(unit: Unit) -> String {
    let unit = if unit.has_affine() { unit.root() } else { unit };
    format!("divide by a quantity of the same dimension, for instance by `1 [{unit}]`")
}

fn found(side: Side) -> String {
    if side.unit.is_none() { "this is a plain number".to_owned() } else { format!("this is in `{}`", side.unit) }
}

fn spoken_origin(unit: Unit) -> String {
    if unit.is_none() { "the plain number".to_owned() } else { format!("`{unit}`") }
}

/// `a length (in `meter`)`, `[length] ** 7 (in `meter ** 7`)`
fn spoken(unit: Unit) -> String {
    if unit.is_none() {
        return "a plain number".to_owned();
    }
    let dimension = unit.dimension();
    match dimension.name() {
        Some(name) => format!("{name} (in `{unit}`)"),
        None if dimension.is_dimensionless() => format!("a number in `{unit}`"),
        None => format!("{dimension} (in `{unit}`)"),
    }
}
