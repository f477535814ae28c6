//! Round trips of arbitrary values, and of damaged bytes.

use std::sync::Arc;

use bytes::Bytes;
use num_complex::Complex64;
use proptest::collection::vec;
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::{Encoded, decode, decode_verified, digest, encode, is_arrow};
use crate::units::Unit;
use crate::value::{Array, Column, Data, Number, Quantity, Range, Series, Table, Uncertain, Value};

fn unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(vec!["", "m", "km/s", "1/s", "m*km", "km*m/s**2", "degC", "s**0.3333333333333333", "delta_degF"])
        .prop_map(|text| Unit::parse(text).unwrap())
}

fn any_float() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits)
}

fn complex() -> impl Strategy<Value = Complex64> {
    (any_float(), any_float()).prop_map(|(re, im)| Complex64::new(re, im))
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        Just(Number::Null),
        any::<i128>().prop_map(Number::Int),
        any_float().prop_map(Number::Float),
        complex().prop_map(Number::Complex),
        (any_float(), 0.0..9.0).prop_map(|(nominal, std_dev)| Uncertain::fresh(nominal, std_dev).unwrap().into()),
    ]
}

fn flat_column(len: usize) -> impl Strategy<Value = Column> {
    let longer = len + 3;
    let column = prop_oneof![
        Just(Column::Null(longer)),
        vec(any::<Option<bool>>(), longer).prop_map(Column::from_iter),
        vec(any::<Option<i64>>(), longer).prop_map(Column::from_iter),
        vec(prop::option::of(any_float()), longer).prop_map(Column::from_iter),
        vec(prop::option::of(complex()), longer).prop_map(Column::from_iter),
        vec(prop::option::of("[a-zäß'\"\\\\]{0,4}"), longer)
            .prop_map(|strings| Column::from_strings(strings.iter().map(Option::as_deref)).unwrap()),
    ];
    // A slice, so that offsets into buffers and bitmaps are met.
    (column, 0..3_usize).prop_map(move |(column, start)| column.slice(start, len))
}

fn table(len: usize) -> impl Strategy<Value = Table> {
    vec((flat_column(len), unit()), 1..4).prop_map(|columns| {
        let series = columns.into_iter().enumerate().map(|(i, (data, unit))| Arc::new(Series::new(format!("c {i}"), data, unit)));
        Table::new(series.collect()).unwrap()
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        ".{0,5}".prop_map(|text| Value::from(text.as_str())),
        (number(), unit()).prop_map(|(number, unit)| Quantity { number, unit }.into()),
        (0..20_usize).prop_flat_map(flat_column).prop_map(|data| Series::new("s", data, Unit::NONE).into()),
        (0..20_usize).prop_flat_map(table).prop_map(Value::from),
        (vec(any::<i64>(), 6), unit()).prop_map(|(ints, unit)| Array::new(vec![2, 3], ints.into(), unit).unwrap().into()),
        Just(Value::Function("math.sqrt".into())),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec(("[a-z]{1,3}", inner.clone()), 0..4).prop_map(|fields| {
                Value::Dict(Arc::new(fields.into_iter().map(|(key, field)| (key.as_str().into(), field)).collect()))
            }),
            vec(inner, 0..4).prop_map(|values| Series::new("o", Column::Object(values.into()), Unit::NONE).into()),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_survives(value in value()) {
        let back = decode(&encode(&value)).unwrap();
        prop_assert!(back.same(&value), "{} became {}", value, back);
        prop_assert_eq!(back.to_string(), value.to_string());
    }

    #[test]
    fn values_are_serializable_inside_other_things(value in value(), number in number(), unit in unit()) {
        let things = vec![value, Quantity { number, unit }.into()];
        let back: Vec<Value> = serde_json::from_str(&serde_json::to_string(&things).unwrap()).unwrap();
        prop_assert!(back.iter().zip(&things).all(|(back, thing)| back.same(thing)));
    }

    #[test]
    fn a_changed_byte_is_noticed(value in value(), place in any::<prop::sample::Index>(), change in 1..=255_u8) {
        let mut bytes = encode(&value);
        let last = bytes.len() - 1;
        // The line feed at the end of JSON is the only byte that may change, to other white space.
        let place = place.index(last);
        bytes[place] ^= change;
        prop_assert!(decode(&bytes).is_err());
        prop_assert!(decode(&bytes[..place]).is_err());
    }

    #[test]
    fn any_bytes_are_refused_without_panic(mut bytes in vec(any::<u8>(), 0..200), arrow in any::<bool>()) {
        if arrow {
            bytes.splice(0..0, *b"ARROW1\0\0");
            bytes.extend_from_slice(b"ARROW1");
        }
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn a_digest_sees_no_layout(ints in vec(any::<Option<i64>>(), 1..30), start in 0..9_usize) {
        let column = Column::from_iter(ints);
        let start = start.min(column.len());
        let slice = column.slice(start, column.len());
        let copy = slice.take(&(0..slice.len()).collect::<Vec<_>>()).unwrap();
        let of = |data| digest(&Series::new("s", data, Unit::NONE).into());
        prop_assert_eq!(of(slice), of(copy));
    }
}

#[test]
fn columns_of_arrow_types_become_arrow_files() {
    let series = |data| Value::from(Series::new("s", data, Unit::NONE));
    assert!(is_arrow(&encode(&series(Column::from(vec![1.0])))));
    assert!(!is_arrow(&encode(&series(Column::Object(Arc::from([Value::from(1)].as_slice()))))));
    assert!(!is_arrow(&encode(&Value::from(1))));
}

#[test]
fn an_encoded_value_knows_its_bytes_and_shares_them_when_read() {
    for value in [Value::from(Series::new("s", Column::from((0..100).collect::<Vec<i64>>()), Unit::NONE)), Value::from(1)] {
        let (encoded, bytes) = (Encoded::of(&value), encode(&value));
        assert_eq!((encoded.size(), encoded.sha256()), (bytes.len(), Sha256::digest(&bytes).into()));
        assert!(decode(&bytes).unwrap().same(&value));
        assert!(decode_verified(bytes.clone()).unwrap().same(&value));
        assert!(is_arrow(&bytes) || encoded.suffix() == "json");
    }
    // three bytes aside, so that columns are not where numbers may be
    let bytes = encode(&Series::new("s", Column::from(vec![1.5]), Unit::NONE).into());
    let aside: Vec<u8> = [&[0; 3], bytes.as_slice()].concat();
    assert!(decode_verified(Bytes::from(aside).slice(3..)).is_ok());
}

#[test]
fn digests_of_missing_and_strange_numbers_are_as_they_were() {
    let hex = |data: Data| digest(&Series::new("s", data, Unit::NONE).into()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let found: [String; 5] = [
        hex(Column::from(vec![1.5, -0.0, f64::INFINITY]).into()),
        hex(Column::from(vec![1.5, -f64::NAN]).into()),
        hex(Column::from_iter([Some(1_i64), None]).into()),
        hex(Column::from_iter([Some(Complex64::new(1.0, 2.0))]).into()),
        hex(Range::ints(5, -2, 3000).unwrap().into()),
    ];
    assert_eq!(found, ["d00e390c", "47545972", "d9adaf03", "5f25e165", "710fed6b"]);
}

#[test]
fn a_column_named_like_the_empty_checksum_does_no_harm() {
    let value = Value::from(Series::new("0".repeat(64), Column::from(vec![1, 2]), Unit::NONE));
    assert!(decode(&encode(&value)).unwrap().same(&value));
}

#[test]
fn the_order_of_units_survives() {
    let unit = Unit::parse("m/s*km").unwrap();
    for value in [Value::from(Quantity::new(1, unit)), Series::new("s", Column::from(vec![1]), unit).into()] {
        let back = match decode(&encode(&value)).unwrap() {
            Value::Quantity(quantity) => quantity.unit,
            Value::Series(series) => series.unit,
            other => panic!("{other}"),
        };
        assert_eq!(back.factors(), unit.factors());
    }
}

#[test]
fn encoding_is_deterministic() {
    let unit = Unit::parse("m").unwrap();
    let value = Value::from(Table::new(vec![Arc::new(Series::new("a", Column::from(vec![1]), unit))]).unwrap());
    assert!((0..20).all(|_| encode(&value) == encode(&value)));
}

#[test]
fn digests_tell_kinds_units_and_names_apart() {
    let meter = Unit::parse("m").unwrap();
    let values: Vec<Value> = vec![
        1.into(),
        1.0.into(),
        Quantity::new(1.0, meter).into(),
        "1".into(),
        vec![1.into()].into(),
        Series::new("a", Column::from(vec![1]), Unit::NONE).into(),
        Series::new("b", Column::from(vec![1]), Unit::NONE).into(),
        Series::new("a", Column::from(vec![1]), meter).into(),
        0.0.into(),
        (-0.0).into(),
        Value::Null,
        Quantity::null(Unit::NONE).into(),
    ];
    let digests: std::collections::HashSet<_> = values.iter().map(digest).collect();
    assert_eq!(digests.len(), values.len());
}
