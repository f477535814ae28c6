//! `reduce` of a column of numbers as a column program.
//!
//! What does not depend on the total is computed slice by slice; the rest, row after row, on single numbers. A left fold stays one, so
//! the digits do not depend on slices or threads.

use super::cell::{Cell, Scalar};
use super::compile::Compiler;
use super::execute::{Layout, Machine};
use super::input::Input;
use super::lane::SLICE;
use super::program::{Arg, Arithmetic, Const, Instruction, Kind, Op, Program, Reg};
use super::{Env, Evaluator, Stop};
use crate::builtin::RealFunction;
use crate::model::Callee;
use crate::ops::number;
use crate::units::Unit;
use crate::value::{Number, Quantity, Series, Value};

impl Evaluator<'_> {
    /// The total of the first rows, and how many these are: all of them, unless one must be left to the evaluator of single values.
    /// `None` where there is no program.
    pub(in crate::eval) fn fold_columns(&self, function: &Callee, series: &Series, env: &Env) -> Option<Result<(Value, usize), Stop>> {
        let mut compiler = Compiler::new(self, env);
        let mut inputs = Vec::new();
        let element = Input::add(series, &mut inputs, &mut compiler.program);
        let Cell::Scalar(row) = element else { return None };
        if row.nullable || !matches!(row.kind, Kind::Int | Kind::Float) {
            return None;
        }
        // An input that is never read: its register holds the total.
        let reg = compiler.program.emit(Op::Input(u32::MAX), row.kind);
        let total = Scalar { arg: Arg::Reg(reg), ..row };
        let result = compiler.apply(function, vec![Cell::Scalar(total), element]);
        let Compiler { mut program, is_waiting, .. } = compiler;
        let result = match result {
            Cell::Scalar(scalar) => scalar,
            Cell::Same(value) => program.constant(&value)?,
            Cell::Spoilt | Cell::Record(_) | Cell::Either(..) => return None,
        };
        if is_waiting || result.kind != row.kind || !result.unit.is_identical(row.unit) || result.nullable {
            return None;
        }
        let result = program.reg(result.arg);
        let fold = Fold::new(&program, reg, result)?;
        let first = match row.kind {
            Kind::Int => Single::Int(i64::try_from(series.data.number(0).as_int()?).ok()?),
            _ => Single::Float(series.data.number(0).as_f64()?),
        };
        Some(match fold.run(&inputs, first, series.len(), &|| self.context.world.is_interrupted()) {
            Some((total, rows)) => Ok((total.value(series.unit), rows)),
            None => Err(Stop::Interrupted(function.span())),
        })
    }
}

/// A single number or truth value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Single {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Single {
    fn value(self, unit: Unit) -> Value {
        let number: Number = match self {
            Single::Bool(bool) => return Value::Bool(bool),
            Single::Int(int) => int.into(),
            Single::Float(float) => float.into(),
        };
        Value::Quantity(Quantity { number, unit })
    }

    fn float(self) -> f64 {
        match self {
            Single::Bool(_) => f64::NAN,
            Single::Int(int) => int as f64,
            Single::Float(float) => float,
        }
    }

    fn int(self) -> i64 {
        if let Single::Int(int) = self { int } else { 0 }
    }

    fn truth(self) -> bool {
        self == Single::Bool(true)
    }
}

/// A program whose instructions are divided into those that depend on the total and all others.
struct Fold<'p> {
    program: &'p Program,
    layout: Layout,
    total: Reg,
    result: Reg,
    /// Those that depend on the total, in order.
    dependent: Vec<Reg>,
    /// What these read of the others.
    read: Vec<Reg>,
}

impl<'p> Fold<'p> {
    /// `None` when an instruction that depends on the total has no form for single numbers.
    fn new(program: &'p Program, total: Reg, result: Reg) -> Option<Self> {
        let mut depends = vec![false; program.code.len()];
        depends[total.index()] = true;
        let mut needed = vec![false; program.code.len()];
        needed[result.index()] = true;
        for (index, instruction) in program.code.iter().enumerate() {
            instruction.op.reads(program, &mut |reg| depends[index] |= depends[reg.index()]);
        }
        for (index, instruction) in program.code.iter().enumerate().rev() {
            if needed[index] {
                instruction.op.reads(program, &mut |reg| needed[reg.index()] = true);
            }
        }
        if !depends[result.index()] {
            return None;
        }
        let (mut dependent, mut read) = (Vec::new(), Vec::new());
        for (index, reg) in program.registers().enumerate().filter(|(index, reg)| needed[*index] && depends[*index] && *reg != total) {
            let instruction = &program.code[index];
            if !is_single(instruction) {
                return None;
            }
            instruction.op.reads(program, &mut |reg| {
                if !depends[reg.index()] && !read.contains(&reg) {
                    read.push(reg);
                }
            });
            dependent.push(reg);
        }
        let is_real = |reg: &Reg| matches!(program.code[reg.index()].kind, Kind::Bool | Kind::Int | Kind::Float);
        if !read.iter().all(is_real) {
            return None;
        }
        let layout = Layout::new(program, &read);
        Some(Fold { program, layout, total, result, dependent, read })
    }

    /// The total after so many rows; `None` when the user does not want to wait any longer.
    fn run(&self, inputs: &[Input], first: Single, len: usize, interrupted: &dyn Fn() -> bool) -> Option<(Single, usize)> {
        let mut machine = Machine::new(self.program, &self.layout, inputs);
        let mut state = vec![Single::Bool(false); self.program.code.len()];
        state[self.total.index()] = first;
        for start in (0..len).step_by(SLICE) {
            if interrupted() {
                return None;
            }
            let rows = SLICE.min(len - start);
            machine.run(start, rows);
            let from = usize::from(start == 0);
            // What is spoilt, or missing, ends the fold here.
            let stop = |reg: &Reg| {
                let lane = machine.lane(*reg);
                if lane.is_whole() { rows } else { (from..rows).find(|row| !lane.is_there(*row)).unwrap_or(rows) }
            };
            let end = self.read.iter().map(stop).min().unwrap_or(rows);
            let done = match self.tight(&machine, &mut state, from, end) {
                Some(done) => done,
                None => (from..end).find(|row| !self.step(&machine, &mut state, *row)).unwrap_or(end),
            };
            if done < rows {
                return Some((state[self.total.index()], start + done));
            }
        }
        Some((state[self.total.index()], len))
    }

    /// A sum or product of floats, which is most of what is folded; the number of rows that are done.
    fn tight(&self, machine: &Machine, state: &mut [Single], from: usize, end: usize) -> Option<usize> {
        let [only] = self.dependent.as_slice() else { return None };
        let (Instruction { op: Op::Arithmetic(operation, a, b), kind: Kind::Float, .. }, Single::Float(mut total)) =
            (&self.program.code[only.index()], state[self.total.index()])
        else {
            return None;
        };
        let Arg::Reg(other) = (match (*a, *b) {
            (Arg::Reg(reg), other) | (other, Arg::Reg(reg)) if reg == self.total => other,
            _ => return None,
        }) else {
            return None;
        };
        let floats = machine.lane(other).data.floats().get(from..end)?;
        match operation {
            Arithmetic::Add => floats.iter().for_each(|float| total += float),
            Arithmetic::Multiply => floats.iter().for_each(|float| total *= float),
            Arithmetic::Subtract if *a == Arg::Reg(self.total) => floats.iter().for_each(|float| total -= float),
            Arithmetic::Subtract | Arithmetic::Divide => return None,
        }
        state[self.total.index()] = Single::Float(total);
        Some(end)
    }

    /// One row; `false`, with the total as it was, when it must be left to the evaluator.
    fn step(&self, machine: &Machine, state: &mut [Single], row: usize) -> bool {
        for reg in &self.read {
            let lane = machine.lane(*reg);
            state[reg.index()] = match self.program.code[reg.index()].kind {
                Kind::Bool => Single::Bool(lane.data.bools()[row]),
                Kind::Int => Single::Int(lane.data.ints()[row]),
                _ => Single::Float(lane.data.floats()[row]),
            };
        }
        for reg in &self.dependent {
            let Some(result) = self.single(&self.program.code[reg.index()], state) else { return false };
            state[reg.index()] = result;
        }
        state[self.total.index()] = state[self.result.index()];
        true
    }

    /// An instruction on single numbers; `None` for what would be spoilt.
    fn single(&self, instruction: &Instruction, state: &[Single]) -> Option<Single> {
        let get = |arg: Arg| match arg {
            Arg::Reg(reg) => state[reg.index()],
            Arg::Const(Const::Int(int)) => Single::Int(int),
            Arg::Const(Const::Bool(bool)) => Single::Bool(bool),
            Arg::Const(constant) => Single::Float(constant.to_f64()),
        };
        let at = |reg: Reg| state[reg.index()];
        Some(match (&instruction.op, instruction.kind) {
            (Op::Widen(a), _) => Single::Float(at(*a).float()),
            (Op::Negate(a), Kind::Int) => Single::Int(at(*a).int().checked_neg()?),
            (Op::Negate(a), _) => Single::Float(-at(*a).float()),
            (Op::Arithmetic(operation, a, b), Kind::Int) => {
                let (a, b) = (get(*a).int(), get(*b).int());
                Single::Int(match operation {
                    Arithmetic::Add => a.checked_add(b)?,
                    Arithmetic::Subtract => a.checked_sub(b)?,
                    Arithmetic::Multiply => a.checked_mul(b)?,
                    Arithmetic::Divide => return None,
                })
            }
            (Op::Arithmetic(operation, a, b), _) => {
                let (a, b) = (get(*a).float(), get(*b).float());
                Single::Float(match operation {
                    Arithmetic::Add => a + b,
                    Arithmetic::Subtract => a - b,
                    Arithmetic::Multiply => a * b,
                    Arithmetic::Divide if b == 0.0 => return None,
                    Arithmetic::Divide => a / b,
                })
            }
            (Op::Compare(comparison, a, b), _) => {
                let order = match (get(*a), get(*b)) {
                    (Single::Int(a), Single::Int(b)) => Some(a.cmp(&b)),
                    (Single::Float(a), Single::Float(b)) => a.partial_cmp(&b),
                    (a, b) => number::order(&number_of(a)?, &number_of(b)?),
                };
                Single::Bool(comparison.holds(order))
            }
            (Op::Not(a), _) => Single::Bool(!at(*a).truth()),
            (Op::And(a, b), _) => Single::Bool(at(*a).truth() && at(*b).truth()),
            (Op::Or(a, b), _) => Single::Bool(at(*a).truth() || at(*b).truth()),
            (Op::Select(condition, then, otherwise), _) => at(if at(*condition).truth() { *then } else { *otherwise }),
            (Op::Real(function, a), _) => match self.program.functions[*function as usize] {
                RealFunction::One(apply, checked) => real(apply(get(*a).float()), |result| checked.refuses(result, &[get(*a).float()]))?,
                RealFunction::Two(..) => return None,
            },
            (Op::Real2(function, a, b), _) => match self.program.functions[*function as usize] {
                RealFunction::Two(apply, checked) => {
                    let (a, b) = (get(*a).float(), get(*b).float());
                    real(apply(a, b), |result| checked.refuses(result, &[a, b]))?
                }
                RealFunction::One(..) => return None,
            },
            _ => return None,
        })
    }
}

/// Whether an instruction has a form for single numbers in which nothing but what it uses can spoil it: one that chooses reads both
/// sides, so these are evaluated, and where that fails the evaluator goes on.
fn is_single(instruction: &Instruction) -> bool {
    let is_real = matches!(instruction.kind, Kind::Bool | Kind::Int | Kind::Float);
    let op = &instruction.op;
    is_real
        && matches!(
            op,
            Op::Widen(_)
                | Op::Negate(_)
                | Op::Arithmetic(..)
                | Op::Compare(..)
                | Op::Not(_)
                | Op::And(..)
                | Op::Or(..)
                | Op::Select(..)
                | Op::Real(..)
                | Op::Real2(..)
        )
}

fn number_of(single: Single) -> Option<Number> {
    match single {
        Single::Bool(_) => None,
        Single::Int(int) => Some(int.into()),
        Single::Float(float) => Some(float.into()),
    }
}

fn real(result: f64, refused: impl Fn(f64) -> bool) -> Option<Single> {
    (result.is_finite() || !refused(result)).then_some(Single::Float(result))
}
