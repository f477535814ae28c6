//! Tables of text with separators: CSV, and TSV with tabs.
//!
//! ```text
//! # measured on the second day
//! temperature [K],rate [1/s],label
//! 300.0,0.021,a
//! 310.0,,b
//! ```
//!
//! The first line names the columns, each with the unit of its numbers. An empty cell is null. A column whose first cell is a number
//! holds numbers (`2`, `1.5e-3`, `nan`, `1.0+2.0j`, `2.0+/-0.1`), and any other cell in it is a fault, so that no stray `n/a` makes
//! strings of a column; `[text]` in place of the unit makes strings of whatever is there. Lines that begin with `#` are comments.
//! Where the first line has semicolons but no commas, semicolons separate.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use csv::{ReaderBuilder, StringRecord, Trim, WriterBuilder};

use super::decode::python_complex;
use super::fault;
use crate::diagnostic::Fault;
use crate::model::LoadKind;
use crate::units::Unit;
use crate::value::print::Float;
use crate::value::{Column, Number, Series, Table, Uncertain, Value};

/// In place of a unit: cells are strings whatever they look like.
const TEXT: &str = "text";

/// A table, or a series from a file of one column.
pub fn read(text: &str, delimiter: u8, kind: LoadKind) -> Result<Value, Fault> {
    if !matches!(kind, LoadKind::Table | LoadKind::Series) {
        return Err(fault::separated_kind());
    }
    let delimiter = actual_delimiter(text, delimiter);
    if let Some(line) = open_quote(text, delimiter) {
        return Err(fault::open_quote(line));
    }
    let text = &with_empty_cells(text, delimiter);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .delimiter(delimiter)
        // a comment that the end of the file ends would be a record
        .from_reader(text.as_bytes().chain(&b"\n"[..]));
    let records: Vec<StringRecord> = reader.records().collect::<Result<_, _>>().map_err(fault::separated)?;
    let Some((head, rows)) = records.split_first() else { return Err(fault::no_columns()) };
    if let Some(row) = rows.iter().find(|row| row.len() != head.len()) {
        return Err(fault::cells(line(row), row.len(), head.len()));
    }
    let columns = (0..head.len()).map(|place| column(head, rows, place).map(Arc::new)).collect::<Result<Vec<_>, _>>()?;
    match (kind, columns.as_slice()) {
        (LoadKind::Table, _) => Table::new(columns).map(Value::from),
        (_, [series]) => Ok(Value::Series(series.clone())),
        (_, columns) => Err(fault::several_columns(columns.len())),
    }
}

/// The text of a table or series.
pub fn write(value: &Value, delimiter: u8) -> Result<Vec<u8>, Fault> {
    let columns = match value {
        Value::Table(table) => table.columns(),
        Value::Series(series) => std::slice::from_ref(series),
        other => return Err(fault::not_separable(other.type_name())),
    };
    if columns.is_empty() {
        return Err(fault::not_separable("a table without columns"));
    }
    let cells = columns.iter().map(|column| cells(column)).collect::<Result<Vec<_>, _>>()?;
    let mut writer = WriterBuilder::new().delimiter(delimiter).comment(Some(b'#')).from_writer(Vec::new());
    let written = (0..columns.first().map_or(0, |column| column.len()) + 1)
        .try_for_each(|row| writer.write_record(cells.iter().map(|column| column[row].as_str())));
    written.map_err(fault::separated)?;
    Ok(writer.into_inner().expect("writing to memory cannot fail"))
}

/// Semicolons in a file of commas come from where the comma is the decimal point.
fn actual_delimiter(text: &str, delimiter: u8) -> u8 {
    let head: String = head(text).split('"').step_by(2).collect();
    if delimiter == b',' && !head.contains(',') && head.contains(';') { b';' } else { delimiter }
}

/// The first line that is no comment.
fn head(text: &str) -> &str {
    text.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty()).unwrap_or_default()
}

/// The line of a quote that is never closed, which would make one cell of the rest of the file.
fn open_quote(text: &str, delimiter: u8) -> Option<usize> {
    let mut opened = None;
    let (mut line, mut cell_begins, mut line_begins, mut comment) = (1, true, true, false);
    for byte in text.bytes() {
        match byte {
            // of two quotes within a cell the second opens it again
            b'"' if opened.take().is_some() => cell_begins = true,
            b'"' if cell_begins && !comment => opened = Some(line),
            _ if opened.is_some() => {}
            b'#' if line_begins => comment = true,
            _ => {
                comment &= byte != b'\n';
                cell_begins = byte == delimiter || byte == b'\n' || (cell_begins && byte == b' ');
            }
        }
        line_begins = byte == b'\n';
        line += usize::from(line_begins);
    }
    opened
}

/// In a file of one column an empty line is an empty cell, though not after the last row.
fn with_empty_cells(text: &str, delimiter: u8) -> Cow<'_, str> {
    let begin = head(text);
    if begin.is_empty() || begin.as_bytes().contains(&delimiter) || text.contains('"') {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_row = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let (first, last) = (lines.iter().position(is_row), lines.iter().rposition(is_row));
    let rows = first.unwrap_or(0)..last.unwrap_or(0);
    let cell = |(index, line): (usize, _)| if rows.contains(&index) && str::trim(line).is_empty() { "\"\"" } else { line };
    Cow::Owned(lines.into_iter().enumerate().map(cell).collect::<Vec<_>>().join("\n"))
}

fn line(record: &StringRecord) -> u64 {
    record.position().map_or(0, |position| position.line())
}

fn column(head: &StringRecord, rows: &[StringRecord], place: usize) -> Result<Series, Fault> {
    let title = head.get(place).unwrap_or_default();
    let (name, unit) = titled(title)?;
    if name.is_empty() {
        return Err(fault::unnamed_column(place + 1));
    }
    if number(name).is_some() {
        return Err(fault::number_as_name(name));
    }
    let cells = || rows.iter().map(|row| row.get(place).filter(|cell| !cell.is_empty()));
    let unit = match unit {
        Some(TEXT) => return Ok(Series::new(name, Column::from_strings(cells())?, Unit::NONE)),
        Some(unit) => Some(Unit::parse(&unit.replace('^', "**")).map_err(|flaw| fault::within(fault::bad_unit(flaw), column_text(name)))?),
        None => None,
    };
    let first = cells().flatten().next();
    let data = match first {
        None if unit.is_some() => Column::from(Vec::<f64>::new()).nulls_like(rows.len()),
        None => Column::Null(rows.len()),
        Some(first) if unit.is_some() || number(first).is_some() || is_decimal_comma(first) => numbers(name, rows, place)?,
        Some(first) if boolean(first).is_some() => {
            let cell = |(row, cell): (&StringRecord, Option<&str>)| match cell {
                None => Ok(None),
                Some(cell) => boolean(cell).map(Some).ok_or_else(|| fault::cell(line(row), name, cell, "is neither true nor false")),
            };
            rows.iter().zip(cells()).map(cell).collect::<Result<Column, Fault>>()?
        }
        Some(_) => Column::from_strings(cells())?,
    };
    Ok(Series::new(name, data, unit.unwrap_or_default()))
}

/// `pressure [bar]` as name and unit.
fn titled(title: &str) -> Result<(&str, Option<&str>), Fault> {
    match title.split_once('[') {
        None => Ok((title, None)),
        Some((name, rest)) => match rest.trim_end().strip_suffix(']') {
            Some(unit) => Ok((name.trim_end(), Some(unit.trim()))),
            None => Err(fault::title(title)),
        },
    }
}

/// Integers when all are, otherwise floats, otherwise what else there is.
fn numbers(name: &str, rows: &[StringRecord], place: usize) -> Result<Column, Fault> {
    let parsed = rows.iter().map(|row| match row.get(place).unwrap_or_default() {
        "" => Ok(Number::Null),
        cell if is_decimal_comma(cell) => Err(fault::cell(line(row), name, cell, "has a decimal comma").help("write decimal points")),
        cell => number(cell).ok_or_else(|| {
            fault::cell(line(row), name, cell, "is no number")
                .help(format!("an empty cell is null; a column of text that begins with a number is named `{name} [text]`"))
        }),
    });
    let numbers = parsed.collect::<Result<Vec<Number>, Fault>>()?;
    Column::from_numbers(numbers).map_err(|flaw| fault::within(flaw, column_text(name)))
}

fn column_text(name: &str) -> String {
    format!("column '{name}'")
}

/// `2`, `1.5`, `1.0+2.0j`, `2.0+/-0.1`
fn number(cell: &str) -> Option<Number> {
    if let Some((nominal, deviation)) = cell.split_once("+/-").or_else(|| cell.split_once('±')) {
        return Uncertain::fresh(real(nominal.trim())?, real(deviation.trim())?).map(Number::Uncertain);
    }
    if let Ok(int) = cell.parse::<i128>() {
        return Some(Number::Int(int));
    }
    if let Some(float) = real(cell) {
        return Some(Number::Float(float));
    }
    let begins_a_number = cell.starts_with(|first: char| first.is_ascii_digit() || "+-.ni".contains(first));
    if cell.ends_with('j') && begins_a_number { python_complex(cell).map(Number::Complex) } else { None }
}

/// A float as people and programs write it; no word but `nan` and `inf`.
fn real(cell: &str) -> Option<f64> {
    let digits = cell.trim_start_matches(['+', '-']);
    let is_word = digits.starts_with(|first: char| first.is_ascii_alphabetic());
    let is_known = ["nan", "inf"].iter().any(|word| digits.eq_ignore_ascii_case(word));
    if is_word && !is_known { None } else { cell.parse().ok() }
}

/// `1,5`
fn is_decimal_comma(cell: &str) -> bool {
    cell.contains(',') && cell.matches(',').count() == 1 && number(&cell.replace(',', ".")).is_some()
}

fn boolean(cell: &str) -> Option<bool> {
    let is = |word: &str| cell.eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// The title and the cells of a column.
fn cells(series: &Series) -> Result<Vec<String>, Fault> {
    let values: Vec<String> = series.values().map(|value| cell(series, &value)).collect::<Result<_, _>>()?;
    let is_text = matches!(*series.data, Column::Str(_));
    let first = values.iter().find(|cell| !cell.is_empty());
    let title = match first {
        Some(first) if is_text && (number(first).is_some() || boolean(first).is_some() || is_decimal_comma(first)) => {
            format!("{} [{TEXT}]", series.name)
        }
        _ if series.unit.is_none() => series.name.to_string(),
        _ => format!("{} [{}]", series.name, series.unit.exact_text()),
    };
    let is_kept = titled(title.trim()).is_ok_and(|(name, _)| name == &*series.name) && number(&series.name).is_none();
    if !is_kept || series.name.is_empty() || series.name.contains([';', '\u{feff}']) {
        return Err(fault::not_separable(&format!("a column named '{}'", series.name)));
    }
    Ok(std::iter::once(title).chain(values).collect())
}

fn cell(series: &Series, value: &Value) -> Result<String, Fault> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Bool(bool) => Ok(bool.to_string()),
        Value::Str(string) if string.is_empty() || string.trim() != &**string => {
            Err(fault::not_separable(&format!("the string '{string}' in column '{}'", series.name)))
        }
        Value::Str(string) => Ok(string.to_string()),
        Value::Quantity(quantity) => Ok(match &quantity.number {
            Number::Null => String::new(),
            Number::Int(int) => int.to_string(),
            Number::Float(float) => Float(*float).to_string(),
            Number::Complex(complex) => {
                let sign = if complex.im.is_sign_negative() { "" } else { "+" };
                format!("{}{sign}{}j", Float(complex.re), Float(complex.im))
            }
            Number::Uncertain(uncertain) => format!("{}+/-{}", Float(uncertain.nominal), Float(uncertain.std_dev())),
        }),
        other => Err(fault::not_separable(&format!("{} in column '{}'", other.type_name(), series.name))),
    }
}
