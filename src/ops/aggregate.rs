//! `sum` and `range`.
//!
//! A sum of floats goes from left to right in blocks of a fixed length, and then over the sums of the blocks: up to the length of one it
//! is to the last digit what the reference prints, and for any length it is the same on any machine.

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
        return Ok(range.sum().map_or_else(|| Number::Float(sum_range(range)), Number::Int));
    }
    match &**data {
        // Less than 2^64 elements of 64 bits cannot overflow 128 bits.
        Column::Int(ints) => Ok(Number::Int(sum_ints(ints.values()))),
        Column::Float(floats) => Ok(Number::Float(sum_floats(floats.values()))),
        Column::Complex(_) | Column::Object(_) | Column::Null(_) | Column::Bool(_) | Column::Str(_) => {
            data.numbers().try_fold(Number::Int(0), |sum, term| number::add(&sum, &term))
        }
    }
}

/// The halves of 2^31 integers are added without overflow of 64 bits, several at once.
fn sum_ints(ints: &[i64]) -> i128 {
    let part = |ints: &[i64]| {
        let (high, low) = ints.iter().fold((0_i64, 0_u64), |(high, low), int| (high + (int >> 32), low + (*int as u64 & 0xFFFF_FFFF)));
        (i128::from(high) << 32) + i128::from(low)
    };
    ints.chunks(1 << 31).map(part).sum()
}

/// As [`sum_floats`], of a range that was not materialised.
fn sum_range(range: &Range) -> f64 {
    let mut block = [0.0; BLOCK];
    (0..range.len()).step_by(BLOCK).fold(0.0, |total, start| {
        let block = &mut block[..BLOCK.min(range.len() - start)];
        range.fill_floats(start, block);
        total + block.iter().fold(0.0, |sum, float| sum + float)
    })
}

/// Elements of a block of a sum.
const BLOCK: usize = 4096;

/// So many blocks are added side by side, because one addition does not wait for that of another block.
const BLOCKS: usize = 8;

/// The sum of the sums of blocks.
fn sum_floats(floats: &[f64]) -> f64 {
    let fold = |block: &[f64]| block.iter().fold(0.0, |sum, float| sum + float);
    let mut total = 0.0;
    let mut rest = floats;
    while let Some((several, others)) = rest.split_at_checked(BLOCK * BLOCKS) {
        let mut sums = [0.0; BLOCKS];
        let blocks: [&[f64]; BLOCKS] = std::array::from_fn(|block| &several[block * BLOCK..(block + 1) * BLOCK]);
        for at in 0..BLOCK {
            sums.iter_mut().zip(blocks).for_each(|(sum, block)| *sum += block[at]);
        }
        total = sums.iter().fold(total, |total, sum| total + sum);
        rest = others;
    }
    rest.chunks(BLOCK).fold(total, |total, block| total + fold(block))
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
