//! Ranges are, bit for bit, the columns that they stand for.

use proptest::prelude::*;

use crate::units::Unit;
use crate::value::{Column, Data, Mask, Range, Series, codec};

/// What `range` gave when it built its column at once.
fn eager_ints(start: i64, step: i64, len: usize) -> Column {
    Column::from((0..len).map(|i| i64::try_from(i128::from(start) + i as i128 * i128::from(step)).unwrap()).collect::<Vec<i64>>())
}

fn eager_floats(start: f64, step: f64, len: usize) -> Column {
    let (second, delta) = (start + step, start + step - start);
    let element = |i: usize| match i {
        0 => start,
        1 => second,
        _ => start + i as f64 * delta,
    };
    Column::from((0..len).map(element).collect::<Vec<f64>>())
}

fn digest(data: impl Into<Data>) -> [u8; 32] {
    codec::digest(&Series::new("s", data, Unit::NONE).into())
}

fn is_built(data: &Data) -> bool {
    matches!(&data.0, super::Kept::Range(lazy) if lazy.column.get().is_some())
}

/// A range beside its column.
fn pairs() -> impl Strategy<Value = (Data, Column)> {
    let ints = (-1000..1000_i64, -50..50_i64, 0..200_usize)
        .prop_map(|(start, step, len)| (Data::from(Range::ints(start.into(), step.into(), len).unwrap()), eager_ints(start, step, len)));
    let floats = (-1e3..1e3, prop_oneof![Just(0.1), Just(-0.3), Just(1e-17), -1e3..1e3], 0..200_usize)
        .prop_map(|(start, step, len)| (Range::floats(start, step, len).into(), eager_floats(start, step, len)));
    prop_oneof![ints, floats]
}

proptest! {
    #[test]
    fn slices_of_slices_have_the_same_bits(
        (mut data, mut column) in pairs(),
        cuts in prop::collection::vec((0..100_usize, 0..150_usize), 0..4),
        stride in 1..7_usize,
    ) {
        for (start, len) in cuts {
            (data, column) = (data.slice(start, len), column.slice(start, len));
        }
        let len = column.len();
        prop_assert_eq!((data.len(), data.null_count(), data.kind(), data.type_name()), (len, 0, column.kind(), column.type_name()));
        let elements: Vec<String> = data.values(Unit::NONE).map(|element| format!("{element:?}")).collect();
        prop_assert_eq!(elements, column.values(Unit::NONE).map(|element| format!("{element:?}")).collect::<Vec<_>>());
        let places: Vec<usize> = (0..len).rev().step_by(stride).collect();
        prop_assert_eq!(digest(data.take(&places).unwrap()), digest(column.take(&places).unwrap()));
        let mask: Mask = (0..len).map(|i| (i % 5 > 0).then_some(i % stride == 0)).collect();
        prop_assert_eq!(digest(data.filter(&mask).unwrap()), digest(column.filter(&mask).unwrap()));
        filled_alike(&data, &column, stride.min(len))?;
        prop_assert_eq!(digest(data.clone()), digest(column.clone()));
        prop_assert!(!is_built(&data));
        prop_assert_eq!(digest(Column::clone(&data)), digest(column));
        prop_assert!(is_built(&data));
    }

    #[test]
    fn a_sum_is_that_of_the_elements(start in any::<i64>(), step in any::<i64>(), len in 0..50_usize) {
        let Some(range) = Range::ints(start.into(), step.into(), len) else { return Ok(()) };
        prop_assert_eq!(range.sum(), Some((0..len).map(|i| i128::from(range.int(i))).sum()));
    }
}

fn filled_alike(data: &Data, column: &Column, start: usize) -> Result<(), TestCaseError> {
    let (range, len) = (data.range().unwrap(), column.len() - start);
    let (mut ints, mut floats) = (vec![7; len], vec![7.0; len]);
    range.fill_ints(start, &mut ints);
    range.fill_floats(start, &mut floats);
    let expected = column.slice(start, len);
    match expected {
        Column::Int(_) => prop_assert_eq!(digest(Column::from(ints)), digest(expected)),
        _ => prop_assert_eq!(digest(Column::from(floats)), digest(expected)),
    }
    Ok(())
}

#[test]
fn elements_at_the_edges_of_their_type() {
    let wide = Range::ints(i64::MIN.into(), (1_i128 << 64) - 1, 2).unwrap();
    assert_eq!((wide.int(0), wide.int(1), wide.sum()), (i64::MIN, i64::MAX, Some(-1)));
    assert!(Range::ints(i64::MIN.into(), (1_i128 << 64) - 1, 3).is_none());
    assert!(Range::ints(1_i128 << 63, 1, 1).is_none());
    assert!(Range::ints(1_i128 << 63, 1, 0).is_some_and(|range| range.sum() == Some(0)));
    assert!(Range::ints(0, i128::MAX, 3).is_none());
    let single = Data::from(Range::floats(1.5e308, 1e308, 1));
    assert_eq!(digest(single), digest(Column::from(vec![1.5e308])));
    let zero = Data::from(Range::floats(-0.0, 1.0, 2));
    assert_eq!(digest(zero), digest(Column::from(vec![-0.0, 1.0])));
    let long = Range::floats(0.1, 0.1, (1 << 16) + 10);
    let mut floats = vec![0.0; long.len() - 1];
    long.fill_floats(1, &mut floats);
    assert!(floats.iter().zip(1..).all(|(float, i)| float.to_bits() == long.float(i).to_bits()));
}

#[test]
fn a_copy_shares_the_column_and_a_part_builds_its_own() {
    let data = Data::from(Range::ints(0, 1, 10).unwrap());
    let (copy, part) = (data.clone(), data.slice(2, 3));
    let Column::Int(ints) = &*part else { panic!("no integers") };
    assert_eq!(ints.values().as_ref(), [2, 3, 4]);
    assert!(!is_built(&data));
    assert_eq!(Column::len(&copy), 10);
    assert!(is_built(&data));
}
