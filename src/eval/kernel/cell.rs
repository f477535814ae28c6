//! What the compiler of column programs knows of a value that differs from row to row.

use std::rc::Rc;
use std::sync::Arc;

use super::program::{Arg, Kind, Reg};
use crate::units::Unit;
use crate::value::Value;

/// A value in each row.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Left to the evaluator of single values: what is not known yet, has no column form, or is a fault.
    Spoilt,
    /// The same value in all rows, of any type.
    Same(Value),
    /// A scalar.
    Scalar(Scalar),
    /// A row of a table, or a dict.
    Record(Rc<Record>),
    /// One or the other, of different types, by a condition; missing where the condition is.
    Either(Condition, Rc<(Cell, Cell)>),
}

/// What decides between two cells.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Truth values.
    pub reg: Reg,
    /// Whether one may be missing.
    pub nullable: bool,
}

/// Named cells.
#[derive(Debug)]
pub struct Record {
    /// In order.
    pub fields: Vec<(Arc<str>, Cell)>,
    size: usize,
}

impl Record {
    /// Cells with their names, in order.
    pub fn new(fields: Vec<(Arc<str>, Cell)>) -> Record {
        let size = fields.iter().fold(1, |size: usize, (_, cell)| size.saturating_add(cell.size()));
        Record { fields, size }
    }

    /// How many cells are in it, all the way down. Records share cells, so there may be far more than were made.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// A scalar in each row, all of one kind and unit.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// Where it is.
    pub arg: Arg,
    /// Its kind.
    pub kind: Kind,
    /// Of numbers; [`Unit::NONE`] for what is none.
    pub unit: Unit,
    /// Whether it may be missing somewhere.
    pub nullable: bool,
    /// Whether what is missing may be `null` of no type, which takes no part in units.
    pub untyped: bool,
}

impl Cell {
    /// How many alternatives there are.
    pub fn alternatives(&self) -> usize {
        match self {
            Cell::Either(_, arms) => arms.0.alternatives() + arms.1.alternatives(),
            Cell::Spoilt | Cell::Same(_) | Cell::Scalar(_) | Cell::Record(_) => 1,
        }
    }

    /// The value that is the same in all rows, if it is one.
    pub fn same(&self) -> Option<Value> {
        if let Cell::Same(value) = self { Some(value.clone()) } else { None }
    }

    fn size(&self) -> usize {
        match self {
            Cell::Spoilt | Cell::Same(_) | Cell::Scalar(_) => 1,
            Cell::Record(record) => record.size,
            Cell::Either(_, arms) => arms.0.size().saturating_add(arms.1.size()),
        }
    }
}

impl From<Option<Cell>> for Cell {
    fn from(cell: Option<Cell>) -> Self {
        cell.unwrap_or(Cell::Spoilt)
    }
}

impl From<Option<Scalar>> for Cell {
    fn from(scalar: Option<Scalar>) -> Self {
        scalar.map_or(Cell::Spoilt, Cell::Scalar)
    }
}
