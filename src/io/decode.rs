//! Plain data to values: the schema, read.
//!
//! An object names its class in `_fw_name` and the version of the schema in `_version` (without one it is of the oldest). What the
//! data are counts more than what `datatype` says: integers in a series of datatype `float` stay integers, as in the reference.
//! An array's `dtype` counts, but never cuts a number short.

use std::sync::Arc;

use super::fault;
use super::node::{Fields, Node};
use crate::diagnostic::Fault;
use crate::model::LoadKind;
use crate::units::Unit;
use crate::value::{Array, Column, Complex64, Number, NumberKind, Quantity, Series, Table, Uncertain, Value};

/// Name of the field that holds the class.
pub const CLASS: &str = "_fw_name";

/// Name of the field that holds the version of the schema.
pub const VERSION: &str = "_version";

/// The version of the schema that is written, and the newest that is read.
pub const NEWEST: i128 = 17;

/// A value of a kind, or null.
pub fn typed(node: Node, kind: LoadKind) -> Result<Value, Fault> {
    let (expected, datatype) = wanted(kind);
    let found = type_name(&node);
    if found != expected && node != Node::Null {
        return Err(if found == UNKNOWN { unknown(class(&node).unwrap_or_default()) } else { fault::wrong_type(expected, found) });
    }
    let value = value(node)?;
    match (datatype, value.datatype_name()) {
        (Some(expected), Some(found)) if !subsumes(expected, found) => Err(fault::wrong_datatype(expected, found)),
        _ => Ok(value),
    }
}

/// Whether elements of one datatype may be read as those of another: integers as floats, and both as complex numbers. They stay as
/// they are.
fn subsumes(wider: &str, datatype: &str) -> bool {
    wider == datatype || matches!((wider, datatype), ("Float", "Integer") | ("Complex", "Integer" | "Float"))
}

/// A value of whichever type a document holds; a bare number is none, as it would not be read as a quantity.
pub fn document(node: Node) -> Result<Value, Fault> {
    match node {
        Node::Int(_) | Node::Float(_) => Err(fault::wrong_type("Quantity", type_name(&node))),
        Node::Null | Node::Bool(_) | Node::Str(_) | Node::List(_) | Node::Map(_) => value(node),
    }
}

/// A value of any type, anywhere in a document.
fn value(node: Node) -> Result<Value, Fault> {
    match node {
        Node::Null => Ok(Value::Null),
        Node::Bool(bool) => Ok(Value::Bool(bool)),
        Node::Int(int) => Ok(Number::Int(int).into()),
        Node::Float(float) => Ok(float.into()),
        Node::Str(string) => Ok(string.as_str().into()),
        Node::List(items) => values(items).map(Value::from),
        Node::Map(ref fields) if fields.contains_key(CLASS) => object(Object::open(node)?),
        Node::Map(fields) => dict(*fields),
    }
}

/// The type, and the type of the elements, that a kind of source stands for.
fn wanted(kind: LoadKind) -> (&'static str, Option<&'static str>) {
    match kind {
        LoadKind::Quantity => ("Quantity", None),
        LoadKind::Bool => ("Boolean", None),
        LoadKind::String => ("String", None),
        LoadKind::Series => ("Series", None),
        LoadKind::Table => ("Table", None),
        LoadKind::BoolArray => ("Array", Some("Boolean")),
        LoadKind::StrArray => ("Array", Some("String")),
        LoadKind::IntArray => ("Array", Some("Integer")),
        LoadKind::FloatArray => ("Array", Some("Float")),
        LoadKind::ComplexArray => ("Array", Some("Complex")),
        LoadKind::Structure => ("AMMLStructure", None),
    }
}

const UNKNOWN: &str = "an object of an unknown class";

/// The type that a node holds by its form, before anything in it is looked at.
fn type_name(node: &Node) -> &'static str {
    match node {
        Node::Null => "null",
        Node::Bool(_) => "Boolean",
        Node::Int(_) => "Integer",
        Node::Float(_) => "Float",
        Node::Str(_) => "String",
        Node::List(_) => "Tuple",
        Node::Map(_) => match class(node) {
            None | Some("FWDict") => "Dict",
            Some("FWQuantity") => "Quantity",
            Some("FWSeries") => "Series",
            Some("FWDataFrame") => "Table",
            Some("FWNumArray" | "FWBoolArray" | "FWStrArray") => "Array",
            Some("FWComplex") => "Complex",
            Some("FWUFloat") => "an uncertain Float",
            Some(other) => FOREIGN.iter().find(|(class, _)| *class == other).map_or(UNKNOWN, |(_, name)| name),
        },
    }
}

/// Classes without a counterpart here.
const FOREIGN: [(&str, &str); 8] = [
    ("FWAMMLStructure", "AMMLStructure"),
    ("FWCalculator", "Calculator"),
    ("FWAlgorithm", "Algorithm"),
    ("FWProperty", "Property"),
    ("FWConstraint", "Constraint"),
    ("FWTrajectory", "Trajectory"),
    ("FWChemSpecies", "ChemSpecies"),
    ("FWChemReaction", "ChemReaction"),
];

/// `FWSeries` of `{{virtmat.language.utilities.serializable.FWSeries}}`; empty when the class is no string.
fn class(node: &Node) -> Option<&str> {
    let Node::Map(fields) = node else { return None };
    match fields.get(CLASS)? {
        Node::Str(path) => Some(path.trim_end_matches("}}").rsplit('.').next().unwrap_or_default()),
        _ => Some(""),
    }
}

fn unknown(class: &str) -> Fault {
    if FOREIGN.iter().any(|(foreign, _)| *foreign == class) { fault::class_unsupported(class) } else { fault::unknown_class(class) }
}

/// The fields of an object of a class.
struct Object {
    class: String,
    fields: Fields,
}

impl Object {
    /// Reads class and version.
    fn open(node: Node) -> Result<Object, Fault> {
        let class = class(&node).unwrap_or_default().to_owned();
        let Node::Map(mut fields) = node else { return Err(fault::bad_part("a part", "an object", type_name(&node))) };
        fields.shift_remove(CLASS);
        match fields.shift_remove(VERSION) {
            None | Some(Node::Null) => {}
            Some(Node::Int(0..=NEWEST)) => {}
            Some(Node::Int(version)) => return Err(fault::unknown_version(version, NEWEST)),
            Some(other) => return Err(fault::bad_part(VERSION, "a whole number", type_name(&other))),
        }
        Ok(Object { class, fields: *fields })
    }

    fn take(&mut self, field: &str) -> Result<Node, Fault> {
        let missing = || fault::bad_part(format_args!("{} of {}", field, self.class), "there", "missing");
        self.fields.shift_remove(field).ok_or_else(missing)
    }

    fn list(&mut self, field: &str) -> Result<Vec<Node>, Fault> {
        match self.take(field)? {
            Node::List(items) => Ok(items),
            other => Err(self.bad(field, "a list", &other)),
        }
    }

    /// `[content, units]`
    fn with_units(&mut self) -> Result<(Node, Unit), Fault> {
        let pair: Result<[Node; 2], _> = self.list("data")?.try_into();
        let [content, units] = pair
            .map_err(|list| fault::bad_part(format_args!("data of {}", self.class), "a pair", format_args!("a list of {}", list.len())))?;
        Ok((content, factors(units)?))
    }

    /// A string; `None` when it is null or not there.
    fn string(&mut self, field: &str) -> Result<Option<String>, Fault> {
        match self.fields.shift_remove(field) {
            None | Some(Node::Null) => Ok(None),
            Some(Node::Str(string)) => Ok(Some(string)),
            Some(other) => Err(self.bad(field, "a String", &other)),
        }
    }

    fn float(&mut self, field: &str) -> Result<f64, Fault> {
        match self.take(field)? {
            Node::Int(int) => Ok(int as f64),
            Node::Float(float) => Ok(float),
            other => Err(self.bad(field, "a number", &other)),
        }
    }

    fn bad(&self, field: &str, expected: &str, found: &Node) -> Fault {
        fault::bad_part(format_args!("{field} of {}", self.class), expected, type_name(found))
    }
}

fn object(mut object: Object) -> Result<Value, Fault> {
    match object.class.as_str() {
        "FWQuantity" => {
            let (magnitude, unit) = object.with_units()?;
            Ok(Quantity { number: number(magnitude)?, unit }.into())
        }
        "FWSeries" => series(object).map(Value::from),
        "FWDataFrame" => table(object).map(Value::from),
        "FWNumArray" => numeric_array(object).map(Value::from),
        "FWBoolArray" => bool_array(object).map(Value::from),
        "FWStrArray" => string_array(object).map(Value::from),
        "FWDict" => dict(object.fields),
        "FWComplex" => complex(object).map(Value::from),
        "FWUFloat" => uncertain(object).map(Value::from),
        other => Err(unknown(other)),
    }
}

fn values(items: Vec<Node>) -> Result<Vec<Value>, Fault> {
    items.into_iter().map(value).collect()
}

fn dict(fields: Fields) -> Result<Value, Fault> {
    let fields = fields.into_iter().map(|(key, field)| Ok((key.as_str().into(), value(field)?)));
    Ok(Value::Dict(Arc::new(fields.collect::<Result<_, Fault>>()?)))
}

/// A magnitude; a complex one may be a pair.
fn number(node: Node) -> Result<Number, Fault> {
    match node {
        Node::Null => Ok(Number::Null),
        Node::Int(int) => Ok(Number::Int(int)),
        Node::Float(float) => Ok(Number::Float(float)),
        Node::List(parts) => pair(&parts).map(Number::Complex),
        Node::Map(_) => match class(&node) {
            Some("FWComplex") => complex(Object::open(node)?),
            Some("FWUFloat") => uncertain(Object::open(node)?),
            _ => Err(not_a_number(&node)),
        },
        Node::Bool(_) | Node::Str(_) => Err(not_a_number(&node)),
    }
}

fn not_a_number(node: &Node) -> Fault {
    fault::bad_part("a magnitude", "a number", type_name(node))
}

fn pair(parts: &[Node]) -> Result<Complex64, Fault> {
    let part = |node: &Node| match node {
        Node::Int(int) => Some(*int as f64),
        Node::Float(float) => Some(*float),
        _ => None,
    };
    match parts {
        [re, im] => part(re).zip(part(im)).map(|(re, im)| Complex64::new(re, im)),
        _ => None,
    }
    .ok_or_else(|| fault::bad_part("a complex number", "a pair of numbers", "another list"))
}

fn complex(mut object: Object) -> Result<Number, Fault> {
    Ok(Complex64::new(object.float("real")?, object.float("imag")?).into())
}

fn uncertain(mut object: Object) -> Result<Number, Fault> {
    let (nominal, std_dev) = (object.float("n")?, object.float("s")?);
    let number = Uncertain::fresh(nominal, std_dev);
    number.map(Number::Uncertain).ok_or_else(|| fault::bad_part("s of FWUFloat", "at least zero", std_dev))
}

/// `[["meter", 1], ["second", -1]]`
fn factors(node: Node) -> Result<Unit, Fault> {
    let bad = |found: &Node| fault::bad_part("units", "a list of names with exponents", type_name(found));
    let Node::List(factors) = node else { return Err(bad(&node)) };
    let factor = |node: &Node| match node {
        Node::List(pair) => match pair.as_slice() {
            [Node::Str(name), Node::Int(exponent)] => Ok((name.clone(), *exponent as f64)),
            [Node::Str(name), Node::Float(exponent)] if exponent.is_finite() => Ok((name.clone(), *exponent)),
            _ => Err(bad(node)),
        },
        _ => Err(bad(node)),
    };
    let factors = factors.iter().map(factor).collect::<Result<Vec<_>, Fault>>()?;
    Unit::from_factors(factors.iter().map(|(name, exponent)| (name.as_str(), *exponent))).map_err(fault::bad_unit)
}

fn series(mut object: Object) -> Result<Series, Fault> {
    let name = object.string("name")?.ok_or_else(|| fault::bad_part("name of FWSeries", "a String", "missing"))?;
    let elements = elements(&mut object).map_err(|flaw| fault::within(flaw, format_args!("series '{name}'")))?;
    Ok(Series::new(name.as_str(), elements.0, elements.1))
}

fn elements(object: &mut Object) -> Result<(Column, Unit), Fault> {
    let data = object.list("data")?;
    let units = object.string("units")?;
    let datatype = object.string("datatype")?.unwrap_or_default();
    if units.is_none() && !["int", "float", "complex"].contains(&datatype.as_str()) {
        let (column, unit) = Column::from_values(values(data)?)?;
        return Ok((of_datatype(column, &datatype), unit));
    }
    let unit = Unit::parse(&units.unwrap_or_default()).map_err(fault::bad_unit)?;
    let numbers =
        data.into_iter().enumerate().map(|(i, node)| number(node).map_err(|flaw| fault::within(flaw, format_args!("element {i}"))));
    let column = Column::from_numbers(numbers.collect::<Result<_, _>>()?)?;
    Ok((of_datatype(column, &datatype), unit))
}

/// Where all elements are missing, only the datatype tells what they would be.
fn of_datatype(column: Column, datatype: &str) -> Column {
    let Column::Null(len) = column else { return column };
    match datatype {
        "int" => Column::from(Vec::<i64>::new()).nulls_like(len),
        "float" => Column::from(Vec::<f64>::new()).nulls_like(len),
        "complex" => std::iter::repeat_n(None::<Complex64>, len).collect(),
        "bool" => Column::from(Vec::<bool>::new()).nulls_like(len),
        _ => column,
    }
}

fn table(mut object: Object) -> Result<Table, Fault> {
    let column = |node: Node| match class(&node) {
        Some("FWSeries") => series(Object::open(node)?).map(Arc::new),
        _ => Err(fault::bad_part("a column of a table", "Series", type_name(&node))),
    };
    Table::new(object.list("data")?.into_iter().map(column).collect::<Result<_, _>>()?)
}

fn numeric_array(mut object: Object) -> Result<Array, Fault> {
    let (content, unit) = object.with_units()?;
    let dtype = object.string("dtype")?.unwrap_or_default();
    let kind = number_kind(&dtype).ok_or_else(|| fault::bad_part("dtype of FWNumArray", "one of numbers", format_args!("'{dtype}'")))?;
    let (shape, leaves) = flatten(content)?;
    let numbers: Vec<Number> = leaves.into_iter().map(|leaf| array_number(leaf, kind)).collect::<Result<_, _>>()?;
    let empty = || std::iter::empty::<Option<Complex64>>().collect();
    let data = match kind {
        NumberKind::Int if numbers.is_empty() => Column::from(Vec::<i64>::new()),
        NumberKind::Float if numbers.is_empty() => Column::from(Vec::<f64>::new()),
        NumberKind::Complex | NumberKind::Uncertain if numbers.is_empty() => empty(),
        _ => Column::from_numbers(numbers)?,
    };
    Array::new(shape, data, unit)
}

/// The kind of number that a NumPy type holds; widths do not matter.
fn number_kind(dtype: &str) -> Option<NumberKind> {
    match dtype.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "int" | "uint" => Some(NumberKind::Int),
        "float" => Some(NumberKind::Float),
        "complex" => Some(NumberKind::Complex),
        _ => None,
    }
}

/// An element of a numeric array as the kind of all of them.
fn array_number(node: Node, kind: NumberKind) -> Result<Number, Fault> {
    match (node, kind) {
        (Node::Int(int), NumberKind::Int) => Ok(Number::Int(int)),
        (Node::Int(int), NumberKind::Float) => Ok(Number::Float(int as f64)),
        (Node::Float(float), NumberKind::Float) => Ok(Number::Float(float)),
        (Node::Int(int), NumberKind::Complex) => Ok(Complex64::new(int as f64, 0.0).into()),
        (Node::Float(float), NumberKind::Complex) => Ok(Complex64::new(float, 0.0).into()),
        (Node::Str(text), NumberKind::Complex) => python_complex(&text)
            .map(Number::Complex)
            .ok_or_else(|| fault::bad_part("an element", "a complex number", format_args!("'{text}'"))),
        (Node::Null, _) => Ok(Number::Null),
        (other, kind) => Err(fault::wrong_datatype(kind.name(), type_name(&other))),
    }
}

/// `(1+2j)`, `2j`, `(nan-infj)`
pub fn python_complex(text: &str) -> Option<Complex64> {
    let bare = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let Some(parts) = bare.strip_suffix(['j', 'J']) else { return Some(Complex64::new(bare.parse().ok()?, 0.0)) };
    // The sign of the imaginary part is the last one that is not an exponent's.
    let bytes = parts.as_bytes();
    let split = (1..bytes.len()).rev().find(|&i| b"+-".contains(&bytes[i]) && !b"eE".contains(&bytes[i - 1])).unwrap_or(0);
    let (re, im) = parts.split_at(split);
    Some(Complex64::new(if re.is_empty() { 0.0 } else { re.parse().ok()? }, im.parse().ok()?))
}

fn bool_array(mut object: Object) -> Result<Array, Fault> {
    let (shape, leaves) = flatten(object.take("data")?)?;
    let leaf = |node: Node| match node {
        Node::Bool(bool) => Ok(bool),
        other => Err(fault::wrong_datatype("Boolean", type_name(&other))),
    };
    let bools: Vec<bool> = leaves.into_iter().map(leaf).collect::<Result<_, _>>()?;
    Array::new(shape, bools.into(), Unit::NONE)
}

fn string_array(mut object: Object) -> Result<Array, Fault> {
    let (shape, leaves) = flatten(object.take("data")?)?;
    let leaf = |node: Node| match node {
        Node::Str(string) => Ok(string),
        other => Err(fault::wrong_datatype("String", type_name(&other))),
    };
    let strings: Vec<String> = leaves.into_iter().map(leaf).collect::<Result<_, _>>()?;
    Array::new(shape, Column::from_strings(strings.iter().map(|string| Some(string.as_str())))?, Unit::NONE)
}

/// Lists in lists as their shape and what is in them, in the order of writing.
fn flatten(node: Node) -> Result<(Vec<usize>, Vec<Node>), Fault> {
    let mut shape = Vec::new();
    let mut first = Some(&node);
    while let Some(Node::List(items)) = first {
        shape.push(items.len());
        first = items.first();
    }
    if shape.is_empty() {
        return Err(fault::bad_part("data of an array", "a list", type_name(&node)));
    }
    let mut leaves = Vec::new();
    collect(node, &shape, &mut leaves)?;
    Ok((shape, leaves))
}

fn collect(node: Node, shape: &[usize], leaves: &mut Vec<Node>) -> Result<(), Fault> {
    match (node, shape) {
        (Node::List(items), [len, inner @ ..]) if items.len() == *len => {
            items.into_iter().try_for_each(|item| collect(item, inner, leaves))
        }
        (Node::List(items), [len, ..]) => Err(fault::bad_part("a row of an array", format_args!("of {len} elements"), items.len())),
        (node @ Node::List(_), []) => Err(fault::bad_part("an element of an array", "no list", type_name(&node))),
        (node, [_, ..]) => Err(fault::bad_part("a row of an array", "a list", type_name(&node))),
        (leaf, []) => {
            leaves.push(leaf);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_numbers_of_python() {
        let cases = [
            ("(1+2j)", 1.0, 2.0),
            ("2j", 0.0, 2.0),
            ("-2j", 0.0, -2.0),
            ("(3-1e-05j)", 3.0, -1e-5),
            ("(1e+22+1e-07j)", 1e22, 1e-7),
            ("1.5", 1.5, 0.0),
            ("(-0-0j)", -0.0, -0.0),
        ];
        for (text, re, im) in cases {
            let complex = python_complex(text).unwrap();
            assert_eq!((complex.re.to_bits(), complex.im.to_bits()), (f64::to_bits(re), f64::to_bits(im)), "{text}");
        }
        let odd = python_complex("(nan-infj)").unwrap();
        assert!(odd.re.is_nan() && odd.im == f64::NEG_INFINITY);
        for text in ["", "j", "()", "(1+j)", "1+2", "(1+2j", "a"] {
            assert!(python_complex(text).is_none(), "{text}");
        }
    }
}
