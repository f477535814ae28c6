//! Collections: making them, and taking from them.

use std::sync::Arc;

use arrow_array::Array;

use super::scalar::{of_logic, wrong};
use super::{Env, Evaluator, Stop};
use crate::diagnostic::At;
use crate::model::{AggregateKind, Expr, ExprKind, LoadKind, PartKind};
use crate::ops;
use crate::source::Span;
use crate::units::Unit;
use crate::value::{Column, Series, Table, Value, with_unit};

impl Evaluator<'_> {
    pub(super) fn collection(&self, expr: &Expr, env: &Env) -> Result<Value, Stop> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Tuple(members) => Ok(Value::Tuple(self.list(members, env)?.into())),
            ExprKind::Dict(members) => {
                let members = members.iter().map(|(key, member)| Ok((key.clone(), self.eval(member, env)?)));
                Ok(Value::Dict(Arc::new(members.collect::<Result<_, Stop>>()?)))
            }
            ExprKind::Series { name, elements, unit } => self.series(span, name, elements, *unit, env),
            ExprKind::Table(columns) => self.table(span, columns, env),
            ExprKind::Key(base, key) => Ok(ops::key(&self.eval(base, env)?, key).at(span)?),
            ExprKind::Index(base, index) => Ok(ops::index(&self.eval(base, env)?, *index).at(span)?),
            ExprKind::Slice(base, slice) => {
                let base = self.eval(base, env)?;
                Ok(ops::slice(&base, slice.start, slice.stop, slice.step).at(span)?)
            }
            ExprKind::Property(base, property) => Ok(ops::property(&self.eval(base, env)?, *property).at(span)?),
            ExprKind::Aggregate(AggregateKind::Sum, arguments) => self.sum_of(span, arguments, env),
            ExprKind::Aggregate(AggregateKind::Any, arguments) => self.decide_series(arguments, true, env),
            ExprKind::Aggregate(AggregateKind::All, arguments) => self.decide_series(arguments, false, env),
            ExprKind::Part(part, operand) => {
                let operand = self.eval(operand, env)?;
                let result = match part {
                    PartKind::Real => ops::real(&operand),
                    PartKind::Imaginary => ops::imag(&operand),
                };
                Ok(result.at(span)?)
            }
            ExprKind::Range { name, start, stop, step } => {
                let (start, stop, step) = (self.eval(start, env)?, self.eval(stop, env)?, self.eval(step, env)?);
                Ok(ops::range(name.clone(), &start, &stop, &step).at(span)?)
            }
            ExprKind::Source { kind, path } => self.load(span, *kind, path, env),
            _ => self.eval(expr, env),
        }
    }

    fn series(&self, span: Span, name: &Arc<str>, elements: &[Expr], unit: Option<Unit>, env: &Env) -> Result<Value, Stop> {
        let mut values = self.list(elements, env)?;
        if let Some(unit) = unit {
            values = values.iter().map(|value| with_unit(value, unit)).collect();
        }
        let mut series = Series::from_values(name.clone(), values).at(span)?;
        if let Some(unit) = unit {
            series.unit = unit;
        }
        Ok(Value::Series(Arc::new(series)))
    }

    fn table(&self, span: Span, columns: &[Expr], env: &Env) -> Result<Value, Stop> {
        let mut series = Vec::with_capacity(columns.len());
        for column in columns {
            match self.eval(column, env)? {
                Value::Series(column) => series.push(column),
                other => return Err(wrong(column.span, "the type of a table column must be series", &other)),
            }
        }
        Ok(Value::Table(Arc::new(Table::new(series).at(span)?)))
    }

    fn sum_of(&self, span: Span, arguments: &[Expr], env: &Env) -> Result<Value, Stop> {
        let values = self.list(arguments, env)?;
        let result = match values.as_slice() {
            [Value::Series(series)] => ops::sum_series(series),
            [Value::Array(array)] if array.shape.len() == 1 => ops::sum_series(&Series::new("", array.data.clone(), array.unit)),
            values => ops::sum_scalars(values),
        };
        Ok(result.at(span)?)
    }

    /// `any` and `all` of a series or of scalars.
    fn decide_series(&self, arguments: &[Expr], decisive: bool, env: &Env) -> Result<Value, Stop> {
        let [argument] = arguments else { return self.decide(arguments, decisive, env) };
        let value = self.eval(argument, env)?;
        let Value::Series(series) = &value else {
            return Ok(of_logic(super::scalar::truth(&value, argument.span)?));
        };
        if let Column::Bool(array) = &*series.data {
            let decided = if decisive { array.true_count() } else { array.false_count() } > 0;
            let open = array.null_count() > 0;
            return Ok(of_logic(if decided { Some(decisive) } else { (!open).then_some(!decisive) }));
        }
        let mut elements = Vec::with_capacity(series.len());
        for element in series.values() {
            elements.push(super::scalar::truth(&element, argument.span)?);
        }
        Ok(of_logic(if decisive { ops::any(elements) } else { ops::all(elements) }))
    }

    fn load(&self, span: Span, kind: LoadKind, path: &Expr, env: &Env) -> Result<Value, Stop> {
        match self.eval(path, env)? {
            Value::Str(path) => Ok(self.context.world.load(kind, &path).at(span)?),
            other => Err(wrong(path.span, "a file name must be a string", &other)),
        }
    }
}
