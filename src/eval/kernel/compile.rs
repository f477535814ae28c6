//! From checked expressions to column programs.
//!
//! Functions are inlined; an argument is compiled where it is first used, so one that is not used costs nothing and cannot fail. What
//! does not depend on the row is evaluated once, by the evaluator of single values, and what has no column form spoils its rows.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::super::{Env, Evaluator, Slot, Stop};
use super::build::registers;
use super::cell::{Cell, Condition, Record, Scalar};
use super::program::{Arg, Const, Kind, Op, Program, Reg};
use crate::builtin;
use crate::diagnostic::Fault;
use crate::model::{AggregateKind, Callee, Child, Expr, ExprKind, FunctionId, NativeName, PartKind, ProductOp, Set, SumOp};
use crate::ops;
use crate::units::Unit;
use crate::value::{Series, Value};

/// More expressions than this are not worth a program: calls inside calls may be many when they are inlined.
const MOST_EXPRESSIONS: u32 = 4000;

/// Dicts with more members, all the way down, have no column form: functions that put their argument into a dict twice make two to the
/// power of their number of them.
const MOST_MEMBERS: usize = 4000;

/// Compiles one lambda or function for one set of columns.
pub struct Compiler<'a> {
    evaluator: &'a Evaluator<'a>,
    /// Around the lambda.
    env: &'a Env<'a>,
    /// What has been emitted.
    pub program: Program,
    /// Whether something is needed that is not there yet, or never will be.
    pub is_waiting: bool,
    left: u32,
}

/// The parameters in sight.
struct Scope<'s> {
    slots: Vec<Parameter<'s>>,
    /// Whether the evaluator's environment lies around it: a lambda, not a function.
    is_lambda: bool,
}

/// A parameter: a cell, or an argument that is compiled when it is first used.
enum Parameter<'s> {
    Cell(Cell),
    Lazy { argument: &'s Expr, scope: &'s Scope<'s>, cell: OnceCell<Cell> },
}

impl<'a> Compiler<'a> {
    /// Nothing compiled yet.
    pub fn new(evaluator: &'a Evaluator<'a>, env: &'a Env<'a>) -> Self {
        Compiler { evaluator, env, program: Program::default(), is_waiting: false, left: MOST_EXPRESSIONS }
    }

    /// What a lambda or function gives for these arguments.
    pub fn apply(&mut self, function: &Callee, arguments: Vec<Cell>) -> Cell {
        let slots = |arguments: Vec<Cell>| arguments.into_iter().map(Parameter::Cell).collect();
        match function {
            Callee::Lambda { body, .. } => self.expr(body, &Scope { slots: slots(arguments), is_lambda: true }),
            Callee::Function(id, _) => self.function(*id, slots(arguments)),
            Callee::Native(name, _) => self.native(name, &arguments),
        }
    }

    fn function(&mut self, id: FunctionId, slots: Vec<Parameter>) -> Cell {
        let functions = self.evaluator.context.functions;
        self.expr(&functions[id.index()].body, &Scope { slots, is_lambda: false })
    }

    fn expr(&mut self, expr: &Expr, scope: &Scope) -> Cell {
        let Some(left) = self.left.checked_sub(1) else { return Cell::Spoilt };
        self.left = left;
        match &expr.kind {
            ExprKind::Literal(value) => Cell::Same(value.clone()),
            ExprKind::Uncertain { .. } => Cell::Spoilt,
            ExprKind::Variable(id) => self.known(self.evaluator.variable(*id, expr.span)),
            ExprKind::Local { depth, index } => self.local(*depth, *index, scope),
            ExprKind::Negate(operand) => {
                let operand = self.expr(operand, scope);
                self.program.unary(&operand, (&ops::negate, &Program::negated))
            }
            ExprKind::Plus(operand) => self.plus(operand, scope),
            ExprKind::Sum(first, rest) => self.sum(first, rest, scope),
            ExprKind::Product(first, rest) => self.product(first, rest, scope),
            ExprKind::Power(base, exponent) => {
                let (base, exponent) = (self.expr(base, scope), self.expr(exponent, scope));
                self.program.binary(&base, &exponent, (&ops::power, &Program::power))
            }
            ExprKind::Compare(comparison, left, right) => {
                let (left, right) = (self.expr(left, scope), self.expr(right, scope));
                self.compare(*comparison, &left, &right)
            }
            ExprKind::In(item, set) => self.membership(item, set, scope),
            ExprKind::Not(operand) => {
                let operand = self.expr(operand, scope);
                let not = |program: &mut Program, scalar: Scalar| {
                    let reg = truths(program, scalar)?;
                    Some(Scalar { arg: Arg::Reg(program.emit(Op::Not(reg), Kind::Bool)), ..scalar })
                };
                self.program.unary(&operand, (&|value| Ok(logic(value)?.map(|truth| !truth).into()), &not))
            }
            ExprKind::And(operands) => self.decide(operands, false, scope),
            ExprKind::Or(operands) => self.decide(operands, true, scope),
            ExprKind::If(condition, then, otherwise) => self.choice(condition, then, otherwise, scope),
            ExprKind::Call(id, arguments) => {
                let lazy = |argument| Parameter::Lazy { argument, scope, cell: OnceCell::new() };
                self.function(*id, arguments.iter().map(lazy).collect())
            }
            ExprKind::Native(name, arguments) => {
                let arguments: Vec<Cell> = arguments.iter().map(|argument| self.expr(argument, scope)).collect();
                self.native(name, &arguments)
            }
            ExprKind::Dict(members) => self.dict(members, scope),
            ExprKind::Key(base, key) => self.key(base, key, scope),
            ExprKind::Part(part, operand) => {
                let operand = self.expr(operand, scope);
                let real = *part == PartKind::Real;
                let fold: &dyn Fn(&Value) -> Result<Value, Fault> = if real { &ops::real } else { &ops::imag };
                self.program.unary(&operand, (fold, &|program, scalar| program.part(scalar, real)))
            }
            ExprKind::Aggregate(kind, arguments) => self.aggregate(*kind, arguments, expr, scope),
            ExprKind::Tuple(_)
            | ExprKind::Series { .. }
            | ExprKind::Table(_)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Property(..)
            | ExprKind::Range { .. }
            | ExprKind::Source { .. }
            | ExprKind::Map { .. }
            | ExprKind::Filter { .. }
            | ExprKind::Reduce { .. }
            | ExprKind::Info { .. }
            | ExprKind::Query { .. } => self.invariant(expr, scope).into(),
        }
    }

    /// What the evaluator found.
    fn known(&mut self, result: Result<Value, Stop>) -> Cell {
        match result {
            Ok(value) => Cell::Same(value),
            Err(Stop::Fault(_)) => Cell::Spoilt,
            Err(Stop::Needs(_) | Stop::Failed(..) | Stop::Interrupted(_)) => {
                self.is_waiting = true;
                Cell::Spoilt
            }
        }
    }

    fn local(&mut self, depth: u32, index: u32, scope: &Scope) -> Cell {
        match depth.checked_sub(1) {
            None => scope.slots.get(index as usize).map_or(Cell::Spoilt, |slot| self.parameter(slot)),
            Some(depth) if scope.is_lambda => {
                let result = self.evaluator.local(depth, index, self.env);
                self.known(result)
            }
            Some(_) => Cell::Spoilt,
        }
    }

    fn parameter(&mut self, parameter: &Parameter) -> Cell {
        match parameter {
            Parameter::Cell(cell) => cell.clone(),
            Parameter::Lazy { argument, scope, cell } => {
                if let Some(cell) = cell.get() {
                    return cell.clone();
                }
                let compiled = self.expr(argument, scope);
                cell.get_or_init(|| compiled).clone()
            }
        }
    }

    /// The value of what does not depend on the row.
    fn invariant(&mut self, expr: &Expr, scope: &Scope) -> Option<Cell> {
        let mut used = vec![false; scope.slots.len()];
        uses(expr, 0, &mut used);
        let mut slots = Vec::with_capacity(used.len());
        for (parameter, used) in scope.slots.iter().zip(used) {
            let value = match used.then(|| self.parameter(parameter)) {
                None => Value::Null,
                Some(Cell::Same(value)) => value,
                Some(Cell::Spoilt | Cell::Scalar(_) | Cell::Record(_) | Cell::Either(..)) => return None,
            };
            slots.push(Slot::Value(value));
        }
        let outer = scope.is_lambda.then_some(self.env);
        let result = self.evaluator.eval(expr, &Env { slots: &slots, outer });
        Some(self.known(result))
    }

    fn plus(&mut self, operand: &Expr, scope: &Scope) -> Cell {
        let operand = self.expr(operand, scope);
        let fold =
            |value: &Value| if matches!(value, Value::Null) { Ok(Value::Null) } else { ops::scalar("+", value).map(Value::Quantity) };
        self.program.unary(&operand, (&fold, &|_, scalar| scalar.kind.is_number().then_some(scalar)))
    }

    fn sum(&mut self, first: &Expr, rest: &[(SumOp, Expr)], scope: &Scope) -> Cell {
        let mut total = self.expr(first, scope);
        for (op, term) in rest {
            total = self.added(*op, &total, term, scope);
        }
        total
    }

    fn added(&mut self, op: SumOp, total: &Cell, term: &Expr, scope: &Scope) -> Cell {
        let term = self.expr(term, scope);
        match op {
            SumOp::Add => self.program.binary(total, &term, (&ops::add, &|program, a, b| program.sum(a, b, false))),
            SumOp::Subtract => self.program.binary(total, &term, (&ops::subtract, &|program, a, b| program.sum(a, b, true))),
        }
    }

    fn product(&mut self, first: &Expr, rest: &[(ProductOp, Expr)], scope: &Scope) -> Cell {
        let mut total = self.expr(first, scope);
        for (op, factor) in rest {
            let factor = self.expr(factor, scope);
            total = match op {
                ProductOp::Multiply => self.program.binary(&total, &factor, (&ops::multiply, &Program::product)),
                ProductOp::Divide => self.program.binary(&total, &factor, (&ops::divide, &Program::quotient)),
            };
        }
        total
    }

    /// The value of what has no parameters in sight; `None` for a fault and for what is not there yet.
    pub fn evaluate(&self, expr: &Expr) -> Option<Value> {
        self.evaluator.eval(expr, self.env).ok()
    }

    /// A comparison of two cells.
    pub fn compare(&mut self, comparison: ops::Comparison, left: &Cell, right: &Cell) -> Cell {
        let fold = |left: &Value, right: &Value| Ok(ops::compare(comparison, left, right)?.into());
        self.program.binary(left, right, (&fold, &|program, left, right| program.compared(comparison, left, right)))
    }

    fn membership(&mut self, item: &Expr, set: &Set, scope: &Scope) -> Cell {
        let item = self.expr(item, scope);
        self.set(set, scope).map_or(Cell::Spoilt, |set| self.member(&item, &set))
    }

    /// Membership in what is the same for all rows.
    pub fn member(&mut self, item: &Cell, set: &Known) -> Cell {
        let fold = |value: &Value| Ok(set.has(value).into());
        let apply = |program: &mut Program, scalar: Scalar| match set {
            Known::Series(series) => program.membership(scalar, series.values()),
            Known::Values(values) => program.membership(scalar, values.iter().cloned()),
            Known::Missing => None,
        };
        self.program.unary(item, (&fold, &apply))
    }

    /// The right side of `in`, when it is the same for all rows.
    fn set(&mut self, set: &Set, scope: &Scope) -> Option<Known> {
        match set {
            Set::Values(values) => {
                let values = values.iter().map(|value| self.expr(value, scope).same());
                values.collect::<Option<Vec<Value>>>().map(Known::Values)
            }
            Set::Series(series) => match self.expr(series, scope).same()? {
                Value::Series(series) => Some(Known::Series(series)),
                Value::Null => Some(Known::Missing),
                _ => None,
            },
        }
    }

    /// `and` and `or`: what follows a decisive operand is not evaluated.
    fn decide(&mut self, operands: &[Expr], decisive: bool, scope: &Scope) -> Cell {
        let mut total = Cell::Same(Value::Bool(!decisive));
        for operand in operands {
            if matches!(&total, Cell::Same(Value::Bool(truth)) if *truth == decisive) {
                break;
            }
            total = match (total, self.expr(operand, scope)) {
                // a neutral beginning
                (Cell::Same(Value::Bool(_)), Cell::Scalar(scalar)) if scalar.kind == Kind::Bool => Cell::Scalar(scalar),
                (total, operand) => self.decided(total, operand, decisive),
            };
        }
        total
    }

    fn decided(&mut self, left: Cell, right: Cell, decisive: bool) -> Cell {
        let cells = [left, right].map(|cell| self.truth(cell));
        let nullable = cells.iter().flatten().any(|(_, nullable)| *nullable);
        let [Some((left, _)), right] = cells else { return Cell::Spoilt };
        // An operand that is spoilt counts only where the first one does not decide.
        let right = right.map_or_else(|| self.program.emit(Op::Spoilt, Kind::Bool), |(reg, _)| reg);
        let op = if decisive { Op::Or(left, right) } else { Op::And(left, right) };
        let arg = Arg::Reg(self.program.emit(op, Kind::Bool));
        Cell::Scalar(Scalar { arg, kind: Kind::Bool, unit: Unit::NONE, nullable, untyped: false })
    }

    /// A register with truth values, and whether one may be missing.
    fn truth(&mut self, cell: Cell) -> Option<(Reg, bool)> {
        match cell {
            Cell::Same(Value::Bool(truth)) => Some((self.program.emit(Op::Fill(Const::Bool(truth)), Kind::Bool), false)),
            Cell::Same(Value::Null) => Some((self.program.emit(Op::Missing, Kind::Bool), true)),
            Cell::Scalar(scalar) => Some((truths(&mut self.program, scalar)?, scalar.nullable)),
            Cell::Same(_) | Cell::Spoilt | Cell::Record(_) | Cell::Either(..) => None,
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, scope: &Scope) -> Cell {
        match self.expr(condition, scope) {
            Cell::Same(Value::Bool(true)) => self.expr(then, scope),
            Cell::Same(Value::Bool(false)) => self.expr(otherwise, scope),
            Cell::Same(Value::Null) => Cell::Same(Value::Null),
            cell => {
                let Some((reg, nullable)) = self.truth(cell) else { return Cell::Spoilt };
                let (then, otherwise) = (self.expr(then, scope), self.expr(otherwise, scope));
                self.program.either(Condition { reg, nullable }, then, otherwise)
            }
        }
    }

    fn native(&mut self, name: &NativeName, arguments: &[Cell]) -> Cell {
        let Some(native) = builtin::native(&name.module, &name.name) else { return Cell::Spoilt };
        // The alternatives of one argument are told apart here, those of several are not.
        match arguments {
            [argument] => {
                let fold = |value: &Value| native.call(std::slice::from_ref(value));
                self.program.unary(argument, (&fold, &|program, scalar| program.native(native, &[scalar])))
            }
            [left, right] => {
                let fold = |left: &Value, right: &Value| native.call(&[left.clone(), right.clone()]);
                self.program.binary(left, right, (&fold, &|program, left, right| program.native(native, &[left, right])))
            }
            _ => self.native_of_many(native, arguments).into(),
        }
    }

    fn native_of_many(&mut self, native: &'static builtin::Native, arguments: &[Cell]) -> Option<Cell> {
        if let Some(values) = arguments.iter().map(Cell::same).collect::<Option<Vec<Value>>>() {
            return native.call(&values).ok().map(Cell::Same);
        }
        let scalar = |cell: &Cell| match cell {
            Cell::Same(value) => self.program.constant(value),
            Cell::Scalar(scalar) => Some(*scalar),
            Cell::Spoilt | Cell::Record(_) | Cell::Either(..) => None,
        };
        let scalars = arguments.iter().map(scalar).collect::<Option<Vec<Scalar>>>()?;
        self.program.native(native, &scalars).map(Cell::Scalar)
    }

    fn dict(&mut self, members: &[(Arc<str>, Expr)], scope: &Scope) -> Cell {
        let fields: Vec<_> = members.iter().map(|(key, member)| (key.clone(), self.expr(member, scope))).collect();
        if fields.iter().any(|(_, cell)| matches!(cell, Cell::Spoilt)) {
            return Cell::Spoilt;
        }
        let distinct = (0..fields.len()).all(|at| fields[..at].iter().all(|(key, _)| *key != fields[at].0));
        let record = Record::new(fields);
        if distinct && record.size() <= MOST_MEMBERS { Cell::Record(Rc::new(record)) } else { Cell::Spoilt }
    }

    /// A member of a dict, whose other members are evaluated as well.
    fn key(&mut self, base: &Expr, key: &Arc<str>, scope: &Scope) -> Cell {
        match self.expr(base, scope) {
            Cell::Record(record) => {
                let Some((_, cell)) = record.fields.iter().find(|(name, _)| name == key) else { return Cell::Spoilt };
                let mut others = Vec::new();
                let rest = record.fields.iter().filter(|(name, _)| name != key);
                rest.for_each(|(_, cell)| registers(cell, &mut |reg| others.push(reg)));
                others.retain(|reg| self.program.code[reg.index()].fallible);
                others.sort_unstable_by_key(|reg| reg.index());
                others.dedup();
                self.program.after(cell.clone(), &others)
            }
            Cell::Same(value) => ops::key(&value, key).map_or(Cell::Spoilt, Cell::Same),
            Cell::Either(condition, arms) => {
                let arm = |cell: &Cell| match cell {
                    Cell::Same(value) => ops::key(value, key).map_or(Cell::Spoilt, Cell::Same),
                    Cell::Spoilt | Cell::Scalar(_) | Cell::Record(_) | Cell::Either(..) => Cell::Spoilt,
                };
                // A missing dict has no keys.
                let condition = self.program.present(condition);
                self.program.either(condition, arm(&arms.0), arm(&arms.1))
            }
            Cell::Spoilt | Cell::Scalar(_) => Cell::Spoilt,
        }
    }

    /// `sum`, `any` and `all` of scalars; those of a series must be the same for all rows.
    fn aggregate(&mut self, kind: AggregateKind, arguments: &[Expr], expr: &Expr, scope: &Scope) -> Cell {
        if let Some(cell) = self.invariant(expr, scope) {
            return cell;
        }
        match (kind, arguments) {
            (AggregateKind::Any, [_, _, ..]) => self.decide(arguments, true, scope),
            (AggregateKind::All, [_, _, ..]) => self.decide(arguments, false, scope),
            (AggregateKind::Sum, [first, rest @ ..]) => {
                let first = self.expr(first, scope);
                let fold = |value: &Value| ops::sum_scalars(std::slice::from_ref(value));
                let mut total = self.program.unary(&first, (&fold, &Program::begun));
                for term in rest {
                    total = self.added(SumOp::Add, &total, term, scope);
                }
                total
            }
            (AggregateKind::Any | AggregateKind::All, _) | (AggregateKind::Sum, []) => Cell::Spoilt,
        }
    }
}

/// The right side of `in`, when it is the same for all rows.
pub enum Known {
    /// A series.
    Series(Arc<Series>),
    /// A list.
    Values(Vec<Value>),
    /// `null`
    Missing,
}

impl Known {
    fn has(&self, item: &Value) -> Option<bool> {
        match self {
            Known::Series(series) => ops::membership_in_series(item, series),
            Known::Values(values) => ops::membership(item, values.iter().cloned()),
            Known::Missing => None,
        }
    }
}

fn truths(program: &mut Program, scalar: Scalar) -> Option<Reg> {
    (scalar.kind == Kind::Bool).then(|| program.reg(scalar.arg))
}

/// The truth of a value; nobody sees the fault of what has none, for the evaluator finds its own.
fn logic(value: &Value) -> Result<Option<bool>, Fault> {
    match value {
        Value::Bool(truth) => Ok(Some(*truth)),
        Value::Null => Ok(None),
        other => Err(ops::fault::operand("not", other)),
    }
}

/// Which parameters of the scope `level` lambdas further out an expression reads.
pub fn uses(expr: &Expr, level: u32, used: &mut [bool]) {
    if let ExprKind::Local { depth, index } = expr.kind
        && depth == level
        && let Some(used) = used.get_mut(index as usize)
    {
        *used = true;
    }
    expr.children(&mut |child| match child {
        Child::Expr(expr) => uses(expr, level, used),
        Child::Lambda(expr) => uses(expr, level + 1, used),
        Child::Function(..) | Child::Native(_) => {}
    });
}
