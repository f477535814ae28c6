//! Rectangular arrays.

use std::sync::Arc;

use super::column::Column;
use super::{Series, Value, fault};
use crate::diagnostic::Fault;
use crate::units::Unit;

/// A rectangular array of numbers, booleans or strings, without nulls, in row-major order.
#[derive(Clone, Debug)]
pub struct Array {
    /// Lengths of the axes, outermost first.
    pub shape: Vec<usize>,
    /// Of all elements; none when they are not numbers.
    pub unit: Unit,
    /// The elements, as many as the product of the shape.
    pub data: Column,
}

impl Array {
    /// An array over its elements in row-major order, which must fill the shape and hold no null.
    pub fn new(shape: Vec<usize>, data: Column, unit: Unit) -> Result<Self, Fault> {
        let size = shape.iter().try_fold(1usize, |size, axis| size.checked_mul(*axis));
        if shape.is_empty() || size != Some(data.len()) {
            return Err(fault::ragged(format!("{} elements do not fill the shape {shape:?}", data.len())));
        }
        match data {
            Column::Object(_) => Err(fault::ragged("elements must be numbers, booleans or strings")),
            _ if data.null_count() > 0 => Err(fault::null_in_array()),
            _ => Ok(Array { shape, unit, data }),
        }
    }

    /// An array of scalars, or of arrays of one shape, along a new first axis.
    pub fn stack(elements: Vec<Value>) -> Result<Self, Fault> {
        let rows: Option<Vec<Arc<Array>>> = elements.iter().map(as_array).collect();
        let Some(rows) = rows.filter(|rows| !rows.is_empty()) else { return Array::of_scalars(elements) };
        let inner = rows[0].shape.clone();
        if let Some(other) = rows.iter().find(|row| row.shape != inner) {
            return Err(fault::ragged(format!("shapes {inner:?} and {:?} have been found", other.shape)));
        }
        // A column of the rows' unit checks that the units agree.
        let (_, unit) = Column::from_values(elements)?;
        let parts: Vec<Column> = rows.iter().map(|row| row.data.clone()).collect();
        let shape = std::iter::once(rows.len()).chain(inner).collect();
        Array::new(shape, Column::concat(&parts)?, unit)
    }

    /// The elements of a series as an array, whose rank is one more than that of the elements.
    pub fn from_series(series: &Series) -> Result<Self, Fault> {
        match &*series.data {
            Column::Object(_) => Array::stack(series.values().collect()),
            column => Array::new(vec![series.len()], column.clone(), series.unit),
        }
    }

    /// The length of the first axis.
    pub fn len(&self) -> usize {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Whether the first axis is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the elements are numbers.
    pub fn is_numeric(&self) -> bool {
        self.data.kind().is_some()
    }

    /// Element `i` of the first axis, which must be less than its length: a scalar, or an array of one axis less.
    pub fn get(&self, i: usize) -> Value {
        if self.shape.len() == 1 {
            return self.data.get(i, self.unit);
        }
        let size = self.stride();
        let data = self.data.slice(i * size, size);
        Value::Array(Arc::new(Array { shape: self.shape[1..].to_vec(), unit: self.unit, data }))
    }

    /// The elements of the first axis at these indices, each of which must be less than its length.
    pub fn take(&self, indices: &[usize]) -> Result<Self, Fault> {
        let size = self.stride();
        let flat: Vec<usize> = indices.iter().flat_map(|i| i * size..(i + 1) * size).collect();
        let mut shape = self.shape.clone();
        shape[0] = indices.len();
        Ok(Array { shape, unit: self.unit, data: self.data.take(&flat)? })
    }

    /// How many elements lie under one index of the first axis.
    pub fn stride(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    fn of_scalars(elements: Vec<Value>) -> Result<Self, Fault> {
        let len = elements.len();
        let (data, unit) = Column::from_values(elements)?;
        Array::new(vec![len], data, unit)
    }
}

fn as_array(value: &Value) -> Option<Arc<Array>> {
    if let Value::Array(array) = value { Some(Arc::clone(array)) } else { None }
}
