//! The elements that a mask chooses, by several threads.

use std::sync::Arc;

use rayon::prelude::*;

use super::{PARALLEL_FROM, POOL};
use crate::diagnostic::Fault;
use crate::ops;
use crate::value::memory::{Raw, Slot};
use crate::value::{Column, Data, Mask, NumberKind, Series, Table, Value};

/// So many elements are looked at by one thread at a time.
const PART: usize = 4096;

/// So few of 64 are looked up one by one.
const FEW: usize = 24;

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
    let column = match (data.range(), data.kind()) {
        (Some(range), Some(NumberKind::Int)) => numbers(mask, &Source::Made(&|start, part| range.fill_ints(start, part))).map(Column::from),
        (Some(range), _) => numbers(mask, &Source::Made(&|start, part| range.fill_floats(start, part))).map(Column::from),
        (None, _) => match &**data {
            Column::Float(array) => numbers(mask, &Source::There(array.values())).map(Column::from),
            Column::Int(array) => numbers(mask, &Source::There(array.values())).map(Column::from),
            other => Some(other.filter(mask)?),
        },
    };
    Ok(series.with_data(column.map_or_else(|| data.filter(mask), Ok)?))
}

/// Numbers that are chosen from.
enum Source<'s, T> {
    There(&'s [T]),
    /// Those from a place on are written where they are wanted.
    Made(&'s (dyn Fn(usize, &mut [T]) + Sync)),
}

/// The numbers for which a mask is true.
fn numbers<T: Copy + Default + Send + Sync>(mask: &Mask, source: &Source<T>) -> Option<Vec<T>> {
    let starts = || (0..mask.len()).step_by(PART);
    let part = |start: usize| mask.values().slice(start, PART.min(mask.len() - start));
    let counts: Vec<usize> = starts().map(|start| part(start).count_set_bits()).collect();
    let mut raw = Raw::with_len(counts.iter().sum());
    let slots = raw.slots_of(counts);
    let fill = |(start, slot): (usize, Slot<T>)| {
        let chosen = part(start);
        let mut made = [T::default(); PART];
        let from = match source {
            Source::There(numbers) => &numbers[start..start + chosen.len()],
            Source::Made(make) => {
                make(start, &mut made[..chosen.len()]);
                &made[..chosen.len()]
            }
        };
        let mut to = [T::default(); PART + 1];
        let mut count = 0;
        let words = chosen.bit_chunks();
        for (numbers, word) in from.chunks(64).zip(words.iter_padded()) {
            count += pick(numbers, word, &mut to[count..]);
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

/// The numbers whose bits are set go to the beginning of `to`, which has room for one more; gives how many they are.
fn pick<T: Copy>(numbers: &[T], mut bits: u64, to: &mut [T]) -> usize {
    let chosen = bits.count_ones() as usize;
    if chosen == numbers.len() {
        to[..chosen].copy_from_slice(numbers);
    } else if chosen < FEW {
        for to in &mut to[..chosen] {
            *to = numbers[bits.trailing_zeros() as usize];
            bits &= bits - 1;
        }
    } else {
        // A number is written wherever the next one goes and stays when it is chosen: no branch depends on the data.
        let mut count = 0;
        for number in numbers {
            to[count] = *number;
            count += (bits & 1) as usize;
            bits >>= 1;
        }
    }
    chosen
}
