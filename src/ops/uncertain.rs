//! First-order propagation of uncertainties, correlations included.

use super::{fault, number};
use crate::diagnostic::Fault;
use crate::value::{Number, Uncertain};

/// `nominal +/- std_dev`, correlated with no other number; both must be real, and the second not negative.
pub fn measured(nominal: &Number, std_dev: &Number) -> Result<Number, Fault> {
    let real = |number: &Number| match number {
        Number::Int(_) | Number::Float(_) => number.as_f64(),
        Number::Null | Number::Complex(_) | Number::Uncertain(_) => None,
    };
    let (Some(nominal), Some(std_dev)) = (real(nominal), real(std_dev)) else {
        return Err(fault::kinds("+/-", "value and uncertainty must be real numbers"));
    };
    let measured = Uncertain::fresh(nominal, std_dev).ok_or_else(|| fault::kinds("+/-", "uncertainty cannot be negative"))?;
    Ok(measured.into())
}

/// The sum.
pub fn add(a: &Uncertain, b: &Uncertain) -> Uncertain {
    Uncertain::combine(a.nominal + b.nominal, (a, 1.0), (b, 1.0))
}

/// The difference.
pub fn subtract(a: &Uncertain, b: &Uncertain) -> Uncertain {
    Uncertain::combine(a.nominal - b.nominal, (a, 1.0), (b, -1.0))
}

/// The product.
pub fn multiply(a: &Uncertain, b: &Uncertain) -> Uncertain {
    Uncertain::combine(a.nominal * b.nominal, (a, b.nominal), (b, a.nominal))
}

/// The quotient.
pub fn divide(a: &Uncertain, b: &Uncertain) -> Result<Uncertain, Fault> {
    if b.nominal == 0.0 {
        return Err(fault::division_by_zero());
    }
    let by_divisor = -a.nominal / (b.nominal * b.nominal);
    Ok(Uncertain::combine(a.nominal / b.nominal, (a, 1.0 / b.nominal), (b, by_divisor)))
}

/// The power; a negative number to an exponent that is not whole is a fault.
pub fn power(a: &Uncertain, b: &Uncertain) -> Result<Uncertain, Fault> {
    let (x, y) = (a.nominal, b.nominal);
    let Number::Float(nominal) = number::float_power(x, y)? else {
        return Err(fault::kinds("**", "an uncertain number cannot become complex"));
    };
    Ok(Uncertain::combine(nominal, (a, by_base(x, y)), (b, by_exponent(x, y, nominal))))
}

/// The same number with the sign changed.
pub fn negate(a: &Uncertain) -> Uncertain {
    a.chain(-a.nominal, -1.0)
}

/// A function of an uncertain number, by its value and its derivative at the nominal value.
pub fn apply(a: &Uncertain, function: impl Fn(f64) -> f64, derivative: impl Fn(f64) -> f64) -> Uncertain {
    a.chain(function(a.nominal), derivative(a.nominal))
}

/// Whether two numbers are the same variable, not merely alike: their difference is zero without uncertainty.
pub fn equal(a: &Uncertain, b: &Uncertain) -> bool {
    let difference = subtract(a, b);
    difference.nominal == 0.0 && difference.std_dev() == 0.0
}

fn by_base(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { y * x.powf(y - 1.0) }
}

fn by_exponent(x: f64, y: f64, power: f64) -> f64 {
    if x == 0.0 && y > 0.0 { 0.0 } else { x.ln() * power }
}
