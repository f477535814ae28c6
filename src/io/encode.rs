//! Values to plain data: the schema, written.
//!
//! The fields of an object stand in the order of the alphabet, as the reference's YAML has them; those of a dict keep their own.

use std::sync::Arc;

use indexmap::IndexMap;

use super::decode::{CLASS, NEWEST, VERSION};
use super::fault;
use super::node::{Fields, MAX_DEPTH, Node};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::print::Float;
use crate::value::{Array, Column, Number, Quantity, Series, Value};

/// The document of a value; functions, and what is nested too deep to be read again, cannot be written.
pub fn document(value: &Value) -> Result<Node, Fault> {
    let node = encode(value, MAX_DEPTH)?;
    if node.depth() > MAX_DEPTH { Err(fault::too_deep(MAX_DEPTH)) } else { Ok(node) }
}

/// `levels` are those that may still follow.
fn encode(value: &Value, levels: usize) -> Result<Node, Fault> {
    let levels = levels.checked_sub(1).ok_or_else(|| fault::too_deep(MAX_DEPTH))?;
    let all =
        |values: &mut dyn Iterator<Item = Value>| values.map(|value| encode(&value, levels)).collect::<Result<_, _>>().map(Node::List);
    match value {
        Value::Null => Ok(Node::Null),
        Value::Bool(bool) => Ok(Node::Bool(*bool)),
        Value::Str(string) => Ok((**string).into()),
        Value::Quantity(quantity) => Ok(of_quantity(quantity)),
        Value::Tuple(members) => all(&mut members.iter().cloned()),
        Value::Dict(fields) => dict(fields, levels),
        Value::Series(series) => of_series(series, levels),
        Value::Table(table) => {
            let columns = table.columns().iter().map(|column| of_series(column, levels));
            Ok(object("FWDataFrame", [("data", Node::List(columns.collect::<Result<_, _>>()?))]))
        }
        Value::Array(array) => of_array(array),
        Value::Function(name) => Err(fault::not_exportable(format_args!("the function {name}"))),
    }
}

fn object<const N: usize>(class: &str, fields: [(&str, Node); N]) -> Node {
    let mut all = head(class);
    all.extend(fields.map(|(key, field)| (key.to_owned(), field)));
    all.into()
}

/// What every object begins with.
fn head(class: &str) -> Fields {
    let class = Node::Str(format!("{{{{virtmat.language.utilities.serializable.{class}}}}}"));
    Fields::from_iter([(CLASS.to_owned(), class), (VERSION.to_owned(), Node::Int(NEWEST))])
}

/// A missing number without unit is plain null.
fn of_quantity(quantity: &Quantity) -> Node {
    if quantity.is_null() && quantity.unit.is_none() {
        return Node::Null;
    }
    object("FWQuantity", [("data", Node::List(vec![magnitude(&quantity.number), factors(quantity.unit)]))])
}

fn magnitude(number: &Number) -> Node {
    match number {
        Number::Null => Node::Null,
        Number::Int(int) => Node::Int(*int),
        Number::Float(float) => Node::Float(*float),
        Number::Complex(complex) => object("FWComplex", [("imag", Node::Float(complex.im)), ("real", Node::Float(complex.re))]),
        Number::Uncertain(uncertain) => {
            object("FWUFloat", [("n", Node::Float(uncertain.nominal)), ("s", Node::Float(uncertain.std_dev()))])
        }
    }
}

/// Long names with exponents, which are integers where they can be.
fn factors(unit: Unit) -> Node {
    let exponent = |exponent: f64| {
        let whole = exponent as i128;
        if whole as f64 == exponent { Node::Int(whole) } else { Node::Float(exponent) }
    };
    Node::List(unit.factors().iter().map(|(name, power)| Node::List(vec![(**name).into(), exponent(*power)])).collect())
}

fn dict(fields: &IndexMap<Arc<str>, Value>, levels: usize) -> Result<Node, Fault> {
    let mut written = head("FWDict");
    for (key, field) in fields {
        if written.insert(key.to_string(), encode(field, levels)?).is_some() {
            return Err(fault::not_exportable(format_args!("a dict with the key '{key}', which names its class in files,")));
        }
    }
    Ok(written.into())
}

fn of_series(series: &Series, levels: usize) -> Result<Node, Fault> {
    let (name, datatype) = (Node::from(&*series.name), datatype(&series.data, series.unit));
    if ["int", "float", "complex"].contains(&datatype) {
        let data = Node::List(series.data.numbers().map(|number| magnitude(&number)).collect());
        let units = if series.unit.is_none() { "dimensionless".to_owned() } else { series.unit.exact_text() };
        return Ok(object("FWSeries", [("data", data), ("datatype", datatype.into()), ("name", name), ("units", Node::Str(units))]));
    }
    let levels = levels.checked_sub(1).ok_or_else(|| fault::too_deep(MAX_DEPTH))?;
    let data = series.values().map(|element| encode(&element, levels)).collect::<Result<_, _>>()?;
    Ok(object("FWSeries", [("data", Node::List(data)), ("datatype", datatype.into()), ("name", name)]))
}

/// The name of the element type; one of numbers only where the column holds nothing but numbers.
fn datatype(column: &Column, unit: Unit) -> &'static str {
    match column {
        Column::Int(_) => "int",
        Column::Float(_) => "float",
        Column::Complex(_) => "complex",
        // A unit has its place only in a series of numbers.
        Column::Null(_) => {
            if unit.is_none() {
                "object"
            } else {
                "float"
            }
        }
        Column::Bool(_) => {
            if (1..column.len()).contains(&column.null_count()) {
                "object"
            } else {
                "bool"
            }
        }
        Column::Str(_) => "object",
        Column::Object(_) => {
            if column.kind().is_some() {
                "float"
            } else {
                "object"
            }
        }
    }
}

fn of_array(array: &Array) -> Result<Node, Fault> {
    let mut leaves = match &array.data {
        Column::Bool(bools) => bools.iter().map(|bool| bool.map_or(Node::Null, Node::Bool)).collect::<Vec<_>>(),
        Column::Str(strings) => strings.iter().map(|string| string.map_or(Node::Null, Node::from)).collect(),
        Column::Null(_) | Column::Int(_) | Column::Float(_) => array.data.numbers().map(|number| magnitude(&number)).collect(),
        Column::Complex(_) => array.data.numbers().map(|number| Node::Str(python_complex(&number))).collect(),
        Column::Object(_) => return Err(fault::not_exportable("an array of objects")),
    }
    .into_iter();
    let data = nested(&array.shape, &mut leaves);
    let numeric =
        |dtype: &str, data| object("FWNumArray", [("data", Node::List(vec![data, factors(array.unit)])), ("dtype", dtype.into())]);
    Ok(match &array.data {
        Column::Bool(_) => object("FWBoolArray", [("data", data)]),
        Column::Str(_) => object("FWStrArray", [("data", data)]),
        Column::Int(_) => numeric("int64", data),
        Column::Complex(_) => numeric("complex128", data),
        Column::Null(_) | Column::Float(_) | Column::Object(_) => numeric("float64", data),
    })
}

/// The next leaves as lists in lists of this shape.
fn nested(shape: &[usize], leaves: &mut impl Iterator<Item = Node>) -> Node {
    match shape {
        [] => leaves.next().unwrap_or(Node::Null),
        [len, inner @ ..] => Node::List((0..*len).map(|_| nested(inner, leaves)).collect()),
    }
}

/// `(1+2j)`, `2j`
fn python_complex(number: &Number) -> String {
    let complex = number.as_complex().unwrap_or_default();
    let part = |float: f64| Float(float).to_string();
    let (re, im) = (part(complex.re), part(complex.im));
    let [re, im] = [&re, &im].map(|text| text.strip_suffix(".0").unwrap_or(text));
    match (re, im.starts_with('-')) {
        ("0", _) => format!("{im}j"),
        (_, true) => format!("({re}{im}j)"),
        (_, false) => format!("({re}+{im}j)"),
    }
}
