//! Module `operator`: the operators of Python as functions, with the meaning that they have in the language.

use super::arguments::{self, quantity};
use super::python::{absolute, truth};
use super::{Native, ResultKind, division, fault};
use crate::diagnostic::Fault;
use crate::ops::{self, Comparison};
use crate::value::{Number, Value};

const MODULE: &str = "operator";

/// Functions of the module.
pub(super) fn functions() -> impl Iterator<Item = Native> {
    [arithmetic(), comparisons(), logic(), containers()].into_iter().flatten()
}

fn arithmetic() -> Vec<Native> {
    let pair = |name, doc, function| Native::whole(MODULE, name, &["a", "b"], ResultKind::Number, doc, function);
    let single = |name, doc, function| Native::whole(MODULE, name, &["a"], ResultKind::Number, doc, function);
    vec![
        Native::whole(MODULE, "add", &["a", "b"], ResultKind::Any, "a + b; strings and tuples are joined", add),
        pair("sub", "a - b", |args| ops::subtract(&args[0], &args[1])),
        pair("mul", "a * b", |args| ops::multiply(&args[0], &args[1])),
        pair("truediv", "a / b", |args| ops::divide(&args[0], &args[1])),
        pair("floordiv", "a / b, rounded down", |args| Ok(division::floor_divide("floordiv", &args[0], &args[1])?.0)),
        pair("mod", "Remainder of a / b with the sign of b", |args| Ok(division::floor_divide("mod", &args[0], &args[1])?.1)),
        pair("pow", "a ** b", |args| ops::power(&args[0], &args[1])),
        single("neg", "-a", |args| ops::negate(&args[0])),
        single("pos", "a", |args| quantity(&args[0]).map(Value::Quantity)),
        absolute(MODULE),
    ]
}

fn comparisons() -> Vec<Native> {
    let compare = |name, doc, function| Native::whole(MODULE, name, &["a", "b"], ResultKind::Boolean, doc, function);
    vec![
        compare("eq", "a == b", |args| compared(Comparison::Equal, args)),
        compare("ne", "a != b", |args| compared(Comparison::NotEqual, args)),
        compare("lt", "a < b", |args| compared(Comparison::Less, args)),
        compare("le", "a <= b", |args| compared(Comparison::LessEqual, args)),
        compare("gt", "a > b", |args| compared(Comparison::Greater, args)),
        compare("ge", "a >= b", |args| compared(Comparison::GreaterEqual, args)),
    ]
}

fn logic() -> Vec<Native> {
    let pair = |name, doc, function| Native::whole(MODULE, name, &["a", "b"], ResultKind::Any, doc, function);
    vec![
        pair("and_", "Both, of booleans; common bits, of integers", |args| bitwise(args, |a, b| a & b)),
        pair("or_", "Either, of booleans; all bits, of integers", |args| bitwise(args, |a, b| a | b)),
        pair("xor", "Only one, of booleans; unlike bits, of integers", |args| bitwise(args, |a, b| a ^ b)),
        Native::whole(MODULE, "not_", &["a"], ResultKind::Boolean, "Whether a is false, zero or empty", |args| {
            Ok(match truth(&args[0]) {
                Value::Bool(flag) => Value::Bool(!flag),
                other => other,
            })
        }),
        Native::whole(MODULE, "truth", &["a"], ResultKind::Boolean, "Whether a is true, not zero or not empty", |args| Ok(truth(&args[0]))),
    ]
}

fn containers() -> Vec<Native> {
    vec![
        Native::whole(MODULE, "concat", &["a", "b"], ResultKind::Any, "Two strings or tuples joined", |args| {
            joined(args).ok_or_else(|| fault::wrong_type("two strings or two tuples", args[1].type_name()))
        }),
        Native::whole(MODULE, "contains", &["a", "b"], ResultKind::Boolean, "Whether b is a member of a", contains),
        Native::whole(MODULE, "getitem", &["a", "b"], ResultKind::Any, "Member b of a", getitem),
    ]
}

fn add(args: &[Value]) -> Result<Value, Fault> {
    joined(args).map_or_else(|| ops::add(&args[0], &args[1]), Ok)
}

fn joined(args: &[Value]) -> Option<Value> {
    match args {
        [Value::Str(left), Value::Str(right)] => Some(Value::Str(format!("{left}{right}").into())),
        [Value::Tuple(left), Value::Tuple(right)] => Some(Value::Tuple(left.iter().chain(right.iter()).cloned().collect())),
        _ => None,
    }
}

fn compared(comparison: Comparison, args: &[Value]) -> Result<Value, Fault> {
    let flag = ops::compare(comparison, &args[0], &args[1])?;
    Ok(flag.map_or(Value::Null, Value::Bool))
}

fn bitwise(args: &[Value], join: fn(i128, i128) -> i128) -> Result<Value, Fault> {
    if let [Value::Bool(left), Value::Bool(right)] = args {
        return Ok(Value::Bool(join((*left).into(), (*right).into()) != 0));
    }
    let mut bits = [0; 2];
    for (bits, arg) in bits.iter_mut().zip(args) {
        let arg = quantity(arg)?;
        match arguments::convert(&arg.number, arg.unit, crate::units::Unit::NONE)? {
            Number::Null => return Ok(Value::Null),
            number => *bits = arguments::integer(&number)?,
        }
    }
    Ok(arguments::plain(join(bits[0], bits[1])))
}

fn contains(args: &[Value]) -> Result<Value, Fault> {
    let flag = match (&args[0], &args[1]) {
        (Value::Str(text), Value::Str(part)) => Some(text.contains(&**part)),
        (Value::Dict(dict), Value::Str(key)) => Some(dict.contains_key(key)),
        (container, item) => ops::membership(item, super::python::members(container)?),
    };
    Ok(flag.map_or(Value::Null, Value::Bool))
}

fn getitem(args: &[Value]) -> Result<Value, Fault> {
    if let Value::Str(key) = &args[1] {
        return ops::key(&args[0], key);
    }
    let index = quantity(&args[1])?;
    let index = arguments::integer(&arguments::convert(&index.number, index.unit, crate::units::Unit::NONE)?)?;
    let index = i64::try_from(index).map_err(|_| fault::bad_value(format!("index {index} is out of range")))?;
    ops::index(&args[0], index)
}
