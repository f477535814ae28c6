//! Module `builtins`: Python's own functions that make sense for the values of the language.
//!
//! Names that the language itself uses (`sum`, `any`, `range`, …) are left out: they cannot be imported.

use std::sync::Arc;

use super::arguments::{self, plain, quantity};
use super::elementwise::{Elementwise, Input, Kernel, Output, Shapes, UnitRule};
use super::{Native, ResultKind, division, fault, kinds, real};
use crate::diagnostic::Fault;
use crate::ops::{self, Comparison};
use crate::units::Unit;
use crate::value::print::Float;
use crate::value::{Number, Quantity, Value};

const MODULE: &str = "builtins";

/// Functions of the module.
pub(super) fn functions() -> Vec<Native> {
    use ResultKind::{Any, Boolean, Integer, Number, String, Tuple};
    vec![
        absolute(MODULE),
        whole("bool", &["x?"], Boolean, "Whether x is not zero or empty", |args| Ok(args.first().map_or(Value::Bool(false), truth))),
        whole("complex", &["real?", "imag?"], Number, "Complex number of two real ones", complex),
        whole("divmod", &["x", "y"], Tuple, "Quotient, rounded down, and remainder", |args| {
            let (quotient, remainder) = division::floor_divide("divmod", &args[0], &args[1])?;
            Ok(Value::Tuple([quotient, remainder].into()))
        }),
        whole("float", &["x"], ResultKind::Float, "x as a float", |args| float(&args[0])),
        whole("int", &["x"], Integer, "x without its fraction, as an integer", |args| int(&args[0])),
        whole("len", &["object"], Integer, "Number of elements, members or characters", |args| len(&args[0])),
        whole("max", &["arg", "*args"], Any, "Largest argument, or largest member of the only one", |args| {
            extreme(args, Comparison::Greater)
        }),
        whole("min", &["arg", "*args"], Any, "Smallest argument, or smallest member of the only one", |args| {
            extreme(args, Comparison::Less)
        }),
        whole("pow", &["base", "exp"], Number, "base raised to the power exp", |args| ops::power(&args[0], &args[1])),
        whole("round", &["x", "ndigits?"], Number, "Nearest whole number, or number with so many decimals", round),
        whole("sorted", &["values"], Tuple, "Members from the smallest to the largest", |args| sorted(&args[0])),
        whole("str", &["x"], String, "x as text", |args| text(&args[0]).map(Value::Str)),
        whole("tuple", &["values"], Tuple, "Members of a series or array", |args| Ok(Value::Tuple(members(&args[0])?.into()))),
    ]
}

/// The members of a tuple, series or array of one axis.
pub(super) fn members(value: &Value) -> Result<Vec<Value>, Fault> {
    match value {
        Value::Tuple(members) => Ok(members.to_vec()),
        Value::Series(series) => Ok(series.values().collect()),
        Value::Array(array) => Ok((0..array.shape.first().copied().unwrap_or(0)).map(|index| array.get(index)).collect()),
        other => Err(fault::bad_value(format!("'{}' object is not iterable", python_name(other))).help("give a tuple, series or array")),
    }
}

/// `abs`, which keeps the unit and treats columns element by element.
pub(super) fn absolute(module: &'static str) -> Native {
    let units = UnitRule { input: Input::Any, output: Output::First };
    let function = Elementwise { units, kernel: Kernel::Numbers(kinds::absolute), shapes: Shapes::Columns };
    Native::elementwise(module, "abs", &["x"], ResultKind::Number, "Size of x", function)
}

/// What counts as true: numbers that are not zero, and what is not empty.
pub(super) fn truth(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(flag) => Value::Bool(*flag),
        Value::Quantity(quantity) => match quantity.number.as_complex() {
            Some(complex) => Value::Bool(complex.re != 0.0 || complex.im != 0.0),
            None => Value::Null,
        },
        Value::Function(_) => Value::Bool(true),
        Value::Str(_) | Value::Tuple(_) | Value::Dict(_) | Value::Series(_) | Value::Table(_) | Value::Array(_) => {
            Value::Bool(length(value) != Some(0))
        }
    }
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

fn complex(args: &[Value]) -> Result<Value, Fault> {
    let mut parts = [0.0; 2];
    for (part, arg) in parts.iter_mut().zip(args) {
        match arguments::plain_real(arg)? {
            Some(real) => *part = real,
            None => return Ok(Value::Null),
        }
    }
    // Any complex number serves to make one: the room of values alone names their crate.
    let Some(mut number) = Number::Float(parts[0]).as_complex() else { return Ok(Value::Null) };
    number.im = parts[1];
    Ok(plain(number))
}

fn float(value: &Value) -> Result<Value, Fault> {
    if let Value::Str(text) = value {
        let float: f64 = text.trim().parse().map_err(|_| fault::bad_value(format!("could not convert string to float: '{text}'")))?;
        return Ok(plain(float));
    }
    Ok(arguments::plain_real(value)?.map_or(Value::Null, plain))
}

fn int(value: &Value) -> Result<Value, Fault> {
    if let Value::Str(text) = value {
        let int: i128 = text.trim().parse().map_err(|_| fault::bad_value(format!("could not convert string to integer: '{text}'")))?;
        return Ok(plain(int));
    }
    let Quantity { number, unit } = quantity(value)?;
    let number = arguments::convert(&number, unit, Unit::NONE)?;
    if number.is_null() {
        return Ok(Value::Null);
    }
    kinds::to_integer("int", &[number], f64::trunc).map(plain)
}

/// Elements of columns, members of tuples and dicts, characters of strings.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Str(text) => Some(text.chars().count()),
        Value::Dict(dict) => Some(dict.len()),
        other => other.len(),
    }
}

fn len(value: &Value) -> Result<Value, Fault> {
    match length(value) {
        Some(len) => Ok(plain(len as i128)),
        None => Err(fault::no_length(python_name(value))),
    }
}

/// The first of the best arguments, or of the best members of a single one.
fn extreme(args: &[Value], better: Comparison) -> Result<Value, Fault> {
    let candidates = match args {
        [only] => members(only)?,
        several => several.to_vec(),
    };
    let mut candidates = candidates.into_iter();
    let first = candidates.next().ok_or_else(|| fault::bad_value("the largest or smallest of no values does not exist"))?;
    candidates.try_fold(first, |best, candidate| Ok(if precedes(&candidate, &best, better)? { candidate } else { best }))
}

fn round(args: &[Value]) -> Result<Value, Fault> {
    let Quantity { number, unit } = quantity(&args[0])?;
    if number.is_null() {
        return Ok(Value::Quantity(Quantity { number, unit }));
    }
    let number = match args.get(1) {
        None => kinds::to_integer("round", &[number], f64::round_ties_even)?,
        Some(digits) => {
            let digits = quantity(digits)?;
            let digits = arguments::integer(&arguments::convert(&digits.number, digits.unit, Unit::NONE)?)?;
            match number {
                Number::Int(int) => Number::Int(round_integer(int, digits)?),
                other => Number::Float(real::round_decimals(arguments::real(&other)?, digits)),
            }
        }
    };
    Ok(Value::Quantity(Quantity { number, unit }))
}

/// To tens, hundreds, … when `digits` is negative; ties to even.
fn round_integer(int: i128, digits: i128) -> Result<i128, Fault> {
    if digits >= 0 {
        return Ok(int);
    }
    // Beyond 38 digits an integer is less than half of the step.
    let Some(step) = u32::try_from(-digits).ok().and_then(|power| 10_i128.checked_pow(power)) else { return Ok(0) };
    let (low, rest) = (int - int.rem_euclid(step), int.rem_euclid(step));
    let up = rest > step - rest || (rest == step - rest && (low / step) % 2 != 0);
    if up { low.checked_add(step).ok_or_else(|| fault::overflow("round")) } else { Ok(low) }
}

/// A sort cannot stop at a fault: the first one is kept and reported after it.
fn sorted(value: &Value) -> Result<Value, Fault> {
    let mut members = members(value)?;
    let mut failed = None;
    members.sort_by(|left, right| match precedes(left, right, Comparison::Less) {
        Ok(true) => std::cmp::Ordering::Less,
        Ok(false) if precedes(right, left, Comparison::Less).unwrap_or(false) => std::cmp::Ordering::Greater,
        Ok(false) => std::cmp::Ordering::Equal,
        Err(fault) => {
            failed.get_or_insert(fault);
            std::cmp::Ordering::Equal
        }
    });
    failed.map_or(Ok(Value::Tuple(members.into())), Err)
}

/// Whether the left value comes before the right one; strings compare by code points, which the language's own `<` refuses.
fn precedes(left: &Value, right: &Value, order: Comparison) -> Result<bool, Fault> {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Ok(order.holds(Some(left.cmp(right)))),
        (Value::Bool(left), Value::Bool(right)) => Ok(order.holds(Some(left.cmp(right)))),
        _ => Ok(ops::compare(order, left, right)?.unwrap_or(false)),
    }
}

/// As Python writes a value that came from the language.
fn text(value: &Value) -> Result<Arc<str>, Fault> {
    Ok(match value {
        Value::Null => "<NA>".into(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.into(),
        Value::Str(text) => text.clone(),
        Value::Quantity(quantity) => format!("{} {}", number_text(&quantity.number), quantity.unit.info_name()).into(),
        other => return Err(fault::wrong_type("a string, number or boolean", other.type_name())),
    })
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Null => "<NA>".to_owned(),
        Number::Complex(z) => {
            let sign = if z.im.is_sign_negative() && !z.im.is_nan() { "" } else { "+" };
            format!("({}{sign}{}j)", short(z.re), short(z.im))
        }
        Number::Uncertain(x) => format!("{}+/-{}", Float(x.nominal), Float(x.std_dev())),
        Number::Int(_) | Number::Float(_) => number.to_string(),
    }
}

/// Inside of a complex number Python leaves `.0` out.
fn short(float: f64) -> String {
    let text = Float(float).to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// What Python calls the type, as people who import its functions expect.
fn python_name(value: &Value) -> &'static str {
    match value {
        Value::Quantity(quantity) => match quantity.number {
            Number::Int(_) => "int",
            Number::Float(_) => "float",
            Number::Complex(_) => "complex",
            Number::Null | Number::Uncertain(_) => value.type_name(),
        },
        Value::Bool(_) => "bool",
        other => other.type_name(),
    }
}
