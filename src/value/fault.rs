//! The faults of values, one constructor each; `ops` has the table of all codes `E04xx`.

use crate::diagnostic::Fault;

/// Elements of one series or array have several types.
pub fn mixed_types(found: &[&str]) -> Fault {
    Fault::new("E0401", format!("Series elements must have one type but {} types were found: {}", found.len(), found.join(", ")))
}

/// Elements of one series or array have several units.
pub fn mixed_units(first: impl std::fmt::Display, other: impl std::fmt::Display) -> Fault {
    Fault::new("E0402", format!("numbers of one series must have elements of the same units, not both {first} and {other}"))
        .help("multiply or divide by the same unit in every element")
}

/// An integer does not fit into a column.
pub fn wide_integer(int: i128) -> Fault {
    Fault::new("E0403", format!("integer {int} does not fit into a series, whose integers have 64 bits"))
        .help("make one element a float, as in 1.0, to get a series of floats")
}

/// Two columns of a table have one name.
pub fn repeated_column(name: &str) -> Fault {
    Fault::new("E0404", format!("Repeating column names were found in table: column '{name}' stands there twice"))
}

/// The columns of a table differ in length.
pub fn unequal_columns(lengths: &[usize]) -> Fault {
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    let list = lengths.join(", ");
    Fault::new("E0405", format!("Table columns must have one size but {} sizes were found: ({list})", lengths.len()))
}

/// The rows of an array differ in shape or the elements do not fill the shape.
pub fn ragged(detail: impl std::fmt::Display) -> Fault {
    Fault::new("E0406", format!("Arrays of one shape expected: {detail}"))
}

/// Bytes that are not, or no more, a value.
pub fn damaged(detail: impl std::fmt::Display) -> Fault {
    Fault::new("E0407", format!("not the bytes of a value: {detail}"))
}

/// A cast that would lose something.
pub fn impossible_cast(from: &str, to: &str) -> Fault {
    Fault::new("E0408", format!("a series of {from} cannot become a series of {to}"))
}

/// Arrow's own refusal, such as a text column beyond its offsets.
pub fn column_limit(detail: impl std::fmt::Display) -> Fault {
    Fault::new("E0409", format!("the column cannot be built: {detail}"))
}

/// A null where an array has no place for it.
pub fn null_in_array() -> Fault {
    Fault::new("E0410", "an array cannot hold null").help("drop nulls first, for example with filter")
}
