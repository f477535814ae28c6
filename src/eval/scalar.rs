//! Scalars: arithmetic, comparisons, logic, conditionals.

use std::sync::OnceLock;

use super::{Env, Evaluator, Level, Slot, Stop};
use crate::diagnostic::{At, Diagnostic, Fault};
use crate::model::{Expr, ExprKind, ProductOp, Set, SumOp};
use crate::ops;
use crate::source::Span;
use crate::value::{Number, Quantity, Uncertain, Value};

impl Evaluator<'_> {
    pub(super) fn eval(&self, expr: &Expr, env: &Env) -> Result<Value, Stop> {
        let span = expr.span;
        let _level = Level::deeper(span)?;
        match &expr.kind {
            ExprKind::Literal(value) => Ok(value.clone()),
            ExprKind::Uncertain { nominal, deviation, unit } => {
                let number = Uncertain::fresh(*nominal, *deviation).map_or(Number::Float(*nominal), Number::Uncertain);
                Ok(Value::Quantity(Quantity { number, unit: *unit }))
            }
            ExprKind::Variable(id) => self.variable(*id, span),
            ExprKind::Local { depth, index } => self.local(*depth, *index, env),
            ExprKind::Negate(operand) => Ok(ops::negate(&self.eval(operand, env)?).at(span)?),
            ExprKind::Plus(operand) => self.plus(operand, env),
            ExprKind::Sum(first, rest) => self.sum(first, rest, env),
            ExprKind::Product(first, rest) => self.product(first, rest, env),
            ExprKind::Power(base, exponent) => {
                let base = self.eval(base, env)?;
                Ok(ops::power(&base, &self.eval(exponent, env)?).at(span)?)
            }
            ExprKind::Compare(op, left, right) => {
                let left = self.eval(left, env)?;
                let right = self.eval(right, env)?;
                Ok(of_logic(ops::compare(*op, &left, &right).at(span)?))
            }
            ExprKind::In(item, set) => self.membership(item, set, env),
            ExprKind::Not(operand) => Ok(of_logic(ops::not(self.logic(operand, env)?))),
            ExprKind::And(operands) => self.decide(operands, false, env),
            ExprKind::Or(operands) => self.decide(operands, true, env),
            ExprKind::If(condition, then, otherwise) => match self.logic(condition, env)? {
                Some(true) => self.eval(then, env),
                Some(false) => self.eval(otherwise, env),
                None => Ok(Value::Null),
            },
            ExprKind::Call(id, arguments) => {
                let lazy = |expr| Slot::Lazy { expr, env, value: OnceLock::new() };
                let slots: Vec<Slot> = arguments.iter().map(lazy).collect();
                self.call(*id, &slots, span)
            }
            ExprKind::Native(name, arguments) => {
                let arguments = self.list(arguments, env)?;
                self.native(name, &arguments, span)
            }
            ExprKind::Tuple(_)
            | ExprKind::Dict(_)
            | ExprKind::Series { .. }
            | ExprKind::Table(_)
            | ExprKind::Key(..)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Property(..)
            | ExprKind::Aggregate(..)
            | ExprKind::Part(..)
            | ExprKind::Range { .. }
            | ExprKind::Source { .. } => self.collection(expr, env),
            ExprKind::Map { name, function, inputs } => self.map(name, function, inputs, span, env),
            ExprKind::Filter { name, function, input } => self.filter(name, function, input, span, env),
            ExprKind::Reduce { function, input } => self.reduce(function, input, span, env),
            ExprKind::Info { value, name, ty } => self.info(value, name.as_ref(), ty, env),
            ExprKind::Query { source, select, condition } => self.query(source, select.as_deref(), condition.as_deref(), env),
        }
    }

    pub(super) fn list(&self, exprs: &[Expr], env: &Env) -> Result<Vec<Value>, Stop> {
        exprs.iter().map(|expr| self.eval(expr, env)).collect()
    }

    /// A number, unchanged.
    fn plus(&self, operand: &Expr, env: &Env) -> Result<Value, Stop> {
        let value = self.eval(operand, env)?;
        if !matches!(value, Value::Null) {
            ops::scalar("+", &value).at(operand.span)?;
        }
        Ok(value)
    }

    fn sum(&self, first: &Expr, rest: &[(SumOp, Expr)], env: &Env) -> Result<Value, Stop> {
        let mut total = self.eval(first, env)?;
        for (op, term) in rest {
            let value = self.eval(term, env)?;
            let result = match op {
                SumOp::Add => ops::add(&total, &value),
                SumOp::Subtract => ops::subtract(&total, &value),
            };
            total = result.at(first.span.to(term.span))?;
        }
        Ok(total)
    }

    fn product(&self, first: &Expr, rest: &[(ProductOp, Expr)], env: &Env) -> Result<Value, Stop> {
        let mut total = self.eval(first, env)?;
        for (op, factor) in rest {
            let value = self.eval(factor, env)?;
            let result = match op {
                ProductOp::Multiply => ops::multiply(&total, &value),
                ProductOp::Divide => ops::divide(&total, &value),
            };
            total = result.at(first.span.to(factor.span))?;
        }
        Ok(total)
    }

    fn membership(&self, item: &Expr, set: &Set, env: &Env) -> Result<Value, Stop> {
        let item = self.eval(item, env)?;
        self.member(&item, set, env).map(of_logic)
    }

    pub(super) fn member(&self, item: &Value, set: &Set, env: &Env) -> Result<Option<bool>, Stop> {
        match set {
            Set::Values(values) => Ok(ops::membership(item, self.list(values, env)?)),
            Set::Series(series) => match self.eval(series, env)? {
                Value::Series(series) => Ok(ops::membership_in_series(item, &series)),
                Value::Null => Ok(None),
                other => Err(wrong(series.span, "`in` needs a series", &other)),
            },
        }
    }

    /// The truth of an operand; `None` is null.
    pub(super) fn logic(&self, operand: &Expr, env: &Env) -> Result<Option<bool>, Stop> {
        let value = self.eval(operand, env)?;
        truth(&value, operand.span)
    }

    /// `or` is decided by the first true operand, `and` by the first false one; what follows is not evaluated.
    pub(super) fn decide(&self, operands: &[Expr], decisive: bool, env: &Env) -> Result<Value, Stop> {
        let mut result = Some(!decisive);
        for operand in operands {
            match self.logic(operand, env)? {
                Some(value) if value == decisive => return Ok(Value::Bool(decisive)),
                Some(_) => {}
                None => result = None,
            }
        }
        Ok(of_logic(result))
    }
}

/// The truth of a value that must be boolean.
pub(super) fn truth(value: &Value, span: Span) -> Result<Option<bool>, Stop> {
    match value {
        Value::Bool(value) => Ok(Some(*value)),
        Value::Null => Ok(None),
        other => Err(wrong(span, "invalid type in expression: a boolean is needed", other)),
    }
}

/// A boolean, or null.
pub(super) fn of_logic(logic: Option<bool>) -> Value {
    logic.map_or(Value::Null, Value::Bool)
}

/// A value has a type that cannot be used here.
pub(super) fn wrong(span: Span, message: &str, found: &Value) -> Stop {
    let diagnostic = Diagnostic::error("E0441", message, span).here(format!("this is of type {}", found.type_name()));
    Stop::Fault(Box::new(diagnostic))
}

/// A fault at a place.
pub(super) fn fault(fault: Fault, span: Span) -> Stop {
    Stop::Fault(Box::new(fault.at(span)))
}
