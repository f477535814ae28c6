//! The elements of a series: a column, or a range that becomes one when it is first looked at as a column.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use arrow_array::Array;

use super::column::Column;
use super::memory::Raw;
use super::{Mask, Number, NumberKind, Quantity, Value};
use crate::diagnostic::Fault;
use crate::units::Unit;

#[cfg(test)]
mod tests;

/// So many elements of a range are computed at once.
const PART: usize = 4096;

/// The elements of a series. Whatever a column can do it can do too, but what stands here does not build the column of a range.
#[derive(Clone, Debug)]
pub struct Data(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Column(Column),
    Range(Arc<Lazy>),
}

#[derive(Debug)]
struct Lazy {
    range: Range,
    column: OnceLock<Column>,
}

impl Data {
    /// The range that these elements are, whether or not its column has been built.
    pub fn range(&self) -> Option<&Range> {
        if let Kept::Range(lazy) = &self.0 { Some(&lazy.range) } else { None }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.either(Range::len, Column::len)
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements are missing.
    pub fn null_count(&self) -> usize {
        self.either(|_| 0, Column::null_count)
    }

    /// Whether element `i` is missing; `i` must be less than the length.
    pub fn is_null(&self, i: usize) -> bool {
        self.either(|_| false, |column| column.is_null(i))
    }

    /// As [`Column::kind`].
    pub fn kind(&self) -> Option<NumberKind> {
        self.either(|range| Some(range.kind()), Column::kind)
    }

    /// As [`Column::type_name`].
    pub fn type_name(&self) -> &'static str {
        self.either(|range| range.kind().name(), Column::type_name)
    }

    /// As [`Column::number`].
    pub fn number(&self, i: usize) -> Number {
        self.either(|range| range.number(i), |column| column.number(i))
    }

    /// The elements as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        (0..self.len()).map(|i| self.number(i))
    }

    /// As [`Column::get`].
    pub fn get(&self, i: usize, unit: Unit) -> Value {
        self.either(|range| Quantity::new(range.number(i), unit).into(), |column| column.get(i, unit))
    }

    /// All elements with the unit of the series.
    pub fn values(&self, unit: Unit) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(move |i| self.get(i, unit))
    }

    /// As [`Column::slice`]; that of a range is one.
    pub fn slice(&self, start: usize, len: usize) -> Data {
        match &self.0 {
            Kept::Range(lazy) if lazy.column.get().is_none() => lazy.range.slice(start, len).into(),
            _ => self.deref().slice(start, len).into(),
        }
    }

    /// As [`Column::take`].
    pub fn take(&self, indices: &[usize]) -> Result<Column, Fault> {
        self.either(|range| Ok(range.at(indices.iter().copied())), |column| column.take(indices))
    }

    /// As [`Column::filter`].
    pub fn filter(&self, mask: &Mask) -> Result<Column, Fault> {
        let chosen = |i: &usize| mask.is_valid(*i) && mask.value(*i);
        self.either(|range| Ok(range.at((0..range.len()).filter(chosen))), |column| column.filter(mask))
    }

    fn either<'a, T>(&'a self, range: impl FnOnce(&'a Range) -> T, column: impl FnOnce(&'a Column) -> T) -> T {
        match &self.0 {
            Kept::Range(lazy) => range(&lazy.range),
            Kept::Column(kept) => column(kept),
        }
    }
}

/// The column; that of a range is built the first time and kept.
impl Deref for Data {
    type Target = Column;

    fn deref(&self) -> &Column {
        match &self.0 {
            Kept::Column(column) => column,
            Kept::Range(lazy) => lazy.column.get_or_init(|| lazy.range.column()),
        }
    }
}

impl From<Column> for Data {
    fn from(column: Column) -> Self {
        Data(Kept::Column(column))
    }
}

impl From<Range> for Data {
    fn from(range: Range) -> Self {
        Data(Kept::Range(Arc::new(Lazy { range, column: OnceLock::new() })))
    }
}

/// Numbers at equal distances, with the digits of `numpy.arange`, or a part of them.
#[derive(Clone, Debug)]
pub struct Range {
    whole: Whole,
    offset: usize,
    len: usize,
}

/// A range of which nothing was cut off.
#[derive(Clone, Copy, Debug)]
enum Whole {
    Ints { start: i64, step: i128 },
    Floats { start: f64, second: f64, delta: f64 },
}

impl Range {
    /// So many integers from `start` on; `None` when one has more than 64 bits.
    pub fn ints(start: i128, step: i128, len: usize) -> Option<Range> {
        let Some(last) = len.checked_sub(1) else { return Some(Range::new(Whole::Ints { start: 0, step: 0 }, 0)) };
        let end = start.checked_add(step.checked_mul(i128::try_from(last).ok()?)?)?;
        i64::try_from(end).ok()?;
        Some(Range::new(Whole::Ints { start: i64::try_from(start).ok()?, step }, len))
    }

    /// So many floats from `start` on: the second one is `start + step`, and the others go on with its distance from the first.
    pub fn floats(start: f64, step: f64, len: usize) -> Range {
        let second = start + step;
        Range::new(Whole::Floats { start, second, delta: second - start }, len)
    }

    fn new(whole: Whole, len: usize) -> Range {
        Range { whole, offset: 0, len }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether these are integers or floats.
    pub fn kind(&self) -> NumberKind {
        match self.whole {
            Whole::Ints { .. } => NumberKind::Int,
            Whole::Floats { .. } => NumberKind::Float,
        }
    }

    /// The distance of two neighbours; floats are rounded to it.
    pub fn step(&self) -> Number {
        match self.whole {
            Whole::Ints { step, .. } => Number::Int(step),
            Whole::Floats { delta, .. } => Number::Float(delta),
        }
    }

    /// Element `i`, which must be less than the length; a float loses its fraction.
    pub fn int(&self, i: usize) -> i64 {
        match self.whole {
            // The result has 64 bits, so what is lost above them in between does not matter.
            Whole::Ints { start, step } => start.wrapping_add((step as i64).wrapping_mul((self.offset + i) as i64)),
            Whole::Floats { .. } => self.float(i) as i64,
        }
    }

    /// Element `i`, which must be less than the length, as a float.
    pub fn float(&self, i: usize) -> f64 {
        match self.whole {
            Whole::Ints { .. } => self.int(i) as f64,
            Whole::Floats { start, second, delta } => match self.offset + i {
                0 => start,
                1 => second,
                i => start + i as f64 * delta,
            },
        }
    }

    /// Element `i`, which must be less than the length.
    pub fn number(&self, i: usize) -> Number {
        match self.whole {
            Whole::Ints { .. } => Number::Int(self.int(i).into()),
            Whole::Floats { .. } => Number::Float(self.float(i)),
        }
    }

    /// The elements from `start` on, as [`Range::int`] gives them; there must be enough of them.
    pub fn fill_ints(&self, start: usize, into: &mut [i64]) {
        match self.whole {
            Whole::Ints { step, .. } => {
                let mut next = self.int(start);
                for int in into {
                    *int = next;
                    next = next.wrapping_add(step as i64);
                }
            }
            Whole::Floats { .. } => into.iter_mut().enumerate().for_each(|(i, int)| *int = self.int(start + i)),
        }
    }

    /// The elements from `start` on, as [`Range::float`] gives them; there must be enough of them.
    pub fn fill_floats(&self, start: usize, into: &mut [f64]) {
        match self.whole {
            Whole::Ints { .. } => into.iter_mut().enumerate().for_each(|(i, float)| *float = self.float(start + i)),
            Whole::Floats { start: first, delta, .. } => {
                // The place is exact as the sum of two floats, and processors convert integers of 32 bits several at once.
                let mut base = (self.offset + start) as f64;
                for part in into.chunks_mut(1 << 16) {
                    part.iter_mut().zip(0_i32..).for_each(|(float, i)| *float = first + (base + f64::from(i)) * delta);
                    base += part.len() as f64;
                }
                let special = into.len().min(2_usize.saturating_sub(self.offset + start));
                into[..special].iter_mut().enumerate().for_each(|(i, float)| *float = self.float(start + i));
            }
        }
    }

    /// The elements `start..start + len`, cut to what there is.
    pub fn slice(&self, start: usize, len: usize) -> Range {
        let start = start.min(self.len);
        Range { whole: self.whole, offset: self.offset + start, len: len.min(self.len - start) }
    }

    /// The sum of integers; `None` for floats, whose sum depends on the order.
    pub fn sum(&self) -> Option<i128> {
        let Whole::Ints { step, .. } = self.whole else { return None };
        let first = if self.is_empty() { 0 } else { i128::from(self.int(0)) };
        let len = self.len as i128;
        // a step times the number of steps has 65 bits, and a length far less than 60
        Some(len * first + step * (len - 1).max(0) * len / 2)
    }

    /// The elements at these places as a column.
    fn at(&self, places: impl Iterator<Item = usize>) -> Column {
        match self.whole {
            Whole::Ints { .. } => Column::from(places.map(|i| self.int(i)).collect::<Vec<i64>>()),
            Whole::Floats { .. } => Column::from(places.map(|i| self.float(i)).collect::<Vec<f64>>()),
        }
    }

    fn column(&self) -> Column {
        match self.whole {
            Whole::Ints { .. } => Column::from(Raw::filled(self.len, PART, |start, part| self.fill_ints(start, part))),
            Whole::Floats { .. } => Column::from(Raw::filled(self.len, PART, |start, part| self.fill_floats(start, part))),
        }
    }
}
