//! `sum` and `range`.
//!
//! A sum goes from left to right, so that it is to the last digit what the reference prints, for any length and number of threads.

use std::cmp::Ordering;
use std::sync::Arc;

use super::convert::to_unit;
use super::{fault, number, quantity};
use crate::diagnostic::Fault;
use crate::value::{Column, Data, Number, Quantity, Range, Series, Value};

/// The sum of numeric scalars, in the unit of the first; zero for none.
pub fn sum_scalars(values: &[Value]) -> Result<Value, Fault> {
    let mut terms = values.iter().map(|value| super::scalar("sum", value));
    let Some(first) = terms.next() else { return Ok(Quantity::int(0).into()) };
    let first = first?;
    // Python's sum begins with zero, which makes a positive zero of a negative one.
    let start = Quantity { number: number::add(&Number::Int(0), &first.number)?, unit: first.unit };
    terms.try_fold(start, |sum, term| quantity::add(&sum, &term?)).map(Value::Quantity)
}

/// The sum of a numeric series, in its unit; missing when an element is, zero when there are none.
pub fn sum_series(series: &Series) -> Result<Value, Fault> {
    let data = &series.data;
    if !data.is_empty() && data.null_count() < data.len() && data.kind().is_none() {
        return Err(fault::kinds("sum", &format!("Series must be of type Number, not {}", data.type_name())));
    }
    if data.len() > 1 && series.unit.has_affine() {
        return Err(fault::offset(series.unit, series.unit));
    }
    Ok(Quantity { number: sum_of(data)?, unit: series.unit }.into())
}

/// `range(start, stop, step)`: from `start` on in steps while before `stop`, in the unit of `start`, with the digits of
/// `numpy.arange`. Its elements are computed when they are needed.
pub fn range(name: impl Into<Arc<str>>, start: &Value, stop: &Value, step: &Value) -> Result<Value, Fault> {
    let [start, stop, step] = [range_part(start)?, range_part(stop)?, range_part(step)?];
    let unit = start.unit;
    let numbers = (&start.number, &to_unit(&stop, unit)?.number, &to_unit(&step, unit)?.number);
    let data = match numbers {
        (Number::Int(start), Number::Int(stop), Number::Int(step)) => int_range(*start, *stop, *step)?,
        (start, stop, step) => match (start.as_f64(), stop.as_f64(), step.as_f64()) {
            (Some(start), Some(stop), Some(step)) => float_range(start, stop, step)?,
            _ => return Err(fault::range("must be real type")),
        },
    };
    Ok(Series::new(name, data, unit).into())
}

/// The longest range, 800 MB, so that a slip of the keyboard does not take all memory.
const LONGEST: i128 = 100_000_000;

fn sum_of(data: &Data) -> Result<Number, Fault> {
    if data.is_empty() {
        return Ok(Number::Int(0));
    }
    if data.null_count() > 0 {
        return Ok(Number::Null);
    }
    if let Some(range) = data.range() {
        return Ok(range.sum().map_or_else(|| Number::Float((0..range.len()).fold(0.0, |sum, i| sum + range.float(i))), Number::Int));
    }
    match &**data {
        // Less than 2^64 elements of 64 bits cannot overflow 128 bits.
        Column::Int(ints) => Ok(Number::Int(ints.values().iter().map(|int| i128::from(*int)).sum())),
        Column::Float(floats) => Ok(Number::Float(floats.values().iter().fold(0.0, |sum, float| sum + float))),
        Column::Complex(_) | Column::Object(_) | Column::Null(_) | Column::Bool(_) | Column::Str(_) => {
            data.numbers().try_fold(Number::Int(0), |sum, term| number::add(&sum, &term))
        }
    }
}

fn range_part(value: &Value) -> Result<Quantity, Fault> {
    match value {
        Value::Null => Err(fault::range("may not be null.")),
        Value::Quantity(quantity) => match quantity.number {
            Number::Null => Err(fault::range("may not be null.")),
            Number::Int(_) | Number::Float(_) => Ok(quantity.clone()),
            Number::Complex(_) | Number::Uncertain(_) => Err(fault::range("must be real type.")),
        },
        other => Err(fault::operand("range", other)),
    }
}

fn int_range(start: i128, stop: i128, step: i128) -> Result<Range, Fault> {
    let overflow = || fault::integer_overflow("range");
    let length = match step.cmp(&0) {
        Ordering::Equal => return Err(fault::range_step()),
        Ordering::Greater => stop.checked_sub(start).ok_or_else(overflow)?,
        Ordering::Less => start.checked_sub(stop).ok_or_else(overflow)?,
    };
    let size = i128::try_from(step.unsigned_abs()).map_err(|_| overflow())?;
    let count = check_length(length.max(0) / size + i128::from(length.max(0) % size > 0))?;
    Range::ints(start, step, count).ok_or_else(overflow)
}

fn float_range(start: f64, stop: f64, step: f64) -> Result<Range, Fault> {
    if step == 0.0 {
        return Err(fault::range_step());
    }
    let length = ((stop - start) / step).ceil();
    if !length.is_finite() {
        return Err(fault::range("must be finite"));
    }
    Ok(Range::floats(start, step, check_length(length.max(0.0) as i128)?))
}

fn check_length(length: i128) -> Result<usize, Fault> {
    let usable = usize::try_from(length).ok().filter(|_| length <= LONGEST);
    usable.ok_or_else(|| fault::range(format!("would give {length} elements, more than {LONGEST}")))
}
