//! Indices, slices, keys and properties.

use std::cmp::Ordering;
use std::sync::Arc;

use super::fault;
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::{Array, Column, Data, Series, Value};

/// What follows a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Property {
    /// `series:name`
    Name,
    /// `series:array`
    Array,
    /// `table:columns`
    Columns,
}

/// Element `i` of a tuple, series, table (a row, as a tuple) or array; negative indices count from the end.
pub fn index(value: &Value, i: i64) -> Result<Value, Fault> {
    let at = |len: usize| position(i, len).ok_or_else(|| fault::index(i, len));
    match value {
        Value::Tuple(members) => Ok(members[at(members.len())?].clone()),
        Value::Series(series) => Ok(series.get(at(series.len())?)),
        Value::Table(table) => Ok(table.row(at(table.len())?)),
        Value::Array(array) => Ok(array.get(at(array.len())?)),
        other => Err(fault::access("index", other)),
    }
}

/// `value[start:stop:step]` of a tuple, series, table or array (along its first axis), as in Python.
pub fn slice(value: &Value, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Result<Value, Fault> {
    let Some(len) = value.len().filter(|_| !matches!(value, Value::Dict(_))) else { return Err(fault::access("slice", value)) };
    let range = Range::new(len, start, stop, step)?;
    match value {
        Value::Tuple(members) => Ok(Value::Tuple(range.indices().map(|i| members[i].clone()).collect())),
        Value::Series(series) => Ok(series.with_data(range.of(&series.data)?).into()),
        Value::Table(table) => Ok(table.try_map(|data| range.of(data))?.into()),
        Value::Array(array) => range.of_array(array).map(Value::from),
        other => Err(fault::access("slice", other)),
    }
}

/// The value of a key of a dict, or a column of a table.
pub fn key(value: &Value, name: &str) -> Result<Value, Fault> {
    match value {
        Value::Dict(fields) => match fields.get(name) {
            Some(field) => Ok(field.clone()),
            None => Err(fault::missing("value for key", name, fields.keys().map(|key| &**key))),
        },
        Value::Table(table) => match table.column(name) {
            Some(column) => Ok(Value::Series(Arc::clone(column))),
            None => Err(fault::missing("column", name, table.names().map(|name| &**name))),
        },
        other => Err(fault::access("keys", other)),
    }
}

/// A property of a series or table.
pub fn property(value: &Value, property: Property) -> Result<Value, Fault> {
    match (property, value) {
        (Property::Name, Value::Series(series)) => Ok(Value::Str(Arc::clone(&series.name))),
        (Property::Array, Value::Series(series)) => Array::from_series(series).map(Value::from),
        (Property::Columns, Value::Table(table)) => {
            let names = Column::from_strings(table.names().map(|name| Some(&**name)))?;
            Ok(Series::new("columns", names, Unit::NONE).into())
        }
        (Property::Name, other) => Err(fault::access("property \"name\"", other)),
        (Property::Array, other) => Err(fault::access("property \"array\"", other)),
        (Property::Columns, other) => Err(fault::access("property \"columns\"", other)),
    }
}

/// An index that counts from the end when it is negative; `None` beyond the ends.
pub fn position(i: i64, len: usize) -> Option<usize> {
    let signed = i128::from(i);
    let position = if i < 0 { signed + len as i128 } else { signed };
    usize::try_from(position).ok().filter(|position| *position < len)
}

/// Which elements `[start:stop:step]` takes of so many; a step of zero takes none.
pub fn slice_positions(start: Option<i64>, stop: Option<i64>, step: Option<i64>, len: usize) -> Vec<usize> {
    Range::new(len, start, stop, step).map_or_else(|_| Vec::new(), |range| range.indices().collect())
}

/// The indices of a slice: `count` of them from `first` on.
struct Range {
    first: i128,
    step: i128,
    count: usize,
}

impl Range {
    fn new(len: usize, start: Option<i64>, stop: Option<i64>, step: Option<i64>) -> Result<Range, Fault> {
        let step = i128::from(step.unwrap_or(1));
        let len = len as i128;
        // Where a slice may begin and end: one before the first element when it goes backwards.
        let (low, high) = match step.cmp(&0) {
            Ordering::Equal => return Err(fault::slice_step()),
            Ordering::Greater => (0, len),
            Ordering::Less => (-1, len - 1),
        };
        let clip = |bound: i64| if bound < 0 { i128::from(bound) + len } else { i128::from(bound) }.clamp(low, high);
        let (begin, end) = if step > 0 { (low, high) } else { (high, low) };
        let (first, stop) = (start.map_or(begin, clip), stop.map_or(end, clip));
        let distance = if step > 0 { stop - first } else { first - stop };
        let size = step.abs();
        let count = usize::try_from((distance.max(0) + size - 1) / size).unwrap_or(0);
        Ok(Range { first, step, count })
    }

    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).map(|i| (self.first + i as i128 * self.step) as usize)
    }

    /// Where the slice begins, when its elements lie side by side.
    fn contiguous(&self) -> Option<usize> {
        usize::try_from(self.first).ok().filter(|_| self.step == 1 || self.count <= 1)
    }

    fn of(&self, data: &Data) -> Result<Data, Fault> {
        match self.contiguous() {
            Some(first) => Ok(data.slice(first, self.count)),
            None => data.take(&self.indices().collect::<Vec<_>>()).map(Data::from),
        }
    }

    fn of_array(&self, array: &Array) -> Result<Array, Fault> {
        let Some(first) = self.contiguous() else { return array.take(&self.indices().collect::<Vec<_>>()) };
        let size = array.stride();
        let shape = std::iter::once(self.count).chain(array.shape.iter().skip(1).copied()).collect();
        Ok(Array { shape, unit: array.unit, data: array.data.slice(first * size, self.count * size) })
    }
}
