//! Modules `numpy` and `virtmat.functions`: numpy's universal functions with units, as Pint defines them.
//!
//! Both modules share one table. `numpy` treats series and arrays element by element; `virtmat.functions` takes scalars only.
//! Reductions of series and arrays are in `reduce`.

use std::f64::consts;

use super::arguments::{self, quantity};
use super::elementwise::{Elementwise, Input, Kernel, Output, Real, Real2, Shapes, Slopes, UnitRule};
use super::{Native, ResultKind, division, kinds};
use crate::ops;
use crate::value::{Number, Quantity, Value};

/// One row of the table.
struct Row {
    name: &'static str,
    parameters: &'static [&'static str],
    result: ResultKind,
    doc: &'static str,
    units: UnitRule,
    kernel: Kernel,
}

const PLAIN: UnitRule = rule(Input::Plain, Output::Plain);
const FROM_ANGLE: UnitRule = rule(Input::Radian, Output::Plain);
const TO_ANGLE: UnitRule = rule(Input::Plain, Output::Radian);
const SAME: UnitRule = rule(Input::First, Output::First);
const BARE: UnitRule = rule(Input::First, Output::Plain);
const STRIPPED: UnitRule = rule(Input::Any, Output::Plain);
const KEPT: UnitRule = rule(Input::Any, Output::First);

/// Functions of both modules.
pub(super) fn functions() -> impl Iterator<Item = Native> {
    let modules = [("numpy", Shapes::Columns), ("virtmat.functions", Shapes::Scalars)];
    modules.into_iter().flat_map(|(module, shapes)| rows().map(move |row| row.native(module, shapes)).chain(whole(module)))
}

/// `modf`, whose parts keep the unit.
pub(super) fn modf(module: &'static str) -> Native {
    Native::whole(module, "modf", &["x"], ResultKind::Tuple, "Fractional and whole part of x", |args| {
        let Quantity { number, unit } = quantity(&args[0])?;
        if number.is_null() {
            return Ok(Value::Null);
        }
        let x = arguments::real(&number)?;
        let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { x.fract().copysign(x) };
        let part = |float| Value::Quantity(Quantity { number: Number::Float(float), unit });
        Ok(Value::Tuple([part(fraction), part(x.trunc())].into()))
    })
}

/// Functions of whole values: the arithmetic of the language under numpy's names.
fn whole(module: &'static str) -> Vec<Native> {
    let pair = |name, doc, function| Native::whole(module, name, &["x1", "x2"], ResultKind::Number, doc, function);
    let part = |name, doc, function| Native::whole(module, name, &["x"], ResultKind::Number, doc, function);
    vec![
        pair("add", "x1 + x2", |args| ops::add(&args[0], &args[1])),
        pair("subtract", "x1 - x2", |args| ops::subtract(&args[0], &args[1])),
        pair("multiply", "x1 * x2", |args| ops::multiply(&args[0], &args[1])),
        pair("divide", "x1 / x2", |args| ops::divide(&args[0], &args[1])),
        pair("true_divide", "x1 / x2", |args| ops::divide(&args[0], &args[1])),
        pair("power", "x1 ** x2", |args| ops::power(&args[0], &args[1])),
        pair("floor_divide", "x1 / x2, rounded down", |args| Ok(division::floor_divide("floor_divide", &args[0], &args[1])?.0)),
        part("real", "Real part", |args| ops::real(&args[0])),
        part("imag", "Imaginary part", |args| ops::imag(&args[0])),
        modf(module),
    ]
}

impl Row {
    fn native(self, module: &'static str, shapes: Shapes) -> Native {
        let function = Elementwise { units: self.units, kernel: self.kernel, shapes };
        Native::elementwise(module, self.name, self.parameters, self.result, self.doc, function)
    }
}

fn rows() -> impl Iterator<Item = Row> {
    [exponentials(), roots(), angles(), hyperbolic(), rounding(), parts(), tests(), comparisons(), pairs(), remainders()]
        .into_iter()
        .flatten()
}

fn exponentials() -> Vec<Row> {
    let ln2 = |x: f64| 1.0 / (x * consts::LN_2);
    vec![
        real("exp", "e raised to the power x", PLAIN, f64::exp, Some(f64::exp), Some(|z| Some(z.as_complex()?.exp().into()))),
        real("exp2", "2 raised to the power x", PLAIN, f64::exp2, None, Some(|z| Some(z.as_complex()?.exp2().into()))),
        real("expm1", "exp(x) - 1, accurate near 0", PLAIN, f64::exp_m1, Some(f64::exp), None),
        real("log", "Natural logarithm", PLAIN, f64::ln, Some(f64::recip), Some(|z| Some(z.as_complex()?.ln().into()))),
        real("log2", "Logarithm to the base 2", PLAIN, f64::log2, Some(ln2), None),
        real("log10", "Logarithm to the base 10", PLAIN, f64::log10, Some(|x| 1.0 / (x * consts::LN_10)), None),
        real("log1p", "Natural logarithm of 1 + x, accurate near 0", PLAIN, f64::ln_1p, Some(|x| 1.0 / (1.0 + x)), None),
        real2("logaddexp", "Logarithm of exp(x1) + exp(x2)", PLAIN, log_add_exp, None),
        real2("logaddexp2", "Logarithm to the base 2 of 2**x1 + 2**x2", PLAIN, log_add_exp2, None),
    ]
}

fn roots() -> Vec<Row> {
    let root = |exponent| rule(Input::Any, Output::Power(exponent));
    let half: fn(f64) -> f64 = |x| 0.5 / x.sqrt();
    vec![
        real("sqrt", "Square root", root(0.5), f64::sqrt, Some(half), Some(|z| Some(z.as_complex()?.sqrt().into()))),
        real("cbrt", "Cube root", root(1.0 / 3.0), f64::cbrt, Some(|x| 1.0 / (3.0 * x.cbrt().powi(2))), None),
        numbers("square", &["x"], ResultKind::Number, "x times x", root(2.0), kinds::square),
        numbers("reciprocal", &["x"], ResultKind::Number, "1 divided by x", root(-1.0), kinds::reciprocal),
    ]
}

fn angles() -> Vec<Row> {
    let root: fn(f64) -> f64 = |x| 1.0 / (1.0 - x * x).sqrt();
    vec![
        real("sin", "Sine", FROM_ANGLE, f64::sin, Some(f64::cos), Some(|z| Some(z.as_complex()?.sin().into()))),
        real("cos", "Cosine", FROM_ANGLE, f64::cos, Some(|x| -x.sin()), Some(|z| Some(z.as_complex()?.cos().into()))),
        real("tan", "Tangent", FROM_ANGLE, f64::tan, Some(|x| 1.0 + x.tan().powi(2)), Some(|z| Some(z.as_complex()?.tan().into()))),
        real("arcsin", "Arc sine", TO_ANGLE, f64::asin, Some(root), Some(|z| Some(z.as_complex()?.asin().into()))),
        real(
            "arccos",
            "Arc cosine",
            TO_ANGLE,
            f64::acos,
            Some(|x| -1.0 / (1.0 - x * x).sqrt()),
            Some(|z| Some(z.as_complex()?.acos().into())),
        ),
        real("arctan", "Arc tangent", TO_ANGLE, f64::atan, Some(|x| 1.0 / (1.0 + x * x)), Some(|z| Some(z.as_complex()?.atan().into()))),
        Row {
            name: "arctan2",
            parameters: &["y", "x"],
            result: ResultKind::Float,
            doc: "Angle of the point (x, y)",
            units: rule(Input::First, Output::Radian),
            kernel: Kernel::Real2(Real2 { apply: f64::atan2, slopes: Some(|y, x| (x / (x * x + y * y), -y / (x * x + y * y))) }),
        },
        real("deg2rad", "Angle in radians", rule(Input::Degree, Output::Radian), f64::to_radians, Some(|_| consts::PI / 180.0), None),
        real("radians", "Angle in radians", rule(Input::Degree, Output::Radian), f64::to_radians, Some(|_| consts::PI / 180.0), None),
        real("rad2deg", "Angle in degrees", rule(Input::Radian, Output::Degree), in_degrees, Some(|_| 180.0 / consts::PI), None),
        real("degrees", "Angle in degrees", rule(Input::Radian, Output::Degree), in_degrees, Some(|_| 180.0 / consts::PI), None),
    ]
}

fn hyperbolic() -> Vec<Row> {
    vec![
        real("sinh", "Hyperbolic sine", FROM_ANGLE, f64::sinh, Some(f64::cosh), Some(|z| Some(z.as_complex()?.sinh().into()))),
        real("cosh", "Hyperbolic cosine", FROM_ANGLE, f64::cosh, Some(f64::sinh), Some(|z| Some(z.as_complex()?.cosh().into()))),
        real(
            "tanh",
            "Hyperbolic tangent",
            FROM_ANGLE,
            f64::tanh,
            Some(|x| 1.0 - x.tanh().powi(2)),
            Some(|z| Some(z.as_complex()?.tanh().into())),
        ),
        real(
            "arcsinh",
            "Inverse hyperbolic sine",
            TO_ANGLE,
            libm::asinh,
            Some(|x| 1.0 / (1.0 + x * x).sqrt()),
            Some(|z| Some(z.as_complex()?.asinh().into())),
        ),
        real(
            "arccosh",
            "Inverse hyperbolic cosine",
            TO_ANGLE,
            libm::acosh,
            Some(|x| 1.0 / (x * x - 1.0).sqrt()),
            Some(|z| Some(z.as_complex()?.acosh().into())),
        ),
        real(
            "arctanh",
            "Inverse hyperbolic tangent",
            TO_ANGLE,
            libm::atanh,
            Some(|x| 1.0 / (1.0 - x * x)),
            Some(|z| Some(z.as_complex()?.atanh().into())),
        ),
    ]
}

fn rounding() -> Vec<Row> {
    let toward = |name, doc, function| numbers(name, &["x"], ResultKind::Number, doc, KEPT, function);
    let decimals = |name| {
        let units = rule(Input::Head, Output::First);
        numbers(name, &["x", "decimals?"], ResultKind::Number, "Nearest number with so many decimals, ties to even", units, kinds::round)
    };
    vec![
        toward("floor", "Largest whole number not above x", |name, x| kinds::toward(name, x, f64::floor)),
        toward("ceil", "Smallest whole number not below x", |name, x| kinds::toward(name, x, f64::ceil)),
        toward("trunc", "Whole part of x", |name, x| kinds::toward(name, x, f64::trunc)),
        toward("fix", "Whole part of x", |name, x| kinds::toward(name, x, f64::trunc)),
        real("rint", "Nearest whole number, ties to even", KEPT, f64::round_ties_even, None, None),
        decimals("round"),
        decimals("around"),
    ]
}

fn parts() -> Vec<Row> {
    let number = |name, doc, units, function| numbers(name, &["x"], ResultKind::Number, doc, units, function);
    vec![
        number("absolute", "Size of x", KEPT, kinds::absolute),
        number("abs", "Size of x", KEPT, kinds::absolute),
        real("fabs", "Size of a real x, as a float", KEPT, f64::abs, Some(f64::signum), None),
        number("sign", "-1, 0 or 1 by the sign of x", STRIPPED, kinds::sign),
        number("negative", "-x", KEPT, kinds::negative),
        number("positive", "x", KEPT, kinds::positive),
        number("conj", "Complex conjugate", KEPT, kinds::conjugate),
        number("conjugate", "Complex conjugate", KEPT, kinds::conjugate),
        number("angle", "Angle of a complex number", rule(Input::Any, Output::Radian), kinds::angle),
        number("nan_to_num", "x, or 0 when it is undefined", KEPT, kinds::nan_to_num),
    ]
}

fn tests() -> Vec<Row> {
    let test = |name, doc, test: fn(&Number) -> bool| {
        let kernel = Kernel::Property(test);
        Row { name, parameters: &["x"], result: ResultKind::Boolean, doc, units: STRIPPED, kernel }
    };
    let close = |name| Row {
        name,
        parameters: &["a", "b", "rtol?", "atol?"],
        result: ResultKind::Boolean,
        doc: "Whether a and b agree to rtol = 1e-5 of b and atol = 1e-8",
        units: rule(Input::Close, Output::Plain),
        kernel: Kernel::Tests(is_close),
    };
    vec![
        test("isnan", "Whether x is undefined", |x| kinds::parts(x).iter().any(|part| part.is_nan())),
        test("isinf", "Whether x is infinite", |x| kinds::parts(x).iter().any(|part| part.is_infinite())),
        test("isfinite", "Whether x is neither infinite nor undefined", |x| kinds::parts(x).iter().all(|part| part.is_finite())),
        test("signbit", "Whether the sign of x is minus", |x| kinds::parts(x)[0].is_sign_negative()),
        test("isreal", "Whether x has no imaginary part", |x| kinds::parts(x)[1] == 0.0),
        test("iscomplex", "Whether x has an imaginary part", |x| kinds::parts(x)[1] != 0.0),
        close("isclose"),
        close("allclose"),
    ]
}

fn comparisons() -> Vec<Row> {
    let compare = |name, doc, test: fn(&[f64]) -> bool| {
        let kernel = Kernel::Tests(test);
        Row { name, parameters: &["x1", "x2"], result: ResultKind::Boolean, doc, units: BARE, kernel }
    };
    vec![
        compare("equal", "x1 == x2", |x| x[0] == x[1]),
        compare("not_equal", "x1 != x2", |x| x[0] != x[1]),
        compare("less", "x1 < x2", |x| x[0] < x[1]),
        compare("less_equal", "x1 <= x2", |x| x[0] <= x[1]),
        compare("greater", "x1 > x2", |x| x[0] > x[1]),
        compare("greater_equal", "x1 >= x2", |x| x[0] >= x[1]),
    ]
}

fn pairs() -> Vec<Row> {
    let number = |name, doc, function| numbers(name, &["x1", "x2"], ResultKind::Number, doc, SAME, function);
    vec![
        real2("hypot", "Length of the hypotenuse", SAME, f64::hypot, Some(|x, y| (x / x.hypot(y), y / x.hypot(y)))),
        real2("copysign", "Size of x1 with the sign of x2", SAME, f64::copysign, Some(|x, y| (x.signum() * y.signum(), 0.0))),
        real2("nextafter", "The double next to x1 in the direction of x2", SAME, libm::nextafter, None),
        real2("heaviside", "0 for negative x1, x2 for zero, 1 for positive x1", PLAIN, heaviside, None),
        number("maximum", "The larger one; undefined when one is", |name, x| kinds::extreme(name, x, |a, b| a >= b || a.is_nan())),
        number("minimum", "The smaller one; undefined when one is", |name, x| kinds::extreme(name, x, |a, b| a <= b || a.is_nan())),
        number("fmax", "The larger one; the other when one is undefined", |name, x| kinds::extreme(name, x, |a, b| a >= b || b.is_nan())),
        number("fmin", "The smaller one; the other when one is undefined", |name, x| kinds::extreme(name, x, |a, b| a <= b || b.is_nan())),
        numbers("clip", &["a", "a_min", "a_max"], ResultKind::Number, "a, or the limit that it exceeds", SAME, kinds::clip),
        integers("gcd", "Greatest common divisor", super::math::gcd),
        integers("lcm", "Least common multiple", super::math::lcm),
    ]
}

fn remainders() -> Vec<Row> {
    // The remainder of unlike units is not defined: numpy's own functions do not convert, which gives 7 m mod 200 cm = 7 m.
    let number = |name, doc, units, function| numbers(name, &["x1", "x2"], ResultKind::Number, doc, units, function);
    let doc = "Remainder of x1 / x2 with the sign of x2";
    vec![
        number("mod", doc, SAME, kinds::modulo),
        number("remainder", doc, SAME, kinds::modulo),
        number("fmod", "Remainder of x1 / x2 with the sign of x1", SAME, kinds::fmod),
        number("ldexp", "x1 times 2 to the power x2", rule(Input::Head, Output::First), kinds::ldexp),
    ]
}

const fn rule(input: Input, output: Output) -> UnitRule {
    UnitRule { input, output }
}

fn real(
    name: &'static str,
    doc: &'static str,
    units: UnitRule,
    apply: fn(f64) -> f64,
    slope: Option<fn(f64) -> f64>,
    complex: Option<fn(&Number) -> Option<Number>>,
) -> Row {
    let result = if complex.is_some() { ResultKind::Number } else { ResultKind::Float };
    Row { name, parameters: &["x"], result, doc, units, kernel: Kernel::Real(Real { apply, slope, complex }) }
}

fn real2(name: &'static str, doc: &'static str, units: UnitRule, apply: fn(f64, f64) -> f64, slopes: Option<Slopes>) -> Row {
    Row { name, parameters: &["x1", "x2"], result: ResultKind::Float, doc, units, kernel: Kernel::Real2(Real2 { apply, slopes }) }
}

fn numbers(
    name: &'static str,
    parameters: &'static [&'static str],
    result: ResultKind,
    doc: &'static str,
    units: UnitRule,
    function: kinds::Function,
) -> Row {
    Row { name, parameters, result, doc, units, kernel: Kernel::Numbers(function) }
}

fn integers(name: &'static str, doc: &'static str, function: fn(&str, &[i128]) -> Result<i128, crate::diagnostic::Fault>) -> Row {
    Row { name, parameters: &["x1", "x2"], result: ResultKind::Integer, doc, units: PLAIN, kernel: Kernel::Integers(function) }
}

fn in_degrees(x: f64) -> f64 {
    x * (180.0 / consts::PI)
}

fn heaviside(x: f64, at_zero: f64) -> f64 {
    if x == 0.0 {
        return at_zero;
    }
    if x.is_nan() { x } else { f64::from(u8::from(x > 0.0)) }
}

fn log_add_exp(x: f64, y: f64) -> f64 {
    if x == y {
        return x + consts::LN_2;
    }
    x.max(y) + (-(x - y).abs()).exp().ln_1p()
}

fn log_add_exp2(x: f64, y: f64) -> f64 {
    if x == y {
        return x + 1.0;
    }
    x.max(y) + consts::LOG2_E * (-(x - y).abs()).exp2().ln_1p()
}

fn is_close(values: &[f64]) -> bool {
    let (a, b) = (values[0], values[1]);
    let relative = values.get(2).copied().unwrap_or(1e-5);
    let absolute = values.get(3).copied().unwrap_or(1e-8);
    a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= absolute + relative * b.abs())
}
