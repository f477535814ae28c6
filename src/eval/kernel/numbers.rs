//! Instructions for the operations of the language, with units and kinds of numbers settled.
//!
//! Each operation is one of room `ops` over again, for a scalar in each row: `None` where the evaluator of single values must decide.

use super::cell::Scalar;
use super::members::Members;
use super::program::{Arg, Arithmetic, Call, Const, Kind, Op, Program};
use crate::builtin::{Native, RealFunction};
use crate::ops::convert::{conversion, convert_number};
use crate::ops::quantity::{power_unit, sum_units};
use crate::ops::{Comparison, number};
use crate::units::Unit;
use crate::value::{Number, Quantity, Value};

/// Integers up to this size are doubles without rounding.
const EXACT: u64 = 1 << 53;

impl Program {
    /// A register with an instruction as a scalar.
    fn scalar(&mut self, op: Op, kind: Kind, unit: Unit, nullable: bool) -> Scalar {
        Scalar { arg: Arg::Reg(self.emit(op, kind)), kind, unit, nullable, untyped: false }
    }

    /// A number whose missing elements have its unit.
    fn typed(&mut self, scalar: Scalar) -> Option<Scalar> {
        if !scalar.kind.is_number() {
            return None;
        }
        if !scalar.untyped || scalar.unit.is_none() {
            return Some(Scalar { untyped: false, ..scalar });
        }
        let reg = self.reg(scalar.arg);
        Some(self.scalar(Op::Present(reg), scalar.kind, scalar.unit, false))
    }

    /// A number as one of a wider kind.
    pub fn widened(&mut self, scalar: Scalar, kind: Kind) -> Scalar {
        let arg = match scalar.arg {
            _ if scalar.kind == kind => scalar.arg,
            Arg::Const(constant) if kind == Kind::Float => Arg::Const(Const::float(constant.to_f64())),
            Arg::Const(constant) => {
                let complex = constant.complex();
                Arg::Const(Const::Complex(complex.re.to_bits(), complex.im.to_bits()))
            }
            Arg::Reg(reg) => Arg::Reg(self.emit(Op::Widen(reg), kind)),
        };
        Scalar { arg, kind, ..scalar }
    }

    /// A number in another unit.
    fn converted(&mut self, scalar: Scalar, unit: Unit) -> Option<Scalar> {
        let conversion = conversion(scalar.unit, unit).ok()?;
        if conversion.is_identity() {
            return Some(Scalar { unit, ..scalar });
        }
        let reg = match scalar.arg {
            Arg::Const(constant) => {
                let constant = Const::number(&convert_number(&constant.to_number(), &conversion).ok()?)?;
                return Some(Scalar { arg: Arg::Const(constant), kind: constant.kind(), unit, ..scalar });
            }
            Arg::Reg(reg) => reg,
        };
        let kind = match scalar.kind {
            Kind::Int if conversion.whole().is_none() => Kind::Float,
            Kind::Complex if conversion.scale().is_nan() => return None,
            kind => kind,
        };
        let place = self.conversion(conversion);
        Some(Scalar { arg: Arg::Reg(self.emit(Op::Convert(reg, place), kind)), kind, unit, ..scalar })
    }

    /// A point on an affine scale as a multiple of the root unit.
    fn absolute(&mut self, scalar: Scalar) -> Option<Scalar> {
        if scalar.unit.has_affine() { self.converted(scalar, scalar.unit.root()) } else { Some(scalar) }
    }

    /// Two numbers of one kind, the wider one.
    fn alike(&mut self, left: Scalar, right: Scalar) -> (Scalar, Scalar, Kind) {
        let kind = left.kind.max(right.kind);
        (self.widened(left, kind), self.widened(right, kind), kind)
    }

    fn arithmetic(&mut self, operation: Arithmetic, left: Scalar, right: Scalar, unit: Unit) -> Scalar {
        let (left, right, kind) = self.alike(left, right);
        let (left, right, kind) = match operation {
            Arithmetic::Divide if kind == Kind::Int => (self.widened(left, Kind::Float), self.widened(right, Kind::Float), Kind::Float),
            _ => (left, right, kind),
        };
        self.scalar(Op::Arithmetic(operation, left.arg, right.arg), kind, unit, left.nullable || right.nullable)
    }

    /// The sum or difference.
    pub fn sum(&mut self, left: Scalar, right: Scalar, subtract: bool) -> Option<Scalar> {
        let (left, right) = (self.typed(left)?, self.typed(right)?);
        let operation = if subtract { Arithmetic::Subtract } else { Arithmetic::Add };
        if left.unit == right.unit && !left.unit.has_affine() {
            return Some(self.arithmetic(operation, left, right, left.unit));
        }
        let units = sum_units(left.unit, right.unit, subtract).ok()?;
        let (left, right) = (self.converted(left, units.left)?, self.converted(right, units.right)?);
        Some(self.arithmetic(operation, left, right, units.result))
    }

    /// The first term of a sum of scalars, which begins with zero.
    pub fn begun(&mut self, first: Scalar) -> Option<Scalar> {
        let first = self.typed(first)?;
        let zero = Scalar { arg: Arg::Const(Const::Int(0)), kind: Kind::Int, unit: first.unit, nullable: false, untyped: false };
        Some(self.arithmetic(Arithmetic::Add, zero, first, first.unit))
    }

    /// The product.
    pub fn product(&mut self, left: Scalar, right: Scalar) -> Option<Scalar> {
        let (left, right) = (self.typed(left)?, self.typed(right)?);
        let (left, right) = (self.absolute(left)?, self.absolute(right)?);
        Some(self.arithmetic(Arithmetic::Multiply, left, right, left.unit.multiply(right.unit)))
    }

    /// The quotient.
    pub fn quotient(&mut self, left: Scalar, right: Scalar) -> Option<Scalar> {
        let (left, right) = (self.typed(left)?, self.typed(right)?);
        let (left, right) = (self.absolute(left)?, self.absolute(right)?);
        Some(self.arithmetic(Arithmetic::Divide, left, right, left.unit.divide(right.unit)))
    }

    /// The power.
    pub fn power(&mut self, base: Scalar, exponent: Scalar) -> Option<Scalar> {
        let (base, exponent) = (self.typed(base)?, self.typed(exponent)?);
        let exponent = self.converted(exponent, Unit::NONE)?;
        let Arg::Const(constant) = exponent.arg else { return self.any_power(base, exponent) };
        let constant = constant.to_number();
        let is = |int: i128| number::equal(&constant, &Number::Int(int)) == Some(true);
        if is(1) {
            return Some(base);
        }
        if is(0) {
            let zero = Scalar { arg: Arg::Const(Const::Int(0)), kind: Kind::Int, unit: Unit::NONE, nullable: false, untyped: false };
            return Some(self.scalar(Op::Power(base.arg, zero.arg), base.kind, Unit::NONE, base.nullable));
        }
        let base = self.absolute(base)?;
        let unit = power_unit(base.unit, &constant).ok()?;
        let kind = match (base.kind, &constant) {
            (Kind::Int, Number::Int(int)) if *int >= 0 => Kind::Int,
            (Kind::Int, Number::Int(_)) => Kind::Float,
            _ => base.kind.max(exponent.kind),
        };
        Some(self.scalar(Op::Power(base.arg, exponent.arg), kind, unit, base.nullable))
    }

    /// A power whose exponent differs from row to row, which only a plain number has.
    fn any_power(&mut self, base: Scalar, exponent: Scalar) -> Option<Scalar> {
        if !base.unit.is_none() {
            return None;
        }
        let kind = base.kind.max(exponent.kind);
        Some(self.scalar(Op::Power(base.arg, exponent.arg), kind, Unit::NONE, base.nullable || exponent.nullable))
    }

    /// The number with its sign changed.
    pub fn negated(&mut self, scalar: Scalar) -> Option<Scalar> {
        if !scalar.kind.is_number() {
            return None;
        }
        let reg = self.reg(scalar.arg);
        Some(Scalar { arg: Arg::Reg(self.emit(Op::Negate(reg), scalar.kind)), ..scalar })
    }

    /// The real or the imaginary part.
    pub fn part(&mut self, scalar: Scalar, real: bool) -> Option<Scalar> {
        match scalar.kind {
            Kind::Int | Kind::Float if real => Some(scalar),
            Kind::Complex => {
                let reg = self.reg(scalar.arg);
                Some(Scalar { arg: Arg::Reg(self.emit(Op::Part(reg, real), Kind::Float)), kind: Kind::Float, ..scalar })
            }
            Kind::Int | Kind::Float | Kind::Bool | Kind::Str => None,
        }
    }

    /// A comparison.
    pub fn compared(&mut self, comparison: Comparison, left: Scalar, right: Scalar) -> Option<Scalar> {
        if !left.kind.is_number() || !right.kind.is_number() {
            let fits = left.kind == right.kind && comparison.is_equality();
            return fits.then(|| self.comparison(comparison, left, right));
        }
        let (left, right) = (self.typed(left)?, self.typed(right)?);
        let complex = left.kind.max(right.kind) == Kind::Complex;
        if complex && (!comparison.is_equality() || left.kind.min(right.kind) == Kind::Int) {
            return None;
        }
        let (left, right) = match () {
            () if left.unit == right.unit => (left, right),
            () if left.unit.dimension() != right.unit.dimension() => return None,
            () if comparison.is_equality() => (self.converted(left, right.unit)?, right),
            () => {
                let root = left.unit.root();
                (self.converted(left, root)?, self.converted(right, root)?)
            }
        };
        let (left, right) = (exactly(left, right.kind), exactly(right, left.kind));
        let (left, right) = if complex { (self.widened(left, Kind::Complex), self.widened(right, Kind::Complex)) } else { (left, right) };
        Some(self.comparison(comparison, left, right))
    }

    fn comparison(&mut self, comparison: Comparison, left: Scalar, right: Scalar) -> Scalar {
        self.scalar(Op::Compare(comparison, left.arg, right.arg), Kind::Bool, Unit::NONE, left.nullable || right.nullable)
    }

    /// Membership in what is the same for all rows.
    pub fn membership(&mut self, item: Scalar, set: impl IntoIterator<Item = Value>) -> Option<Scalar> {
        let members = Members::new(set, item.kind, item.unit)?;
        let nullable = members.otherwise.is_none();
        self.members.push(members);
        let reg = self.reg(item.arg);
        Some(self.scalar(Op::In(reg, self.members.len() as u32 - 1), Kind::Bool, Unit::NONE, nullable))
    }

    /// A native function of scalars.
    pub fn native(&mut self, native: &'static Native, arguments: &[Scalar]) -> Option<Scalar> {
        if !native.arity.accepts(arguments.len()) {
            return None;
        }
        let units: Vec<Unit> = arguments.iter().map(|argument| argument.unit).collect();
        let is_real = arguments.iter().all(|argument| matches!(argument.kind, Kind::Int | Kind::Float));
        if is_real && let Some(function) = native.real_function(&units) {
            let nullable = arguments.iter().any(|argument| argument.nullable);
            let untyped = arguments.iter().any(|argument| argument.nullable && (argument.untyped || argument.unit.is_none()));
            let converted = arguments.iter().zip(&function.arguments).map(|(argument, unit)| {
                let converted = self.converted(*argument, *unit)?;
                Some(self.widened(converted, Kind::Float).arg)
            });
            let converted: Vec<Arg> = converted.collect::<Option<_>>()?;
            let place = self.function(function.function);
            let op = match (function.function, converted.as_slice()) {
                (RealFunction::One(..), [x]) => Op::Real(place, *x),
                (RealFunction::Two(..), [x, y]) => Op::Real2(place, *x, *y),
                _ => return None,
            };
            return Some(Scalar { untyped, ..self.scalar(op, Kind::Float, function.result, nullable) });
        }
        self.call(native, arguments)
    }

    /// A call with one value after the other. What it gives is found out by a call with values of these kinds; a row that gives
    /// something else is left to the evaluator.
    fn call(&mut self, native: &'static Native, arguments: &[Scalar]) -> Option<Scalar> {
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let argument = if argument.kind.is_number() { self.typed(*argument)? } else { *argument };
            given.push((argument.arg, argument.unit));
        }
        let samples: Vec<Value> = arguments.iter().map(|argument| self.sample(*argument)).collect();
        let (kind, unit) = match native.call(&samples).ok()? {
            Value::Bool(_) => (Kind::Bool, Unit::NONE),
            Value::Str(_) => (Kind::Str, Unit::NONE),
            Value::Quantity(quantity) => (Const::number(&quantity.number)?.kind(), quantity.unit),
            _ => return None,
        };
        // Strings that a function makes would have to live as long as the column.
        if kind == Kind::Str {
            return None;
        }
        let same = |call: &Call| {
            let mut pairs = call.arguments.iter().zip(&given);
            let are_same = call.arguments.len() == given.len() && pairs.all(|(one, other)| one.0 == other.0 && one.1.is_identical(other.1));
            std::ptr::eq(call.native, native) && are_same
        };
        let place = self.calls.iter().position(same).unwrap_or_else(|| {
            self.calls.push(Call { native, arguments: given, unit });
            self.calls.len() - 1
        });
        let op = Op::Call(place as u32);
        let nullable = arguments.iter().any(|argument| argument.nullable);
        Some(Scalar { untyped: nullable, ..self.scalar(op, kind, unit, nullable) })
    }

    /// A value as a scalar may have it.
    fn sample(&self, scalar: Scalar) -> Value {
        let quantity = |number: Number| Value::Quantity(Quantity { number, unit: scalar.unit });
        match (scalar.arg, scalar.kind) {
            (Arg::Const(Const::Bool(bool)), _) => Value::Bool(bool),
            (Arg::Const(Const::Str(place)), _) => Value::Str(self.strings[place as usize].clone()),
            (Arg::Const(constant), _) => quantity(constant.to_number()),
            (Arg::Reg(_), Kind::Bool) => Value::Bool(true),
            (Arg::Reg(_), Kind::Str) => Value::Str("1".into()),
            (Arg::Reg(_), Kind::Int) => quantity(Number::Int(1)),
            (Arg::Reg(_), Kind::Float) => quantity(Number::Float(0.5)),
            (Arg::Reg(_), Kind::Complex) => quantity(Const::Complex(0.5_f64.to_bits(), 0.5_f64.to_bits()).complex().into()),
        }
    }
}

/// A constant as one of the kind that it is compared with, when no digit is lost by that.
fn exactly(scalar: Scalar, kind: Kind) -> Scalar {
    let constant = match (scalar.arg, kind) {
        (Arg::Const(Const::Int(int)), Kind::Float) if int.unsigned_abs() <= EXACT => Const::float(int as f64),
        (Arg::Const(Const::Float(bits)), Kind::Int) => match crate::value::as_whole(f64::from_bits(bits)) {
            Some(whole) => Const::Int(whole),
            None => return scalar,
        },
        _ => return scalar,
    };
    Scalar { arg: Arg::Const(constant), kind: constant.kind(), ..scalar }
}
