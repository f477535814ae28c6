//! Any value, written and read back, is the same to the last bit.
//!
//! Not quite any: a column of nothing but nulls, or of nothing, keeps no type but that of numbers and booleans, a missing number without unit is
//! plain null, an array without elements keeps only the axes down to the first empty one, and uncertain numbers lose their correlation.

use std::path::Path;
use std::sync::Arc;

use num_complex::Complex64;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::Format;
use crate::model::LoadKind;
use crate::units::Unit;
use crate::value::{Array, Column, Number, Quantity, Series, Table, Value};

fn float() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{INFINITE, NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![
        8 => POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO | INFINITE,
        4 => (-1000i32..1000).prop_map(|tenths| f64::from(tenths) / 10.0),
        1 => Just(f64::NAN),
    ]
}

fn complex() -> impl Strategy<Value = Complex64> {
    (float(), float()).prop_map(|(re, im)| Complex64::new(re, im))
}

fn unit() -> impl Strategy<Value = Unit> {
    let texts = ["", "meter", "kilometer / hour", "1 / second", "electron_volt ** 0.5 / nanometer ** 1.5", "degree_Celsius", "percent"];
    prop::sample::select(texts.to_vec()).prop_map(|text| Unit::parse(text).unwrap())
}

/// Words that formats take for something else, and arbitrary text.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "",
        "null",
        "~",
        "yes",
        "1e5",
        "1.0",
        "0x1",
        "-",
        "- a",
        "a: b",
        "#",
        "'",
        "\"",
        "---",
        "...",
        "<<",
        " ",
        "\n",
        "\u{feff}",
        "2020-01-01",
    ];
    prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[ -~]{0,12}", any::<String>()]
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![any::<i128>().prop_map(Number::Int), float().prop_map(Number::Float), complex().prop_map(Number::Complex)]
}

fn quantity() -> impl Strategy<Value = Value> {
    (number(), unit()).prop_map(|(number, unit)| Value::Quantity(Quantity { number, unit }))
}

/// A column of `len` elements, at least one, with or without nulls, and whether it is of numbers.
fn column(len: usize) -> impl Strategy<Value = (Column, bool)> {
    // Without the last one they might all be missing.
    let strings = (vec(option::of(text()), len - 1), text());
    prop_oneof![
        vec(option::of(any::<i64>()), len).prop_map(|ints| (ints.into_iter().collect(), true)),
        vec(option::of(float()), len).prop_map(|floats| (floats.into_iter().collect(), true)),
        vec(option::of(complex()), len).prop_map(|numbers| (numbers.into_iter().collect(), true)),
        vec(option::of(any::<bool>()), len).prop_map(|bools| (bools.into_iter().collect(), false)),
        strings.prop_map(|(mut strings, last)| {
            strings.push(Some(last));
            (Column::from_strings(strings.iter().map(Option::as_deref)).unwrap(), false)
        }),
    ]
}

fn series(len: usize) -> impl Strategy<Value = Series> {
    let of_unit = |((data, numeric), unit, name)| Series::new(String::as_str(&name), data, if numeric { unit } else { Unit::NONE });
    (column(len), unit(), text()).prop_map(of_unit)
}

fn table() -> impl Strategy<Value = Value> {
    let columns = (1usize..4).prop_flat_map(|len| vec(series(len), 0..4));
    columns.prop_map(|columns| {
        let named = columns.into_iter().enumerate().map(|(i, column)| Arc::new(column.renamed(format!("{i}{}", column.name))));
        Table::new(named.collect()).unwrap().into()
    })
}

proptest! {
    /// What cannot be read back as it was is refused. Columns of nothing but nulls keep no type.
    #[test]
    fn tables_survive_as_cells(table in table(), tabs: bool) {
        let format = Format::of(Path::new(if tabs { "t.tsv" } else { "t.csv.zz" })).unwrap();
        if let Ok(bytes) = format.save(&table) {
            let again = format.load(&bytes, LoadKind::Table).map_err(|fault| fault.message);
            prop_assert_eq!(again.map(|again| again.to_string()), Ok(table.to_string()));
        }
    }
}

fn array() -> impl Strategy<Value = Value> {
    let shape = vec(1usize..4, 1..4);
    let filled = (shape, unit()).prop_flat_map(|(shape, unit)| {
        let size: usize = shape.iter().product();
        let data = prop_oneof![
            vec(any::<i64>(), size).prop_map(Column::from),
            vec(float(), size).prop_map(Column::from),
            vec(complex(), size).prop_map(|numbers| numbers.into_iter().map(Some).collect()),
            vec(any::<bool>(), size).prop_map(Column::from),
            vec(text(), size).prop_map(|strings| Column::from_strings(strings.iter().map(|string| Some(string.as_str()))).unwrap()),
        ];
        (Just(shape), Just(unit), data)
    });
    filled.prop_map(|(shape, unit, data)| {
        let unit = if data.kind().is_some() { unit } else { Unit::NONE };
        Array::new(shape, data, unit).unwrap().into()
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        text().prop_map(|text| text.as_str().into()),
        quantity(),
        Just(Value::Quantity(Quantity::null(Unit::parse("meter").unwrap()))),
        (1usize..6).prop_flat_map(series).prop_map(Value::from),
        table(),
        array(),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields = vec((text(), inner.clone()), 0..4);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            fields.prop_map(|fields| Value::Dict(Arc::new(fields.into_iter().map(|(key, field)| (key.as_str().into(), field)).collect()))),
            // Elements of one type, whose numbers have no common unit to share.
            vec(vec(inner, 0..3).prop_map(Value::from), 1..3).prop_map(|rows| Series::from_values("rows", rows).unwrap().into()),
        ]
    })
}

proptest! {
    #[test]
    fn values_come_back(value in value()) {
        for name in ["a.json", "a.yaml", "a.json.zz"] {
            let format = Format::of(Path::new(name)).unwrap();
            let bytes = format.save(&value).unwrap();
            let back = format.document(&bytes);
            prop_assert!(back.as_ref().is_ok_and(|back| back.same(&value)), "{name}: {back:?}\n{}", String::from_utf8_lossy(&bytes));
        }
    }

    #[test]
    fn any_text_is_a_value_or_a_fault(text in "[ -~\n]{0,60}|[{}\\[\\]\",:0-9a-z&*!|>-]{0,40}|\\PC{0,30}") {
        for name in ["a.json", "a.yaml"] {
            let format = Format::of(Path::new(name)).unwrap();
            if let Ok(value) = format.document(text.as_bytes()) {
                let _ = format.save(&value);
            }
        }
    }
}
