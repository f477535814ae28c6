//! Named columns of one length.

use std::sync::Arc;

use super::fault;
use super::series::Series;
use super::{Data, Value};
use crate::diagnostic::Fault;

/// Series of one length with distinct names.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) columns: Vec<Arc<Series>>,
}

impl Table {
    /// A table of these columns, whose names must be distinct and whose lengths must be equal.
    pub fn new(columns: Vec<Arc<Series>>) -> Result<Self, Fault> {
        let mut seen = std::collections::HashSet::new();
        if let Some(repeated) = columns.iter().find(|column| !seen.insert(&column.name)) {
            return Err(fault::repeated_column(&repeated.name));
        }
        let mut lengths: Vec<usize> = Vec::new();
        for column in &columns {
            if !lengths.contains(&column.len()) {
                lengths.push(column.len());
            }
        }
        if lengths.len() > 1 {
            return Err(fault::unequal_columns(&lengths));
        }
        Ok(Table { columns })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns in their order.
    pub fn columns(&self) -> &[Arc<Series>] {
        &self.columns
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Arc<Series>> {
        self.columns.iter().find(|column| &*column.name == name)
    }

    /// The names of the columns in their order.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.columns.iter().map(|column| &column.name)
    }

    /// Row `i` as a tuple; `i` must be less than the number of rows.
    pub fn row(&self, i: usize) -> Value {
        Value::Tuple(self.columns.iter().map(|column| column.get(i)).collect())
    }

    /// Row `i` as a record, by the names of the columns; `i` must be less than the number of rows.
    pub fn record(&self, i: usize) -> Value {
        let fields = self.columns.iter().map(|column| (column.name.clone(), column.get(i)));
        Value::Dict(Arc::new(fields.collect()))
    }

    /// The table with every column changed in the same way, which must leave the lengths equal.
    pub fn try_map<D: Into<Data>>(&self, change: impl Fn(&Data) -> Result<D, Fault>) -> Result<Self, Fault> {
        let changed = self.columns.iter().map(|column| Ok(Arc::new(column.with_data(change(&column.data)?))));
        Ok(Table { columns: changed.collect::<Result<_, Fault>>()? })
    }
}
