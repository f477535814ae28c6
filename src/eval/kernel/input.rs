//! Columns as inputs of a program.

use arrow_array::{Array, BooleanArray, StringArray};

use super::cell::{Cell, Scalar};
use super::lane::{Data, Lane};
use super::program::{Arg, Kind, Op, Program};
use crate::units::Unit;
use crate::value::{Column, Complex64, NumberKind, Quantity, Range, Series, Value, complex_parts};

/// A column that a program reads.
#[derive(Debug)]
pub struct Input<'v> {
    elements: Elements<'v>,
    /// Where the validity bitmap is, when an element is missing.
    nulls: Option<&'v dyn Array>,
}

#[derive(Debug)]
enum Elements<'v> {
    Bools(&'v BooleanArray),
    Strings(&'v StringArray),
    Ints(&'v [i64]),
    Floats(&'v [f64]),
    /// Real and imaginary parts in turn.
    Complexes(&'v [f64]),
    /// Of which a slice is computed when it is its turn.
    Range(&'v Range),
}

impl<'v> Input<'v> {
    /// Adds a series to the inputs of a program; gives an element of it as a cell.
    pub fn add(series: &'v Series, inputs: &mut Vec<Input<'v>>, program: &mut Program) -> Cell {
        if let Some(range) = series.data.range() {
            let kind = if range.kind() == NumberKind::Int { Kind::Int } else { Kind::Float };
            inputs.push(Input { elements: Elements::Range(range), nulls: None });
            let arg = Arg::Reg(program.emit(Op::Input(inputs.len() as u32 - 1), kind));
            return Cell::Scalar(Scalar { arg, kind, unit: series.unit, nullable: false, untyped: false });
        }
        let column: &Column = &series.data;
        let (elements, kind) = match column {
            Column::Null(_) if series.unit.is_none() => return Cell::Same(Value::Null),
            Column::Null(_) => return Cell::Same(Value::Quantity(Quantity::null(series.unit))),
            Column::Object(_) => return Cell::Spoilt,
            Column::Bool(array) => (Elements::Bools(array), Kind::Bool),
            Column::Str(array) => (Elements::Strings(array), Kind::Str),
            Column::Int(array) => (Elements::Ints(array.values()), Kind::Int),
            Column::Float(array) => (Elements::Floats(array.values()), Kind::Float),
            Column::Complex(array) => (Elements::Complexes(complex_parts(array).values()), Kind::Complex),
        };
        let nullable = column.null_count() > 0;
        inputs.push(Input { elements, nulls: column.arrow().filter(|_| nullable) });
        let arg = Arg::Reg(program.emit(Op::Input(inputs.len() as u32 - 1), kind));
        let unit = if kind.is_number() { series.unit } else { Unit::NONE };
        Cell::Scalar(Scalar { arg, kind, unit, nullable, untyped: false })
    }

    /// The elements from `start` on.
    pub fn load(&self, lane: &mut Lane<'v>, start: usize, len: usize) {
        match self.elements {
            Elements::Ints(ints) => lane.data = Data::Ints(&ints[start..start + len]),
            Elements::Floats(floats) => lane.data = Data::Floats(&floats[start..start + len]),
            Elements::Range(range) if range.kind() == NumberKind::Int => range.fill_ints(start, lane.data.ints_mut(len)),
            Elements::Range(range) => range.fill_floats(start, lane.data.floats_mut(len)),
            Elements::Bools(array) => {
                lane.data.bools_mut(len).iter_mut().enumerate().for_each(|(row, out)| *out = array.value(start + row));
            }
            Elements::Strings(array) => {
                lane.data.strings_mut(len).iter_mut().enumerate().for_each(|(row, out)| *out = array.value(start + row));
            }
            Elements::Complexes(parts) => {
                let pairs = parts[2 * start..2 * (start + len)].chunks_exact(2);
                let out = lane.data.complexes_mut(len).iter_mut();
                out.zip(pairs).for_each(|(out, pair)| *out = Complex64::new(pair[0], pair[1]));
            }
        }
        if let Some(nulls) = self.nulls {
            lane.nulls.add(len, |row| nulls.is_null(start + row));
        }
    }
}
