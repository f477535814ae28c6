//! Arithmetic of numbers without units, as Python does it.

use std::cmp::Ordering;

use super::{complex, fault, uncertain};
use crate::diagnostic::Fault;
use crate::value::{Complex64, Number, Uncertain};

/// The sum.
pub fn add(left: &Number, right: &Number) -> Result<Number, Fault> {
    Ok(match pair("+", left, right)? {
        Pair::Missing => Number::Null,
        Pair::Ints(a, b) => a.checked_add(b).ok_or_else(|| fault::integer_overflow("+"))?.into(),
        Pair::Floats(a, b) => (a + b).into(),
        Pair::Complexes(a, b) => (a + b).into(),
        Pair::Uncertains(a, b) => uncertain::add(&a, &b).into(),
    })
}

/// The difference.
pub fn subtract(left: &Number, right: &Number) -> Result<Number, Fault> {
    Ok(match pair("-", left, right)? {
        Pair::Missing => Number::Null,
        Pair::Ints(a, b) => a.checked_sub(b).ok_or_else(|| fault::integer_overflow("-"))?.into(),
        Pair::Floats(a, b) => (a - b).into(),
        Pair::Complexes(a, b) => (a - b).into(),
        Pair::Uncertains(a, b) => uncertain::subtract(&a, &b).into(),
    })
}

/// The product.
pub fn multiply(left: &Number, right: &Number) -> Result<Number, Fault> {
    Ok(match pair("*", left, right)? {
        Pair::Missing => Number::Null,
        Pair::Ints(a, b) => a.checked_mul(b).ok_or_else(|| fault::integer_overflow("*"))?.into(),
        Pair::Floats(a, b) => (a * b).into(),
        Pair::Complexes(a, b) => complex::multiply(a, b).into(),
        Pair::Uncertains(a, b) => uncertain::multiply(&a, &b).into(),
    })
}

/// The quotient, never an integer. Integers become floats before they are divided, as Pint does it.
pub fn divide(left: &Number, right: &Number) -> Result<Number, Fault> {
    Ok(match pair("/", left, right)? {
        Pair::Missing => Number::Null,
        Pair::Ints(a, b) => float_quotient(a as f64, b as f64)?.into(),
        Pair::Floats(a, b) => float_quotient(a, b)?.into(),
        Pair::Complexes(a, b) => complex::divide(a, b)?.into(),
        Pair::Uncertains(a, b) => uncertain::divide(&a, &b)?.into(),
    })
}

/// The power: an integer for integers unless the exponent is negative, complex for a negative number to a fractional exponent.
pub fn power(left: &Number, right: &Number) -> Result<Number, Fault> {
    match pair("**", left, right)? {
        Pair::Missing => Ok(Number::Null),
        Pair::Ints(a, b) if b >= 0 => int_power(a, b).map(Number::Int),
        Pair::Ints(a, b) => float_power(a as f64, b as f64),
        Pair::Floats(a, b) => float_power(a, b),
        Pair::Complexes(a, b) => complex::power(a, b).map(Number::Complex),
        Pair::Uncertains(a, b) => uncertain::power(&a, &b).map(Number::Uncertain),
    }
}

/// The number with its sign changed.
pub fn negate(number: &Number) -> Result<Number, Fault> {
    Ok(match number {
        Number::Null => Number::Null,
        Number::Int(int) => int.checked_neg().ok_or_else(|| fault::integer_overflow("-"))?.into(),
        Number::Float(float) => (-float).into(),
        Number::Complex(complex) => (-complex).into(),
        Number::Uncertain(number) => uncertain::negate(number).into(),
    })
}

/// A quotient of floats; a divisor of zero is a fault.
pub fn float_quotient(a: f64, b: f64) -> Result<f64, Fault> {
    if b == 0.0 { Err(fault::division_by_zero()) } else { Ok(a / b) }
}

/// A power of floats: IEEE, except that zero to a negative exponent and an overflow are faults and that a negative number to a
/// fractional exponent is complex.
pub fn float_power(base: f64, exponent: f64) -> Result<Number, Fault> {
    if base == 0.0 && exponent < 0.0 && exponent.is_finite() {
        return Err(fault::division_by_zero());
    }
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent != exponent.floor() {
        return complex::power(Complex64::new(base, 0.0), Complex64::new(exponent, 0.0)).map(Number::Complex);
    }
    let result = exact_power(exponent).map_or_else(|| base.powf(exponent), |power| power(base));
    if result.is_infinite() && base.is_finite() && exponent.is_finite() { Err(fault::float_overflow()) } else { Ok(result.into()) }
}

/// The function for an exponent whose powers one operation rounds correctly, as numpy computes them too. The `pow` of a C library
/// is a last digit off in about one of a thousand of them.
pub fn exact_power(exponent: f64) -> Option<fn(f64) -> f64> {
    match exponent {
        2.0 => Some(|x| x * x),
        -1.0 => Some(|x| 1.0 / x),
        // `pow` gives plus zero for minus zero, and infinity for minus infinity.
        0.5 => Some(|x| if x == f64::NEG_INFINITY { f64::INFINITY } else { x.sqrt() + 0.0 }),
        _ => None,
    }
}

/// A power of integers with an exponent of at least zero.
pub fn int_power(base: i128, exponent: i128) -> Result<i128, Fault> {
    match base {
        0 | 1 => return Ok(if exponent == 0 { 1 } else { base }),
        -1 => return Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => {}
    }
    let power = u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent));
    power.ok_or_else(|| fault::integer_overflow("**"))
}

/// Whether two numbers are equal, mixed kinds by their exact values; `None` when one is missing.
pub fn equal(left: &Number, right: &Number) -> Option<bool> {
    Some(match (left, right) {
        (Number::Null, _) | (_, Number::Null) => return None,
        (Number::Uncertain(a), Number::Uncertain(b)) => uncertain::equal(a, b),
        (Number::Uncertain(a), other) | (other, Number::Uncertain(a)) => {
            other.as_f64().is_some_and(|nominal| uncertain::equal(a, &Uncertain::exact(nominal)))
        }
        (Number::Complex(a), Number::Complex(b)) => a == b,
        (Number::Complex(a), other) | (other, Number::Complex(a)) => {
            a.im == 0.0 && order(&Number::Float(a.re), other) == Some(Ordering::Equal)
        }
        (Number::Int(_) | Number::Float(_), Number::Int(_) | Number::Float(_)) => order(left, right) == Some(Ordering::Equal),
    })
}

/// The order of two real numbers by their exact values, of uncertain ones by their nominal values; `None` with a NaN, and for
/// numbers that are missing or complex.
pub fn order(left: &Number, right: &Number) -> Option<Ordering> {
    match (left, right) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(b)),
        (Number::Int(a), Number::Float(b)) => order_int_float(*a, *b),
        (Number::Float(a), Number::Int(b)) => order_int_float(*b, *a).map(Ordering::reverse),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// Two numbers of one kind.
enum Pair {
    Missing,
    Ints(i128, i128),
    Floats(f64, f64),
    Complexes(Complex64, Complex64),
    Uncertains(Uncertain, Uncertain),
}

/// Widens the narrower of two numbers.
fn pair(operation: &str, left: &Number, right: &Number) -> Result<Pair, Fault> {
    if let (Number::Int(a), Number::Int(b)) = (left, right) {
        return Ok(Pair::Ints(*a, *b));
    }
    if left.is_null() || right.is_null() {
        return Ok(Pair::Missing);
    }
    if matches!(left, Number::Uncertain(_)) || matches!(right, Number::Uncertain(_)) {
        let complex = || fault::kinds(operation, "an uncertain number does not mix with a complex one");
        let (Some(a), Some(b)) = (as_uncertain(left), as_uncertain(right)) else { return Err(complex()) };
        return Ok(Pair::Uncertains(a, b));
    }
    match (left.as_f64(), right.as_f64()) {
        (Some(a), Some(b)) => Ok(Pair::Floats(a, b)),
        _ => Ok(left.as_complex().zip(right.as_complex()).map_or(Pair::Missing, |(a, b)| Pair::Complexes(a, b))),
    }
}

fn as_uncertain(number: &Number) -> Option<Uncertain> {
    match number {
        Number::Uncertain(uncertain) => Some(uncertain.clone()),
        Number::Null | Number::Int(_) | Number::Float(_) | Number::Complex(_) => number.as_f64().map(Uncertain::exact),
    }
}

fn order_int_float(int: i128, float: f64) -> Option<Ordering> {
    // What is beyond the range of integers, or no number, compares with zero as it does with any integer.
    let limit = -(i128::MIN as f64);
    if !(-limit..limit).contains(&float) {
        return 0.0_f64.partial_cmp(&float);
    }
    let whole = float.trunc();
    Some(int.cmp(&(whole as i128)).then_with(|| 0.0_f64.total_cmp(&(float - whole + 0.0))))
}
