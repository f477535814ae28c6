//! Complex arithmetic with CPython's algorithms, so that the last digits agree with it.

use super::fault;
use crate::diagnostic::Fault;
use crate::value::Complex64;

/// Integer exponents up to this size are computed by repeated multiplication.
const SMALL_EXPONENT: f64 = 100.0;

/// The product.
pub fn multiply(a: Complex64, b: Complex64) -> Complex64 {
    Complex64::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
}

/// The quotient by Smith's method, which scales by the larger part of the divisor.
pub fn divide(a: Complex64, b: Complex64) -> Result<Complex64, Fault> {
    if b.re == 0.0 && b.im == 0.0 {
        return Err(fault::division_by_zero());
    }
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let denominator = b.re + b.im * ratio;
        return Ok(Complex64::new((a.re + a.im * ratio) / denominator, (a.im - a.re * ratio) / denominator));
    }
    if b.im.abs() >= b.re.abs() {
        let ratio = b.re / b.im;
        let denominator = b.re * ratio + b.im;
        return Ok(Complex64::new((a.re * ratio + a.im) / denominator, (a.im * ratio - a.re) / denominator));
    }
    Ok(Complex64::new(f64::NAN, f64::NAN))
}

/// The power: repeated multiplication for small whole exponents, else in polar form.
pub fn power(base: Complex64, exponent: Complex64) -> Result<Complex64, Fault> {
    let whole = exponent.im == 0.0 && exponent.re == exponent.re.floor() && exponent.re.abs() <= SMALL_EXPONENT;
    let result = if whole { whole_power(base, exponent.re as i32)? } else { polar_power(base, exponent)? };
    let finite_operands = base.re.is_finite() && base.im.is_finite() && exponent.re.is_finite() && exponent.im.is_finite();
    if finite_operands && (result.re.is_infinite() || result.im.is_infinite()) {
        return Err(fault::float_overflow());
    }
    Ok(result)
}

fn whole_power(base: Complex64, exponent: i32) -> Result<Complex64, Fault> {
    let one = Complex64::new(1.0, 0.0);
    let mut result = one;
    let mut square = base;
    let mut rest = exponent.unsigned_abs();
    while rest > 0 {
        if rest & 1 == 1 {
            result = multiply(result, square);
        }
        rest >>= 1;
        square = multiply(square, square);
    }
    if exponent > 0 { Ok(result) } else { divide(one, result) }
}

fn polar_power(base: Complex64, exponent: Complex64) -> Result<Complex64, Fault> {
    if exponent.re == 0.0 && exponent.im == 0.0 {
        return Ok(Complex64::new(1.0, 0.0));
    }
    if base.re == 0.0 && base.im == 0.0 {
        let undefined = exponent.im != 0.0 || exponent.re < 0.0;
        return if undefined { Err(fault::division_by_zero()) } else { Ok(Complex64::new(0.0, 0.0)) };
    }
    let radius = base.re.hypot(base.im);
    let angle = base.im.atan2(base.re);
    let mut length = radius.powf(exponent.re);
    let mut phase = angle * exponent.re;
    if exponent.im != 0.0 {
        length /= (angle * exponent.im).exp();
        phase += exponent.im * radius.ln();
    }
    Ok(Complex64::new(length * phase.cos(), length * phase.sin()))
}
