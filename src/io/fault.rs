//! The faults of files, one constructor each.

use std::fmt::Display;
use std::io::Error;
use std::path::Path;

use super::format::{self, SUFFIXES};
use crate::diagnostic::Fault;

/// `''`
pub fn empty_name() -> Fault {
    Fault::new("E0601", "Invalid filename: '' names no file")
}

/// Nothing has this name; perhaps a name in the same directory was meant.
pub fn no_such_file(shown: &str, near: Option<&str>, directory: bool) -> Fault {
    let fault = Fault::new("E0602", format!("there is no file '{shown}'"));
    match near {
        Some(near) => fault.help(format!("did you mean '{near}', in the same directory?")),
        None if directory => fault,
        None => fault.help("the directory does not exist either"),
    }
}

/// A directory, a pipe, a device.
pub fn not_a_file(shown: &str) -> Fault {
    Fault::new("E0603", format!("'{shown}' is not a regular file"))
}

/// The system refuses to read.
pub fn unreadable(shown: &str, error: &Error) -> Fault {
    Fault::new("E0604", format!("cannot read '{shown}': {error}"))
}

/// Bytes that are no text.
pub fn not_utf8(line: usize) -> Fault {
    Fault::new("E0605", format!("not text in UTF-8: line {line} has a byte that cannot be")).help("convert the file to UTF-8")
}

/// Text that is not of its format; line and column count from 1.
pub fn malformed(format: &str, (line, column): (usize, usize), detail: impl Display) -> Fault {
    Fault::new("E0606", format!("not well-formed {format}: line {line}, column {column}: {detail}"))
}

/// A suffix of no format, or of one that cannot be read and written yet.
pub fn format_unsupported(path: &Path, shown: &str) -> Fault {
    let message = match format::foreign(path) {
        Some(name) => format!("{name} is not supported yet ('{shown}')"),
        None => format!("the suffix of '{shown}' is not that of a supported format"),
    };
    Fault::new("E0607", message).help(format!("supported are {SUFFIXES}, each also compressed by zlib with .zz after it"))
}

/// A value of another type than was asked for.
pub fn wrong_type(expected: &str, found: &str) -> Fault {
    let fault = Fault::new("E0608", format!("type must be {expected} but is {found}"));
    match (expected, found) {
        ("Quantity", "Integer" | "Float") => fault.help("a bare number has no place for a unit; a quantity stands in a FWQuantity object"),
        _ => fault,
    }
}

/// An array with elements of another type than was asked for.
pub fn wrong_datatype(expected: &str, found: &str) -> Fault {
    Fault::new("E0609", format!("datatype must be {expected} but is {found}"))
}

/// An object of a class that is not of the schema.
pub fn unknown_class(class: &str) -> Fault {
    Fault::new("E0610", format!("the schema has no class '{class}'"))
}

/// An object of a class that has no counterpart here.
pub fn class_unsupported(class: &str) -> Fault {
    Fault::new("E0620", format!("objects of class {class} are not supported yet"))
}

/// A version of the schema that is not known.
pub fn unknown_version(version: impl Display, newest: i128) -> Fault {
    Fault::new("E0611", format!("version {version} of the schema is unknown; versions up to {newest} can be read"))
}

/// A unit that is not defined.
pub fn bad_unit(error: impl Display) -> Fault {
    Fault::new("E0612", error.to_string())
}

/// A part of an object that the schema does not allow.
pub fn bad_part(what: impl Display, expected: impl Display, found: impl Display) -> Fault {
    Fault::new("E0613", format!("{what} must be {expected} but is {found}"))
}

/// Compressed data that are damaged, or larger than can be meant.
pub fn bad_compression(detail: impl Display) -> Fault {
    Fault::new("E0614", format!("not data compressed by zlib: {detail}"))
}

/// A kind of value that a file of cells does not hold.
pub fn separated_kind() -> Fault {
    Fault::new("E0640", "a file of comma-separated cells holds a table, or a series when it has one column")
        .help("write `Table from file …`; for other values use .json or .yaml")
}

/// Something that has no cells, or none that would be read back.
pub fn not_separable(what: &str) -> Fault {
    Fault::new("E0641", format!("{what} cannot be written as comma-separated cells")).help("use .json or .yaml, which hold any value")
}

/// The reader of cells gives up.
pub fn separated(error: csv::Error) -> Fault {
    let line = error.position().map_or(0, |position| position.line());
    malformed("CSV", (usize::try_from(line).unwrap_or(usize::MAX), 1), error)
}

/// A file of cells without any line.
pub fn no_columns() -> Fault {
    Fault::new("E0642", "there is no line with the names of the columns")
}

/// Lines with more or fewer cells than the first one.
pub fn cells(line: u64, found: usize, expected: usize) -> Fault {
    Fault::new(
        "E0643",
        format!("line {line} has {}, the first line {expected}", if found == 1 { "1 cell".to_owned() } else { format!("{found} cells") }),
    )
    .help("a comma at the end of a line begins another cell, and a cell with a comma stands in quotes: \"a, b\"")
}

/// A quoted cell without an end.
pub fn open_quote(line: usize) -> Fault {
    Fault::new("E0648", format!("the quote in line {line} is never closed"))
        .help("a cell in quotes ends with one; a quote within it is written twice")
}

/// A series from a file of several columns.
pub fn several_columns(count: usize) -> Fault {
    Fault::new("E0644", format!("there are {count} columns, but a series has one"))
        .help("read it as `Table from file …` and take the column: `t.name`")
}

/// A column without a name; places count from 1.
pub fn unnamed_column(place: usize) -> Fault {
    names_of_columns(format!("column {place} has no name"))
}

/// A file that begins with its numbers.
pub fn number_as_name(name: &str) -> Fault {
    names_of_columns(format!("the first line must name the columns, but has the number {name}"))
}

fn names_of_columns(message: String) -> Fault {
    Fault::new("E0645", message).help("the first line names the columns, as in `temperature [K],rate [1/s]`")
}

/// Brackets of a unit that are not closed, or not at the end.
pub fn title(title: &str) -> Fault {
    Fault::new("E0646", format!("'{title}' is no name of a column with its unit")).help("write `name [unit]`")
}

/// A cell that does not go with its column.
pub fn cell(line: u64, column: &str, cell: &str, flaw: &str) -> Fault {
    Fault::new("E0647", format!("line {line}, column '{column}': '{cell}' {flaw}"))
}

/// An export whose file holds something else.
pub fn file_exists(shown: &str) -> Fault {
    Fault::new("E0615", format!("'{shown}' exists and holds something else; files are never overwritten"))
        .help("remove the file or choose another name")
}

/// An export into a directory that is not there.
pub fn no_directory(shown: &str, directory: &Path) -> Fault {
    Fault::new("E0616", format!("cannot write '{shown}': there is no directory '{}'", directory.display())).help("create it first")
}

/// The system refuses to write.
pub fn unwritable(shown: &str, error: &Error) -> Fault {
    Fault::new("E0617", format!("cannot write '{shown}': {error}"))
}

/// A value that the schema cannot hold.
pub fn not_exportable(what: impl Display) -> Fault {
    Fault::new("E0618", format!("{what} cannot be written to a file"))
}

/// Values inside values without end.
pub fn too_deep(limit: usize) -> Fault {
    Fault::new("E0619", format!("values nested deeper than {limit} levels cannot be read or written"))
}

/// Says of which file a fault speaks.
pub fn in_file(mut fault: Fault, shown: &str) -> Fault {
    fault.message = format!("'{shown}': {}", fault.message);
    fault
}

/// Says of which part of an object a fault speaks.
pub fn within(mut fault: Fault, part: impl Display) -> Fault {
    fault.message = format!("{part}: {}", fault.message);
    fault
}
