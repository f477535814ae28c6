//! Conversion of units.
//!
//! An integer that is converted becomes a float unless the factor is a whole number; in a series, integers stay integers when all of
//! them come out whole.

use std::sync::Arc;

use super::fault;
use crate::diagnostic::Fault;
use crate::units::{Conversion, Unit};
use crate::value::{Array, Column, Complex64, Number, NumberKind, Quantity, Series, Value};

/// What to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Target {
    /// A unit.
    Unit(Unit),
    /// `_base`: base units of the SI.
    Base,
    /// `_root`: root units, which have gram instead of kilogram.
    Root,
    /// `_reduced`: one unit per dimension.
    Reduced,
    /// `_compact`: the prefix that suits the magnitude; series and arrays stay as they are.
    Compact,
}

impl Target {
    /// The unit that numbers in `unit` get; `magnitude` is that of a scalar.
    fn of(self, unit: Unit, magnitude: Option<f64>) -> Unit {
        match self {
            Target::Unit(target) => target,
            Target::Base => unit.base(),
            Target::Root => unit.root(),
            Target::Reduced => unit.reduced(),
            Target::Compact => match magnitude {
                Some(magnitude) if magnitude.is_finite() && magnitude != 0.0 && !unit.is_none() => unit.compact(magnitude),
                _ => unit,
            },
        }
    }
}

/// A number, series or array in another unit; any other value is a fault.
pub fn convert(value: &Value, target: Target) -> Result<Value, Fault> {
    match value {
        Value::Quantity(quantity) => convert_quantity(quantity, target).map(Value::Quantity),
        Value::Series(series) => convert_series(series, target).map(|converted| Value::Series(Arc::new(converted))),
        Value::Array(array) if array.is_numeric() => convert_array(array, target).map(|converted| Value::Array(Arc::new(converted))),
        Value::Null => Ok(Value::Quantity(Quantity::null(target.of(Unit::NONE, None)))),
        other => Err(non_numeric(other)),
    }
}

/// A number in another unit.
pub fn convert_quantity(quantity: &Quantity, target: Target) -> Result<Quantity, Fault> {
    to_unit(quantity, target.of(quantity.unit, quantity.number.as_f64()))
}

/// A number in this unit.
pub fn to_unit(quantity: &Quantity, unit: Unit) -> Result<Quantity, Fault> {
    Ok(Quantity { number: convert_number(&quantity.number, &conversion(quantity.unit, unit)?)?, unit })
}

/// A series in another unit; a series that is not numeric is a fault.
pub fn convert_series(series: &Series, target: Target) -> Result<Series, Fault> {
    if series.data.range().is_none() && !is_numeric(&series.data) {
        return Err(non_numeric(&Value::Series(Arc::new(series.clone()))));
    }
    let unit = target.of(series.unit, None);
    if unit == series.unit {
        return Ok(series.clone());
    }
    Ok(Series::new(series.name.clone(), convert_column(&series.data, series.unit, unit)?, unit))
}

/// An array in another unit; its integers become floats unless the factor is whole.
pub fn convert_array(array: &Array, target: Target) -> Result<Array, Fault> {
    let unit = target.of(array.unit, None);
    let conversion = conversion(array.unit, unit)?;
    if conversion.is_identity() {
        return Ok(Array { unit, ..array.clone() });
    }
    Ok(Array { shape: array.shape.clone(), unit, data: map_array(&array.data, &conversion)? })
}

/// The numbers of a column of a series in another unit; what is not a number stays as it is.
pub fn convert_column(column: &Column, from: Unit, to: Unit) -> Result<Column, Fault> {
    if from == to || !is_numeric(column) {
        return Ok(column.clone());
    }
    map_column(column, &conversion(from, to)?)
}

/// The conversion between two units, or the fault that says why there is none.
pub fn conversion(from: Unit, to: Unit) -> Result<Conversion, Fault> {
    from.conversion(to).map_err(|error| fault::conversion(&error))
}

/// A number converted.
pub fn convert_number(number: &Number, conversion: &Conversion) -> Result<Number, Fault> {
    if conversion.is_identity() {
        return Ok(number.clone());
    }
    Ok(match number {
        Number::Null => Number::Null,
        Number::Int(int) => match conversion.whole() {
            Some(factor) => Number::Int(int.checked_mul(factor).ok_or_else(|| fault::integer_overflow("a conversion"))?),
            None => Number::Float(conversion.apply(*int as f64)),
        },
        Number::Float(float) => Number::Float(conversion.apply(*float)),
        Number::Complex(complex) => Number::Complex(convert_complex(*complex, conversion)?),
        Number::Uncertain(uncertain) => {
            let scale = linear_scale(conversion, "uncertain")?;
            Number::Uncertain(uncertain.chain(conversion.apply(uncertain.nominal), scale))
        }
    })
}

/// Whether the elements are numbers, arrays of numbers, or missing.
pub fn is_numeric(column: &Column) -> bool {
    match column {
        Column::Null(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) => true,
        Column::Bool(_) | Column::Str(_) => false,
        Column::Object(values) => values.iter().all(|value| match value {
            Value::Null | Value::Quantity(_) => true,
            Value::Array(array) => array.is_numeric(),
            Value::Bool(_) | Value::Str(_) | Value::Tuple(_) | Value::Dict(_) | Value::Series(_) | Value::Table(_) | Value::Function(_) => {
                false
            }
        }),
    }
}

fn map_column(column: &Column, conversion: &Conversion) -> Result<Column, Fault> {
    match column {
        _ if conversion.is_identity() => Ok(column.clone()),
        Column::Int(_) => Ok(convert_ints(column, conversion)),
        Column::Float(_) => Ok(column.map_floats(|float| conversion.apply(float))),
        Column::Complex(_) => {
            let converted =
                column.numbers().map(|number| number.as_complex().map(|complex| convert_complex(complex, conversion)).transpose());
            converted.collect::<Result<Column, Fault>>()
        }
        Column::Object(values) => {
            let converted = values.iter().map(|value| convert_element(value, conversion));
            Ok(Column::Object(converted.collect::<Result<_, Fault>>()?))
        }
        Column::Null(_) | Column::Bool(_) | Column::Str(_) => Ok(column.clone()),
    }
}

/// The elements of an array: its integers become floats unless the factor is whole.
fn map_array(data: &Column, conversion: &Conversion) -> Result<Column, Fault> {
    match data {
        Column::Int(_) if conversion.whole().is_none() => map_column(&data.cast(NumberKind::Float)?, conversion),
        _ => map_column(data, conversion),
    }
}

/// Integers where every result is whole, else floats.
fn convert_ints(ints: &Column, conversion: &Conversion) -> Column {
    let exact = conversion.whole().and_then(|factor| ints.map_ints(|int| i64::try_from(i128::from(int).checked_mul(factor)?).ok()));
    exact.unwrap_or_else(|| {
        let floats = ints.map_floats(|float| conversion.apply(float));
        floats.as_whole().unwrap_or(floats)
    })
}

fn convert_element(value: &Value, conversion: &Conversion) -> Result<Value, Fault> {
    match value {
        Value::Quantity(quantity) => Ok(Value::Quantity(convert_number(&quantity.number, conversion)?.into())),
        Value::Array(array) => Ok(Value::Array(Arc::new(Array { data: map_array(&array.data, conversion)?, ..(**array).clone() }))),
        other => Ok(other.clone()),
    }
}

fn convert_complex(complex: Complex64, conversion: &Conversion) -> Result<Complex64, Fault> {
    let scale = linear_scale(conversion, "complex")?;
    Ok(Complex64::new(conversion.apply(complex.re), complex.im * scale))
}

fn linear_scale(conversion: &Conversion, kind: &str) -> Result<f64, Fault> {
    match conversion {
        Conversion::Level { .. } => Err(fault::kinds("a conversion between levels", &format!("the number is {kind}"))),
        Conversion::Identity | Conversion::Whole(_) | Conversion::Factor(_) | Conversion::Affine { .. } => Ok(conversion.scale()),
    }
}

fn non_numeric(value: &Value) -> Fault {
    fault::kinds("a conversion of units", &format!("{} is non-numeric type", value.type_name()))
}
