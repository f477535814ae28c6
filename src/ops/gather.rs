//! Whole columns: selecting, filtering, joining, and making a series or table of the results of `map`.

use std::sync::Arc;

use indexmap::IndexMap;

use super::convert::{Target, convert_array, convert_column, to_unit};
use super::{access, fault};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::{Column, Mask, Number, Quantity, Series, Table, Value, as_whole};

/// The columns of a table with these names, in this order.
pub fn select(table: &Table, names: &[impl AsRef<str>]) -> Result<Table, Fault> {
    let column = |name: &str| match table.column(name) {
        Some(column) => Ok(Arc::clone(column)),
        None => Err(fault::missing("column", name, table.names().map(|name| &**name))),
    };
    Table::new(names.iter().map(|name| column(name.as_ref())).collect::<Result<_, _>>()?)
}

/// The elements or rows where the mask is true; null counts as false.
pub fn filter(value: &Value, mask: &Mask) -> Result<Value, Fault> {
    let check = |len: usize| if len == mask.len() { Ok(()) } else { Err(fault::lengths(len, mask.len())) };
    match value {
        Value::Series(series) => {
            check(series.len())?;
            Ok(series.with_data(series.data.filter(mask)?).into())
        }
        Value::Table(table) => {
            check(table.len())?;
            Ok(table.try_map(|column| column.filter(mask))?.into())
        }
        other => Err(fault::access("elements to filter", other)),
    }
}

/// The series without missing elements, or the table without rows that have one.
pub fn drop_nulls(value: &Value) -> Result<Value, Fault> {
    let columns: &[Arc<Series>] = match value {
        Value::Series(series) => std::slice::from_ref(series),
        Value::Table(table) => table.columns(),
        other => return Err(fault::access("elements to filter", other)),
    };
    if columns.iter().all(|column| column.data.null_count() == 0) {
        return Ok(value.clone());
    }
    let len = columns.first().map_or(0, |column| column.len());
    let mask = (0..len).map(|i| Some(columns.iter().all(|column| !column.data.is_null(i))));
    filter(value, &mask.collect())
}

/// The elements or rows of several series or tables, one after the other, in the units of the first; its names stay.
pub fn concat(parts: &[Value]) -> Result<Value, Fault> {
    match parts.first() {
        Some(Value::Series(_)) => {
            let series: Vec<&Series> = parts.iter().map(as_series).collect::<Result<_, _>>()?;
            concat_series(&series).map(Value::from)
        }
        Some(Value::Table(first)) => {
            let columns = first.names().map(|name| {
                let column: Vec<Value> = parts.iter().map(|part| access::key(part, name)).collect::<Result<_, _>>()?;
                let column: Vec<&Series> = column.iter().map(as_series).collect::<Result<_, _>>()?;
                concat_series(&column).map(Arc::new)
            });
            Ok(Table::new(columns.collect::<Result<_, Fault>>()?)?.into())
        }
        Some(other) => Err(fault::access("elements to join", other)),
        None => Err(fault::lengths(0, 1)),
    }
}

/// The results of `map` as a series of this name, or as a table when all of them are dicts.
///
/// Numbers are converted to the unit of the first one that has a type; an integer that comes out whole stays an integer.
pub fn gather(name: impl Into<Arc<str>>, values: Vec<Value>) -> Result<Value, Fault> {
    let records: Option<Vec<&IndexMap<Arc<str>, Value>>> = values.iter().map(as_record).collect();
    if let Some(records) = records.filter(|records| !records.is_empty()) {
        return gather_table(&records).map(Value::from);
    }
    gather_series(name, values).map(Value::from)
}

fn gather_table(records: &[&IndexMap<Arc<str>, Value>]) -> Result<Table, Fault> {
    if let Some(other) = records.iter().find(|record| record.len() != records[0].len()) {
        return Err(fault::lengths(records[0].len(), other.len()));
    }
    let columns = records[0].keys().map(|key| {
        let field = |record: &&IndexMap<Arc<str>, Value>| match record.get(key) {
            Some(field) => Ok(field.clone()),
            None => Err(fault::missing("value for key", key, record.keys().map(|key| &**key))),
        };
        let values = records.iter().map(field).collect::<Result<Vec<Value>, Fault>>()?;
        gather_series(Arc::clone(key), values).map(Arc::new)
    });
    Table::new(columns.collect::<Result<_, Fault>>()?)
}

fn gather_series(name: impl Into<Arc<str>>, values: Vec<Value>) -> Result<Series, Fault> {
    let Some(unit) = values.iter().find_map(unit_of) else { return Series::from_values(name, values) };
    let converted = values.into_iter().map(|value| in_unit(value, unit));
    Series::from_values(name, converted.collect::<Result<_, _>>()?)
}

fn in_unit(value: Value, unit: Unit) -> Result<Value, Fault> {
    match value {
        Value::Quantity(quantity) if quantity.unit != unit && !is_untyped(&quantity) => {
            let converted = to_unit(&quantity, unit)?;
            Ok(match (&quantity.number, &converted.number) {
                (Number::Int(_), Number::Float(float)) => as_whole(*float).map_or(converted, |whole| Quantity::new(whole, unit)).into(),
                _ => converted.into(),
            })
        }
        Value::Array(array) if array.is_numeric() && array.unit != unit => convert_array(&array, Target::Unit(unit)).map(Value::from),
        other => Ok(other),
    }
}

fn concat_series(parts: &[&Series]) -> Result<Series, Fault> {
    let Some(first) = parts.first() else { return Err(fault::lengths(0, 1)) };
    let typed = parts.iter().find(|part| !matches!(*part.data, Column::Null(_)) || !part.unit.is_none());
    let unit = typed.map_or(Unit::NONE, |part| part.unit);
    let columns = parts.iter().map(|part| match &*part.data {
        column @ Column::Null(_) if part.unit.is_none() => Ok(column.clone()),
        column => convert_column(column, part.unit, unit),
    });
    let data = Column::concat(&columns.collect::<Result<Vec<_>, _>>()?)?;
    Ok(Series::new(Arc::clone(&first.name), data, unit))
}

fn as_series(value: &Value) -> Result<&Series, Fault> {
    if let Value::Series(series) = value { Ok(series) } else { Err(fault::access("elements to join", value)) }
}

fn as_record(value: &Value) -> Option<&IndexMap<Arc<str>, Value>> {
    if let Value::Dict(fields) = value { Some(fields) } else { None }
}

fn unit_of(value: &Value) -> Option<Unit> {
    match value {
        Value::Quantity(quantity) if !is_untyped(quantity) => Some(quantity.unit),
        Value::Array(array) if array.is_numeric() => Some(array.unit),
        _ => None,
    }
}

fn is_untyped(quantity: &Quantity) -> bool {
    quantity.is_null() && quantity.unit.is_none()
}
