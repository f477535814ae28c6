//! One slice of a register, and loops over such slices that a compiler turns into vector instructions.

use super::program::{Const, Kind};
use crate::value::Complex64;

/// Elements of a slice at a time: registers of this length fit into the nearest cache.
pub const SLICE: usize = 2048;

/// The elements of one slice, with what is missing or spoilt among them.
#[derive(Debug, Default)]
pub struct Lane<'v> {
    /// The elements; those that are missing or spoilt are anything.
    pub data: Data<'v>,
    /// What is missing.
    pub nulls: Mask,
    /// What must be left to the evaluator of single values.
    pub spoilt: Mask,
}

/// Elements of one kind, of the register itself or of an input.
#[derive(Debug, Default)]
pub enum Data<'v> {
    /// Not computed yet.
    #[default]
    None,
    /// Truth values.
    Bool(Vec<bool>),
    /// Strings.
    Str(Vec<&'v str>),
    /// Integers.
    Int(Vec<i64>),
    /// Doubles.
    Float(Vec<f64>),
    /// Complex numbers.
    Complex(Vec<Complex64>),
    /// Integers of a column.
    Ints(&'v [i64]),
    /// Doubles of a column.
    Floats(&'v [f64]),
}

/// Some of the rows of a slice.
#[derive(Debug, Default)]
pub struct Mask {
    any: bool,
    rows: Vec<bool>,
}

impl Mask {
    /// No row.
    pub fn clear(&mut self) {
        self.any = false;
    }

    /// Whether there may be a row.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Whether a row is in it.
    pub fn has(&self, row: usize) -> bool {
        self.any && self.rows[row]
    }

    /// The rows, when there may be one.
    pub fn rows(&self) -> Option<&[bool]> {
        self.any.then_some(&self.rows)
    }

    /// Adds the rows for which a test holds.
    pub fn add(&mut self, len: usize, test: impl Fn(usize) -> bool) {
        self.begin(len);
        self.rows.iter_mut().enumerate().for_each(|(row, has)| *has |= test(row));
    }

    /// Adds the rows of another one.
    pub fn join(&mut self, other: &Mask) {
        match other.rows() {
            None => {}
            Some(rows) if self.any => self.rows.iter_mut().zip(rows).for_each(|(has, other)| *has |= other),
            Some(rows) => {
                self.any = true;
                self.rows.clear();
                self.rows.extend_from_slice(rows);
            }
        }
    }

    /// Adds a row.
    pub fn set(&mut self, len: usize, row: usize) {
        self.begin(len);
        self.rows[row] = true;
    }

    fn begin(&mut self, len: usize) {
        if !self.any {
            self.any = true;
            self.rows.clear();
            self.rows.resize(len, false);
        }
    }
}

impl<'v> Lane<'v> {
    /// Missing and spoilt rows: none.
    pub fn clear(&mut self) {
        self.nulls.clear();
        self.spoilt.clear();
    }

    /// What is missing or spoilt in an operand is so in the result.
    pub fn follow(&mut self, operand: &Lane) {
        self.nulls.join(&operand.nulls);
        self.spoilt.join(&operand.spoilt);
    }

    /// Spoils the rows for which a test holds, of those that are not missing.
    pub fn spoil(&mut self, len: usize, test: impl Fn(usize) -> bool) {
        let Lane { nulls, spoilt, .. } = self;
        spoilt.add(len, |row| test(row) && !nulls.has(row));
    }

    /// Spoils some rows, of those that are not missing.
    pub fn spoil_rows(&mut self, len: usize, rows: &[usize]) {
        let Lane { nulls, spoilt, .. } = self;
        rows.iter().filter(|row| !nulls.has(**row)).for_each(|row| spoilt.set(len, *row));
    }

    /// Whether it is certain that each row has an element.
    pub fn is_whole(&self) -> bool {
        !self.nulls.any() && !self.spoilt.any()
    }

    /// Whether a row has an element.
    pub fn is_there(&self, row: usize) -> bool {
        !self.nulls.has(row) && !self.spoilt.has(row)
    }
}

macro_rules! elements {
    ($get:ident, $get_mut:ident, $variant:ident, $ty:ty $(, $borrowed:ident)?) => {
        /// The elements, none when they are of another kind.
        pub fn $get(&self) -> &[$ty] {
            match self {
                Data::$variant(elements) => elements,
                $(Data::$borrowed(elements) => elements,)?
                _ => &[],
            }
        }

        /// Room for so many elements.
        pub fn $get_mut(&mut self, len: usize) -> &mut [$ty] {
            if !matches!(self, Data::$variant(_)) {
                *self = Data::$variant(Vec::with_capacity(SLICE));
            }
            let Data::$variant(elements) = self else { return &mut [] };
            elements.resize(len, Default::default());
            elements
        }
    };
}

impl<'v> Data<'v> {
    elements!(bools, bools_mut, Bool, bool);
    elements!(strings, strings_mut, Str, &'v str);
    elements!(ints, ints_mut, Int, i64, Ints);
    elements!(floats, floats_mut, Float, f64, Floats);
    elements!(complexes, complexes_mut, Complex, Complex64);

    /// Room for so many elements of a kind.
    pub fn reserve(&mut self, kind: Kind, len: usize) {
        match kind {
            Kind::Bool => self.bools_mut(len).len(),
            Kind::Str => self.strings_mut(len).len(),
            Kind::Int => self.ints_mut(len).len(),
            Kind::Float => self.floats_mut(len).len(),
            Kind::Complex => self.complexes_mut(len).len(),
        };
    }
}

/// An operand of a loop.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'l, T> {
    /// An element for each row.
    Each(&'l [T]),
    /// The same for all rows.
    One(T),
}

impl<T: Copy> Operand<'_, T> {
    /// The element of a row.
    #[inline(always)]
    pub fn at(self, row: usize) -> T {
        match self {
            Operand::Each(elements) => elements[row],
            Operand::One(element) => element,
        }
    }

    /// Whether a test holds for some element. All are looked at, which is quicker than to stop.
    #[inline(always)]
    pub fn any(self, test: impl Fn(T) -> bool) -> bool {
        match self {
            Operand::Each(elements) => elements.iter().fold(false, |any, element| any | test(*element)),
            Operand::One(element) => test(element),
        }
    }
}

/// A function of one operand, row by row.
#[inline(always)]
pub fn each<A: Copy, R: Copy>(out: &mut [R], a: Operand<A>, f: impl Fn(A) -> R) {
    match a {
        Operand::Each(a) => out.iter_mut().zip(a).for_each(|(out, a)| *out = f(*a)),
        Operand::One(a) => out.fill(f(a)),
    }
}

/// A function of two operands, row by row.
#[inline(always)]
pub fn zip<A: Copy, B: Copy, R: Copy>(out: &mut [R], a: Operand<A>, b: Operand<B>, f: impl Fn(A, B) -> R) {
    match (a, b) {
        (Operand::Each(a), Operand::Each(b)) => out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out = f(*a, *b)),
        (Operand::Each(a), Operand::One(b)) => out.iter_mut().zip(a).for_each(|(out, a)| *out = f(*a, b)),
        (Operand::One(a), Operand::Each(b)) => out.iter_mut().zip(b).for_each(|(out, b)| *out = f(a, *b)),
        (Operand::One(a), Operand::One(b)) => out.fill(f(a, b)),
    }
}

/// A function of one operand, row by row, that also says whether a result is to be looked at again; whether one is.
#[inline(always)]
pub fn each_flagged<A: Copy, R: Copy>(out: &mut [R], a: Operand<A>, f: impl Fn(A) -> (R, bool)) -> bool {
    match a {
        Operand::Each(a) => out.iter_mut().zip(a).fold(false, |any, (out, a)| {
            let (result, flag) = f(*a);
            *out = result;
            any | flag
        }),
        Operand::One(a) => {
            let (result, flag) = f(a);
            out.fill(result);
            flag
        }
    }
}

/// As [`each_flagged`], of two operands.
#[inline(always)]
pub fn zip_flagged<A: Copy, B: Copy, R: Copy>(out: &mut [R], a: Operand<A>, b: Operand<B>, f: impl Fn(A, B) -> (R, bool)) -> bool {
    match (a, b) {
        (Operand::Each(a), Operand::Each(b)) => out.iter_mut().zip(a).zip(b).fold(false, |any, ((out, a), b)| {
            let (result, flag) = f(*a, *b);
            *out = result;
            any | flag
        }),
        (a, Operand::One(b)) => each_flagged(out, a, |a| f(a, b)),
        (Operand::One(a), b) => each_flagged(out, b, |b| f(a, b)),
    }
}

/// One of two elements by a condition, row by row.
#[inline(always)]
pub fn select<T: Copy>(out: &mut [T], condition: &[bool], then: &[T], otherwise: &[T]) {
    let rows = out.iter_mut().zip(condition).zip(then.iter().zip(otherwise));
    rows.for_each(|((out, condition), (then, otherwise))| *out = if *condition { *then } else { *otherwise });
}

/// The constant of a kind as the element of a lane; strings are looked up by the caller.
pub fn fill(data: &mut Data, constant: Const, len: usize) {
    match constant {
        Const::Bool(bool) => data.bools_mut(len).fill(bool),
        Const::Int(int) => data.ints_mut(len).fill(int),
        Const::Float(bits) => data.floats_mut(len).fill(f64::from_bits(bits)),
        Const::Complex(..) => data.complexes_mut(len).fill(constant.complex()),
        Const::Str(_) => {}
    }
}
