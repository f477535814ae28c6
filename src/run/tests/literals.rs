//! What is printed for a value that has a literal is that literal.

use indexmap::IndexMap;
use proptest::collection::vec;
use proptest::option;

use super::*;
use crate::units::Unit;
use crate::value::{Array, Column, Complex64, Number, Quantity, Series, Table};

fn float() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop_oneof![POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO, (-1000i32..1000).prop_map(|tenths| f64::from(tenths) / 10.0)]
}

fn complex() -> impl Strategy<Value = Complex64> {
    (float(), float()).prop_map(|(re, im)| Complex64::new(re, im))
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![any::<i128>().prop_map(Number::Int), float().prop_map(Number::Float), complex().prop_map(Number::Complex)]
}

fn unit() -> impl Strategy<Value = Unit> {
    let texts = ["", "meter", "km/hour", "1/s", "eV**0.5/nm**1.5", "degC", "percent", "kg*m**2/s**2", "m**-2"];
    prop::sample::select(texts.to_vec()).prop_map(|text| Unit::parse(text).expect("a unit"))
}

/// Strings are printed as they are, so what needs a backslash in a literal does not read back.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -&(-\\[\\]-~]{0,12}", "[\\PC\n&&[^'\\\\]]{0,6}"]
}

/// Names that are no words of the language: those are printed without quotes, as `(map: 2, 4)` of a map, though a literal needs them.
fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_][a-z0-9_]{0,5}", "(for|on|core|file|url)"]
        .prop_filter("a word of the language", |word| syntax::lexer::lex(word).all(|lexeme| lexeme.token.is_name()))
}

/// Names of series are quoted where they have to be.
fn title() -> impl Strategy<Value = String> {
    prop_oneof![3 => key(), 1 => "[ -&(-\\[\\]-~]{0,4}[ !#-&][ -&(-\\[\\]-~]{0,4}".prop_filter("a word", |word| !word.chars().all(char::is_alphanumeric))]
}

/// At least one element is not missing, for nothing is known of a literal of nulls.
fn column(len: usize) -> impl Strategy<Value = (Column, bool)> {
    let strings = (vec(option::of(text()), len - 1), text());
    prop_oneof![
        (vec(option::of(any::<i64>()), len - 1), any::<i64>())
            .prop_map(|(ints, last)| (ints.into_iter().chain([Some(last)]).collect(), true)),
        (vec(option::of(float()), len - 1), float()).prop_map(|(floats, last)| (floats.into_iter().chain([Some(last)]).collect(), true)),
        (vec(option::of(complex()), len - 1), complex())
            .prop_map(|(numbers, last)| (numbers.into_iter().chain([Some(last)]).collect(), true)),
        (vec(option::of(any::<bool>()), len - 1), any::<bool>())
            .prop_map(|(bools, last)| (bools.into_iter().chain([Some(last)]).collect(), false)),
        strings.prop_map(|(mut strings, last)| {
            strings.push(Some(last));
            (Column::from_strings(strings.iter().map(Option::as_deref)).expect("short"), false)
        }),
    ]
}

fn series(len: usize) -> impl Strategy<Value = Series> {
    (column(len), unit(), title())
        .prop_map(|((data, numeric), unit, name)| Series::new(name.as_str(), data, if numeric { unit } else { Unit::NONE }))
}

fn table() -> impl Strategy<Value = Value> {
    (1usize..4).prop_flat_map(|len| vec(series(len), 1..4)).prop_map(|columns| {
        let named = columns.into_iter().enumerate().map(|(i, column)| Arc::new(column.renamed(format!("{}{i}", column.name))));
        Table::new(named.collect()).expect("of one length").into()
    })
}

fn array() -> impl Strategy<Value = Value> {
    let filled = (vec(1usize..4, 1..4), unit()).prop_flat_map(|(shape, unit)| {
        let size: usize = shape.iter().product();
        let data = prop_oneof![
            vec(any::<i64>(), size).prop_map(Column::from),
            vec(float(), size).prop_map(Column::from),
            vec(any::<bool>(), size).prop_map(Column::from),
            vec(text(), size).prop_map(|strings| Column::from_strings(strings.iter().map(|string| Some(string.as_str()))).expect("short")),
        ];
        (Just(shape), Just(unit), data)
    });
    filled.prop_map(|(shape, unit, data)| {
        let unit = if data.kind().is_some() { unit } else { Unit::NONE };
        Array::new(shape, data, unit).expect("as many as the shape says").into()
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        2 => Just(Value::Null),
        2 => any::<bool>().prop_map(Value::Bool),
        4 => text().prop_map(|text| Value::from(text.as_str())),
        8 => (number(), unit()).prop_map(|(number, unit)| Value::Quantity(Quantity { number, unit })),
        4 => (1usize..5).prop_flat_map(series).prop_map(Value::from),
        4 => table(),
        4 => array(),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            // a tuple of nothing but series looks like a table
            vec(inner.clone(), 1..4)
                .prop_filter("a table", |members| !members.iter().all(|member| matches!(member, Value::Series(_))))
                .prop_map(Value::from),
            vec((key(), inner), 1..4).prop_map(|fields| {
                let fields = fields.into_iter().map(|(key, field)| (key.as_str().into(), field));
                Value::Dict(Arc::new(fields.collect::<IndexMap<Arc<str>, Value>>()))
            }),
        ]
    })
}

/// The value of the literal, or what is wrong with it.
fn read(text: &str) -> Result<Value, String> {
    let program = format!("value = {text}\nprint(value)\n");
    let file = SourceMap::new().add("m.scl", program.as_str());
    let (ast, faults) = syntax::parse(file, &program);
    let (model, more) = check(&ast, Mode::Deferred, Extent::Outputs);
    if has_errors(&faults) || has_errors(&more) {
        return Err(format!("{faults:?} {more:?}"));
    }
    let task = Task { name: "value".into(), expr: model.variables[0].expr.clone(), functions: Vec::new(), inputs: Vec::new() };
    eval::run(&task, &[], &Nowhere).map_err(|fault| fault.message)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back_as_the_same_value(value in value()) {
        let text = value.to_string();
        match read(&text) {
            Ok(again) => prop_assert!(again.same(&value), "{text}\n{again}\n{again:?}\n{value:?}"),
            Err(fault) => prop_assert!(false, "{text}\n{fault}"),
        }
    }
}
