//! A named column with a unit.

use std::sync::Arc;

use super::Value;
use super::column::Column;
use super::data::Data;
use crate::diagnostic::Fault;
use crate::units::Unit;

/// A named column with a unit; not numeric: no unit.
#[derive(Clone, Debug)]
pub struct Series {
    /// Shown before the colon.
    pub name: Arc<str>,
    /// Of all elements.
    pub unit: Unit,
    /// The elements.
    pub data: Data,
}

impl Series {
    /// A series over a column, or over a range that is not one yet.
    pub fn new(name: impl Into<Arc<str>>, data: impl Into<Data>, unit: Unit) -> Self {
        Series { name: name.into(), unit, data: data.into() }
    }

    /// A series of these elements; faults as [`Column::from_values`].
    pub fn from_values(name: impl Into<Arc<str>>, values: Vec<Value>) -> Result<Self, Fault> {
        let (data, unit) = Column::from_values(values)?;
        Ok(Series::new(name, data, unit))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Element `i` with its unit; `i` must be less than the length.
    pub fn get(&self, i: usize) -> Value {
        self.data.get(i, self.unit)
    }

    /// All elements with their unit.
    pub fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.data.values(self.unit)
    }

    /// The same series with other elements.
    pub fn with_data(&self, data: impl Into<Data>) -> Self {
        Series { name: self.name.clone(), unit: self.unit, data: data.into() }
    }

    /// The same series with another name.
    pub fn renamed(&self, name: impl Into<Arc<str>>) -> Self {
        Series { name: name.into(), unit: self.unit, data: self.data.clone() }
    }
}
