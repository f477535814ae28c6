//! What may stand together in a series or an array.

use crate::units::Unit;
use crate::value::{Array, Column, Number, Quantity, Series, Uncertain, Value};

fn printed(values: Vec<Value>) -> String {
    Series::from_values("v", values).map_or_else(|fault| fault.code, |series| series.to_string())
}

#[test]
fn elements_have_one_type_and_one_unit() {
    let meter = Unit::parse("m").unwrap();
    assert_eq!(printed(vec![1.into(), 2.0.into(), Value::Null]), "(v: 1.0, 2.0, null)");
    assert_eq!(printed(vec![1.into(), Number::from(num_complex::Complex64::new(2.0, 1.0)).into()]), "(v: 1.0+0.0 j, 2.0+1.0 j)");
    assert_eq!(printed(vec![1.into(), "a".into()]), "E0401");
    assert_eq!(printed(vec![1.into(), Quantity::new(1, meter).into()]), "E0402");
    assert_eq!(printed(vec![Quantity::int(1_i128 << 63).into()]), "E0403");
    assert_eq!(printed(vec![Value::Null, Value::Null]), "(v: null, null)");
    assert_eq!(printed(vec![]), "(v:)");
}

#[test]
fn uncertain_numbers_and_arrays_share_the_unit_of_the_series() {
    let meter = Unit::parse("m").unwrap();
    let uncertain = Quantity::new(Uncertain::fresh(1.0, 0.5).unwrap(), meter);
    assert_eq!(printed(vec![uncertain.into(), Quantity::new(2, meter).into()]), "(v: 1.0 ± 0.5, 2.0 ± 0.0) [meter]");
    let row = |ints| Value::from(Array::new(vec![2], Column::from(ints), meter).unwrap());
    let series = Series::from_values("v", vec![row(vec![1, 2]), row(vec![3, 4])]).unwrap();
    assert_eq!(series.to_string(), "(v: [1, 2], [3, 4]) [meter]");
    assert_eq!(series.get(0).to_string(), "[1, 2] [meter]");
    let array = Array::from_series(&series).unwrap();
    assert_eq!(array.to_string(), "[[1, 2], [3, 4]] [meter]");
    assert_eq!(array.get(1).to_string(), "[3, 4] [meter]");
    let ragged =
        Series::from_values("v", vec![row(vec![1, 2]), Array::new(vec![1], Column::from(vec![1]), meter).unwrap().into()]).unwrap();
    assert_eq!(Array::from_series(&ragged).unwrap_err().code, "E0406");
}
