//! Constants in a task's file: in the form that the value codec gives them, as JSON where it is JSON.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::value::{Value, codec};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Json(Box<RawValue>),
    /// Hexadecimal digits.
    Arrow(String),
}

pub(super) fn serialize<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    let bytes = codec::encode(value);
    let form = if codec::is_arrow(&bytes) { Form::Arrow(to_hex(&bytes)) } else { Form::Json(raw(bytes).map_err(S::Error::custom)?) };
    form.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let bytes = match Form::deserialize(deserializer)? {
        Form::Json(text) => text.get().as_bytes().to_vec(),
        Form::Arrow(digits) => from_hex(&digits).ok_or_else(|| D::Error::custom("not hexadecimal"))?,
    };
    codec::decode(&bytes).map_err(|fault| D::Error::custom(fault.message))
}

fn raw(bytes: Vec<u8>) -> Result<Box<RawValue>, String> {
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    RawValue::from_string(text).map_err(|error| error.to_string())
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect::<Option<_>>();
    bytes.filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Float64Array;

    use super::*;
    use crate::units::Unit;
    use crate::value::{Column, Number, Quantity, Series};

    #[derive(Serialize, Deserialize)]
    struct Literal(#[serde(with = "super")] Value);

    #[test]
    fn every_bit_survives() {
        let number = |number| Value::Quantity(Quantity { number, unit: Unit::parse("km").expect("a unit") });
        let column = Column::Float(Float64Array::from(vec![Some(1.5), None, Some(f64::NAN)]));
        let series = Series { name: "s".into(), unit: Unit::NONE, data: column.into() };
        let values = [
            Value::Null,
            Value::Str("\"{\u{0}\n".into()),
            number(Number::Int(i128::MIN)),
            number(Number::Float(f64::INFINITY)),
            number(Number::Float(-0.0)),
            Value::Series(Arc::new(series)),
        ];
        for value in values {
            let json = serde_json::to_string(&Literal(value.clone())).expect("a literal");
            let Literal(read) = serde_json::from_str(&json).expect("as written");
            assert_eq!(codec::digest(&read), codec::digest(&value), "{json}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for json in [r#"{"json":3}"#, r#"{"arrow":"4"}"#, r#"{"arrow":"zz"}"#, r#"{"arrow":"é"}"#, r#"{"arrow":""}"#, "3"] {
            assert!(serde_json::from_str::<Literal>(json).is_err(), "{json}");
        }
    }
}
