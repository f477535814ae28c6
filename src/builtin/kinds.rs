//! Functions that treat whole, real, complex and uncertain numbers differently.
//!
//! Each takes its own name, for faults, and numbers without units of which none is missing.

use super::arguments::{self, comparable, real};
use super::{fault, integer};
use crate::diagnostic::Fault;
use crate::ops;
use crate::value::Number;

/// A function of numbers; the first argument is its name.
pub(super) type Function = fn(&str, &[Number]) -> Result<Number, Fault>;

/// Real and imaginary part; the nominal value of an uncertain number.
pub(super) fn parts(number: &Number) -> [f64; 2] {
    number.as_complex().map_or([f64::NAN, 0.0], |complex| [complex.re, complex.im])
}

/// A whole number near a real one, of the same kind; whole for uncertain numbers, whose rounding has no uncertainty.
pub(super) fn toward(name: &str, args: &[Number], round: fn(f64) -> f64) -> Result<Number, Fault> {
    match one(name, args)? {
        Number::Int(int) => Ok(Number::Int(*int)),
        Number::Uncertain(x) => whole(name, round(x.nominal)),
        other => Ok(Number::Float(round(real(other)?))),
    }
}

/// A whole number near a real one, always as an integer.
pub(super) fn to_integer(name: &str, args: &[Number], round: fn(f64) -> f64) -> Result<Number, Fault> {
    match one(name, args)? {
        Number::Int(int) => Ok(Number::Int(*int)),
        other => whole(name, round(real(other)?)),
    }
}

/// To so many decimals, as numpy: scaled, rounded half to even, and scaled back.
pub(super) fn round(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let decimals = args.get(1).map(arguments::integer).transpose()?.unwrap_or(0).clamp(-400, 400) as i32;
    let scale = 10.0_f64.powi(decimals.abs());
    let round = |x: f64| {
        let rounded = if decimals < 0 { (x / scale).round_ties_even() * scale } else { (x * scale).round_ties_even() / scale };
        // Scaling may overflow where there is nothing to round.
        if rounded.is_finite() { rounded } else { x }
    };
    match args.first() {
        Some(Number::Int(int)) if decimals >= 0 => Ok(Number::Int(*int)),
        Some(Number::Int(int)) => whole(name, round(*int as f64)),
        Some(Number::Complex(z)) => {
            let mut rounded = *z;
            (rounded.re, rounded.im) = (round(z.re), round(z.im));
            Ok(Number::Complex(rounded))
        }
        Some(other) => Ok(Number::Float(round(real(other)?))),
        None => Err(fault::shapes(name)),
    }
}

/// `|x|`
pub(super) fn absolute(name: &str, args: &[Number]) -> Result<Number, Fault> {
    Ok(match one(name, args)? {
        Number::Null => Number::Null,
        Number::Int(int) => Number::Int(int.checked_abs().ok_or_else(|| fault::overflow(name))?),
        Number::Float(float) => Number::Float(float.abs()),
        Number::Complex(z) => Number::Float(z.norm()),
        Number::Uncertain(x) => x.chain(x.nominal.abs(), x.nominal.signum()).into(),
    })
}

/// -1, 0 or 1; a complex number of size 1 for complex ones.
pub(super) fn sign(name: &str, args: &[Number]) -> Result<Number, Fault> {
    Ok(match one(name, args)? {
        Number::Null => Number::Null,
        Number::Int(int) => Number::Int(int.signum()),
        Number::Complex(z) if z.norm() == 0.0 => Number::Complex(*z),
        Number::Complex(z) => Number::Complex(*z / z.norm()),
        other => {
            let x = parts(other)[0];
            Number::Float(if x == 0.0 || x.is_nan() { x } else { x.signum() })
        }
    })
}

/// `-x`
pub(super) fn negative(name: &str, args: &[Number]) -> Result<Number, Fault> {
    ops::number::negate(one(name, args)?)
}

/// `x`
pub(super) fn positive(name: &str, args: &[Number]) -> Result<Number, Fault> {
    Ok(one(name, args)?.clone())
}

/// `x * x`
pub(super) fn square(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let x = one(name, args)?;
    ops::number::multiply(x, x)
}

/// `1 / x`
pub(super) fn reciprocal(name: &str, args: &[Number]) -> Result<Number, Fault> {
    ops::number::divide(&Number::Float(1.0), one(name, args)?)
}

/// With the opposite imaginary part.
pub(super) fn conjugate(name: &str, args: &[Number]) -> Result<Number, Fault> {
    Ok(match one(name, args)? {
        Number::Complex(z) => Number::Complex(z.conj()),
        other => other.clone(),
    })
}

/// The argument of a complex number, in radians.
pub(super) fn angle(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let [re, im] = parts(one(name, args)?);
    Ok(Number::Float(im.atan2(re)))
}

/// 0 for what is undefined, the largest doubles for what is infinite.
pub(super) fn nan_to_num(name: &str, args: &[Number]) -> Result<Number, Fault> {
    Ok(match one(name, args)? {
        Number::Float(x) if x.is_nan() => Number::Float(0.0),
        Number::Float(x) => Number::Float(x.clamp(f64::MIN, f64::MAX)),
        other => other.clone(),
    })
}

/// The first number if it is preferred to the second, otherwise the second; a float when one of them is.
pub(super) fn extreme(name: &str, args: &[Number], preferred: fn(f64, f64) -> bool) -> Result<Number, Fault> {
    let (left, right) = two(name, args)?;
    let first = preferred(comparable(left)?, comparable(right)?);
    Ok(like(if first { left } else { right }, &[left, right]))
}

/// A number, or the limit that it exceeds.
pub(super) fn clip(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let [x, low, high] = args else { return Err(fault::shapes(name)) };
    let (value, least, most) = (comparable(x)?, comparable(low)?, comparable(high)?);
    // In numpy's order: a lower limit above the upper one gives the upper one.
    let raised = if value < least { low } else { x };
    let clipped = if comparable(raised)? > most { high } else { raised };
    Ok(like(clipped, &[x, low, high]))
}

/// The remainder of a division that rounds down: it has the sign of the divisor.
pub(super) fn modulo(name: &str, args: &[Number]) -> Result<Number, Fault> {
    floor_divide(name, args).map(|(_, remainder)| remainder)
}

/// Quotient, rounded down, and remainder.
pub(super) fn floor_divide(name: &str, args: &[Number]) -> Result<(Number, Number), Fault> {
    match two(name, args)? {
        (_, Number::Int(0)) => Err(ops::fault::division_by_zero()),
        (Number::Int(left), Number::Int(right)) => {
            let (quotient, remainder) = integer::floor_divide(*left, *right).ok_or_else(|| fault::overflow(name))?;
            Ok((Number::Int(quotient), Number::Int(remainder)))
        }
        (left, right) => {
            let (left, right) = (real(left)?, real(right)?);
            if right == 0.0 {
                return Err(ops::fault::division_by_zero());
            }
            let (quotient, remainder) = float_floor_divide(left, right);
            Ok((Number::Float(quotient), Number::Float(remainder)))
        }
    }
}

/// The remainder of a division that rounds to zero: it has the sign of the dividend.
pub(super) fn fmod(name: &str, args: &[Number]) -> Result<Number, Fault> {
    match two(name, args)? {
        (_, Number::Int(0)) => Err(ops::fault::division_by_zero()),
        (Number::Int(left), Number::Int(right)) => Ok(Number::Int(left.checked_rem(*right).unwrap_or(0))),
        (left, right) => {
            let (left, right) = (real(left)?, real(right)?);
            if right == 0.0 { Err(ops::fault::division_by_zero()) } else { Ok(Number::Float(left % right)) }
        }
    }
}

/// `x` times 2 to a whole power; zero or infinite where a double ends.
pub(super) fn ldexp(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let (x, exponent) = two(name, args)?;
    // Beyond these exponents every double has become zero or infinite.
    let exponent = arguments::integer(exponent)?.clamp(-2200, 2200) as i32;
    Ok(Number::Float(libm::ldexp(real(x)?, exponent)))
}

/// A double without fraction as an integer.
pub(super) fn whole(name: &str, float: f64) -> Result<Number, Fault> {
    if !float.is_finite() {
        return Err(fault::domain(name));
    }
    arguments::whole(float).map(Number::Int).ok_or_else(|| fault::overflow(name))
}

/// As Python divides doubles: the remainder is exact and has the sign of the divisor.
fn float_floor_divide(left: f64, right: f64) -> (f64, f64) {
    let mut remainder = left % right;
    let mut quotient = (left - remainder) / right;
    if remainder == 0.0 {
        remainder = 0.0_f64.copysign(right);
    } else if (remainder < 0.0) != (right < 0.0) {
        remainder += right;
        quotient -= 1.0;
    }
    // The division is nearly exact; what rounding left of it is taken away.
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, remainder)
}

/// The number, as a float when one of the others is.
fn like(number: &Number, others: &[&Number]) -> Number {
    let float = others.iter().any(|other| matches!(other, Number::Float(_)));
    match number {
        Number::Int(int) if float => Number::Float(*int as f64),
        other => other.clone(),
    }
}

fn one<'a>(name: &str, args: &'a [Number]) -> Result<&'a Number, Fault> {
    args.first().ok_or_else(|| fault::shapes(name))
}

fn two<'a>(name: &str, args: &'a [Number]) -> Result<(&'a Number, &'a Number), Fault> {
    let [left, right] = args else { return Err(fault::shapes(name)) };
    Ok((left, right))
}
