//! Values as JSON.
//!
//! The form is `{"format": "scl-value", "version": 1, "sha256": "…", "value": …}`, the checksum being that of the bytes of `value`.
//! Numbers are text in Rust's own shortest form, which reads back to the same bits, also for infinities and integers of 128 bits.

use std::sync::Arc;

use indexmap::IndexMap;
use num_complex::Complex64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use super::{VERSION, check, checksum, unit_text};
use crate::diagnostic::Fault;
use crate::units::{Unit, UnitError};
use crate::value::{Array, Column, Number, Quantity, Series, Table, Uncertain, Value, fault};

const FORMAT: &str = "scl-value";

/// The bytes of any value.
pub fn encode(value: &Value) -> Vec<u8> {
    let body = serde_json::to_string(&Wire::from(value)).expect("all keys are strings and no number is written as one");
    let sum = checksum(&[body.as_bytes()]);
    format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"sha256\":\"{sum}\",\"value\":{body}}}\n").into_bytes()
}

/// The value of these bytes.
pub fn decode(bytes: &[u8]) -> Result<Value, Fault> {
    let envelope: Envelope = serde_json::from_slice(bytes).map_err(fault::damaged)?;
    if envelope.format != FORMAT || envelope.version != VERSION {
        return Err(fault::damaged("another format or version"));
    }
    check(&envelope.sha256, &checksum(&[envelope.value.get().as_bytes()]))?;
    let wire: Wire = serde_json::from_str(envelope.value.get()).map_err(fault::damaged)?;
    wire.value()
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wire::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Wire::deserialize(deserializer)?.value().map_err(refusal)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WireNumber::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        WireNumber::deserialize(deserializer)?.number().map_err(refusal)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.number, WireUnit(self.unit)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (number, WireUnit(unit)) = Deserialize::deserialize(deserializer)?;
        Ok(Quantity { number, unit })
    }
}

fn refusal<E: de::Error>(fault: Fault) -> E {
    E::custom(fault.message)
}

#[derive(Deserialize)]
struct Envelope<'a> {
    format: String,
    version: u32,
    sha256: String,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// The shape of a value in JSON.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wire {
    Null,
    Bool(bool),
    Str(Arc<str>),
    Quantity(WireNumber, WireUnit),
    Tuple(Vec<Wire>),
    Dict(Vec<(Arc<str>, Wire)>),
    Series(WireSeries),
    Table(Vec<WireSeries>),
    Array { shape: Vec<usize>, unit: WireUnit, data: WireColumn },
    Function(Arc<str>),
}

#[derive(Serialize, Deserialize)]
struct WireSeries {
    name: Arc<str>,
    unit: WireUnit,
    data: WireColumn,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireColumn {
    Null(usize),
    Bool(Vec<Option<bool>>),
    Str(Vec<Option<Arc<str>>>),
    Int(Vec<Option<i64>>),
    Float(Vec<Option<Text>>),
    Complex(Vec<Option<(Text, Text)>>),
    Object(Vec<Wire>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireNumber {
    Null,
    Int(String),
    Float(Text),
    Complex(Text, Text),
    Uncertain(Text, Vec<(u64, Text)>),
}

/// A double as text.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct Text(f64);

impl From<Text> for String {
    fn from(text: Text) -> String {
        format!("{:?}", text.0)
    }
}

impl TryFrom<String> for Text {
    type Error = std::num::ParseFloatError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Text)
    }
}

/// A unit as text.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
struct WireUnit(Unit);

impl From<WireUnit> for String {
    fn from(unit: WireUnit) -> String {
        unit_text(unit.0)
    }
}

impl TryFrom<String> for WireUnit {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Unit::parse(&text).map(WireUnit)
    }
}

impl From<&Value> for Wire {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Wire::Null,
            Value::Bool(bool) => Wire::Bool(*bool),
            Value::Str(string) => Wire::Str(Arc::clone(string)),
            Value::Quantity(quantity) => Wire::Quantity((&quantity.number).into(), WireUnit(quantity.unit)),
            Value::Tuple(members) => Wire::Tuple(members.iter().map(Wire::from).collect()),
            Value::Dict(fields) => Wire::Dict(fields.iter().map(|(key, field)| (Arc::clone(key), field.into())).collect()),
            Value::Series(series) => Wire::Series((&**series).into()),
            Value::Table(table) => Wire::Table(table.columns().iter().map(|column| (&**column).into()).collect()),
            Value::Array(array) => Wire::Array { shape: array.shape.clone(), unit: WireUnit(array.unit), data: (&array.data).into() },
            Value::Function(name) => Wire::Function(Arc::clone(name)),
        }
    }
}

impl Wire {
    fn value(self) -> Result<Value, Fault> {
        Ok(match self {
            Wire::Null => Value::Null,
            Wire::Bool(bool) => Value::Bool(bool),
            Wire::Str(string) => Value::Str(string),
            Wire::Quantity(number, unit) => Value::Quantity(Quantity { number: number.number()?, unit: unit.0 }),
            Wire::Tuple(members) => Value::Tuple(members.into_iter().map(Wire::value).collect::<Result<_, _>>()?),
            Wire::Dict(fields) => {
                let fields = fields.into_iter().map(|(key, field)| Ok((key, field.value()?)));
                Value::Dict(Arc::new(fields.collect::<Result<IndexMap<_, _>, Fault>>()?))
            }
            Wire::Series(series) => series.series()?.into(),
            Wire::Table(columns) => {
                let columns = columns.into_iter().map(|column| column.series().map(Arc::new));
                Table::new(columns.collect::<Result<_, _>>()?)?.into()
            }
            Wire::Array { shape, unit, data } => Array::new(shape, data.column()?, unit.0)?.into(),
            Wire::Function(name) => Value::Function(name),
        })
    }
}

impl From<&Series> for WireSeries {
    fn from(series: &Series) -> Self {
        WireSeries { name: Arc::clone(&series.name), unit: WireUnit(series.unit), data: (&*series.data).into() }
    }
}

impl WireSeries {
    fn series(self) -> Result<Series, Fault> {
        Ok(Series::new(self.name, self.data.column()?, self.unit.0))
    }
}

impl From<&Column> for WireColumn {
    fn from(column: &Column) -> Self {
        let complex = |number: Number| number.as_complex().map(|complex| (Text(complex.re), Text(complex.im)));
        match column {
            Column::Null(len) => WireColumn::Null(*len),
            Column::Bool(array) => WireColumn::Bool(array.iter().collect()),
            Column::Str(array) => WireColumn::Str(array.iter().map(|string| string.map(Arc::from)).collect()),
            Column::Int(array) => WireColumn::Int(array.iter().collect()),
            Column::Float(array) => WireColumn::Float(array.iter().map(|float| float.map(Text)).collect()),
            Column::Complex(_) => WireColumn::Complex(column.numbers().map(complex).collect()),
            Column::Object(values) => WireColumn::Object(values.iter().map(Wire::from).collect()),
        }
    }
}

impl WireColumn {
    fn column(self) -> Result<Column, Fault> {
        Ok(match self {
            WireColumn::Null(len) => Column::Null(len),
            WireColumn::Bool(bools) => bools.into_iter().collect(),
            WireColumn::Str(strings) => Column::from_strings(strings.iter().map(Option::as_deref))?,
            WireColumn::Int(ints) => ints.into_iter().collect(),
            WireColumn::Float(floats) => floats.into_iter().map(|float| float.map(|text| text.0)).collect(),
            WireColumn::Complex(pairs) => pairs.into_iter().map(|pair| pair.map(|(re, im)| Complex64::new(re.0, im.0))).collect(),
            WireColumn::Object(values) => Column::Object(values.into_iter().map(Wire::value).collect::<Result<_, _>>()?),
        })
    }
}

impl From<&Number> for WireNumber {
    fn from(number: &Number) -> Self {
        match number {
            Number::Null => WireNumber::Null,
            Number::Int(int) => WireNumber::Int(int.to_string()),
            Number::Float(float) => WireNumber::Float(Text(*float)),
            Number::Complex(complex) => WireNumber::Complex(Text(complex.re), Text(complex.im)),
            Number::Uncertain(uncertain) => {
                let terms = uncertain.terms.iter().map(|(variable, term)| (*variable, Text(*term)));
                WireNumber::Uncertain(Text(uncertain.nominal), terms.collect())
            }
        }
    }
}

impl WireNumber {
    fn number(self) -> Result<Number, Fault> {
        Ok(match self {
            WireNumber::Null => Number::Null,
            WireNumber::Int(text) => Number::Int(text.parse().map_err(fault::damaged)?),
            WireNumber::Float(float) => Number::Float(float.0),
            WireNumber::Complex(re, im) => Number::Complex(Complex64::new(re.0, im.0)),
            WireNumber::Uncertain(nominal, terms) => uncertain(nominal, terms)?.into(),
        })
    }
}

/// Terms must ascend, as all arithmetic on them assumes.
fn uncertain(nominal: Text, terms: Vec<(u64, Text)>) -> Result<Uncertain, Fault> {
    if !terms.is_sorted_by(|(left, _), (right, _)| left < right) {
        return Err(fault::damaged("terms out of order"));
    }
    Ok(Uncertain { nominal: nominal.0, terms: terms.into_iter().map(|(variable, term)| (variable, term.0)).collect() })
}
