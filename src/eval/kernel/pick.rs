//! The elements that a mask chooses, by several threads.

use std::sync::Arc;

use arrow_array::{Float64Array, Int64Array};
use rayon::prelude::*;

use super::{PARALLEL_FROM, POOL};
use crate::diagnostic::Fault;
use crate::ops;
use crate::value::memory::Raw;
use crate::value::{Column, Data, Mask, NumberKind, Series, Table, Value};

/// So many elements are looked at by one thread at a time.
const PART: usize = 4096;

/// The elements or rows where a mask without nulls is true.
pub fn filter(value: &Value, mask: &Mask) -> Result<Value, Fault> {
    match value {
        Value::Series(series) if series.len() == mask.len() => Ok(picked(series, mask)?.into()),
        Value::Table(table) if table.len() == mask.len() => {
            let columns = table.columns().iter().map(|column| picked(column, mask).map(Arc::new));
            Ok(Table::new(columns.collect::<Result<_, Fault>>()?)?.into())
        }
        other => ops::filter(other, mask),
    }
}

fn picked(series: &Series, mask: &Mask) -> Result<Series, Fault> {
    let data: &Data = &series.data;
    if data.null_count() > 0 || data.len() < PARALLEL_FROM {
        return Ok(series.with_data(data.filter(mask)?));
    }
    let range = data.range();
    let column = match (data.kind(), range) {
        (Some(NumberKind::Float), Some(range)) => floats(mask, |start, part| range.fill_floats(start, part)),
        (Some(NumberKind::Int), Some(range)) => ints(mask, |start, part| range.fill_ints(start, part)),
        _ => match &**data {
            Column::Float(array) => floats(mask, |start, part| part.copy_from_slice(&array.values()[start..start + part.len()])),
            Column::Int(array) => ints(mask, |start, part| part.copy_from_slice(&array.values()[start..start + part.len()])),
            other => Some(other.filter(mask)?),
        },
    };
    Ok(series.with_data(column.map_or_else(|| data.filter(mask), Ok)?))
}

fn floats(mask: &Mask, read: impl Fn(usize, &mut [f64]) + Sync) -> Option<Column> {
    numbers(mask, read).map(|numbers| Column::Float(Float64Array::from(numbers)))
}

fn ints(mask: &Mask, read: impl Fn(usize, &mut [i64]) + Sync) -> Option<Column> {
    numbers(mask, read).map(|numbers| Column::Int(Int64Array::from(numbers)))
}

/// What `read` gives for the places where a mask is true.
fn numbers<T: Copy + Default + Send + Sync>(mask: &Mask, read: impl Fn(usize, &mut [T]) + Sync) -> Option<Vec<T>> {
    let starts = || (0..mask.len()).step_by(PART);
    let part = |start: usize| mask.values().slice(start, PART.min(mask.len() - start));
    let counts: Vec<usize> = starts().map(|start| part(start).count_set_bits()).collect();
    let mut raw = Raw::with_len(counts.iter().sum());
    let slots = raw.slots_of(counts);
    let fill = |(start, slot): (usize, crate::value::memory::Slot<T>)| {
        let chosen = part(start);
        let mut from = [T::default(); PART];
        let mut to = [T::default(); PART + 1];
        let from = &mut from[..chosen.len()];
        read(start, from);
        // A number is written wherever the next one goes and stays when it is chosen: no branch depends on the data.
        let mut count = 0;
        let mut bits = chosen.bit_chunks().iter_padded();
        for eight in from.chunks(64) {
            let mut word = bits.next().unwrap_or(0);
            for number in eight {
                to[count] = *number;
                count += (word & 1) as usize;
                word >>= 1;
            }
        }
        slot.copy(&to[..count]);
    };
    let work: Vec<_> = starts().zip(slots).collect();
    match POOL.as_ref() {
        Some(pool) => pool.install(|| work.into_par_iter().with_min_len(4).for_each(fill)),
        None => work.into_iter().for_each(fill),
    }
    raw.finish()
}
