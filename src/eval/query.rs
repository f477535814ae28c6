//! Queries: which rows, which columns.

use std::sync::Arc;

use super::scalar::{fault, truth, wrong};
use super::{Env, Evaluator, Stop, kernel};
use crate::diagnostic::{At, Fault};
use crate::model::{Comparison, Condition, Expr, Operand, Set};
use crate::ops;
use crate::source::{Span, Spanned};
use crate::value::{Series, Value};

impl Evaluator<'_> {
    pub(super) fn query(
        &self,
        source: &Expr,
        select: Option<&[Spanned<Arc<str>>]>,
        condition: Option<&Condition>,
        env: &Env,
    ) -> Result<Value, Stop> {
        let mut value = self.eval(source, env)?;
        let len = match &value {
            Value::Series(series) => series.len(),
            Value::Table(table) => table.len(),
            other => return Err(wrong(source.span, "a query needs a table or a series", other)),
        };
        if let Some(condition) = condition {
            let is_long = len >= self.columns_from.max(1);
            let columns = if is_long { self.condition_columns(source.span, condition, &value, len, env) } else { None };
            let rows = match columns {
                Some(rows) => rows?,
                None => self.condition(condition, &value, len, env)?.into(),
            };
            value = kernel::filter(&value, &rows).at(source.span)?;
        }
        match (value, select) {
            (value, None) => Ok(value),
            (Value::Table(table), Some(select)) => {
                let names: Vec<&str> = select.iter().map(|key| key.node.as_ref()).collect();
                let at = select.first().map_or(source.span, |key| key.span);
                Ok(Value::Table(Arc::new(ops::select(&table, &names).at(at)?)))
            }
            (other, Some(_)) => Err(wrong(source.span, "a series has no columns to select from", &other)),
        }
    }

    /// Which rows meet a condition.
    fn condition(&self, condition: &Condition, source: &Value, len: usize, env: &Env) -> Result<Vec<bool>, Stop> {
        match condition {
            Condition::Not(inner) => Ok(self.condition(inner, source, len, env)?.into_iter().map(|row| !row).collect()),
            Condition::And(parts) => self.combine(parts, true, source, len, env),
            Condition::Or(parts) => self.combine(parts, false, source, len, env),
            Condition::Compare(span, op, left, right) => self.compare_rows(*span, *op, [left, right], source, len, env),
            Condition::In(_, name, set) => self.rows_in(name, set, source, env),
            Condition::Constant(expr) => {
                let value = self.eval(expr, env)?;
                Ok(vec![truth(&value, expr.span)? == Some(true); len])
            }
        }
    }

    fn combine(&self, parts: &[Condition], and: bool, source: &Value, len: usize, env: &Env) -> Result<Vec<bool>, Stop> {
        let mut rows = vec![and; len];
        for part in parts {
            let other = self.condition(part, source, len, env)?;
            for (row, other) in rows.iter_mut().zip(other) {
                *row = if and { *row && other } else { *row || other };
            }
        }
        Ok(rows)
    }

    /// A missing element satisfies only `!=`.
    fn compare_rows(
        &self,
        span: Span,
        op: Comparison,
        operands: [&Operand; 2],
        source: &Value,
        len: usize,
        env: &Env,
    ) -> Result<Vec<bool>, Stop> {
        let [left, right] = operands.map(|operand| self.operand(operand, source, env));
        let (left, right) = (left?, right?);
        let one = |row: usize| {
            let outcome = ops::compare(op, &left.get(row), &right.get(row)).at(span)?;
            Ok(outcome.unwrap_or(op == Comparison::NotEqual))
        };
        (0..len).map(one).collect()
    }

    fn operand(&self, operand: &Operand, source: &Value, env: &Env) -> Result<Side, Stop> {
        match operand {
            Operand::Column(name) => Ok(Side::Column(column(source, name)?)),
            Operand::Value(expr) => Ok(Side::Value(self.eval(expr, env)?)),
        }
    }

    fn rows_in(&self, name: &Spanned<Arc<str>>, set: &Set, source: &Value, env: &Env) -> Result<Vec<bool>, Stop> {
        let column = column(source, name)?;
        let set: Vec<Value> = match set {
            Set::Values(values) => self.list(values, env)?,
            Set::Series(series) => match self.eval(series, env)? {
                Value::Series(series) => series.values().collect(),
                other => return Err(wrong(series.span, "`in` needs a series", &other)),
            },
        };
        Ok(column.values().map(|item| ops::membership(&item, set.iter().cloned()) == Some(true)).collect())
    }
}

/// One side of a comparison.
enum Side {
    Column(Arc<Series>),
    Value(Value),
}

impl Side {
    fn get(&self, row: usize) -> Value {
        match self {
            Side::Column(series) => series.get(row),
            Side::Value(value) => value.clone(),
        }
    }
}

/// A column of a table, or the series itself under its own name.
pub(super) fn column(source: &Value, name: &Spanned<Arc<str>>) -> Result<Arc<Series>, Stop> {
    match source {
        Value::Series(series) if series.name == name.node => Ok(series.clone()),
        Value::Series(series) => {
            let message = format!("column \"{}\" does not match the name of the series, \"{}\"", name.node, series.name);
            Err(fault(Fault::new("E0445", message), name.span))
        }
        table => match ops::key(table, &name.node).at(name.span)? {
            Value::Series(series) => Ok(series),
            other => Err(wrong(name.span, "a query needs a table or a series", &other)),
        },
    }
}
