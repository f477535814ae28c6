//! Functions of doubles that the standard library lacks.
//!
//! `gamma` and `lgamma` follow Lanczos' approximation with the coefficients of Boost (13 terms, 53 bits), as CPython does, so that
//! the last digits agree with what Python users know. `fsum` keeps exact partial sums (Shewchuk 1997).

use std::f64::consts::PI;

/// The gamma function: infinite where it overflows and at zero, undefined at negative whole numbers.
pub(super) fn gamma(x: f64) -> f64 {
    if !x.is_finite() {
        return if x == f64::INFINITY { x } else { f64::NAN };
    }
    if x == 0.0 {
        return 1.0 / x;
    }
    if x.floor() == x {
        if x < 0.0 {
            return f64::NAN;
        }
        if x <= 23.0 {
            return (1..x as u64).map(|factor| factor as f64).product();
        }
    }
    let size = x.abs();
    if size < 1e-20 {
        return 1.0 / x;
    }
    if size > 200.0 {
        return if x < 0.0 { 0.0 / sin_pi(x) } else { f64::INFINITY };
    }
    gamma_by_lanczos(x)
}

/// The logarithm of the gamma function's size; infinite at zero and negative whole numbers.
pub(super) fn lgamma(x: f64) -> f64 {
    if !x.is_finite() {
        return if x.is_nan() { x } else { f64::INFINITY };
    }
    if x.floor() == x && x <= 2.0 {
        return if x <= 0.0 { f64::INFINITY } else { 0.0 };
    }
    let size = x.abs();
    if size < 1e-20 {
        return -size.ln();
    }
    let positive = lanczos_sum(size).ln() - LANCZOS_G + (size - 0.5) * ((size + LANCZOS_G - 0.5).ln() - 1.0);
    if x < 0.0 { LN_PI - sin_pi(size).abs().ln() - size.ln() - positive } else { positive }
}

/// The sum of all, rounded once.
pub(super) fn fsum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut partials: Vec<f64> = Vec::new();
    let mut special = 0.0;
    for value in values {
        if !value.is_finite() {
            special += value;
            continue;
        }
        let mut carried = value;
        let mut kept = 0;
        for index in 0..partials.len() {
            let (high, low) = two_sum(carried, partials[index]);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            carried = high;
        }
        partials.truncate(kept);
        partials.push(carried);
    }
    if special == 0.0 { rounded(&partials) } else { special }
}

/// The distance of doubles at `x`.
pub(super) fn ulp(x: f64) -> f64 {
    if !x.is_finite() {
        return x.abs();
    }
    let size = x.abs();
    let up = size.next_up();
    if up.is_infinite() { size - size.next_down() } else { up - size }
}

/// Rounds to `digits` decimals, ties to even, by the exact decimal value as Python's `round` does.
pub(super) fn round_decimals(x: f64, digits: i128) -> f64 {
    if !x.is_finite() || digits > 323 {
        return x;
    }
    if digits < -308 {
        return 0.0_f64.copysign(x);
    }
    if digits < 0 {
        let scale = 10.0_f64.powi(digits.unsigned_abs() as i32);
        return (x / scale).round_ties_even() * scale;
    }
    // Formatting rounds the exact value of the double, half to even.
    format!("{x:.*}", digits as usize).parse().unwrap_or(x)
}

/// Exactly representable: 6.024680040776729583740234375.
const LANCZOS_G: f64 = 6.024_680_040_776_73;
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// Numerator coefficients, constant term first.
#[allow(clippy::excessive_precision)]
const LANCZOS_NUMERATOR: [f64; 13] = [
    23531376880.410759688572007674451636754734846804940,
    42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843,
    17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708,
    1439720407.3117216736632230727949123939715485786772,
    248874557.86205415651146038641322942321632125127801,
    31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768,
    186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024,
    210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
];

/// The coefficients of `x (x + 1) … (x + 11)`, constant term first.
const LANCZOS_DENOMINATOR: [f64; 13] =
    [0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0];

fn gamma_by_lanczos(x: f64) -> f64 {
    let size = x.abs();
    let half = LANCZOS_G - 0.5;
    let y = size + half;
    // What rounding took from `y`, to correct the result to first order.
    let lost = if size > half { (y - size) - half } else { (y - half) - size };
    let correction = lost * LANCZOS_G / y;
    if x < 0.0 {
        let result = -PI / sin_pi(size) / size * y.exp() / lanczos_sum(size);
        divide_power(result - correction * result, y, size)
    } else {
        let result = lanczos_sum(size) / y.exp();
        times_power(result + correction * result, y, size)
    }
}

/// `result * y^(size - 1/2)`, in two steps where the power alone would overflow.
fn times_power(result: f64, y: f64, size: f64) -> f64 {
    if size < 140.0 {
        return result * y.powf(size - 0.5);
    }
    let root = y.powf(size / 2.0 - 0.25);
    result * root * root
}

/// `result / y^(size - 1/2)`, in two steps where the power alone would overflow.
fn divide_power(result: f64, y: f64, size: f64) -> f64 {
    if size < 140.0 {
        return result / y.powf(size - 0.5);
    }
    let root = y.powf(size / 2.0 - 0.25);
    result / root / root
}

fn lanczos_sum(x: f64) -> f64 {
    // For large x in powers of 1/x, so that nothing overflows.
    let small = x < 5.0;
    let horner = |coefficients: &[f64; 13]| {
        if small {
            coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
        } else {
            coefficients.iter().fold(0.0, |sum, coefficient| sum / x + coefficient)
        }
    };
    horner(&LANCZOS_NUMERATOR) / horner(&LANCZOS_DENOMINATOR)
}

/// `sin(pi x)` without the loss of a rounded pi.
fn sin_pi(x: f64) -> f64 {
    let y = x.abs() % 2.0;
    let sine = match (2.0 * y).round() as u8 {
        0 => (PI * y).sin(),
        1 => (PI * (y - 0.5)).cos(),
        2 => (PI * (1.0 - y)).sin(),
        3 => -(PI * (y - 1.5)).cos(),
        _ => (PI * (y - 2.0)).sin(),
    };
    sine * 1.0_f64.copysign(x)
}

/// The rounded sum and exactly what rounding lost.
fn two_sum(left: f64, right: f64) -> (f64, f64) {
    let (large, small) = if left.abs() < right.abs() { (right, left) } else { (left, right) };
    let sum = large + small;
    (sum, small - (sum - large))
}

/// The sum of partials that do not overlap, smallest first, rounded half to even.
fn rounded(partials: &[f64]) -> f64 {
    let mut rest = partials.iter().rev().copied();
    let mut high = rest.next().unwrap_or(0.0);
    let mut low = 0.0;
    while low == 0.0 {
        let Some(next) = rest.next() else { return high };
        (high, low) = two_sum(high, next);
    }
    // A tie is decided by the sign of what follows.
    if let Some(next) = rest.next()
        && (low < 0.0) == (next < 0.0)
    {
        let doubled = low * 2.0;
        let candidate = high + doubled;
        if doubled == candidate - high {
            return candidate;
        }
    }
    high
}
