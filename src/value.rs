//! Run-time values.
//!
//! A value is small and cheap to clone: everything that can be large is shared. Numeric columns are Arrow arrays with a validity
//! bitmap; a series is a name, a unit and one column; a table is named series of one length.

use std::sync::Arc;

use indexmap::IndexMap;

pub use array::Array;
pub use arrow_array::BooleanArray as Mask;
pub use column::{Column, as_whole, bits, complex_at, complex_column, complex_parts, validity, with_unit};
pub use data::{Data, Range};
pub use num_complex::Complex64;
pub use number::{Number, NumberKind, Uncertain};
pub use quantity::Quantity;
pub use series::Series;
pub use table::Table;

mod array;
pub mod codec;
mod column;
mod data;
mod fault;
pub mod memory;
mod number;
pub mod print;
mod quantity;
mod series;
mod table;

#[cfg(test)]
mod tests;

/// A value of the language.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null` of no particular type; a number that is missing but has a unit is a [`Quantity`].
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A string.
    Str(Arc<str>),
    /// A number with a unit.
    Quantity(Quantity),
    /// `(a, b)`
    Tuple(Arc<[Value]>),
    /// `{k: v}`, in the order of writing.
    Dict(Arc<IndexMap<Arc<str>, Value>>),
    /// A named column.
    Series(Arc<Series>),
    /// Named columns of one length.
    Table(Arc<Table>),
    /// A rectangular array of any rank.
    Array(Arc<Array>),
    /// An imported function, by `module.name`.
    Function(Arc<str>),
}

impl Value {
    /// Whether this is null, with or without a unit.
    pub fn is_null(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Quantity(quantity) => quantity.is_null(),
            Value::Bool(_)
            | Value::Str(_)
            | Value::Tuple(_)
            | Value::Dict(_)
            | Value::Series(_)
            | Value::Table(_)
            | Value::Array(_)
            | Value::Function(_) => false,
        }
    }

    /// The name of the type as `info` and diagnostics show it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "Any",
            Value::Bool(_) => "Boolean",
            Value::Str(_) => "String",
            Value::Quantity(_) => "Quantity",
            Value::Tuple(_) => "Tuple",
            Value::Dict(_) => "Dict",
            Value::Series(_) => "Series",
            Value::Table(_) => "Table",
            Value::Array(_) => "Array",
            Value::Function(_) => "Function",
        }
    }

    /// The name of the kind of number, or of the elements, as `info` shows it; `None` for types without one.
    pub fn datatype_name(&self) -> Option<&'static str> {
        match self {
            Value::Quantity(quantity) => Some(quantity.number.type_name()),
            Value::Series(series) => Some(series.data.type_name()),
            Value::Array(array) => Some(array.data.type_name()),
            Value::Null | Value::Bool(_) | Value::Str(_) | Value::Tuple(_) | Value::Dict(_) | Value::Table(_) | Value::Function(_) => None,
        }
    }

    /// The number of elements or rows; `None` for what has none.
    #[allow(clippy::len_without_is_empty)] // not every value has a length
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::Tuple(members) => Some(members.len()),
            Value::Dict(fields) => Some(fields.len()),
            Value::Series(series) => Some(series.len()),
            Value::Table(table) => Some(table.len()),
            Value::Array(array) => Some(array.len()),
            Value::Null | Value::Bool(_) | Value::Str(_) | Value::Quantity(_) | Value::Function(_) => None,
        }
    }

    /// Whether two values are the same to the last bit, units, kinds and names included (not the language's `==`).
    pub fn same(&self, other: &Value) -> bool {
        codec::digest(self) == codec::digest(other)
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Value::Bool(bool)
    }
}

impl From<Option<bool>> for Value {
    fn from(bool: Option<bool>) -> Self {
        bool.map_or(Value::Null, Value::Bool)
    }
}

impl From<&str> for Value {
    fn from(string: &str) -> Self {
        Value::Str(string.into())
    }
}

impl From<Quantity> for Value {
    fn from(quantity: Quantity) -> Self {
        Value::Quantity(quantity)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Value::Quantity(number.into())
    }
}

impl From<i32> for Value {
    fn from(int: i32) -> Self {
        Value::Quantity(int.into())
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Self {
        Value::Quantity(int.into())
    }
}

impl From<f64> for Value {
    fn from(float: f64) -> Self {
        Value::Quantity(float.into())
    }
}

impl From<Series> for Value {
    fn from(series: Series) -> Self {
        Value::Series(Arc::new(series))
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Self {
        Value::Table(Arc::new(table))
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Value::Array(Arc::new(array))
    }
}

impl From<Vec<Value>> for Value {
    fn from(members: Vec<Value>) -> Self {
        Value::Tuple(members.into())
    }
}

impl From<IndexMap<Arc<str>, Value>> for Value {
    fn from(fields: IndexMap<Arc<str>, Value>) -> Self {
        Value::Dict(Arc::new(fields))
    }
}
