//! Column programs: instructions over registers, each of which holds one slice of a column.
//!
//! A program is built bottom up and equal instructions are one, so a common part of an expression is computed once. Units are gone:
//! what is left of them are conversions between bare numbers. An instruction never fails. What an evaluator of single values would
//! refuse, or would answer with another kind of number, spoils its row, and whoever uses a spoilt element spoils its own, unless it
//! chooses another one; so a spoilt result means exactly that the row must be left to the evaluator.

use std::sync::Arc;

use crate::builtin::{Native, RealFunction};
use crate::hash::Map;
use crate::ops::Comparison;
use crate::units::{Conversion, Unit};
use crate::value::{Complex64, Number};

use super::members::Members;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Strings.
    Str,
    /// Integers of 64 bits.
    Int,
    /// Doubles.
    Float,
    /// Complex numbers.
    Complex,
}

impl Kind {
    /// Whether it is a kind of number; these are in the order in which they widen.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Int | Kind::Float | Kind::Complex)
    }
}

/// A register: the result of the instruction of this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reg(u32);

impl Reg {
    /// As an index into [`Program::code`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A scalar that is the same for all rows; floats by their bits, so that equal ones are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// A truth value.
    Bool(bool),
    /// A position in [`Program::strings`].
    Str(u32),
    /// An integer.
    Int(i64),
    /// A double.
    Float(u64),
    /// A complex number.
    Complex(u64, u64),
}

impl Const {
    /// Of a double.
    pub fn float(float: f64) -> Const {
        Const::Float(float.to_bits())
    }

    /// Of a number that some kind of column can hold.
    pub fn number(number: &Number) -> Option<Const> {
        match number {
            Number::Int(int) => i64::try_from(*int).ok().map(Const::Int),
            Number::Float(float) => Some(Const::float(*float)),
            Number::Complex(complex) => Some(Const::Complex(complex.re.to_bits(), complex.im.to_bits())),
            Number::Null | Number::Uncertain(_) => None,
        }
    }

    /// As a number; missing when it is none.
    pub fn to_number(self) -> Number {
        match self {
            Const::Bool(_) | Const::Str(_) => Number::Null,
            Const::Int(int) => int.into(),
            Const::Float(bits) => f64::from_bits(bits).into(),
            Const::Complex(..) => self.complex().into(),
        }
    }

    /// Its kind.
    pub fn kind(self) -> Kind {
        match self {
            Const::Bool(_) => Kind::Bool,
            Const::Str(_) => Kind::Str,
            Const::Int(_) => Kind::Int,
            Const::Float(_) => Kind::Float,
            Const::Complex(..) => Kind::Complex,
        }
    }

    /// The number as a complex one.
    pub fn complex(self) -> Complex64 {
        match self {
            Const::Complex(re, im) => Complex64::new(f64::from_bits(re), f64::from_bits(im)),
            _ => Complex64::new(self.to_f64(), 0.0),
        }
    }

    /// The real number as a double.
    pub fn to_f64(self) -> f64 {
        match self {
            Const::Int(int) => int as f64,
            Const::Float(bits) => f64::from_bits(bits),
            Const::Bool(_) | Const::Str(_) | Const::Complex(..) => f64::NAN,
        }
    }
}

/// An operand: a register, or the same for all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// A register.
    Reg(Reg),
    /// A scalar.
    Const(Const),
}

impl Arg {
    /// The register, if it is one.
    pub fn reg(self) -> Option<Reg> {
        if let Arg::Reg(reg) = self { Some(reg) } else { None }
    }
}

/// Sums and products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`, never of integers.
    Divide,
}

/// What an instruction computes; operands of arithmetic have the kind of the result unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A column of the input.
    Input(u32),
    /// The same scalar in each row.
    Fill(Const),
    /// Missing in each row.
    Missing,
    /// Spoilt in each row.
    Spoilt,
    /// Integers or floats in a wider kind.
    Widen(Reg),
    /// Numbers in another unit: a position in [`Program::conversions`]. Integers stay integers when the factor is whole.
    Convert(Reg, u32),
    /// `-a`
    Negate(Reg),
    /// A sum or product.
    Arithmetic(Arithmetic, Arg, Arg),
    /// `a ** b`; the operands may be of other kinds than the result.
    Power(Arg, Arg),
    /// `a < b`; operands of one kind, or an integer and a float.
    Compare(Comparison, Arg, Arg),
    /// Membership: a position in [`Program::members`].
    In(Reg, u32),
    /// `not a`
    Not(Reg),
    /// `a and b`; the second counts only where the first is not false.
    And(Reg, Reg),
    /// `a or b`; the second counts only where the first is not true.
    Or(Reg, Reg),
    /// The second where the first is true, the third where it is false, missing where it is missing.
    Select(Reg, Reg, Reg),
    /// The real (or else imaginary) part of complex numbers.
    Part(Reg, bool),
    /// The first, spoilt where the second is.
    After(Reg, Reg),
    /// Spoilt where missing: a missing element whose type would have to be known.
    Present(Reg),
    /// The first, and where it is missing a truth value.
    Known(Reg, bool),
    /// A real function: a position in [`Program::functions`].
    Real(u32, Arg),
    /// A real function of two numbers.
    Real2(u32, Arg, Arg),
    /// A function of values: a position in [`Program::calls`].
    Call(u32),
}

/// A call of a native function with one value after the other.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function.
    pub native: &'static Native,
    /// Its arguments with their units.
    pub arguments: Vec<(Arg, Unit)>,
    /// The unit that results must have.
    pub unit: Unit,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it computes.
    pub op: Op,
    /// What kind of elements that gives.
    pub kind: Kind,
    /// Whether an element may be spoilt.
    pub fallible: bool,
}

/// Instructions in an order in which they can be executed, with what they refer to.
#[derive(Debug, Default)]
pub struct Program {
    /// The instructions.
    pub code: Vec<Instruction>,
    /// Strings of constants.
    pub strings: Vec<Arc<str>>,
    /// Conversions of units.
    pub conversions: Vec<Conversion>,
    /// Right sides of `in`.
    pub members: Vec<Members>,
    /// Real functions.
    pub functions: Vec<RealFunction>,
    /// Calls of other functions.
    pub calls: Vec<Call>,
    known: Map<(Op, Kind), Reg>,
}

impl Program {
    /// The register with the result of an instruction, which is added unless it is there.
    pub fn emit(&mut self, op: Op, kind: Kind) -> Reg {
        if let Some(reg) = self.known.get(&(op.clone(), kind)) {
            return *reg;
        }
        let reg = Reg(self.code.len() as u32);
        let mut fallible = op.may_spoil(kind);
        op.reads(self, &mut |read| fallible |= self.code[read.index()].fallible);
        self.code.push(Instruction { op: op.clone(), kind, fallible });
        self.known.insert((op, kind), reg);
        reg
    }

    /// All registers, in order.
    pub fn registers(&self) -> impl Iterator<Item = Reg> + use<> {
        (0..self.code.len() as u32).map(Reg)
    }

    /// The kind of an operand.
    pub fn kind(&self, arg: Arg) -> Kind {
        match arg {
            Arg::Reg(reg) => self.code[reg.index()].kind,
            Arg::Const(constant) => constant.kind(),
        }
    }

    /// A register with an operand in it.
    pub fn reg(&mut self, arg: Arg) -> Reg {
        match arg {
            Arg::Reg(reg) => reg,
            Arg::Const(constant) => self.emit(Op::Fill(constant), constant.kind()),
        }
    }

    /// A string as a constant.
    pub fn string(&mut self, text: &Arc<str>) -> Const {
        Const::Str(place(&mut self.strings, text.clone()))
    }

    /// The place of a conversion.
    pub fn conversion(&mut self, conversion: Conversion) -> u32 {
        place(&mut self.conversions, conversion)
    }

    /// The place of a real function.
    pub fn function(&mut self, function: RealFunction) -> u32 {
        place(&mut self.functions, function)
    }
}

impl Op {
    /// Whether it spoils elements of its own accord.
    fn may_spoil(&self, kind: Kind) -> bool {
        match self {
            Op::Input(_)
            | Op::Fill(_)
            | Op::Missing
            | Op::Widen(_)
            | Op::Compare(..)
            | Op::In(..)
            | Op::Not(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Select(..)
            | Op::Part(..)
            | Op::After(..)
            | Op::Known(..) => false,
            Op::Negate(_) | Op::Convert(..) => kind == Kind::Int,
            Op::Arithmetic(operation, ..) => kind == Kind::Int || *operation == Arithmetic::Divide,
            Op::Spoilt | Op::Power(..) | Op::Present(_) | Op::Real(..) | Op::Real2(..) | Op::Call(_) => true,
        }
    }

    /// The registers that it reads.
    pub fn reads(&self, program: &Program, each: &mut dyn FnMut(Reg)) {
        let mut arg = |arg: Arg| {
            if let Arg::Reg(reg) = arg {
                each(reg);
            }
        };
        match *self {
            Op::Input(_) | Op::Fill(_) | Op::Missing | Op::Spoilt => {}
            Op::Widen(a)
            | Op::Convert(a, _)
            | Op::Negate(a)
            | Op::In(a, _)
            | Op::Not(a)
            | Op::Part(a, _)
            | Op::Present(a)
            | Op::Known(a, _) => each(a),
            Op::And(a, b) | Op::Or(a, b) | Op::After(a, b) => [a, b].into_iter().for_each(each),
            Op::Select(a, b, c) => [a, b, c].into_iter().for_each(each),
            Op::Real(_, a) => arg(a),
            Op::Arithmetic(_, a, b) | Op::Power(a, b) | Op::Compare(_, a, b) | Op::Real2(_, a, b) => {
                arg(a);
                arg(b);
            }
            Op::Call(call) => program.calls[call as usize].arguments.iter().for_each(|(a, _)| arg(*a)),
        }
    }
}

/// The place of an item in a list, at its end unless it is there.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let place = list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    place as u32
}
