//! Calls, map, filter, reduce.
//!
//! Elements of large columns are looked at in parallel; results keep their order, and of several faults the first is said, so that
//! nothing depends on the number of threads.

use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, OnceLock};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::scalar::{fault, truth, wrong};
use super::{DEPTH, Env, Evaluator, Level, STACK_SIZE, Slot, Stop, kernel};
use crate::builtin;
use crate::diagnostic::{At, Diagnostic, Fault};
use crate::model::{Callee, Expr, FunctionId, NativeName, Target};
use crate::ops;
use crate::source::Span;
use crate::units::Unit;
use crate::value::{Column, Number, Quantity, Series, Table, Value};

/// Below so many elements a map is not worth other threads.
const PARALLEL_FROM: usize = 2048;

/// Threads with a stack that evaluation can recurse on; none where the system has none to give.
pub(super) static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    // none are as many as there are cores
    let threads = THREADS.get().map_or(0, |threads| threads.get());
    ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_SIZE).build().ok()
});

static THREADS: OnceLock<NonZeroUsize> = OnceLock::new();

/// Looks at elements of large columns with no more than so many threads; to be said once, before anything is evaluated.
pub fn limit_threads(most: NonZeroUsize) {
    let _ = THREADS.set(most);
}

impl Evaluator<'_> {
    pub(super) fn call(&self, id: FunctionId, slots: &[Slot], span: Span) -> Result<Value, Stop> {
        self.go_on(span)?;
        let function = &self.context.functions[id.index()];
        let env = Env { slots, outer: None };
        self.eval(&function.body, &env).map_err(|stop| match stop {
            Stop::Fault(diagnostic) => Stop::Fault(Box::new(diagnostic.label(span, format!("in this call of `{}`", function.name)))),
            other @ (Stop::Needs(_) | Stop::Failed(..) | Stop::Interrupted(_)) => other,
        })
    }

    pub(super) fn native(&self, name: &NativeName, arguments: &[Value], span: Span) -> Result<Value, Stop> {
        let Some(native) = builtin::native(&name.module, &name.name) else {
            let unknown = Fault::new("E0442", format!("this version has no function `{}` in `{}`", name.name, name.module));
            return Err(fault(unknown, span));
        };
        Ok(native.call(arguments).at(span)?)
    }

    /// Ends the evaluation when the user does not want to wait any longer: here is where programs spend their time.
    fn go_on(&self, span: Span) -> Result<(), Stop> {
        if self.context.world.is_interrupted() { Err(Stop::Interrupted(span)) } else { Ok(()) }
    }

    pub(super) fn apply(&self, function: &Callee, arguments: Vec<Value>, env: &Env) -> Result<Value, Stop> {
        match function {
            Callee::Lambda { body, span, .. } => {
                self.go_on(*span)?;
                let slots: Vec<Slot> = arguments.into_iter().map(Slot::Value).collect();
                self.eval(body, &Env { slots: &slots, outer: Some(env) })
            }
            Callee::Function(id, span) => {
                let slots: Vec<Slot> = arguments.into_iter().map(Slot::Value).collect();
                self.call(*id, &slots, *span)
            }
            Callee::Native(name, span) => {
                self.go_on(*span)?;
                self.native(name, &arguments, *span)
            }
        }
    }

    /// Results of a function for each row, in order; of several faults the first.
    fn each(&self, len: usize, one: impl Fn(usize) -> Result<Value, Stop> + Send + Sync) -> Result<Vec<Value>, Stop> {
        let Some(pool) = POOL.as_ref().filter(|_| len >= PARALLEL_FROM) else {
            return (0..len).map(one).collect();
        };
        // What waits for a variable, or fails always, should not be computed for all rows before it says so.
        let first = one(0)?;
        let depth = DEPTH.get();
        let one = |row| {
            let _level = Level::at(depth);
            one(row)
        };
        let rows = (1..len).into_par_iter().with_min_len(PARALLEL_FROM / 8);
        let results: Vec<Result<Value, Stop>> = pool.install(|| rows.map(one).collect());
        std::iter::once(Ok(first)).chain(results).collect()
    }

    pub(super) fn map(&self, name: &Arc<str>, function: &Callee, inputs: &[Expr], span: Span, env: &Env) -> Result<Value, Stop> {
        let mut rows = Vec::with_capacity(inputs.len());
        for input in inputs {
            rows.push(Rows::of(&self.eval(input, env)?, input.span, "map")?);
        }
        let len = rows.first().map_or(0, Rows::len);
        if let Some((other, input)) = rows.iter().zip(inputs).find(|(other, _)| other.len() != len) {
            return Err(unequal(input.span, len, other.len()));
        }
        if len >= self.columns_from.max(1)
            && let Some(result) = self.map_columns(name, function, &rows, span, env)
        {
            return result;
        }
        let values = self.each(len, |row| self.apply(function, rows.iter().map(|rows| rows.get(row)).collect(), env))?;
        Ok(ops::gather(name.clone(), values).at(span)?)
    }

    /// Missing elements, and rows with a missing element, are dropped first.
    pub(super) fn filter(&self, name: &Arc<str>, function: &Callee, input: &Expr, span: Span, env: &Env) -> Result<Value, Stop> {
        let input_value = self.eval(input, env)?;
        Rows::of(&input_value, input.span, "filter")?;
        let present = ops::drop_nulls(&input_value).at(input.span)?;
        let rows = Rows::of(&present, input.span, "filter")?;
        let at = match function {
            Callee::Lambda { body, .. } => body.span,
            Callee::Function(_, span) | Callee::Native(_, span) => *span,
        };
        let columns = if rows.len() >= self.columns_from.max(1) { self.mask_columns(function, &rows, env) } else { None };
        let mask = match columns {
            Some(mask) => mask?,
            None => {
                let kept = self.each(rows.len(), |row| self.apply(function, vec![rows.get(row)], env))?;
                kept.iter().map(|value| truth(value, at)).collect::<Result<_, Stop>>()?
            }
        };
        match kernel::filter(&present, &mask).at(span)? {
            Value::Series(series) => Ok(Value::Series(Arc::new(series.renamed(name.clone())))),
            other => Ok(other),
        }
    }

    /// A fold from the left; rows of a table fold to dicts, and the last one becomes a table of one row.
    pub(super) fn reduce(&self, function: &Callee, input: &Expr, span: Span, env: &Env) -> Result<Value, Stop> {
        let rows = Rows::of(&self.eval(input, env)?, input.span, "reduce")?;
        if rows.len() == 0 {
            let empty = Diagnostic::error("E0443", "reduce of an empty series or table", input.span).here("there are no elements");
            return Err(Stop::Fault(Box::new(empty.help("check its length before, or add a neutral element"))));
        }
        let mut total = rows.get(0);
        let mut done = 1;
        if rows.len() >= self.columns_from.max(2)
            && let Rows::Series(series) = &rows
            && let Some(folded) = self.fold_columns(function, series, env)
        {
            (total, done) = folded?;
        }
        for row in done..rows.len() {
            total = self.apply(function, vec![total, rows.get(row)], env)?;
        }
        match (rows, total) {
            (Rows::Table(table), Value::Dict(total)) => {
                let whole = table.columns().iter().all(|column| matches!(*column.data, Column::Int(_)));
                let total = total.iter().map(|(key, value)| Ok((key.clone(), collapsed(value, whole)?)));
                let total = total.collect::<Result<_, Fault>>().at(span)?;
                Ok(ops::gather("reduce", vec![Value::Dict(Arc::new(total))]).at(span)?)
            }
            (Rows::Table(_), other) => Err(wrong(span, "the function of reduce must give a dict for the rows of a table", &other)),
            (Rows::Series(_), total) => Ok(total),
        }
    }
}

/// A number in a product of units that is one unit in base units, in that one: folding metres with centimetres gives square metres.
/// The reference does so for the rows of tables only; a whole number of a table of integers stays an integer.
fn collapsed(value: &Value, whole: bool) -> Result<Value, Fault> {
    let is_product = |unit: Unit| unit.factors().iter().filter(|(_, exponent)| *exponent > 0.0).count() > 1;
    let Value::Quantity(quantity) = value else { return Ok(value.clone()) };
    if quantity.is_null() || !is_product(quantity.unit) || is_product(quantity.unit.base()) {
        return Ok(value.clone());
    }
    let converted = ops::convert(value, Target::Base)?;
    match &converted {
        Value::Quantity(Quantity { number: Number::Float(float), unit }) if whole && float.fract() == 0.0 && float.abs() < 1e15 => {
            Ok(Value::Quantity(Quantity { number: Number::Int(*float as i128), unit: *unit }))
        }
        _ => Ok(converted),
    }
}

/// Elements of a series, or rows of a table as dicts.
pub(super) enum Rows {
    Series(Arc<Series>),
    Table(Arc<Table>),
}

impl Rows {
    fn of(value: &Value, span: Span, what: &str) -> Result<Rows, Stop> {
        match value {
            Value::Series(series) => Ok(Rows::Series(series.clone())),
            Value::Table(table) => Ok(Rows::Table(table.clone())),
            other => Err(wrong(span, &format!("{what} inputs must be either series or table-like"), other)),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Rows::Series(series) => series.len(),
            Rows::Table(table) => table.len(),
        }
    }

    pub(super) fn get(&self, row: usize) -> Value {
        match self {
            Rows::Series(series) => series.get(row),
            Rows::Table(table) => {
                let members = table.columns().iter().map(|column| (column.name.clone(), column.get(row)));
                Value::Dict(Arc::new(members.collect()))
            }
        }
    }
}

fn unequal(span: Span, first: usize, other: usize) -> Stop {
    let fault = Diagnostic::error("E0444", "map inputs must have equal size", span);
    Stop::Fault(Box::new(fault.here(format!("{other} elements here, {first} in the first input"))))
}
