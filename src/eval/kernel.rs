//! Column programs: map, filter, reduce and queries over whole columns instead of value by value.
//!
//! A lambda is compiled for the columns that it gets ([`compile`]), to instructions over registers ([`program`]) that are executed
//! slice by slice ([`execute`]). Rows that need more than that are left to the evaluator of single values, so that both give the same
//! values, nulls, units and errors: a program knows which rows these are, and of several faults the evaluator finds the first.

use std::rc::Rc;
use std::sync::Arc;

use arrow_array::BooleanArray;
use rayon::prelude::*;

use super::functions::{POOL, Rows};
use super::{Env, Evaluator, Stop};
use crate::diagnostic::At;
use crate::model::Callee;
use crate::source::Span;
use crate::value::{Series, Table, Value};

use cell::{Cell, Record};
use compile::Compiler;
use execute::{Layout, Machine};
use input::Input;
use lane::SLICE;
use output::{Output, Part, Report, outputs};
use program::Program;

mod build;
mod cell;
mod compile;
mod execute;
mod fold;
mod input;
mod lane;
mod members;
mod numbers;
mod obstacle;
mod output;
mod pick;
mod program;
mod query;
mod wide;

#[cfg(test)]
mod tests;

pub use obstacle::obstacles;
pub use pick::filter;

/// From so many elements on slices are shared among threads.
const PARALLEL_FROM: usize = 32_768;

impl Evaluator<'_> {
    /// `map` as a column program; `None` where that cannot be.
    pub(super) fn map_columns(
        &self,
        name: &Arc<str>,
        function: &Callee,
        rows: &[Rows],
        span: Span,
        env: &Env,
    ) -> Option<Result<Value, Stop>> {
        let len = rows.first().map_or(0, Rows::len);
        let one = |row| self.apply(function, rows.iter().map(|rows| rows.get(row)).collect(), env);
        let results = match self.compute(function, rows, len, env, &one)? {
            Ok(results) => results,
            Err(stop) => return Some(Err(stop)),
        };
        let mut columns = Vec::with_capacity(results.len());
        for result in results {
            let name = result.name.clone();
            let (data, unit) = result.finish(len)?;
            columns.push((name, data, unit));
        }
        if let [(None, data, unit)] = columns.as_slice() {
            return Some(Ok(Series::new(name.clone(), data.clone(), *unit).into()));
        }
        let columns = columns.into_iter().map(|(name, data, unit)| Some(Arc::new(Series::new(name?, data, unit))));
        Some(Table::new(columns.collect::<Option<_>>()?).at(span).map(Value::from).map_err(Stop::from))
    }

    /// Which elements or rows a filter keeps, as a column program; `None` where that cannot be.
    pub(super) fn mask_columns(&self, function: &Callee, rows: &Rows, env: &Env) -> Option<Result<BooleanArray, Stop>> {
        let one = |row| self.apply(function, vec![rows.get(row)], env);
        let results = match self.compute(function, std::slice::from_ref(rows), rows.len(), env, &one)? {
            Ok(results) => results,
            Err(stop) => return Some(Err(stop)),
        };
        let [result] = <[Output; 1]>::try_from(results).ok()?;
        result.mask(rows.len()).map(Ok)
    }

    /// What a function gives for all rows; spoilt ones are computed by `one`. `None` where there is no program, where most rows would be
    /// spoilt, and where one of them does not fit to the others.
    fn compute(
        &self,
        function: &Callee,
        rows: &[Rows],
        len: usize,
        env: &Env,
        one: &(dyn Fn(usize) -> Result<Value, Stop> + Sync),
    ) -> Option<Result<Vec<Output>, Stop>> {
        let mut compiler = Compiler::new(self, env);
        let mut inputs = Vec::new();
        let cells = rows.iter().map(|rows| rows.cell(&mut inputs, &mut compiler.program)).collect();
        let result = compiler.apply(function, cells);
        let Compiler { mut program, is_waiting, .. } = compiler;
        let mut outputs = outputs(result, &mut program)?;
        // What waits for a variable should not compute everything before it says so.
        if is_waiting && let Err(stop) = one(0) {
            return Some(Err(stop));
        }
        let interrupted = || self.context.world.is_interrupted();
        let Some(spoilt) = run(&program, &inputs, &mut outputs, len, &interrupted) else {
            return Some(Err(Stop::Interrupted(function.span())));
        };
        if spoilt.len() > len / 2 {
            return None;
        }
        for row in spoilt {
            match one(row) {
                Err(stop) => return Some(Err(stop)),
                Ok(value) if set(&mut outputs, row, &value) => {}
                // A fault of a later row comes before what the rows are together.
                Ok(_) => return None,
            }
        }
        Some(Ok(outputs))
    }
}

impl Rows {
    /// An element, or a row, as a cell of a program.
    fn cell<'v>(&'v self, inputs: &mut Vec<Input<'v>>, program: &mut Program) -> Cell {
        match self {
            Rows::Series(series) => Input::add(series, inputs, program),
            Rows::Table(table) => {
                let fields = table.columns().iter().map(|column| (column.name.clone(), Input::add(column, inputs, program)));
                Cell::Record(Rc::new(Record::new(fields.collect())))
            }
        }
    }
}

/// Enters the value of a row; `false` when the columns cannot hold it.
fn set(outputs: &mut [Output], row: usize, value: &Value) -> bool {
    match (outputs, value) {
        ([output], value) if output.name.is_none() => output.set(row, value),
        (outputs, Value::Dict(fields)) if fields.len() == outputs.len() => outputs.iter_mut().all(|output| {
            let field = output.name.as_ref().and_then(|name| fields.get(name));
            field.is_some_and(|field| output.set(row, field))
        }),
        _ => false,
    }
}

/// Executes a program for all rows; gives the spoilt ones in order, and `None` when the user does not want to wait any longer.
fn run(
    program: &Program,
    inputs: &[Input],
    outputs: &mut [Output],
    len: usize,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<usize>> {
    let kept: Vec<_> = outputs.iter().flat_map(|output| output.registers()).collect();
    let layout = Layout::new(program, &kept);
    let mut slices: Vec<Vec<Part>> = (0..len.div_ceil(SLICE)).map(|_| Vec::with_capacity(outputs.len())).collect();
    for output in outputs.iter_mut() {
        slices.iter_mut().zip(output.parts(len)).for_each(|(slice, part)| slice.push(part));
    }
    let execute = |machine: &mut Machine, (index, parts): (usize, &mut Vec<Part>)| {
        if interrupted() {
            return None;
        }
        let start = index * SLICE;
        let rows = SLICE.min(len - start);
        machine.run(start, rows);
        let mut report = Report::default();
        parts.iter_mut().for_each(|part| part.take(machine, start, rows, &mut report));
        report.spoilt.sort_unstable();
        report.spoilt.dedup();
        Some(report)
    };
    let machine = || Machine::new(program, &layout, inputs);
    let reports: Option<Vec<Report>> = match POOL.as_ref().filter(|_| len >= PARALLEL_FROM) {
        Some(pool) => pool.install(|| slices.par_iter_mut().enumerate().with_min_len(8).map_init(machine, execute).collect()),
        None => {
            let mut machine = machine();
            slices.iter_mut().enumerate().map(|slice| execute(&mut machine, slice)).collect()
        }
    };
    drop(slices);
    let mut spoilt = Vec::new();
    for report in reports? {
        outputs.iter_mut().zip(&report.floats).for_each(|(output, floats)| output.note(*floats));
        spoilt.extend(report.spoilt);
    }
    Some(spoilt)
}
