//! Operations against what Python, numpy, uncertainties and Pint compute (`tests/values`, with the script that recorded it).

use super::{Comparison, aggregate, compare, number, quantity};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::print::Float;
use crate::value::{Complex64, Number, Quantity, Uncertain, Value};

mod examples;
mod laws;

fn cases(record: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    record.lines().map(|line| line.split('|').collect())
}

fn float(text: &str) -> f64 {
    text.parse().unwrap()
}

/// An integer or a float as Python prints it, or `re,im`.
fn parse_number(text: &str) -> Number {
    if let Some((re, im)) = text.split_once(',') {
        return Complex64::new(float(re), float(im)).into();
    }
    text.parse::<i128>().map_or_else(|_| float(text).into(), Number::Int)
}

fn parse_quantity(magnitude: &str, unit: &str) -> Quantity {
    Quantity { number: parse_number(magnitude), unit: Unit::parse(unit).unwrap() }
}

/// A result in the notation of the record.
fn shown(result: Result<Number, Fault>) -> String {
    match result {
        Ok(Number::Complex(complex)) => format!("{},{}", Float(complex.re), Float(complex.im)),
        Ok(number) => number.to_string(),
        Err(fault) => error(&fault),
    }
}

fn error(fault: &Fault) -> String {
    let name = match fault.code.as_str() {
        "E0420" => "!zero",
        "E0421" | "E0422" => "!overflow",
        "E0423" => "!dimension",
        "E0424" => "!offset",
        other => other,
    };
    name.to_owned()
}

/// Checks every case and reports all that differ.
fn check(found: impl Iterator<Item = (String, String, String)>) {
    let wrong: Vec<String> = found
        .filter(|(_, found, expected)| found != expected)
        .map(|(case, found, expected)| format!("{case}: {found}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn floats_print_as_in_python() {
    let bits = |text| f64::from_bits(u64::from_str_radix(text, 16).unwrap());
    check(
        cases(include_str!("../../tests/values/floats.txt"))
            .map(|case| (case[0].to_owned(), Float(bits(case[0])).to_string(), case[1].to_owned())),
    );
}

#[test]
fn powers_of_floats_are_those_of_python() {
    let found = |case: Vec<&str>| (case[..2].join(" ** "), shown(number::float_power(float(case[0]), float(case[1]))), case[2].to_owned());
    check(cases(include_str!("../../tests/values/powers.txt")).map(found));
}

#[test]
fn complex_arithmetic_is_that_of_python() {
    let found = |case: Vec<&str>| {
        let (left, right) = (parse_number(case[1]), parse_number(case[2]));
        (case[..3].join(" "), shown(number_op(case[0])(&left, &right)), case[3].to_owned())
    };
    check(cases(include_str!("../../tests/values/complexes.txt")).map(found));
}

#[test]
fn ranges_are_those_of_numpy() {
    let found = |case: Vec<&str>| {
        let [start, stop, step] = [0, 1, 2].map(|i| Value::from(parse_number(case[i])));
        let Value::Series(series) = aggregate::range("r", &start, &stop, &step).unwrap() else { panic!("no series") };
        let elements: Vec<String> = series.values().map(|element| element.to_string()).collect();
        (case[..3].join(" "), elements.join(" "), case[3].to_owned())
    };
    check(cases(include_str!("../../tests/values/ranges.txt")).map(found));
}

#[test]
fn uncertainties_propagate_as_in_the_package_uncertainties() {
    for case in cases(include_str!("../../tests/values/uncertains.txt")) {
        let fresh = |i: usize| Number::from(Uncertain::fresh(float(case[i]), float(case[i + 1])).unwrap());
        let Number::Uncertain(result) = number_op(case[0])(&fresh(1), &fresh(3)).unwrap() else { panic!("not uncertain") };
        let (nominal, std_dev) = (float(case[5]), float(case[6]));
        assert_eq!(result.nominal, nominal, "{case:?}");
        // The package multiplies derivatives and deviations in another order, which may differ in the last digits.
        assert!((result.std_dev() - std_dev).abs() <= 4.0 * f64::EPSILON * std_dev, "{case:?}: {}", result.std_dev());
    }
}

#[test]
fn quantities_follow_pint() {
    let found = |case: Vec<&str>| {
        let (left, right) = (parse_quantity(case[0], case[1]), parse_quantity(case[3], case[4]));
        (case[..5].join(" "), quantity_result(case[2], left, right), case[5].to_owned())
    };
    check(cases(include_str!("../../tests/values/quantities.txt")).map(found));
}

fn quantity_result(operator: &str, left: Quantity, right: Quantity) -> String {
    let compared = |comparison| compare(comparison, &left.clone().into(), &right.clone().into());
    let result = match operator {
        "==" => compared(Comparison::Equal),
        "<" => compared(Comparison::Less),
        ">=" => compared(Comparison::GreaterEqual),
        _ => return quantity_op(operator)(&left, &right).map_or_else(|fault| error(&fault), |result| written(&result)),
    };
    match result {
        Ok(Some(true)) => "True".to_owned(),
        Ok(Some(false)) => "False".to_owned(),
        Ok(None) => "null".to_owned(),
        Err(fault) => error(&fault),
    }
}

fn written(quantity: &Quantity) -> String {
    format!("{} [{}]", shown(Ok(quantity.number.clone())), quantity.unit.info_name())
}

fn number_op(operator: &str) -> fn(&Number, &Number) -> Result<Number, Fault> {
    match operator {
        "+" => number::add,
        "-" => number::subtract,
        "*" => number::multiply,
        "/" => number::divide,
        _ => number::power,
    }
}

fn quantity_op(operator: &str) -> fn(&Quantity, &Quantity) -> Result<Quantity, Fault> {
    match operator {
        "+" => quantity::add,
        "-" => quantity::subtract,
        "*" => quantity::multiply,
        "/" => quantity::divide,
        _ => quantity::power,
    }
}
