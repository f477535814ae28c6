//! What the operations print, one small question each.

use std::sync::Arc;

use crate::diagnostic::Fault;
use crate::ops::{
    Comparison, Property, Target, add, compare, concat, convert, drop_nulls, gather, imag, index, key, membership, multiply, negate, power,
    property, real, select, subtract, sum_scalars, sum_series,
};
use crate::units::Unit;
use crate::value::print::Float;
use crate::value::{Column, Complex64, Number, Quantity, Series, Table, Uncertain, Value};

fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap()
}

fn quantity(number: impl Into<Number>, text: &str) -> Value {
    Quantity::new(number, unit(text)).into()
}

fn series(name: &str, values: Vec<Value>) -> Series {
    Series::from_values(name, values).unwrap()
}

fn printed(value: Result<Value, Fault>) -> String {
    value.map_or_else(|fault| format!("{}: {}", fault.code, fault.message), |value| value.to_string())
}

#[test]
fn a_missing_number_makes_the_result_missing_in_its_unit() {
    let null = Value::Null;
    assert_eq!(printed(add(&1.into(), &null)), "null");
    assert_eq!(printed(add(&null, &1.into())), "null");
    assert_eq!(printed(multiply(&quantity(2, "m"), &null)), "null [meter]");
    assert_eq!(printed(power(&null, &2.into())), "null");
    assert_eq!(printed(negate(&null)), "null");
    assert_eq!(printed(add(&quantity(1, "m"), &null)), "E0423: Cannot convert from 'meter' ([length]) to 'dimensionless' (dimensionless)");
}

#[test]
fn faults_say_what_is_wrong() {
    assert_eq!(printed(add(&quantity(1, "m"), &quantity(1, "s"))), "E0423: Cannot convert from 'meter' ([length]) to 'second' ([time])");
    assert_eq!(
        printed(power(&2.into(), &quantity(2, "m"))),
        "E0423: Cannot convert from 'meter' ([length]) to 'dimensionless' (dimensionless)"
    );
    let doubled = add(&quantity(20, "degC"), &quantity(5, "degC"));
    assert_eq!(printed(doubled), "E0424: Ambiguous operation with offset unit (degree_Celsius, degree_Celsius)");
    assert_eq!(printed(add(&"a".into(), &1.into())), "E0425: Invalid type in expression: + takes numbers, not String");
    assert_eq!(printed(index(&vec![1.into()].into(), -2)), "E0427: Index out of range, index: -2, data length: 1");
    assert_eq!(printed(Ok(index(&vec![1.into()].into(), -1).unwrap())), "1");
}

#[test]
fn comparisons_know_types_and_nulls() {
    let compared = |operator, left: &Value, right: &Value| compare(operator, left, right).map_err(|fault| fault.message);
    assert_eq!(compared(Comparison::Less, &Value::Null, &quantity(1, "m")), Ok(None));
    assert_eq!(compared(Comparison::Equal, &Value::Null, &"x".into()), Ok(None));
    assert_eq!(compared(Comparison::NotEqual, &quantity(1, "m"), &quantity(1, "s")), Ok(Some(true)));
    assert_eq!(compared(Comparison::Equal, &1.into(), &quantity(100, "percent")), Ok(Some(true)));
    assert_eq!(compared(Comparison::Less, &"a".into(), &"b".into()), Err("comparison of String not possible with \"<\" operator".into()));
    let complex = Value::from(Number::from(Complex64::new(1.0, 2.0)));
    assert_eq!(
        compared(Comparison::Less, &complex, &3.into()),
        Err("comparison of Complex Quantity not possible with \"<\" operator".into())
    );
    let tuple = Value::from(vec![1.into()]);
    assert!(compared(Comparison::Equal, &tuple, &tuple).is_err());
}

#[test]
fn uncertain_numbers_are_equal_only_to_themselves() {
    let [a, b] = [0, 1].map(|_| Value::from(Number::from(Uncertain::fresh(2.0, 0.1).unwrap())));
    let compared = |operator, left: &Value, right: &Value| compare(operator, left, right).unwrap().unwrap();
    assert!(compared(Comparison::Equal, &a, &a) && compared(Comparison::GreaterEqual, &a, &a));
    assert!(compared(Comparison::NotEqual, &a, &b) && !compared(Comparison::GreaterEqual, &a, &b));
    assert!(!compared(Comparison::Equal, &a, &2.0.into()) && compared(Comparison::Greater, &a, &1.5.into()));
    assert_eq!(printed(subtract(&a, &a)), "0.0 ± 0.0");
}

#[test]
fn membership_converts_and_leaves_open_what_nulls_may_hide() {
    let set = |values: Vec<Value>| values;
    let holes = || set(vec![quantity(1, "m"), Value::Null]);
    assert_eq!(membership(&quantity(100, "cm"), holes()), Some(true));
    assert_eq!(membership(&quantity(2, "m"), holes()), None);
    assert_eq!(membership(&"x".into(), holes()), Some(false));
    assert_eq!(membership(&Value::Null, holes()), Some(true));
    assert_eq!(membership(&Value::Null, set(vec![1.into()])), Some(false));
}

#[test]
fn sums_go_from_left_to_right_in_the_first_unit() {
    assert_eq!(printed(sum_scalars(&[quantity(1, "m"), quantity(2, "cm")])), "1.02 [meter]");
    assert_eq!(printed(sum_scalars(&[])), "0");
    assert_eq!(printed(sum_series(&series("s", vec![quantity(1, "m"), Value::Null]))), "null [meter]");
    let floats = [0.1, 0.2, 0.3, 1e16, 1.0, 1.0].map(Value::from).to_vec();
    let folded = ((((0.1 + 0.2) + 0.3) + 1e16) + 1.0) + 1.0;
    assert_eq!(printed(sum_series(&series("s", floats))), Float(folded).to_string());
    assert!(printed(sum_series(&series("s", vec!["a".into()]))).starts_with("E0434"));
    let points = vec![quantity(20, "degC"), quantity(30, "degC")];
    assert!(printed(sum_series(&series("s", points))).starts_with("E0424"));
}

#[test]
fn conversions_keep_integers_where_that_is_exact() {
    let meters = |ints: &[i64]| Value::from(Series::new("v", Column::from(ints.to_vec()), unit("m")));
    let in_unit = |value: &Value, text| printed(convert(value, Target::Unit(unit(text))));
    assert_eq!(in_unit(&quantity(5, "km"), "m"), "5000.0 [meter]");
    assert_eq!(in_unit(&quantity(5, "km"), "km"), "5 [kilometer]");
    assert_eq!(in_unit(&meters(&[1, 2]), "cm"), "(v: 100, 200) [centimeter]");
    assert_eq!(in_unit(&meters(&[1500, 2000]), "km"), "(v: 1.5, 2.0) [kilometer]");
    assert_eq!(in_unit(&property(&meters(&[1, 2]), Property::Array).unwrap(), "cm"), "[100.0, 200.0] [centimeter]");
    assert_eq!(in_unit(&quantity(Uncertain::fresh(2.0, 0.1).unwrap(), "m"), "cm"), "200.0 ± 10.0 [centimeter]");
    assert_eq!(printed(convert(&quantity(1000, "m"), Target::Compact)), "1.0 [kilometer]");
    assert_eq!(printed(convert(&meters(&[1000]), Target::Compact)), "(v: 1000) [meter]");
    assert!(in_unit(&"a".into(), "m").ends_with("String is non-numeric type"));
}

#[test]
fn results_of_map_take_the_first_unit() {
    let gathered = |values| printed(gather("m", values));
    assert_eq!(gathered(vec![quantity(100, "cm"), quantity(2, "m")]), "(m: 100, 200) [centimeter]");
    assert_eq!(gathered(vec![quantity(100.0, "cm"), quantity(2, "m")]), "(m: 100.0, 200.0) [centimeter]");
    assert_eq!(gathered(vec![Value::Null, quantity(1, "m")]), "(m: null, 1) [meter]");
    assert_eq!(gathered(vec![1.into(), 0.5.into()]), "(m: 1.0, 0.5)");
    assert!(gathered(vec![1.into(), "a".into()]).starts_with("E0401"));
    let record = |number, text| Value::Dict(Arc::new([("k".into(), quantity(number, text))].into_iter().collect()));
    assert_eq!(gathered(vec![record(1, "m"), record(2, "km")]), "((k: 1, 2000) [meter])");
}

#[test]
fn tables_are_cut_by_columns_and_rows() {
    let columns = vec![series("a", vec![1.into(), Value::Null]), series("b", vec!["x".into(), "y".into()])];
    let table = Table::new(columns.into_iter().map(Arc::new).collect()).unwrap();
    assert_eq!(select(&table, &["b"]).unwrap().to_string(), "((b: 'x', 'y'))");
    assert_eq!(select(&table, &["ab"]).unwrap_err().help.as_deref(), Some("did you mean a?"));
    let table = Value::from(table);
    assert_eq!(printed(drop_nulls(&table)), "((a: 1), (b: 'x'))");
    assert_eq!(printed(concat(&[table.clone(), table.clone()])), "((a: 1, null, 1, null), (b: 'x', 'y', 'x', 'y'))");
    assert_eq!(printed(property(&table, Property::Columns)), "(columns: 'a', 'b')");
    assert_eq!(printed(index(&table, -1)), "(null, 'y')");
    assert_eq!(printed(key(&table, "b")), "(b: 'x', 'y')");
}

#[test]
fn merged_chunks_take_the_unit_of_the_first() {
    let part = |values| Value::from(series("s", values));
    assert_eq!(printed(concat(&[part(vec![quantity(1, "m")]), part(vec![quantity(2, "km")])])), "(s: 1, 2000) [meter]");
    assert_eq!(printed(concat(&[part(vec![Value::Null]), part(vec![quantity(2.5, "km")])])), "(s: null, 2.5) [kilometer]");
    assert_eq!(printed(concat(&[part(vec![1.into()]), part(vec![2.5.into()])])), "(s: 1.0, 2.5)");
}

#[test]
fn parts_of_numbers_keep_kind_and_unit() {
    let complex = quantity(Complex64::new(3.0, 4.0), "V");
    assert_eq!(printed(real(&complex)) + " " + &printed(imag(&complex)), "3.0 [volt] 4.0 [volt]");
    assert_eq!(printed(real(&3.into())) + " " + &printed(imag(&2.0.into())), "3 0.0");
}
