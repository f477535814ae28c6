//! Numbers without units.
//!
//! An uncertain number is linear in independent variables. Each variable has an id that no other process hands out either (the
//! counter starts at a random place), so that values which meet again after they were computed in different jobs stay correlated
//! exactly where they share a variable.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use num_complex::Complex64;

/// A scalar number, or the absence of one.
#[derive(Clone, Debug)]
pub enum Number {
    /// Missing.
    Null,
    /// Checked 128-bit integer.
    Int(i128),
    /// IEEE double.
    Float(f64),
    /// Two doubles.
    Complex(Complex64),
    /// A nominal value with an uncertainty.
    Uncertain(Uncertain),
}

/// The kinds of number, each a subset of the next (uncertain aside).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumberKind {
    /// Whole numbers.
    Int,
    /// Real numbers.
    Float,
    /// Complex numbers.
    Complex,
    /// Real numbers with an uncertainty.
    Uncertain,
}

/// A first-order uncertain number: a nominal value and its derivatives by independent variables, each times that variable's
/// standard deviation. Correlation follows from shared variables: `a - a` has no terms left.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncertain {
    /// The nominal value.
    pub nominal: f64,
    /// `(variable, derivative * standard deviation)`, sorted by variable.
    pub terms: Arc<[(u64, f64)]>,
}

impl Number {
    /// The kind; `None` for a missing number.
    pub fn kind(&self) -> Option<NumberKind> {
        match self {
            Number::Null => None,
            Number::Int(_) => Some(NumberKind::Int),
            Number::Float(_) => Some(NumberKind::Float),
            Number::Complex(_) => Some(NumberKind::Complex),
            Number::Uncertain(_) => Some(NumberKind::Uncertain),
        }
    }

    /// The name of the kind as `info` shows it.
    pub fn type_name(&self) -> &'static str {
        self.kind().map_or("Number", NumberKind::name)
    }

    /// Whether the number is missing.
    pub fn is_null(&self) -> bool {
        matches!(self, Number::Null)
    }

    /// The nearest double of a real number, the nominal value of an uncertain one; `None` for missing and complex numbers.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Number::Int(int) => Some(*int as f64),
            Number::Float(float) => Some(*float),
            Number::Uncertain(uncertain) => Some(uncertain.nominal),
            Number::Null | Number::Complex(_) => None,
        }
    }

    /// The number as a complex one, the nominal value of an uncertain one; `None` for a missing number.
    pub fn as_complex(&self) -> Option<Complex64> {
        match self {
            Number::Complex(complex) => Some(*complex),
            Number::Null | Number::Int(_) | Number::Float(_) | Number::Uncertain(_) => self.as_f64().map(|re| Complex64::new(re, 0.0)),
        }
    }

    /// The integer, when it is one.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Number::Int(int) => Some(*int),
            Number::Null | Number::Float(_) | Number::Complex(_) | Number::Uncertain(_) => None,
        }
    }
}

impl NumberKind {
    /// The name as `info` shows it.
    pub fn name(self) -> &'static str {
        match self {
            NumberKind::Int => "Integer",
            NumberKind::Float => "Float",
            NumberKind::Complex => "Complex",
            // The reference has no name of its own for it.
            NumberKind::Uncertain => "Float",
        }
    }
}

impl From<i32> for Number {
    fn from(int: i32) -> Self {
        Number::Int(int.into())
    }
}

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Number::Int(int.into())
    }
}

impl From<i128> for Number {
    fn from(int: i128) -> Self {
        Number::Int(int)
    }
}

impl From<f64> for Number {
    fn from(float: f64) -> Self {
        Number::Float(float)
    }
}

impl From<Complex64> for Number {
    fn from(complex: Complex64) -> Self {
        Number::Complex(complex)
    }
}

impl From<Uncertain> for Number {
    fn from(uncertain: Uncertain) -> Self {
        Number::Uncertain(uncertain)
    }
}

impl Uncertain {
    /// A measured number that is correlated with no other; `None` for a negative or undefined standard deviation.
    pub fn fresh(nominal: f64, std_dev: f64) -> Option<Self> {
        let valid = std_dev >= 0.0;
        valid.then(|| Uncertain { nominal, terms: Arc::from([(fresh_variable(), std_dev)].as_slice()) }.without_zeros())
    }

    /// A number without uncertainty.
    pub fn exact(nominal: f64) -> Self {
        Uncertain { nominal, terms: Arc::from([].as_slice()) }
    }

    /// The standard deviation.
    ///
    /// Squares are added from the smallest up, so that the last digit does not depend on the ids of the variables.
    pub fn std_dev(&self) -> f64 {
        let mut squares: Vec<f64> = self.terms.iter().map(|(_, term)| term * term).collect();
        squares.sort_by(f64::total_cmp);
        squares.into_iter().fold(0.0, |sum, square| sum + square).sqrt()
    }

    /// The number with this nominal value whose terms are those of this one times `derivative`.
    pub fn chain(&self, nominal: f64, derivative: f64) -> Self {
        let terms = self.terms.iter().map(|(variable, term)| (*variable, derivative * term)).collect();
        Uncertain { nominal, terms }.without_zeros()
    }

    /// The number with this nominal value and the terms of two others, each times its partial derivative.
    pub fn combine(nominal: f64, left: (&Uncertain, f64), right: (&Uncertain, f64)) -> Self {
        let scaled = |(from, derivative): (&Uncertain, f64)| -> Vec<(u64, f64)> {
            from.terms.iter().map(|(variable, term)| (*variable, derivative * term)).collect()
        };
        let mut terms = scaled(left);
        for (variable, term) in scaled(right) {
            match terms.binary_search_by_key(&variable, |(known, _)| *known) {
                Ok(at) => terms[at].1 += term,
                Err(at) => terms.insert(at, (variable, term)),
            }
        }
        Uncertain { nominal, terms: terms.into() }.without_zeros()
    }

    fn without_zeros(self) -> Self {
        if self.terms.iter().all(|(_, term)| *term != 0.0) {
            return self;
        }
        let terms = self.terms.iter().copied().filter(|(_, term)| *term != 0.0).collect();
        Uncertain { nominal: self.nominal, terms }
    }
}

/// An id that no variable has, in this process or (by chance of one in billions) in any other.
fn fresh_variable() -> u64 {
    static NEXT: OnceLock<AtomicU64> = OnceLock::new();
    // Half of the range is left above the random start, so the ids of one process ascend in the order of creation.
    // A process that was forked begins with the random state of another one.
    let start = || RandomState::new().hash_one(std::process::id()) >> 1;
    let next = NEXT.get_or_init(|| AtomicU64::new(start()));
    next.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_numbers_are_independent() {
        let a = Uncertain::fresh(2.0, 3.0).unwrap();
        let b = Uncertain::fresh(2.0, 4.0).unwrap();
        assert_eq!(Uncertain::combine(4.0, (&a, 1.0), (&b, 1.0)).std_dev(), 5.0);
        assert!(Uncertain::combine(0.0, (&a, 1.0), (&a, -1.0)).terms.is_empty());
        assert!(Uncertain::fresh(1.0, -0.1).is_none() && Uncertain::fresh(1.0, f64::NAN).is_none());
    }

    #[test]
    fn std_dev_does_not_depend_on_the_order_of_variables() {
        let forward = Uncertain { nominal: 0.0, terms: Arc::from([(1, 0.1), (2, 0.7), (3, 1e-9)].as_slice()) };
        let backward = Uncertain { nominal: 0.0, terms: Arc::from([(1, 1e-9), (2, 0.7), (3, 0.1)].as_slice()) };
        assert_eq!(forward.std_dev().to_bits(), backward.std_dev().to_bits());
    }
}
