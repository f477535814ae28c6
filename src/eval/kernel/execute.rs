//! Execution of a program over one slice.

use super::lane::{Lane, Operand, SLICE, each, each_flagged, fill, select, zip, zip_flagged};
use super::program::{Arg, Arithmetic, Const, Instruction, Kind, Op, Program, Reg};
use crate::builtin::RealFunction;
use crate::ops::number::ExactPower;
use crate::ops::{Comparison, complex, number};
use crate::units::{Conversion, Unit};
use crate::value::{Complex64, Number, Quantity, Value};

use super::input::Input;
use super::wide;

/// Registers that live in the same place, one after the other.
#[derive(Debug)]
pub struct Layout {
    /// The place of each register.
    places: Vec<u32>,
    /// How many places there are.
    len: usize,
    /// The instructions that something needs, in order.
    needed: Vec<u32>,
}

impl Layout {
    /// Places for all registers that `kept` ones need; those of `kept` registers are theirs alone from then on.
    pub fn new(program: &Program, kept: &[Reg]) -> Layout {
        let mut last: Vec<usize> = (0..program.code.len()).collect();
        for (index, instruction) in program.code.iter().enumerate() {
            instruction.op.reads(program, &mut |reg| last[reg.index()] = index);
        }
        kept.iter().for_each(|reg| last[reg.index()] = usize::MAX);
        let mut is_needed = vec![false; program.code.len()];
        kept.iter().for_each(|reg| is_needed[reg.index()] = true);
        for (index, instruction) in program.code.iter().enumerate().rev() {
            if is_needed[index] {
                instruction.op.reads(program, &mut |reg| is_needed[reg.index()] = true);
            }
        }
        let mut free: Vec<(Kind, u32)> = Vec::new();
        let mut places: Vec<u32> = Vec::with_capacity(program.code.len());
        let mut len = 0;
        for (index, instruction) in program.code.iter().enumerate() {
            // Inputs are only looked at, and what does not change from slice to slice stays in the cache.
            let lasting = instruction.op.is_lasting();
            let known = if lasting { None } else { free.iter().position(|(kind, _)| *kind == instruction.kind) };
            places.push(known.map_or(len, |at| free.swap_remove(at).1));
            len += u32::from(known.is_none());
            instruction.op.reads(program, &mut |reg| {
                let read = &program.code[reg.index()];
                let place = (read.kind, places[reg.index()]);
                if last[reg.index()] == index && !read.op.is_lasting() && !free.contains(&place) {
                    free.push(place);
                }
            });
        }
        let needed = (0..program.code.len() as u32).filter(|index| is_needed[*index as usize]).collect();
        Layout { places, len: len as usize, needed }
    }
}

impl Op {
    /// Whether the register needs its place for itself.
    fn is_lasting(&self) -> bool {
        matches!(self, Op::Input(_) | Op::Fill(_) | Op::Missing | Op::Spoilt)
    }
}

/// The registers of one thread.
#[derive(Debug)]
pub struct Machine<'v> {
    program: &'v Program,
    layout: &'v Layout,
    inputs: &'v [Input<'v>],
    lanes: Vec<Lane<'v>>,
}

impl<'v> Machine<'v> {
    /// Registers for a program over these inputs.
    pub fn new(program: &'v Program, layout: &'v Layout, inputs: &'v [Input<'v>]) -> Self {
        Machine { program, layout, inputs, lanes: std::iter::repeat_with(Lane::default).take(layout.len).collect() }
    }

    /// Computes all registers for the rows from `start` on; at most [`SLICE`] of them.
    pub fn run(&mut self, start: usize, len: usize) {
        debug_assert!(len <= SLICE);
        wide::run(self, start, len);
    }

    /// As [`Machine::run`], with the instructions of the processor that the caller may use.
    #[inline(always)]
    pub fn run_here(&mut self, start: usize, len: usize) {
        for index in &self.layout.needed {
            let index = *index as usize;
            let instruction = &self.program.code[index];
            let place = self.layout.places[index] as usize;
            let mut lane = std::mem::take(&mut self.lanes[place]);
            lane.clear();
            self.step(instruction, &mut lane, start, len);
            self.lanes[place] = lane;
        }
    }

    /// The register of a result, after [`Machine::run`].
    pub fn lane(&self, reg: Reg) -> &Lane<'v> {
        &self.lanes[self.layout.places[reg.index()] as usize]
    }

    #[inline(always)]
    fn step(&self, instruction: &Instruction, lane: &mut Lane<'v>, start: usize, len: usize) {
        let kind = instruction.kind;
        // What a choice does not choose is not used.
        if !instruction.op.chooses() {
            instruction.op.reads(self.program, &mut |reg| lane.follow(self.lane(reg)));
        }
        match instruction.op {
            Op::Input(place) => self.inputs[place as usize].load(lane, start, len),
            Op::Fill(Const::Str(place)) => lane.data.strings_mut(len).fill(&self.program.strings[place as usize]),
            Op::Fill(constant) => fill(&mut lane.data, constant, len),
            Op::Missing => {
                lane.data.reserve(kind, len);
                lane.nulls.add(len, |_| true);
            }
            Op::Spoilt => {
                lane.data.reserve(kind, len);
                lane.spoilt.add(len, |_| true);
            }
            Op::Widen(a) => self.widen(a, kind, lane, len),
            Op::Convert(a, conversion) => self.convert(a, &self.program.conversions[conversion as usize], kind, lane, len),
            Op::Negate(a) => self.negate(a, kind, lane, len),
            Op::Arithmetic(operation, a, b) => self.arithmetic(operation, a, b, kind, lane, len),
            Op::Power(a, b) => self.power(a, b, kind, lane, len),
            Op::Compare(comparison, a, b) => self.compare(comparison, a, b, lane, len),
            Op::In(a, members) => self.membership(a, members, lane, len),
            Op::Not(a) => each(lane.data.bools_mut(len), self.bools(a), |a| !a),
            Op::And(a, b) => self.decide(a, b, false, lane, len),
            Op::Or(a, b) => self.decide(a, b, true, lane, len),
            Op::Select(condition, a, b) => self.select(condition, [a, b], kind, lane, len),
            Op::Part(a, real) => {
                let complexes = Operand::Each(self.lane(a).data.complexes());
                each(lane.data.floats_mut(len), complexes, |complex: Complex64| if real { complex.re } else { complex.im });
            }
            Op::After(a, _) => {
                self.copy(a, kind, lane, len);
                lane.nulls.clear();
                lane.nulls.join(&self.lane(a).nulls);
            }
            Op::Present(a) => {
                self.copy(a, kind, lane, len);
                let Lane { nulls, spoilt, .. } = lane;
                spoilt.join(nulls);
                nulls.clear();
            }
            Op::Known(a, otherwise) => {
                let known = self.lane(a);
                let out = lane.data.bools_mut(len);
                out.copy_from_slice(known.data.bools());
                if let Some(nulls) = known.nulls.rows() {
                    out.iter_mut().zip(nulls).for_each(|(out, missing)| *out = if *missing { otherwise } else { *out });
                }
                lane.nulls.clear();
            }
            Op::Real(function, a) => {
                let RealFunction::One(apply, checked) = self.program.functions[function as usize] else { return };
                let a = self.floats(a);
                let out = lane.data.floats_mut(len);
                let flagged = each_flagged(out, a, |a| {
                    let result = apply(a);
                    (result, !result.is_finite())
                });
                if flagged && checked.is_needed() {
                    self.check(lane, len, |row, result| checked.refuses(result, &[a.at(row)]));
                }
            }
            Op::Real2(function, a, b) => {
                let RealFunction::Two(apply, checked) = self.program.functions[function as usize] else { return };
                let (a, b) = (self.floats(a), self.floats(b));
                let out = lane.data.floats_mut(len);
                let flagged = zip_flagged(out, a, b, |a, b| {
                    let result = apply(a, b);
                    (result, !result.is_finite())
                });
                if flagged && checked.is_needed() {
                    self.check(lane, len, |row, result| checked.refuses(result, &[a.at(row), b.at(row)]));
                }
            }
            Op::Call(call) => self.call(call, kind, lane, len),
        }
    }

    #[inline(always)]
    fn bools(&self, reg: Reg) -> Operand<'_, bool> {
        Operand::Each(self.lane(reg).data.bools())
    }

    #[inline(always)]
    fn ints(&self, arg: Arg) -> Operand<'_, i64> {
        match arg {
            Arg::Reg(reg) => Operand::Each(self.lane(reg).data.ints()),
            Arg::Const(Const::Int(int)) => Operand::One(int),
            Arg::Const(_) => Operand::One(0),
        }
    }

    /// What is missing or spoilt in one of two operands.
    pub fn masks(&self, operands: [Arg; 2]) -> Lane<'v> {
        let mut lane = Lane::default();
        operands.into_iter().filter_map(Arg::reg).for_each(|reg| lane.follow(self.lane(reg)));
        lane
    }

    /// The floats of an operand.
    #[inline(always)]
    pub fn floats(&self, arg: Arg) -> Operand<'_, f64> {
        match arg {
            Arg::Reg(reg) => Operand::Each(self.lane(reg).data.floats()),
            Arg::Const(constant) => Operand::One(constant.to_f64()),
        }
    }

    fn complexes(&self, arg: Arg) -> Operand<'_, Complex64> {
        match arg {
            Arg::Reg(reg) => Operand::Each(self.lane(reg).data.complexes()),
            Arg::Const(constant) => Operand::One(constant.complex()),
        }
    }

    /// A real number of a row, integers rounded to doubles.
    fn real(&self, arg: Arg, row: usize) -> f64 {
        match self.program.kind(arg) {
            Kind::Int => self.ints(arg).at(row) as f64,
            Kind::Float => self.floats(arg).at(row),
            Kind::Bool | Kind::Str | Kind::Complex => f64::NAN,
        }
    }

    /// The number of a row.
    fn number(&self, arg: Arg, row: usize) -> Number {
        match self.program.kind(arg) {
            Kind::Int => self.ints(arg).at(row).into(),
            Kind::Float => self.floats(arg).at(row).into(),
            Kind::Complex => self.complexes(arg).at(row).into(),
            Kind::Bool | Kind::Str => Number::Null,
        }
    }

    /// The value of a row, as the evaluator of single values would have it.
    fn value(&self, arg: Arg, unit: Unit, row: usize) -> Value {
        let is_missing = matches!(arg, Arg::Reg(reg) if self.lane(reg).nulls.has(row));
        match (self.program.kind(arg), arg) {
            (Kind::Bool | Kind::Str, _) if is_missing => Value::Null,
            (Kind::Bool, Arg::Reg(reg)) => Value::Bool(self.lane(reg).data.bools()[row]),
            (Kind::Str, Arg::Reg(reg)) => Value::Str(self.lane(reg).data.strings()[row].into()),
            (_, Arg::Const(Const::Bool(bool))) => Value::Bool(bool),
            (_, Arg::Const(Const::Str(place))) => Value::Str(self.program.strings[place as usize].clone()),
            _ if is_missing => Value::Quantity(Quantity::null(unit)),
            _ => Value::Quantity(Quantity { number: self.number(arg, row), unit }),
        }
    }

    /// Spoils the rows whose result a test refuses.
    fn check(&self, lane: &mut Lane, len: usize, refused: impl Fn(usize, f64) -> bool) {
        let Lane { data, nulls, spoilt } = lane;
        let results = data.floats();
        spoilt.add(len, |row| !nulls.has(row) && !results[row].is_finite() && refused(row, results[row]));
    }

    #[inline(always)]
    fn copy(&self, reg: Reg, kind: Kind, lane: &mut Lane<'v>, len: usize) {
        let data = &self.lane(reg).data;
        match kind {
            Kind::Bool => lane.data.bools_mut(len).copy_from_slice(data.bools()),
            Kind::Str => lane.data.strings_mut(len).copy_from_slice(data.strings()),
            Kind::Int => lane.data.ints_mut(len).copy_from_slice(data.ints()),
            Kind::Float => lane.data.floats_mut(len).copy_from_slice(data.floats()),
            Kind::Complex => lane.data.complexes_mut(len).copy_from_slice(data.complexes()),
        }
    }

    #[inline(always)]
    fn widen(&self, reg: Reg, kind: Kind, lane: &mut Lane, len: usize) {
        let from = &self.lane(reg).data;
        match (self.program.code[reg.index()].kind, kind) {
            (Kind::Int, Kind::Float) => each(lane.data.floats_mut(len), Operand::Each(from.ints()), |int| int as f64),
            (Kind::Int, _) => each(lane.data.complexes_mut(len), Operand::Each(from.ints()), |int| Complex64::new(int as f64, 0.0)),
            _ => each(lane.data.complexes_mut(len), Operand::Each(from.floats()), |float| Complex64::new(float, 0.0)),
        }
    }

    #[inline(always)]
    fn convert(&self, reg: Reg, conversion: &Conversion, kind: Kind, lane: &mut Lane, len: usize) {
        let from = &self.lane(reg).data;
        match (self.program.code[reg.index()].kind, kind) {
            (Kind::Int, Kind::Int) => {
                let factor = conversion.whole().unwrap_or(1);
                let ints = from.ints();
                let product = |int: i64| i128::from(int).checked_mul(factor).and_then(|product| i64::try_from(product).ok());
                each(lane.data.ints_mut(len), Operand::Each(ints), |int| product(int).unwrap_or(0));
                if ints.iter().any(|int| product(*int).is_none()) {
                    lane.spoil(len, |row| product(ints[row]).is_none());
                }
            }
            (Kind::Int, _) => each(lane.data.floats_mut(len), Operand::Each(from.ints()), |int| conversion.apply(int as f64)),
            (Kind::Complex, _) => {
                let scale = conversion.scale();
                let convert = |complex: Complex64| Complex64::new(conversion.apply(complex.re), complex.im * scale);
                each(lane.data.complexes_mut(len), Operand::Each(from.complexes()), convert);
            }
            _ => {
                let floats = Operand::Each(from.floats());
                match *conversion {
                    Conversion::Factor(factor) => each(lane.data.floats_mut(len), floats, |float| float * factor),
                    _ => each(lane.data.floats_mut(len), floats, |float| conversion.apply(float)),
                }
            }
        }
    }

    #[inline(always)]
    fn negate(&self, reg: Reg, kind: Kind, lane: &mut Lane, len: usize) {
        let from = &self.lane(reg).data;
        match kind {
            Kind::Int => {
                let ints = from.ints();
                each(lane.data.ints_mut(len), Operand::Each(ints), i64::wrapping_neg);
                if ints.contains(&i64::MIN) {
                    lane.spoil(len, |row| ints[row] == i64::MIN);
                }
            }
            Kind::Complex => each(lane.data.complexes_mut(len), Operand::Each(from.complexes()), |complex: Complex64| -complex),
            Kind::Float | Kind::Bool | Kind::Str => each(lane.data.floats_mut(len), Operand::Each(from.floats()), |float: f64| -float),
        }
    }

    #[inline(always)]
    fn arithmetic(&self, operation: Arithmetic, a: Arg, b: Arg, kind: Kind, lane: &mut Lane, len: usize) {
        match kind {
            Kind::Int => self.int_arithmetic(operation, a, b, lane, len),
            Kind::Complex => self.complex_arithmetic(operation, a, b, lane, len),
            Kind::Float | Kind::Bool | Kind::Str => {
                let (a, b) = (self.floats(a), self.floats(b));
                let out = lane.data.floats_mut(len);
                match operation {
                    Arithmetic::Add => zip(out, a, b, |a, b| a + b),
                    Arithmetic::Subtract => zip(out, a, b, |a, b| a - b),
                    Arithmetic::Multiply => zip(out, a, b, |a, b| a * b),
                    Arithmetic::Divide => {
                        if zip_flagged(out, a, b, |a, b| (a / b, b == 0.0)) {
                            lane.spoil(len, |row| b.at(row) == 0.0);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn int_arithmetic(&self, operation: Arithmetic, a: Arg, b: Arg, lane: &mut Lane, len: usize) {
        let (a, b) = (self.ints(a), self.ints(b));
        let apply: fn(i64, i64) -> (i64, bool) = match operation {
            Arithmetic::Add => i64::overflowing_add,
            Arithmetic::Subtract => i64::overflowing_sub,
            Arithmetic::Multiply | Arithmetic::Divide => i64::overflowing_mul,
        };
        let out = lane.data.ints_mut(len);
        let overflown = match operation {
            Arithmetic::Add => zip_flagged(out, a, b, i64::overflowing_add),
            Arithmetic::Subtract => zip_flagged(out, a, b, i64::overflowing_sub),
            Arithmetic::Multiply | Arithmetic::Divide => zip_flagged(out, a, b, i64::overflowing_mul),
        };
        if overflown {
            lane.spoil(len, |row| apply(a.at(row), b.at(row)).1);
        }
    }

    fn complex_arithmetic(&self, operation: Arithmetic, a: Arg, b: Arg, lane: &mut Lane, len: usize) {
        let (a, b) = (self.complexes(a), self.complexes(b));
        let out = lane.data.complexes_mut(len);
        match operation {
            Arithmetic::Add => zip(out, a, b, |a, b| a + b),
            Arithmetic::Subtract => zip(out, a, b, |a, b| a - b),
            Arithmetic::Multiply => zip(out, a, b, complex::multiply),
            Arithmetic::Divide => {
                zip(out, a, b, |a, b| complex::divide(a, b).unwrap_or_default());
                let is_zero = |b: Complex64| b.re == 0.0 && b.im == 0.0;
                if b.any(is_zero) {
                    lane.spoil(len, |row| is_zero(b.at(row)));
                }
            }
        }
    }

    #[inline(always)]
    fn power(&self, a: Arg, b: Arg, kind: Kind, lane: &mut Lane, len: usize) {
        // An exponent of one gives the base as it is, and of zero something of its kind.
        let may_keep = matches!(b, Arg::Reg(_)) && (self.program.kind(a) != kind || kind == Kind::Complex);
        match kind {
            Kind::Int => {
                let (a, b) = (self.ints(a), self.ints(b));
                zip(lane.data.ints_mut(len), a, b, |a, b| int_power(a, b).unwrap_or(0));
                if (0..len).any(|row| int_power(a.at(row), b.at(row)).is_none()) {
                    lane.spoil(len, |row| int_power(a.at(row), b.at(row)).is_none());
                }
            }
            Kind::Float | Kind::Bool | Kind::Str => {
                if let (Arg::Const(exponent), Kind::Float) = (b, self.program.kind(a))
                    && let Some(power) = ExactPower::of(exponent.to_f64())
                {
                    let a = self.floats(a);
                    let out = lane.data.floats_mut(len);
                    let flagged = |result: f64| (result, !result.is_finite());
                    let flagged = match power {
                        ExactPower::Square => each_flagged(out, a, |x| flagged(ExactPower::Square.apply(x))),
                        ExactPower::Reciprocal => each_flagged(out, a, |x| flagged(ExactPower::Reciprocal.apply(x))),
                        ExactPower::Root => each_flagged(out, a, |x| flagged(ExactPower::Root.apply(x))),
                    };
                    if flagged {
                        self.check(lane, len, |row, _| !matches!(number::float_power(a.at(row), exponent.to_f64()), Ok(Number::Float(_))));
                    }
                    return;
                }
                let (base, exponent) = (|row| self.real(a, row), |row| self.real(b, row));
                let mut refused = Vec::new();
                for (row, out) in lane.data.floats_mut(len).iter_mut().enumerate() {
                    match number::float_power(base(row), exponent(row)) {
                        Ok(Number::Float(power)) => *out = power,
                        _ => refused.push(row),
                    }
                }
                lane.spoil_rows(len, &refused);
                if may_keep {
                    lane.spoil(len, |row| matches!(exponent(row), 0.0 | 1.0));
                }
            }
            Kind::Complex => {
                let number = |arg, row| self.number(arg, row).as_complex().unwrap_or_default();
                let mut refused = Vec::new();
                for (row, out) in lane.data.complexes_mut(len).iter_mut().enumerate() {
                    match complex::power(number(a, row), number(b, row)) {
                        Ok(power) => *out = power,
                        Err(_) => refused.push(row),
                    }
                }
                lane.spoil_rows(len, &refused);
                if may_keep {
                    lane.spoil(len, |row| number(b, row).im == 0.0 && matches!(number(b, row).re, 0.0 | 1.0));
                }
            }
        }
    }

    #[inline(always)]
    fn compare(&self, comparison: Comparison, a: Arg, b: Arg, lane: &mut Lane, len: usize) {
        let out = lane.data.bools_mut(len);
        match (self.program.kind(a), self.program.kind(b)) {
            (Kind::Int, Kind::Int) => ordered(out, self.ints(a), self.ints(b), comparison),
            (Kind::Float, Kind::Float) => ordered(out, self.floats(a), self.floats(b), comparison),
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => {
                for (row, out) in out.iter_mut().enumerate() {
                    *out = comparison.holds(number::order(&self.number(a, row), &self.number(b, row)));
                }
            }
            (Kind::Complex, _) => {
                let equal = comparison == Comparison::Equal;
                zip(out, self.complexes(a), self.complexes(b), |a, b| (a == b) == equal);
            }
            _ => {
                let equal = comparison == Comparison::Equal;
                for (row, out) in out.iter_mut().enumerate() {
                    *out = self.is_same(a, b, row) == equal;
                }
            }
        }
    }

    /// Whether two truth values or strings are the same.
    fn is_same(&self, a: Arg, b: Arg, row: usize) -> bool {
        match self.program.kind(a) {
            Kind::Bool => self.truth(a, row) == self.truth(b, row),
            _ => self.string(a, row) == self.string(b, row),
        }
    }

    fn truth(&self, arg: Arg, row: usize) -> bool {
        match arg {
            Arg::Reg(reg) => self.lane(reg).data.bools()[row],
            Arg::Const(constant) => constant == Const::Bool(true),
        }
    }

    fn string(&self, arg: Arg, row: usize) -> &str {
        match arg {
            Arg::Reg(reg) => self.lane(reg).data.strings()[row],
            Arg::Const(Const::Str(place)) => &self.program.strings[place as usize],
            Arg::Const(_) => "",
        }
    }

    fn membership(&self, reg: Reg, members: u32, lane: &mut Lane, len: usize) {
        let members = &self.program.members[members as usize];
        let from = self.lane(reg);
        let kind = self.program.code[reg.index()].kind;
        let Lane { data, nulls, .. } = lane;
        nulls.clear();
        let out = data.bools_mut(len);
        for (row, out) in out.iter_mut().enumerate() {
            let has = match kind {
                _ if from.nulls.has(row) => Some(members.of_missing),
                Kind::Bool => members.bool(from.data.bools()[row]),
                Kind::Str => members.string(from.data.strings()[row]),
                Kind::Int | Kind::Float | Kind::Complex => members.number(&self.number(Arg::Reg(reg), row)),
            };
            match has {
                Some(has) => *out = has,
                None => nulls.set(len, row),
            }
        }
    }

    /// `and`, or `or` when true is decisive.
    #[inline(always)]
    fn decide(&self, a: Reg, b: Reg, decisive: bool, lane: &mut Lane, len: usize) {
        let (left, right) = (self.lane(a), self.lane(b));
        let (a, b) = (left.data.bools(), right.data.bools());
        let out = lane.data.bools_mut(len);
        if decisive {
            zip(out, Operand::Each(a), Operand::Each(b), |a, b| a | b);
        } else {
            zip(out, Operand::Each(a), Operand::Each(b), |a, b| a & b);
        }
        if left.nulls.any() || right.nulls.any() {
            let decides = |lane: &Lane, values: &[bool], row: usize| !lane.nulls.has(row) && values[row] == decisive;
            lane.nulls.add(len, |row| (left.nulls.has(row) || right.nulls.has(row)) && !decides(left, a, row) && !decides(right, b, row));
            // what decides although the other one is missing
            let out = lane.data.bools_mut(len);
            for (row, out) in out.iter_mut().enumerate() {
                if decides(left, a, row) || decides(right, b, row) {
                    *out = decisive;
                }
            }
        }
        lane.spoilt.join(&left.spoilt);
        if right.spoilt.any() {
            lane.spoilt.add(len, |row| right.spoilt.has(row) && (left.nulls.has(row) || a[row] != decisive));
        }
    }

    #[inline(always)]
    fn select(&self, condition: Reg, arms: [Reg; 2], kind: Kind, lane: &mut Lane<'v>, len: usize) {
        let choice = self.lane(condition);
        let chosen = choice.data.bools();
        let [then, otherwise] = arms.map(|reg| self.lane(reg));
        let (a, b) = (&then.data, &otherwise.data);
        match kind {
            Kind::Bool => select(lane.data.bools_mut(len), chosen, a.bools(), b.bools()),
            Kind::Str => select(lane.data.strings_mut(len), chosen, a.strings(), b.strings()),
            Kind::Int => select(lane.data.ints_mut(len), chosen, a.ints(), b.ints()),
            Kind::Float => select(lane.data.floats_mut(len), chosen, a.floats(), b.floats()),
            Kind::Complex => select(lane.data.complexes_mut(len), chosen, a.complexes(), b.complexes()),
        }
        if then.nulls.any() || otherwise.nulls.any() {
            lane.nulls.add(len, |row| if chosen[row] { then.nulls.has(row) } else { otherwise.nulls.has(row) });
        }
        if then.spoilt.any() || otherwise.spoilt.any() {
            let arm = |row: usize| if chosen[row] { then.spoilt.has(row) } else { otherwise.spoilt.has(row) };
            lane.spoilt.add(len, |row| !choice.nulls.has(row) && arm(row));
        }
        lane.nulls.join(&choice.nulls);
        lane.spoilt.join(&choice.spoilt);
    }

    fn call(&self, call: u32, kind: Kind, lane: &mut Lane, len: usize) {
        let call = &self.program.calls[call as usize];
        let is_missing = |arg: Arg, row| matches!(arg, Arg::Reg(reg) if self.lane(reg).nulls.has(row));
        lane.nulls.clear();
        lane.data.reserve(kind, len);
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for row in 0..len {
            if lane.spoilt.has(row) {
                continue;
            }
            arguments.clear();
            arguments.extend(call.arguments.iter().map(|(arg, unit)| self.value(*arg, *unit, row)));
            let null = || call.arguments.iter().any(|(arg, _)| is_missing(*arg, row));
            match (call.native.call(&arguments), kind) {
                (Ok(Value::Bool(bool)), Kind::Bool) => lane.data.bools_mut(len)[row] = bool,
                (Ok(Value::Null), _) if null() => lane.nulls.set(len, row),
                (Ok(Value::Quantity(quantity)), _) if quantity.unit.is_identical(call.unit) => match (quantity.number, kind) {
                    (Number::Float(float), Kind::Float) => lane.data.floats_mut(len)[row] = float,
                    (Number::Complex(complex), Kind::Complex) => lane.data.complexes_mut(len)[row] = complex,
                    (Number::Int(int), Kind::Int) if i64::try_from(int).is_ok() => lane.data.ints_mut(len)[row] = int as i64,
                    (Number::Null, Kind::Int | Kind::Float | Kind::Complex) if null() => lane.nulls.set(len, row),
                    _ => lane.spoilt.set(len, row),
                },
                _ => lane.spoilt.set(len, row),
            }
        }
    }
}

impl Op {
    /// Whether it decides itself what is missing and spoilt.
    fn chooses(&self) -> bool {
        matches!(self, Op::And(..) | Op::Or(..) | Op::Select(..))
    }
}

/// A power of integers, when it is an integer of 64 bits.
fn int_power(base: i64, exponent: i64) -> Option<i64> {
    match (base, exponent) {
        (_, ..0) => None,
        (_, 2) => base.checked_mul(base),
        (0 | 1, _) => Some(if exponent == 0 { 1 } else { base }),
        (-1, _) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => base.checked_pow(u32::try_from(exponent).ok()?),
    }
}

#[inline(always)]
fn ordered<T: Copy + PartialOrd>(out: &mut [bool], a: Operand<T>, b: Operand<T>, comparison: Comparison) {
    match comparison {
        Comparison::Equal => zip(out, a, b, |a, b| a == b),
        Comparison::NotEqual => zip(out, a, b, |a, b| a != b),
        Comparison::Less => zip(out, a, b, |a, b| a < b),
        Comparison::LessEqual => zip(out, a, b, |a, b| a <= b),
        Comparison::Greater => zip(out, a, b, |a, b| a > b),
        Comparison::GreaterEqual => zip(out, a, b, |a, b| a >= b),
    }
}
