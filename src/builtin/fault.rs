//! The faults of native functions, one constructor each; faults of units and of division by zero come from room `ops`.
//!
//! | code | fault | code | fault |
//! |---|---|---|---|
//! | E1001 | wrong number of arguments | E1005 | result too large for an integer |
//! | E1002 | argument of a wrong type | E1006 | argument without meaning |
//! | E1003 | argument outside of the domain | E1007 | function without uncertainties |
//! | E1004 | result too large for a float | E1008 | columns of unlike shapes |

use super::Arity;
use crate::diagnostic::Fault;

/// A call with a wrong number of arguments.
pub(super) fn arity(name: &str, arity: Arity, given: usize) -> Fault {
    let expected = match arity.max {
        Some(max) if max == arity.min => max.to_string(),
        Some(max) if given > usize::from(max) => format!("maximum {max}"),
        Some(_) | None => format!("minimum {}", arity.min),
    };
    Fault::new("E1001", format!("Function \"{name}\" takes {expected} parameters but {given} were given"))
}

/// An argument of a wrong type.
pub(super) fn wrong_type(expected: &str, found: &str) -> Fault {
    Fault::new("E1002", format!("must be {expected}, not {found}"))
}

/// An argument outside of the domain of a function of real numbers.
pub(super) fn domain(name: &str) -> Fault {
    Fault::new("E1003", format!("math domain error in \"{name}\""))
}

/// A result beyond the largest double.
pub(super) fn range(name: &str) -> Fault {
    Fault::new("E1004", format!("math range error in \"{name}\": the result is too large"))
}

/// A result beyond the largest integer.
pub(super) fn overflow(name: &str) -> Fault {
    Fault::new("E1005", format!("the result of \"{name}\" does not fit into an integer of 128 bits"))
}

/// An argument that has the right type and a value without meaning.
pub(super) fn bad_value(message: impl Into<String>) -> Fault {
    Fault::new("E1006", message)
}

/// A function whose derivative is not known.
pub(super) fn uncertain(name: &str) -> Fault {
    Fault::new("E1007", format!("function \"{name}\" is not supported with uncertainties"))
}

/// Two columns of different length or shape.
pub(super) fn shapes(name: &str) -> Fault {
    Fault::new("E1008", format!("the arguments of \"{name}\" differ in length or shape"))
}

/// A length asked of what has none.
pub(super) fn no_length(type_name: &str) -> Fault {
    Fault::new("E1009", format!("object of type '{type_name}' has no len()"))
}
