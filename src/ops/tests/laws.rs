//! Laws that hold for any operands.

use proptest::prelude::*;

use crate::diagnostic::Fault;
use crate::ops::{Comparison, Target, add, compare, concat, convert, divide, equal, multiply, power, range, slice, subtract};
use crate::ops::{complex, logic, number};
use crate::units::Unit;
use crate::value::{Column, Complex64, Number, Quantity, Series, Uncertain, Value};

proptest! {
    #[test]
    fn integers_are_exact_or_refused(a in any::<i64>(), b in any::<i64>()) {
        let of = |operation: fn(&Number, &Number) -> Result<Number, Fault>| operation(&a.into(), &b.into()).unwrap().as_int();
        prop_assert_eq!(of(number::add), Some(i128::from(a) + i128::from(b)));
        prop_assert_eq!(of(number::subtract), Some(i128::from(a) - i128::from(b)));
        prop_assert_eq!(of(number::multiply), Some(i128::from(a) * i128::from(b)));
    }

    #[test]
    fn wide_integers_never_wrap(a in any::<i128>(), b in any::<i128>()) {
        let product = number::multiply(&a.into(), &b.into());
        prop_assert_eq!(product.ok().and_then(|product| product.as_int()), a.checked_mul(b));
    }

    #[test]
    fn integers_and_floats_compare_by_exact_value(int in any::<i64>(), offset in -2..=2_i64) {
        let float = int.wrapping_add(offset) as f64;
        let expected = i128::from(int).cmp(&(float as i128));
        prop_assert_eq!(number::order(&int.into(), &float.into()), Some(expected));
        prop_assert_eq!(number::order(&float.into(), &int.into()), Some(expected.reverse()));
    }

    #[test]
    fn slices_are_those_of_python(len in 0..12_i64, start in prop::option::of(-15..15_i64), stop in prop::option::of(-15..15_i64), step in prop::option::of(-4..=4_i64)) {
        let series = Value::from(Series::new("s", Column::from((0..len).collect::<Vec<_>>()), Unit::NONE));
        let tuple = Value::from((0..len).map(Value::from).collect::<Vec<_>>());
        if step == Some(0) {
            prop_assert_eq!(slice(&series, start, stop, step).unwrap_err().code, "E0428");
            return Ok(());
        }
        let expected = naive_slice(len, start, stop, step.unwrap_or(1));
        let Value::Series(sliced) = slice(&series, start, stop, step).unwrap() else { panic!("no series") };
        prop_assert_eq!(sliced.values().map(|value| value.to_string()).collect::<Vec<_>>().join(" "), expected.iter().map(i64::to_string).collect::<Vec<_>>().join(" "));
        prop_assert!(slice(&tuple, start, stop, step).unwrap().same(&expected.into_iter().map(Value::from).collect::<Vec<_>>().into()));
    }

    #[test]
    fn joining_slices_gives_the_whole(ints in prop::collection::vec(any::<Option<i64>>(), 1..30), cut in 0..30_usize) {
        let column = Column::from_iter(ints);
        let part = |start, len| Value::from(Series::new("s", column.slice(start, len), Unit::NONE));
        let joined = concat(&[part(0, cut), part(cut, column.len())]).unwrap();
        prop_assert!(joined.same(&part(0, column.len())));
    }

    #[test]
    fn kleene_logic_is_monotone(left in any::<Option<bool>>(), right in any::<Option<bool>>()) {
        // A null result must be open: both values are possible when nulls are filled in. Any other must be the only one possible.
        let fill = |operand: Option<bool>| operand.map_or(vec![false, true], |operand| vec![operand]);
        let outcomes: Vec<bool> = fill(left).into_iter().flat_map(|a| fill(right).into_iter().map(move |b| a && b)).collect();
        let expected = if outcomes.iter().all(|outcome| *outcome == outcomes[0]) { Some(outcomes[0]) } else { None };
        prop_assert_eq!(logic::and(left, right), expected);
        prop_assert_eq!(logic::any([left, right]), logic::or(left, right));
        prop_assert_eq!(logic::all([left, right]), logic::and(left, right));
    }

    #[test]
    fn complex_division_undoes_multiplication(a in (-1e3..1e3, -1e3..1e3), b in (0.1..1e3, -1e3..1e3)) {
        let (a, b) = (Complex64::new(a.0, a.1), Complex64::new(b.0, b.1));
        let back = complex::divide(complex::multiply(a, b), b).unwrap();
        prop_assert!((back - a).norm() <= 1e-12 * (1.0 + a.norm()));
    }

    #[test]
    fn no_operation_panics(a in any_number(), b in any_number(), left in any_unit(), right in any_unit()) {
        let (a, b) = (Value::from(Quantity { number: a, unit: left }), Value::from(Quantity { number: b, unit: right }));
        for operation in [add, subtract, multiply, divide, power] {
            let _ = operation(&a, &b);
        }
        let _ = compare(Comparison::Less, &a, &b);
        let _ = range("r", &a, &b, &Value::from(1e300));
        for target in [Target::Unit(right), Target::Base, Target::Root, Target::Reduced, Target::Compact] {
            let _ = convert(&a, target);
        }
    }
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        Just(Number::Null),
        any::<i128>().prop_map(Number::Int),
        (-3..3_i64).prop_map(Number::from),
        any::<u64>().prop_map(|bits| f64::from_bits(bits).into()),
        (any::<u64>(), any::<u64>()).prop_map(|(re, im)| Complex64::new(f64::from_bits(re), f64::from_bits(im)).into()),
        any::<u64>().prop_map(|bits| Uncertain::fresh(f64::from_bits(bits), 0.5).unwrap().into()),
    ]
}

fn any_unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(vec!["", "m", "cm", "s", "degC", "delta_degC", "kelvin", "percent"]).prop_map(|text| Unit::parse(text).unwrap())
}

/// Walks from the first index to the last, one step at a time.
fn naive_slice(len: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<i64> {
    let from_end = |bound: i64| if bound < 0 { bound + len } else { bound };
    let mut at = start
        .map_or(if step > 0 { 0 } else { len - 1 }, |start| if step > 0 { from_end(start).max(0) } else { from_end(start).min(len - 1) });
    let mut found = Vec::new();
    let before = |at: i64| match stop.map(from_end) {
        Some(stop) => {
            if step > 0 {
                at < stop
            } else {
                at > stop
            }
        }
        None => true,
    };
    while at >= 0 && at < len && before(at) {
        found.push(at);
        at += step;
    }
    found
}

#[test]
fn equality_of_types_is_never_a_fault() {
    assert_eq!(equal(&"a".into(), &1.into()), Some(false));
    assert_eq!(equal(&Value::Null, &1.into()), None);
}
