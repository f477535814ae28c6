//! Conditions of queries as column programs.

use std::sync::Arc;

use super::super::query::column;
use super::cell::{Cell, Scalar};
use super::compile::{Compiler, Known};
use super::input::Input;
use super::output::outputs;
use super::program::{Arg, Const, Kind, Op, Reg};
use super::{Env, Evaluator, Program, Stop, run};
use crate::model::{Comparison, Condition, Operand, Set};
use crate::source::{Span, Spanned};
use crate::units::Unit;
use crate::value::{Mask, Series, Value};

impl Evaluator<'_> {
    /// Which rows meet a condition, as a column program; `None` where that cannot be, and where a row is a fault: then the conditions
    /// are to be evaluated row by row.
    pub(in crate::eval) fn condition_columns(
        &self,
        span: Span,
        condition: &Condition,
        source: &Value,
        len: usize,
        env: &Env,
    ) -> Option<Result<Mask, Stop>> {
        // The program refers to the columns, so they are looked up before.
        let mut names = Vec::new();
        columns(condition, &mut names);
        let columns: Vec<Arc<Series>> = names.iter().map(|name| column(source, name).ok()).collect::<Option<_>>()?;
        let compiler = Compiler::new(self, env);
        let mut query = Query { compiler, inputs: Vec::new(), cells: Vec::new(), names: &names };
        for column in &columns {
            let cell = Input::add(column, &mut query.inputs, &mut query.compiler.program);
            query.cells.push(cell);
        }
        let reg = query.condition(condition)?;
        let Query { compiler: Compiler { mut program, .. }, inputs, .. } = query;
        let scalar = Scalar { arg: Arg::Reg(reg), kind: Kind::Bool, unit: Unit::NONE, nullable: false, untyped: false };
        let mut outputs = outputs(Cell::Scalar(scalar), &mut program)?;
        let Some(spoilt) = run(&program, &inputs, &mut outputs, len, &|| self.context.world.is_interrupted()) else {
            return Some(Err(Stop::Interrupted(span)));
        };
        if spoilt.is_empty() { outputs.pop()?.mask(len).map(Ok) } else { None }
    }
}

struct Query<'q, 'a> {
    compiler: Compiler<'a>,
    inputs: Vec<Input<'q>>,
    /// One for each name.
    cells: Vec<Cell>,
    names: &'q [&'q Spanned<Arc<str>>],
}

impl Query<'_, '_> {
    fn program(&mut self) -> &mut Program {
        &mut self.compiler.program
    }

    /// A register with truth values none of which is missing; all parts are evaluated for all rows.
    fn condition(&mut self, condition: &Condition) -> Option<Reg> {
        match condition {
            Condition::Not(inner) => {
                let inner = self.condition(inner)?;
                Some(self.program().emit(Op::Not(inner), Kind::Bool))
            }
            Condition::And(parts) => self.combined(parts, Op::And),
            Condition::Or(parts) => self.combined(parts, Op::Or),
            Condition::Compare(_, comparison, left, right) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let compared = self.compiler.compare(*comparison, &left, &right);
                self.known(compared, *comparison == Comparison::NotEqual)
            }
            Condition::In(_, name, set) => {
                let item = self.column(name)?;
                let set = self.set(set)?;
                let found = self.compiler.member(&item, &set);
                self.known(found, false)
            }
            Condition::Constant(expr) => {
                let constant = match self.compiler.evaluate(expr)? {
                    Value::Bool(truth) => truth,
                    Value::Null => false,
                    _ => return None,
                };
                Some(self.program().emit(Op::Fill(Const::Bool(constant)), Kind::Bool))
            }
        }
    }

    fn combined(&mut self, parts: &[Condition], op: fn(Reg, Reg) -> Op) -> Option<Reg> {
        let mut parts = parts.iter();
        let mut total = self.condition(parts.next()?)?;
        for part in parts {
            let part = self.condition(part)?;
            total = self.program().emit(op(total, part), Kind::Bool);
            if self.program().code[part.index()].fallible {
                total = self.program().emit(Op::After(total, part), Kind::Bool);
            }
        }
        Some(total)
    }

    fn known(&mut self, cell: Cell, otherwise: bool) -> Option<Reg> {
        match cell {
            Cell::Same(Value::Null) => Some(self.program().emit(Op::Fill(Const::Bool(otherwise)), Kind::Bool)),
            Cell::Same(Value::Bool(truth)) => Some(self.program().emit(Op::Fill(Const::Bool(truth)), Kind::Bool)),
            Cell::Scalar(scalar) if scalar.kind == Kind::Bool => {
                let reg = self.program().reg(scalar.arg);
                if !scalar.nullable {
                    return Some(reg);
                }
                Some(self.program().emit(Op::Known(reg, otherwise), Kind::Bool))
            }
            Cell::Same(_) | Cell::Scalar(_) | Cell::Spoilt | Cell::Record(_) | Cell::Either(..) => None,
        }
    }

    fn operand(&mut self, operand: &Operand) -> Option<Cell> {
        match operand {
            Operand::Column(name) => self.column(name),
            Operand::Value(expr) => self.compiler.evaluate(expr).map(Cell::Same),
        }
    }

    fn column(&self, name: &Spanned<Arc<str>>) -> Option<Cell> {
        let at = self.names.iter().position(|known| known.node == name.node)?;
        Some(self.cells[at].clone())
    }

    fn set(&self, set: &Set) -> Option<Known> {
        match set {
            Set::Values(values) => values.iter().map(|value| self.compiler.evaluate(value)).collect::<Option<_>>().map(Known::Values),
            Set::Series(series) => match self.compiler.evaluate(series)? {
                Value::Series(series) => Some(Known::Series(series)),
                _ => None,
            },
        }
    }
}

/// The columns that a condition reads.
fn columns<'c>(condition: &'c Condition, names: &mut Vec<&'c Spanned<Arc<str>>>) {
    let mut add = |name: &'c Spanned<Arc<str>>| {
        if names.iter().all(|known| known.node != name.node) {
            names.push(name);
        }
    };
    match condition {
        Condition::Not(inner) => columns(inner, names),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|part| columns(part, names)),
        Condition::Compare(_, _, left, right) => {
            for operand in [left, right] {
                if let Operand::Column(name) = operand {
                    add(name);
                }
            }
        }
        Condition::In(_, name, _) => add(name),
        Condition::Constant(_) => {}
    }
}
