//! Module `virtmat.functions.math`: the functions of `math` with units.
//!
//! Kernels are those of `math`; only the rule for units is another. Where the reference implementation of this module gives units
//! that contradict the numbers (`degrees` of an angle in degrees, a remainder without its unit), the right ones are given.

use super::elementwise::{Input, Output, UnitRule};
use super::{Body, Native, ResultKind, math, numpy};

const MODULE: &str = "virtmat.functions.math";

const PLAIN: UnitRule = rule(Input::Plain, Output::Plain);
const FROM_ANGLE: UnitRule = rule(Input::Radian, Output::Plain);
const TO_ANGLE: UnitRule = rule(Input::Plain, Output::Radian);
const SAME: UnitRule = rule(Input::First, Output::First);
const BARE: UnitRule = rule(Input::First, Output::Plain);
const ROOT: UnitRule = rule(Input::First, Output::Power(0.5));

/// The functions of `math` that are taken over, by what they do with units.
const RULES: [(UnitRule, &[&str]); 9] = [
    (PLAIN, &["exp", "log", "log2", "log10", "cosh", "sinh", "tanh", "acosh", "asinh", "atanh"]),
    (PLAIN, &["erf", "erfc", "gamma", "lgamma", "comb", "perm", "factorial"]),
    (FROM_ANGLE, &["sin", "cos", "tan"]),
    (TO_ANGLE, &["asin", "acos", "atan"]),
    (rule(Input::First, Output::Radian), &["atan2"]),
    (SAME, &["ceil", "floor", "trunc", "fabs", "fmod", "remainder", "gcd", "lcm"]),
    (ROOT, &["sqrt", "isqrt"]),
    (BARE, &["isclose", "isfinite"]),
    (rule(Input::Radian, Output::Degree), &["degrees"]),
];

/// Functions of the module.
pub(super) fn functions() -> impl Iterator<Item = Native> {
    let taken = math::functions().into_iter().filter_map(|native| {
        let (rule, _) = RULES.iter().find(|(_, names)| names.contains(&native.name))?;
        with_units(native, *rule)
    });
    let radians = math::functions().into_iter().find(|native| native.name == "radians");
    let radians = radians.and_then(|native| with_units(native, rule(Input::Degree, Output::Radian)));
    taken.chain(radians).chain([numpy::modf(MODULE)])
}

const fn rule(input: Input, output: Output) -> UnitRule {
    UnitRule { input, output }
}

/// The same function in this module under another rule; none for a function that does not compute with bare numbers.
fn with_units(native: Native, units: UnitRule) -> Option<Native> {
    let Body::Elementwise(mut function) = native.body else { return None };
    function.units = units;
    let result = if native.result == ResultKind::Boolean { ResultKind::Boolean } else { ResultKind::Number };
    Some(Native { module: MODULE, result, body: Body::Elementwise(function), ..native })
}
