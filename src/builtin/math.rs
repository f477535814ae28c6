//! Module `math`: Python's functions of plain numbers. Arguments are scalars without dimension; what is undefined is a fault.

use std::f64::consts;

use super::arguments::{self, plain};
use super::elementwise::{Elementwise, Input, Kernel, Output, Overflow, Shapes, UnitRule};
use super::reduce::Elements;
use super::{Native, ResultKind, fault, integer, kinds, real};
use crate::diagnostic::Fault;
use crate::ops;
use crate::value::{Number, Value};

const MODULE: &str = "math";
const PLAIN: UnitRule = UnitRule { input: Input::Plain, output: Output::Plain };

/// Constants of the module.
pub(super) const CONSTANTS: [(&str, f64); 5] =
    [("e", consts::E), ("inf", f64::INFINITY), ("nan", f64::NAN), ("pi", consts::PI), ("tau", consts::TAU)];

/// Functions of the module.
pub(super) fn functions() -> Vec<Native> {
    [powers(), angles(), hyperbolic(), rounding(), tests(), special(), whole_numbers(), several()].into_iter().flatten().collect()
}

fn powers() -> Vec<Native> {
    vec![
        real1("exp", "e raised to the power x", f64::exp, Overflow::Range),
        real1("exp2", "2 raised to the power x", f64::exp2, Overflow::Range),
        real1("expm1", "exp(x) - 1, accurate near 0", f64::exp_m1, Overflow::Range),
        scalar("log", &["x", "base?"], ResultKind::Float, "Logarithm of x to the base, e when left out", Kernel::Numbers(log)),
        real1("log1p", "Natural logarithm of 1 + x, accurate near 0", f64::ln_1p, Overflow::Domain),
        real1("log2", "Logarithm of x to the base 2", f64::log2, Overflow::Domain),
        real1("log10", "Logarithm of x to the base 10", f64::log10, Overflow::Domain),
        real2("pow", "x", "x raised to the power y, as a float", f64::powf, Overflow::Range),
        real1("sqrt", "Square root of x", f64::sqrt, Overflow::Allowed),
        real1("cbrt", "Cube root of x", f64::cbrt, Overflow::Allowed),
    ]
}

fn angles() -> Vec<Native> {
    vec![
        real1("sin", "Sine of x in radians", f64::sin, Overflow::Domain),
        real1("cos", "Cosine of x in radians", f64::cos, Overflow::Domain),
        real1("tan", "Tangent of x in radians", f64::tan, Overflow::Domain),
        real1("asin", "Arc sine of x, in radians", f64::asin, Overflow::Domain),
        real1("acos", "Arc cosine of x, in radians", f64::acos, Overflow::Domain),
        real1("atan", "Arc tangent of x, in radians", f64::atan, Overflow::Domain),
        real2("atan2", "y", "Angle of the point (x, y), in radians", f64::atan2, Overflow::Domain),
        real1("degrees", "Radians to degrees", |x| x * (180.0 / consts::PI), Overflow::Allowed),
        real1("radians", "Degrees to radians", |x| x * (consts::PI / 180.0), Overflow::Allowed),
    ]
}

fn hyperbolic() -> Vec<Native> {
    vec![
        real1("sinh", "Hyperbolic sine of x", f64::sinh, Overflow::Range),
        real1("cosh", "Hyperbolic cosine of x", f64::cosh, Overflow::Range),
        real1("tanh", "Hyperbolic tangent of x", f64::tanh, Overflow::Domain),
        real1("asinh", "Inverse hyperbolic sine of x", libm::asinh, Overflow::Domain),
        real1("acosh", "Inverse hyperbolic cosine of x", libm::acosh, Overflow::Domain),
        real1("atanh", "Inverse hyperbolic tangent of x", libm::atanh, Overflow::Domain),
    ]
}

fn rounding() -> Vec<Native> {
    let toward = |name, doc, kernel| scalar(name, &["x"], ResultKind::Integer, doc, kernel);
    vec![
        toward("floor", "Largest integer not above x", Kernel::Numbers(|name, x| kinds::to_integer(name, x, f64::floor))),
        toward("ceil", "Smallest integer not below x", Kernel::Numbers(|name, x| kinds::to_integer(name, x, f64::ceil))),
        toward("trunc", "Integer part of x", Kernel::Numbers(|name, x| kinds::to_integer(name, x, f64::trunc))),
        real1("fabs", "Size of x, as a float", f64::abs, Overflow::Allowed),
        real2("copysign", "x", "Size of x with the sign of y", f64::copysign, Overflow::Allowed),
        real2("fmod", "x", "Remainder of x / y with the sign of x", |x, y| x % y, Overflow::Domain),
        real2("remainder", "x", "x less the nearest multiple of y", libm::remainder, Overflow::Domain),
        real2("nextafter", "x", "The double next to x in the direction of y", libm::nextafter, Overflow::Allowed),
        real1("ulp", "Distance of doubles at x", real::ulp, Overflow::Allowed),
        scalar("ldexp", &["x", "i"], ResultKind::Float, "x times 2 to the power i", Kernel::Numbers(ldexp)),
        whole("modf", &["x"], ResultKind::Tuple, "Fractional and integer part of x", modf),
        whole("frexp", &["x"], ResultKind::Tuple, "Mantissa and binary exponent of x", frexp),
    ]
}

fn tests() -> Vec<Native> {
    let test = |name, doc, test| scalar(name, &["x"], ResultKind::Boolean, doc, Kernel::Test(test));
    vec![
        test("isfinite", "Whether x is neither infinite nor undefined", f64::is_finite),
        test("isinf", "Whether x is infinite", f64::is_infinite),
        test("isnan", "Whether x is undefined", f64::is_nan),
        scalar("isclose", &["a", "b"], ResultKind::Boolean, "Whether a and b agree to nine digits", Kernel::Tests(is_close)),
    ]
}

fn special() -> Vec<Native> {
    vec![
        real1("erf", "Error function of x", libm::erf, Overflow::Allowed),
        real1("erfc", "1 - erf(x), accurate for large x", libm::erfc, Overflow::Allowed),
        scalar("gamma", &["x"], ResultKind::Float, "Gamma function of x", Kernel::Numbers(gamma)),
        scalar("lgamma", &["x"], ResultKind::Float, "Logarithm of the size of the gamma function of x", Kernel::Numbers(lgamma)),
    ]
}

fn whole_numbers() -> Vec<Native> {
    let integers = |name, parameters, doc, function| scalar(name, parameters, ResultKind::Integer, doc, Kernel::Integers(function));
    vec![
        integers("gcd", &["*integers"], "Greatest common divisor", gcd),
        integers("lcm", &["*integers"], "Least common multiple", lcm),
        integers("factorial", &["n"], "Product of the integers from 1 to n", factorial),
        integers("comb", &["n", "k"], "Ways to choose k of n without order", comb),
        integers("perm", &["n", "k?"], "Ways to choose k of n with order", perm),
        integers("isqrt", &["n"], "Square root of n, rounded down", isqrt),
    ]
}

fn several() -> Vec<Native> {
    vec![
        scalar("hypot", &["*coordinates"], ResultKind::Float, "Length of a vector with these coordinates", Kernel::Numbers(hypot)),
        whole("dist", &["p", "q"], ResultKind::Float, "Distance of two points, which are tuples or series", dist),
        whole("fsum", &["seq"], ResultKind::Float, "Sum of all members, rounded once", |args| {
            Ok(plain(real::fsum(Elements::of(&args[0])?.plain()?.reals()?)))
        }),
        whole("prod", &["iterable"], ResultKind::Number, "Product of all members", |args| {
            Ok(plain(Elements::of(&args[0])?.plain()?.product()?.unwrap_or(Number::Int(1))))
        }),
    ]
}

fn scalar(name: &'static str, parameters: &'static [&'static str], result: ResultKind, doc: &'static str, kernel: Kernel) -> Native {
    Native::elementwise(MODULE, name, parameters, result, doc, Elementwise { units: PLAIN, kernel, shapes: Shapes::Scalars })
}

fn whole(
    name: &'static str,
    parameters: &'static [&'static str],
    result: ResultKind,
    doc: &'static str,
    function: fn(&[Value]) -> Result<Value, Fault>,
) -> Native {
    Native::whole(MODULE, name, parameters, result, doc, function)
}

fn real1(name: &'static str, doc: &'static str, function: fn(f64) -> f64, overflow: Overflow) -> Native {
    scalar(name, &["x"], ResultKind::Float, doc, Kernel::Strict(function, overflow))
}

/// `first` is the name of the first parameter: `x`, or `y` for a point that is written backwards.
fn real2(name: &'static str, first: &'static str, doc: &'static str, function: fn(f64, f64) -> f64, overflow: Overflow) -> Native {
    let parameters: &[&str] = if first == "y" { &["y", "x"] } else { &["x", "y"] };
    scalar(name, parameters, ResultKind::Float, doc, Kernel::Strict2(function, overflow))
}

fn log(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let logarithm = |number: &Number| {
        let x = arguments::real(number)?;
        if x <= 0.0 { Err(fault::domain(name)) } else { Ok(x.ln()) }
    };
    match args {
        [x, base] => match (logarithm(x)?, logarithm(base)?) {
            (_, 0.0) => Err(ops::fault::division_by_zero()),
            (x, base) => Ok(Number::Float(x / base)),
        },
        [x] => Ok(Number::Float(logarithm(x)?)),
        _ => Err(fault::shapes(name)),
    }
}

fn ldexp(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let result = kinds::ldexp(name, args)?;
    let finite = |number: &Number| kinds::parts(number)[0].is_finite();
    if finite(&args[0]) && !finite(&result) { Err(fault::range(name)) } else { Ok(result) }
}

fn modf(args: &[Value]) -> Result<Value, Fault> {
    let Some(x) = arguments::plain_real(&args[0])? else { return Ok(Value::Null) };
    let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { x.fract().copysign(x) };
    Ok(Value::Tuple([plain(fraction), plain(x.trunc())].into()))
}

fn frexp(args: &[Value]) -> Result<Value, Fault> {
    let Some(x) = arguments::plain_real(&args[0])? else { return Ok(Value::Null) };
    let (mantissa, exponent) = libm::frexp(x);
    Ok(Value::Tuple([plain(mantissa), plain(i128::from(exponent))].into()))
}

fn is_close(values: &[f64]) -> bool {
    let [a, b] = *values else { return false };
    a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= 1e-9 * a.abs().max(b.abs()))
}

fn gamma(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let [x] = args else { return Err(fault::shapes(name)) };
    let x = arguments::real(x)?;
    let overflow = if x == 0.0 { Overflow::Domain } else { Overflow::Range };
    overflow.check(name, real::gamma(x), &[x]).map(Number::Float)
}

fn lgamma(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let [x] = args else { return Err(fault::shapes(name)) };
    let x = arguments::real(x)?;
    let overflow = if x <= 0.0 { Overflow::Domain } else { Overflow::Range };
    overflow.check(name, real::lgamma(x), &[x]).map(Number::Float)
}

pub(super) fn gcd(name: &str, args: &[i128]) -> Result<i128, Fault> {
    args.iter().try_fold(0, |divisor, arg| integer::gcd(divisor, *arg)).ok_or_else(|| fault::overflow(name))
}

pub(super) fn lcm(name: &str, args: &[i128]) -> Result<i128, Fault> {
    args.iter().try_fold(1, |multiple, arg| integer::lcm(multiple, *arg)).ok_or_else(|| fault::overflow(name))
}

fn factorial(name: &str, args: &[i128]) -> Result<i128, Fault> {
    let [n] = not_negative(name, args)?;
    integer::factorial(n).ok_or_else(|| fault::overflow(name))
}

fn comb(name: &str, args: &[i128]) -> Result<i128, Fault> {
    let [n, k] = not_negative(name, args)?;
    integer::comb(n, k).ok_or_else(|| fault::overflow(name))
}

fn perm(name: &str, args: &[i128]) -> Result<i128, Fault> {
    if args.len() == 1 {
        return factorial(name, args);
    }
    let [n, k] = not_negative(name, args)?;
    integer::perm(n, k).ok_or_else(|| fault::overflow(name))
}

fn isqrt(name: &str, args: &[i128]) -> Result<i128, Fault> {
    let [n] = not_negative(name, args)?;
    Ok(integer::isqrt(n))
}

fn not_negative<const COUNT: usize>(name: &str, args: &[i128]) -> Result<[i128; COUNT], Fault> {
    if args.iter().any(|arg| *arg < 0) {
        return Err(fault::bad_value(format!("\"{name}\" is not defined for negative integers")));
    }
    args.try_into().map_err(|_| fault::shapes(name))
}

fn dist(args: &[Value]) -> Result<Value, Fault> {
    let (p, q) = (Elements::of(&args[0])?.plain()?.reals()?, Elements::of(&args[1])?.plain()?.reals()?);
    if p.len() != q.len() {
        return Err(fault::shapes("dist"));
    }
    Ok(plain(p.iter().zip(&q).fold(0.0, |length, (p, q)| f64::hypot(length, p - q))))
}

fn hypot(name: &str, args: &[Number]) -> Result<Number, Fault> {
    let coordinates = args.iter().map(arguments::real).collect::<Result<Vec<_>, _>>()?;
    let length = coordinates.iter().fold(0.0, |length, coordinate| f64::hypot(length, *coordinate));
    Overflow::Range.check(name, length, &coordinates).map(Number::Float)
}
