//! Results of a program as columns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{BooleanArray, Float64Array, Int64Array, StringArray};

use super::cell::{Cell, Condition, Scalar};
use super::execute::Machine;
use super::lane::{Operand, SLICE};
use super::program::{Arg, Arithmetic, Const, Instruction, Kind, Op, Program, Reg};
use crate::units::Unit;
use crate::value::memory::{Raw, Slot};
use crate::value::{Column, Number, Quantity, Value, bits, complex_column, validity};

/// More bytes of text than this do not fit into a column.
const LONGEST_TEXT: usize = i32::MAX as usize;

/// One column of results.
#[derive(Debug)]
pub struct Output {
    /// Its name, when it is one of a table.
    pub name: Option<Arc<str>>,
    reg: Reg,
    last: Option<Last>,
    kind: Kind,
    unit: Unit,
    nullable: bool,
    untyped: bool,
    /// Which elements are floats, when others are integers: then it depends on the data what the column is.
    is_float: Option<Reg>,
    buffer: Buffer,
    /// A bit for each row; nothing when no element is missing.
    valid: Vec<u8>,
    /// Whether there is a float.
    has_floats: bool,
}

#[derive(Debug)]
enum Buffer {
    Bools(Vec<u8>),
    /// With how many bytes they are together.
    Strings(Vec<StringArray>, AtomicUsize),
    Ints(Memory<i64>),
    Floats(Memory<f64>),
    Complexes(Memory<f64>),
}

/// Numbers that are yet to be written, or that have been.
#[derive(Debug)]
struct Memory<T> {
    raw: Option<Raw<T>>,
    written: Vec<T>,
}

/// Where the results of one slice go.
pub struct Part<'o> {
    reg: Reg,
    last: Option<Last>,
    is_float: Option<Reg>,
    target: Target<'o>,
    valid: Option<&'o mut [u8]>,
}

enum Target<'o> {
    Bools(&'o mut [u8]),
    Strings(&'o mut StringArray, &'o AtomicUsize),
    Ints(Slot<'o, i64>),
    Floats(Slot<'o, f64>),
    Complexes(Slot<'o, f64>),
    Written,
}

/// What came of a slice.
#[derive(Debug, Default)]
pub struct Report {
    /// Rows that are left to the evaluator of single values.
    pub spoilt: Vec<usize>,
    /// For each output whether there is a float.
    pub floats: Vec<bool>,
}

/// The columns of a result: one without a name, or those of a table. `None` for what is no column of scalars.
pub fn outputs(result: Cell, program: &mut Program) -> Option<Vec<Output>> {
    match result {
        Cell::Record(record) if !record.fields.is_empty() => {
            record.fields.iter().map(|(name, cell)| Output::new(Some(name.clone()), cell, program)).collect()
        }
        cell => Some(vec![Output::new(None, &cell, program)?]),
    }
}

impl Output {
    fn new(name: Option<Arc<str>>, cell: &Cell, program: &mut Program) -> Option<Output> {
        let (scalar, is_float) = match cell {
            Cell::Scalar(scalar) => (*scalar, None),
            Cell::Same(value) => (program.constant(value)?, None),
            Cell::Either(..) => {
                let (scalar, is_float) = mixed(cell, program)?;
                (scalar, Some(program.reg(is_float.arg)))
            }
            Cell::Spoilt | Cell::Record(_) => return None,
        };
        let Scalar { arg, kind, unit, nullable, untyped } = scalar;
        let buffer = match kind {
            Kind::Bool => Buffer::Bools(Vec::new()),
            Kind::Str => Buffer::Strings(Vec::new(), AtomicUsize::new(0)),
            Kind::Int => Buffer::Ints(Memory::default()),
            Kind::Float => Buffer::Floats(Memory::default()),
            Kind::Complex => Buffer::Complexes(Memory::default()),
        };
        let reg = program.reg(arg);
        let last = Last::of(&program.code[reg.index()]);
        Some(Output { name, reg, last, kind, unit, nullable, untyped, is_float, buffer, valid: Vec::new(), has_floats: false })
    }

    /// The registers that must be there in the end.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        let operands = self.last.map_or([Some(self.reg), None], |last| last.operands().map(Arg::reg));
        operands.into_iter().chain([self.is_float]).flatten()
    }

    /// Room for so many results, slice by slice.
    pub fn parts(&mut self, len: usize) -> Vec<Part<'_>> {
        let slices = len.div_ceil(SLICE);
        self.valid = vec![0; if self.nullable { len.div_ceil(8) } else { 0 }];
        let targets: Vec<Target> = match &mut self.buffer {
            Buffer::Bools(bits) => {
                *bits = vec![0; len.div_ceil(8)];
                bits.chunks_mut(SLICE / 8).map(Target::Bools).collect()
            }
            Buffer::Strings(parts, bytes) => {
                *parts = vec![StringArray::new_null(0); slices];
                parts.iter_mut().map(|part| Target::Strings(part, bytes)).collect()
            }
            Buffer::Ints(ints) => ints.slots(len, SLICE).map(Target::Ints).collect(),
            Buffer::Floats(floats) => floats.slots(len, SLICE).map(Target::Floats).collect(),
            Buffer::Complexes(parts) => parts.slots(2 * len, 2 * SLICE).map(Target::Complexes).collect(),
        };
        let mut valid = self.valid.chunks_mut(SLICE / 8);
        let (reg, last, is_float) = (self.reg, self.last, self.is_float);
        targets.into_iter().map(|target| Part { reg, last, is_float, target, valid: valid.next() }).collect()
    }

    /// Enters that there are floats.
    pub fn note(&mut self, floats: bool) {
        self.has_floats |= floats;
    }

    /// Enters the value of a row that was left to the evaluator; `false` when the column cannot hold it.
    pub fn set(&mut self, row: usize, value: &Value) -> bool {
        if value.is_null() {
            let fits = match value {
                Value::Quantity(quantity) => quantity.unit.is_identical(self.unit) && self.kind.is_number(),
                // A null without a type: how it counts depends on the others.
                _ => !self.kind.is_number() || self.unit.is_none() || self.untyped,
            };
            if !self.nullable || !fits {
                return false;
            }
            self.valid[row / 8] &= !(1 << (row % 8));
            return true;
        }
        let done = match (&mut self.buffer, value) {
            (Buffer::Bools(bits), Value::Bool(bool)) => {
                bits[row / 8] = bits[row / 8] & !(1 << (row % 8)) | u8::from(*bool) << (row % 8);
                true
            }
            (Buffer::Ints(ints), Value::Quantity(Quantity { number: Number::Int(int), unit })) if unit.is_identical(self.unit) => {
                i64::try_from(*int).is_ok_and(|int| {
                    ints.written()[row] = int;
                    true
                })
            }
            (Buffer::Floats(floats), Value::Quantity(Quantity { number: Number::Float(float), unit })) if unit.is_identical(self.unit) => {
                floats.written()[row] = *float;
                self.has_floats = true;
                true
            }
            (Buffer::Complexes(parts), Value::Quantity(Quantity { number: Number::Complex(complex), unit }))
                if unit.is_identical(self.unit) =>
            {
                let parts = parts.written();
                (parts[2 * row], parts[2 * row + 1]) = (complex.re, complex.im);
                true
            }
            _ => false,
        };
        if done && let Some(byte) = self.valid.get_mut(row / 8) {
            *byte |= 1 << (row % 8);
        }
        done
    }

    /// The column with its unit; `None` when only the evaluator of single values knows what it is.
    pub fn finish(self, len: usize) -> Option<(Column, Unit)> {
        let nulls = if self.nullable { validity(self.valid, len) } else { None };
        let missing = nulls.as_ref().map_or(0, |nulls| nulls.null_count());
        if missing == len {
            // Nulls without type give a column without unit, others one with theirs.
            let is_clear = !self.untyped || self.unit.is_none() || !self.kind.is_number();
            return is_clear.then_some((Column::Null(len), if self.kind.is_number() { self.unit } else { Unit::NONE }));
        }
        if self.is_float.is_some() && !self.has_floats {
            return None;
        }
        let column = match self.buffer {
            Buffer::Bools(bytes) => Column::Bool(BooleanArray::new(bits(bytes, len), nulls)),
            Buffer::Strings(_, bytes) if bytes.load(Ordering::Relaxed) > LONGEST_TEXT => return None,
            Buffer::Strings(parts, _) => Column::concat(&parts.into_iter().map(Column::Str).collect::<Vec<_>>()).ok()?,
            Buffer::Ints(ints) => Column::Int(Int64Array::new(ints.finish()?.into(), nulls)),
            Buffer::Floats(floats) => Column::Float(Float64Array::new(floats.finish()?.into(), nulls)),
            Buffer::Complexes(parts) => complex_column(Float64Array::from(parts.finish()?), nulls),
        };
        Some((column, self.unit))
    }

    /// The truth values as a mask, in which what is missing is false.
    pub fn mask(self, len: usize) -> Option<BooleanArray> {
        let Buffer::Bools(mut bytes) = self.buffer else { return None };
        if self.nullable {
            bytes.iter_mut().zip(&self.valid).for_each(|(byte, valid)| *byte &= valid);
        }
        Some(BooleanArray::new(bits(bytes, len), None))
    }
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Memory { raw: None, written: Vec::new() }
    }
}

impl<T: Copy + Default> Memory<T> {
    /// Room for so many numbers, in parts.
    fn slots(&mut self, len: usize, size: usize) -> impl Iterator<Item = Slot<'_, T>> {
        self.raw.insert(Raw::with_len(len)).slots(size)
    }

    /// The numbers; none unless all were written.
    fn written(&mut self) -> &mut Vec<T> {
        if let Some(raw) = self.raw.take() {
            self.written = raw.finish().unwrap_or_default();
        }
        &mut self.written
    }

    /// The numbers; `None` unless all were written.
    fn finish(mut self) -> Option<Vec<T>> {
        self.written();
        Some(self.written).filter(|numbers| !numbers.is_empty())
    }
}

impl Part<'_> {
    /// Takes over the results of a slice that begins at `start`, whether or not they are spoilt, and reports.
    pub fn take(&mut self, machine: &Machine, start: usize, len: usize, report: &mut Report) {
        let masks;
        let lane = match self.last {
            None => machine.lane(self.reg),
            Some(last) => {
                masks = machine.masks(last.operands());
                &masks
            }
        };
        match std::mem::replace(&mut self.target, Target::Written) {
            Target::Bools(bits) => pack(lane.data.bools(), bits),
            Target::Strings(strings, bytes) => {
                let there = || (0..len).map(|row| lane.is_there(row).then(|| lane.data.strings()[row]));
                let own = there().flatten().map(str::len).sum::<usize>();
                // A long string in many rows is one in the memory of the program, but not in that of a column.
                if bytes.fetch_add(own, Ordering::Relaxed).saturating_add(own) <= LONGEST_TEXT {
                    *strings = there().collect();
                }
            }
            Target::Ints(slot) => slot.copy(lane.data.ints()),
            Target::Floats(slot) => match self.last {
                Some(last) => last.stream(machine, slot),
                None => slot.copy(lane.data.floats()),
            },
            Target::Complexes(slot) => slot.write(lane.data.complexes().iter().flat_map(|complex| [complex.re, complex.im])),
            Target::Written => {}
        }
        if let Some(valid) = &mut self.valid {
            if lane.is_whole() {
                pack(&vec![true; len], valid);
            } else {
                pack(&(0..len).map(|row| lane.is_there(row)).collect::<Vec<bool>>(), valid);
            }
        }
        report.floats.push(self.is_float.is_some_and(|reg| {
            let floats = machine.lane(reg).data.bools();
            (0..len).any(|row| floats[row] && lane.is_there(row))
        }));
        let spoilt = lane.spoilt.rows().into_iter().flatten().enumerate();
        report.spoilt.extend(spoilt.filter(|(_, spoilt)| **spoilt).map(|(row, _)| start + row));
    }
}

/// A sum or product of floats that is the last instruction: it goes where the column is, and not by way of a register.
#[derive(Clone, Copy, Debug)]
struct Last {
    operation: Arithmetic,
    left: Arg,
    right: Arg,
}

impl Last {
    fn of(instruction: &Instruction) -> Option<Last> {
        match instruction.op {
            Op::Arithmetic(operation, left, right) if instruction.kind == Kind::Float && operation != Arithmetic::Divide => {
                Some(Last { operation, left, right })
            }
            _ => None,
        }
    }

    fn operands(self) -> [Arg; 2] {
        [self.left, self.right]
    }

    fn stream(self, machine: &Machine, slot: Slot<f64>) {
        let (left, right) = (machine.floats(self.left), machine.floats(self.right));
        match self.operation {
            Arithmetic::Add => stream(slot, left, right, |a, b| a + b),
            Arithmetic::Subtract => stream(slot, left, right, |a, b| a - b),
            Arithmetic::Multiply => stream(slot, left, right, |a, b| a * b),
            Arithmetic::Divide => stream(slot, left, right, |a, b| a / b),
        }
    }
}

fn stream(slot: Slot<f64>, left: Operand<f64>, right: Operand<f64>, f: impl Fn(f64, f64) -> f64) {
    match (left, right) {
        (Operand::Each(a), Operand::Each(b)) => slot.write(a.iter().zip(b).map(|(a, b)| f(*a, *b))),
        (Operand::Each(a), Operand::One(b)) => slot.write(a.iter().map(|a| f(*a, b))),
        (Operand::One(a), Operand::Each(b)) => slot.write(b.iter().map(|b| f(a, *b))),
        (Operand::One(a), Operand::One(b)) => {
            let len = slot.len();
            slot.write(std::iter::repeat_n(f(a, b), len));
        }
    }
}

/// Eight truth values to a byte, the first in the lowest bit.
fn pack(bools: &[bool], bytes: &mut [u8]) {
    // The product gathers the lowest bits of eight bytes in the highest one.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let (eights, rest) = bools.as_chunks::<8>();
    for (eight, byte) in eights.iter().zip(bytes.iter_mut()) {
        *byte = (u64::from_le_bytes(eight.map(u8::from)).wrapping_mul(GATHER) >> 56) as u8;
    }
    if !rest.is_empty()
        && let Some(last) = bytes.get_mut(eights.len())
    {
        *last = rest.iter().enumerate().fold(0, |byte, (bit, bool)| byte | u8::from(*bool) << bit);
    }
}

/// Alternatives that are integers or floats of one unit as floats, and a truth value that tells which are.
fn mixed(cell: &Cell, program: &mut Program) -> Option<(Scalar, Scalar)> {
    let flag = |truth| Scalar { arg: Arg::Const(Const::Bool(truth)), kind: Kind::Bool, unit: Unit::NONE, nullable: false, untyped: false };
    match cell {
        Cell::Same(value) => {
            let constant = program.constant(value)?;
            mixed(&Cell::Scalar(constant), program)
        }
        Cell::Scalar(scalar) => match scalar.kind {
            Kind::Float => Some((*scalar, flag(true))),
            Kind::Int => Some((program.widened(*scalar, Kind::Float), flag(false))),
            Kind::Bool | Kind::Str | Kind::Complex => None,
        },
        Cell::Either(condition, arms) => {
            let (then, otherwise) = (arm(&arms.0, program)?, arm(&arms.1, program)?);
            let value = choose(*condition, then.0, otherwise.0, program)?;
            let is_float = choose(*condition, then.1, otherwise.1, program)?;
            Some((value, is_float))
        }
        Cell::Spoilt | Cell::Record(_) => None,
    }
}

/// One alternative; what is spoilt or null stays so.
fn arm(cell: &Cell, program: &mut Program) -> Option<(Cell, Cell)> {
    match cell {
        Cell::Spoilt | Cell::Same(Value::Null) => Some((cell.clone(), Cell::Same(Value::Bool(false)))),
        cell => mixed(cell, program).map(|(value, is_float)| (Cell::Scalar(value), Cell::Scalar(is_float))),
    }
}

fn choose(condition: Condition, then: Cell, otherwise: Cell, program: &mut Program) -> Option<Scalar> {
    match program.either(condition, then, otherwise) {
        Cell::Scalar(scalar) => Some(scalar),
        Cell::Same(_) | Cell::Spoilt | Cell::Record(_) | Cell::Either(..) => None,
    }
}
