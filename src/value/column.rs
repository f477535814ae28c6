//! One column of values of one type.
//!
//! A column knows no units: the unit belongs to the series, array or table column around it. So the numbers, and the numeric arrays,
//! among the elements of [`Column::Object`] are stored without unit, and [`Column::get`] puts it back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array as _, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, StringArray, UInt64Array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::{DataType, Field, FieldRef};
use num_complex::Complex64;

use super::fault;
use super::number::{Number, NumberKind, Uncertain};
use super::quantity::Quantity;
use super::{Array, Value};
use crate::diagnostic::Fault;
use crate::units::Unit;

/// A column: an Arrow array with its validity bitmap, or shared values where Arrow has no type for the elements.
#[derive(Clone, Debug)]
pub enum Column {
    /// Only nulls, of no particular type.
    Null(usize),
    /// Booleans.
    Bool(BooleanArray),
    /// Strings.
    Str(StringArray),
    /// 64-bit integers.
    Int(Int64Array),
    /// Doubles.
    Float(Float64Array),
    /// Pairs of doubles (real, imaginary).
    Complex(FixedSizeListArray),
    /// Tuples, dicts, arrays, tables, series and uncertain numbers; a missing one is [`Value::Null`].
    Object(Arc<[Value]>),
}

impl Column {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Column::Null(len) => *len,
            Column::Object(values) => values.len(),
            Column::Bool(_) | Column::Str(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) => {
                self.arrow().map_or(0, |array| array.len())
            }
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether element `i` is missing; `i` must be less than the length.
    pub fn is_null(&self, i: usize) -> bool {
        match self {
            Column::Null(_) => true,
            Column::Object(values) => values[i].is_null(),
            Column::Bool(array) => array.is_null(i),
            Column::Str(array) => array.is_null(i),
            Column::Int(array) => array.is_null(i),
            Column::Float(array) => array.is_null(i),
            Column::Complex(array) => array.is_null(i),
        }
    }

    /// How many elements are missing.
    pub fn null_count(&self) -> usize {
        match self {
            Column::Null(len) => *len,
            Column::Object(values) => values.iter().filter(|value| value.is_null()).count(),
            Column::Bool(_) | Column::Str(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) => {
                self.arrow().map_or(0, |array| array.null_count())
            }
        }
    }

    /// The validity bitmap of an Arrow column that has nulls.
    pub fn nulls(&self) -> Option<NullBuffer> {
        self.arrow().and_then(|array| array.nulls().cloned()).filter(|nulls| nulls.null_count() > 0)
    }

    /// The Arrow array; `None` for nulls without type and for objects.
    pub fn arrow(&self) -> Option<&dyn arrow_array::Array> {
        match self {
            Column::Null(_) | Column::Object(_) => None,
            Column::Bool(array) => Some(array),
            Column::Str(array) => Some(array),
            Column::Int(array) => Some(array),
            Column::Float(array) => Some(array),
            Column::Complex(array) => Some(array),
        }
    }

    /// The column over an Arrow array; `None` for a type that no column has.
    pub fn from_arrow(array: &ArrayRef) -> Option<Column> {
        match array.data_type() {
            DataType::Null => Some(Column::Null(array.len())),
            DataType::Boolean => Some(Column::Bool(array.as_boolean().clone())),
            DataType::Utf8 => Some(Column::Str(array.as_string::<i32>().clone())),
            DataType::Int64 => Some(Column::Int(array.as_primitive().clone())),
            DataType::Float64 => Some(Column::Float(array.as_primitive().clone())),
            DataType::FixedSizeList(field, 2) if *field.data_type() == DataType::Float64 => {
                Some(Column::Complex(array.as_fixed_size_list().clone()))
            }
            _ => None,
        }
    }

    /// The kind of the numbers; `None` when the elements are not numbers, or all missing.
    pub fn kind(&self) -> Option<NumberKind> {
        match self {
            Column::Int(_) => Some(NumberKind::Int),
            Column::Float(_) => Some(NumberKind::Float),
            Column::Complex(_) => Some(NumberKind::Complex),
            Column::Object(values) => match values.iter().find(|value| !value.is_null()) {
                Some(Value::Quantity(quantity)) => quantity.number.kind(),
                _ => None,
            },
            Column::Null(_) | Column::Bool(_) | Column::Str(_) => None,
        }
    }

    /// The name of the element type as `info` shows it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Column::Null(_) => "Any",
            Column::Bool(_) => "Boolean",
            Column::Str(_) => "String",
            Column::Int(_) => "Integer",
            Column::Float(_) => "Float",
            Column::Complex(_) => "Complex",
            Column::Object(values) => match values.iter().find(|value| !value.is_null()) {
                Some(Value::Quantity(quantity)) => quantity.number.type_name(),
                Some(value) => value.type_name(),
                None => "Any",
            },
        }
    }

    /// Element `i` as a number, missing where it is none; `i` must be less than the length.
    pub fn number(&self, i: usize) -> Number {
        match self {
            _ if self.is_null(i) => Number::Null,
            Column::Int(array) => Number::Int(array.value(i).into()),
            Column::Float(array) => Number::Float(array.value(i)),
            Column::Complex(array) => Number::Complex(complex_at(array, i)),
            Column::Object(values) => match &values[i] {
                Value::Quantity(quantity) => quantity.number.clone(),
                _ => Number::Null,
            },
            Column::Null(_) | Column::Bool(_) | Column::Str(_) => Number::Null,
        }
    }

    /// Element `i` with the unit of the series; `i` must be less than the length.
    pub fn get(&self, i: usize, unit: Unit) -> Value {
        match self {
            Column::Null(_) if unit.is_none() => Value::Null,
            Column::Null(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) => {
                Value::Quantity(Quantity { number: self.number(i), unit })
            }
            Column::Bool(array) if array.is_valid(i) => Value::Bool(array.value(i)),
            Column::Str(array) if array.is_valid(i) => Value::Str(array.value(i).into()),
            Column::Bool(_) | Column::Str(_) => Value::Null,
            Column::Object(values) => with_unit(&values[i], unit),
        }
    }

    /// All elements with the unit of the series.
    pub fn values(&self, unit: Unit) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(move |i| self.get(i, unit))
    }

    /// The elements `start..start + len`, cut to what there is, without copying (objects are copied).
    pub fn slice(&self, start: usize, len: usize) -> Column {
        let start = start.min(self.len());
        let len = len.min(self.len() - start);
        match self {
            Column::Null(_) => Column::Null(len),
            Column::Bool(array) => Column::Bool(array.slice(start, len)),
            Column::Str(array) => Column::Str(array.slice(start, len)),
            Column::Int(array) => Column::Int(array.slice(start, len)),
            Column::Float(array) => Column::Float(array.slice(start, len)),
            Column::Complex(array) => Column::Complex(array.slice(start, len)),
            Column::Object(values) => Column::Object(values[start..start + len].into()),
        }
    }

    /// The elements at these indices, each of which must be less than the length.
    pub fn take(&self, indices: &[usize]) -> Result<Column, Fault> {
        match self {
            Column::Null(_) => return Ok(Column::Null(indices.len())),
            Column::Object(values) => return Ok(Column::Object(indices.iter().map(|i| values[*i].clone()).collect())),
            Column::Bool(_) | Column::Str(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) => {}
        }
        let indices = UInt64Array::from_iter_values(indices.iter().map(|i| *i as u64));
        self.map_arrow(|array| arrow_select::take::take(array, &indices, None))
    }

    /// The elements where the mask is true; the mask must have the column's length, and its nulls count as false.
    pub fn filter(&self, mask: &BooleanArray) -> Result<Column, Fault> {
        let chosen = |i: &usize| mask.is_valid(*i) && mask.value(*i);
        match self {
            Column::Null(len) => Ok(Column::Null((0..*len).filter(chosen).count())),
            Column::Object(values) => Ok(Column::Object((0..values.len()).filter(chosen).map(|i| values[i].clone()).collect())),
            Column::Bool(_) | Column::Str(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) => {
                self.map_arrow(|array| arrow_select::filter::filter(array, mask))
            }
        }
    }

    /// All elements of several columns, one column after the other; numbers widen to the widest kind.
    pub fn concat(parts: &[Column]) -> Result<Column, Fault> {
        let typed: Vec<&Column> = parts.iter().filter(|part| part.null_count() < part.len()).collect();
        let Some(first) = typed.first() else { return Ok(Column::concat_untyped(parts)) };
        if !typed.iter().all(|part| part.is_like(first)) {
            return Column::concat_unlike(parts);
        }
        if let Column::Object(_) = first {
            return Ok(Column::Object(parts.iter().flat_map(|part| part.values(Unit::NONE)).collect()));
        }
        let aligned: Vec<Column> =
            parts.iter().map(|part| if part.is_like(first) { part.clone() } else { first.nulls_like(part.len()) }).collect();
        let arrays: Vec<&dyn arrow_array::Array> = aligned.iter().filter_map(Column::arrow).collect();
        let joined = arrow_select::concat::concat(&arrays).map_err(fault::column_limit)?;
        Column::from_arrow(&joined).ok_or_else(|| fault::column_limit("unknown type"))
    }

    /// The numbers as another kind; a kind that holds less is refused.
    pub fn cast(&self, kind: NumberKind) -> Result<Column, Fault> {
        if self.kind() == Some(kind) || matches!(self, Column::Null(_)) {
            return Ok(self.clone());
        }
        match (self, kind) {
            (Column::Int(array), NumberKind::Float) => Ok(Column::Float(array.unary(|int| int as f64))),
            (Column::Int(_) | Column::Float(_), NumberKind::Complex) => Ok(self.numbers().map(|number| number.as_complex()).collect()),
            (Column::Int(_) | Column::Float(_), NumberKind::Uncertain) => Ok(uncertain_column(self.numbers())),
            _ => Err(fault::impossible_cast(self.type_name(), kind.name())),
        }
    }

    /// A function of the elements of a column of integers or floats, as floats; any other column as it is.
    pub fn map_floats(&self, change: impl Fn(f64) -> f64) -> Column {
        match self {
            Column::Int(array) => Column::Float(array.unary(|int| change(int as f64))),
            Column::Float(array) => Column::Float(array.unary(change)),
            Column::Null(_) | Column::Bool(_) | Column::Str(_) | Column::Complex(_) | Column::Object(_) => self.clone(),
        }
    }

    /// A function of the elements of a column of integers; `None` for any other column, and when it is `None` for an element.
    pub fn map_ints(&self, change: impl Fn(i64) -> Option<i64>) -> Option<Column> {
        let Column::Int(array) = self else { return None };
        let changed = array.iter().map(|int| int.map_or(Some(None), |int| change(int).map(Some)));
        changed.collect::<Option<Int64Array>>().map(Column::Int)
    }

    /// The integers that the elements of a column of floats are, when all of them are.
    pub fn as_whole(&self) -> Option<Column> {
        let Column::Float(array) = self else { return None };
        let whole = array.iter().map(|float| float.map_or(Some(None), |float| as_whole(float).map(Some)));
        whole.collect::<Option<Int64Array>>().map(Column::Int)
    }

    /// A column of these elements with their common unit.
    ///
    /// Numbers widen to the widest kind among them and must have one unit; nulls go with every type. Several types, several units,
    /// and integers beyond 64 bits are faults.
    pub fn from_values(values: Vec<Value>) -> Result<(Column, Unit), Fault> {
        let mut classes: Vec<&'static str> = Vec::new();
        for class in values.iter().filter_map(element_class) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        let unit = common_unit(&values)?;
        let column = match classes.as_slice() {
            [] => Column::Null(values.len()),
            ["Quantity"] => Column::from_numbers(values.into_iter().map(into_number).collect())?,
            ["Boolean"] => values.iter().map(as_bool).collect(),
            ["String"] => Column::from_strings(values.iter().map(as_str))?,
            [_] => Column::Object(values.iter().map(|value| with_unit(value, Unit::NONE)).collect()),
            _ => return Err(fault::mixed_types(&classes)),
        };
        Ok((column, unit))
    }

    /// A column of numbers, of the widest kind among them.
    pub fn from_numbers(numbers: Vec<Number>) -> Result<Column, Fault> {
        let has = |kind| numbers.iter().any(|number| number.kind() == Some(kind));
        match numbers.iter().filter_map(Number::kind).max() {
            None => Ok(Column::Null(numbers.len())),
            Some(NumberKind::Int) => {
                let ints: Result<Int64Array, Fault> = numbers.iter().map(|number| number.as_int().map(narrow).transpose()).collect();
                Ok(Column::Int(ints?))
            }
            Some(NumberKind::Float) => Ok(numbers.iter().map(Number::as_f64).collect()),
            Some(NumberKind::Complex) => Ok(numbers.iter().map(Number::as_complex).collect()),
            Some(NumberKind::Uncertain) if has(NumberKind::Complex) => Err(fault::mixed_types(&["Complex", "uncertain Float"])),
            Some(NumberKind::Uncertain) => Ok(uncertain_column(numbers.into_iter())),
        }
    }

    /// A column of strings; more than 2 GiB of text is a fault.
    pub fn from_strings<'a>(strings: impl Iterator<Item = Option<&'a str>>) -> Result<Column, Fault> {
        let strings: Vec<Option<&str>> = strings.collect();
        let bytes: usize = strings.iter().flatten().map(|string| string.len()).sum();
        if i32::try_from(bytes).is_err() {
            return Err(fault::column_limit("more than 2 GiB of text"));
        }
        Ok(Column::Str(strings.into_iter().collect()))
    }

    /// `len` missing elements of the type of this column.
    pub fn nulls_like(&self, len: usize) -> Column {
        match self {
            Column::Null(_) => Column::Null(len),
            Column::Bool(_) => Column::Bool(BooleanArray::new_null(len)),
            Column::Str(_) => Column::Str(StringArray::new_null(len)),
            Column::Int(_) => Column::Int(Int64Array::new_null(len)),
            Column::Float(_) => Column::Float(Float64Array::new_null(len)),
            Column::Complex(_) => std::iter::repeat_n(None::<Complex64>, len).collect(),
            Column::Object(_) => Column::Object(std::iter::repeat_n(Value::Null, len).collect()),
        }
    }

    /// The elements as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        (0..self.len()).map(|i| self.number(i))
    }

    fn is_like(&self, other: &Column) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    fn map_arrow(&self, change: impl Fn(&dyn arrow_array::Array) -> Result<ArrayRef, arrow_schema::ArrowError>) -> Result<Column, Fault> {
        let array = self.arrow().ok_or_else(|| fault::column_limit("no array"))?;
        let changed = change(array).map_err(fault::column_limit)?;
        Column::from_arrow(&changed).ok_or_else(|| fault::column_limit("unknown type"))
    }

    /// Parts without a single element or value: the result has the type of the first part that has one.
    fn concat_untyped(parts: &[Column]) -> Column {
        let len = parts.iter().map(Column::len).sum();
        let typed = parts.iter().find(|part| !matches!(part, Column::Null(_)));
        typed.map_or(Column::Null(len), |part| part.nulls_like(len))
    }

    fn concat_unlike(parts: &[Column]) -> Result<Column, Fault> {
        if parts.iter().all(|part| part.kind().is_some() || part.null_count() == part.len()) {
            return Column::from_numbers(parts.iter().flat_map(Column::numbers).collect());
        }
        let values = parts.iter().flat_map(|part| part.values(Unit::NONE)).collect();
        Column::from_values(values).map(|(column, _)| column)
    }
}

impl FromIterator<Option<i64>> for Column {
    fn from_iter<I: IntoIterator<Item = Option<i64>>>(iter: I) -> Self {
        Column::Int(iter.into_iter().collect())
    }
}

impl FromIterator<Option<f64>> for Column {
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(iter: I) -> Self {
        Column::Float(iter.into_iter().collect())
    }
}

impl FromIterator<Option<bool>> for Column {
    fn from_iter<I: IntoIterator<Item = Option<bool>>>(iter: I) -> Self {
        Column::Bool(iter.into_iter().collect())
    }
}

impl FromIterator<Option<Complex64>> for Column {
    fn from_iter<I: IntoIterator<Item = Option<Complex64>>>(iter: I) -> Self {
        let mut parts = Vec::new();
        let mut valid = Vec::new();
        for element in iter {
            valid.push(element.is_some());
            let complex = element.unwrap_or_default();
            parts.extend([complex.re, complex.im]);
        }
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
        complex_column(Float64Array::from(parts), nulls)
    }
}

impl From<Vec<i64>> for Column {
    fn from(ints: Vec<i64>) -> Self {
        Column::Int(ints.into())
    }
}

impl From<Vec<f64>> for Column {
    fn from(floats: Vec<f64>) -> Self {
        Column::Float(floats.into())
    }
}

impl From<Vec<bool>> for Column {
    fn from(bools: Vec<bool>) -> Self {
        Column::Bool(bools.into())
    }
}

/// A complex column over its parts, real and imaginary in turn, two for each element.
pub fn complex_column(parts: Float64Array, nulls: Option<NullBuffer>) -> Column {
    let field: FieldRef = Arc::new(Field::new("item", DataType::Float64, true));
    Column::Complex(FixedSizeListArray::new(field, 2, Arc::new(parts), nulls))
}

/// Truth values from bits, eight to a byte, the first in the lowest one.
pub fn bits(bytes: Vec<u8>, len: usize) -> BooleanBuffer {
    BooleanBuffer::new(Buffer::from_vec(bytes), 0, len)
}

/// A validity bitmap from bits; `None` when nothing is missing.
pub fn validity(bytes: Vec<u8>, len: usize) -> Option<NullBuffer> {
    Some(NullBuffer::new(bits(bytes, len))).filter(|nulls| nulls.null_count() > 0)
}

/// The real and imaginary parts of a complex column, in turn, two for each element.
pub fn complex_parts(array: &FixedSizeListArray) -> &Float64Array {
    array.values().as_primitive::<Float64Type>()
}

/// Element `i` of a complex column; `i` must be less than the length.
pub fn complex_at(array: &FixedSizeListArray, i: usize) -> Complex64 {
    let parts = complex_parts(array);
    Complex64::new(parts.value(2 * i), parts.value(2 * i + 1))
}

/// The integer that a float is, when the float stands for no other.
pub fn as_whole(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (float == float.trunc() && float.abs() <= EXACT).then_some(float as i64)
}

/// A value with its unit replaced, when it is a number or an array of numbers.
pub fn with_unit(value: &Value, unit: Unit) -> Value {
    match value {
        Value::Quantity(quantity) => Value::Quantity(Quantity { number: quantity.number.clone(), unit }),
        Value::Array(array) if array.is_numeric() && array.unit != unit => Value::Array(Arc::new(Array { unit, ..(**array).clone() })),
        Value::Null if !unit.is_none() => Value::Quantity(Quantity::null(unit)),
        other => other.clone(),
    }
}

/// What must be the same for all elements of a series; `None` for nulls, which go with everything.
fn element_class(value: &Value) -> Option<&'static str> {
    match value {
        Value::Quantity(quantity) if quantity.is_null() && quantity.unit.is_none() => None,
        Value::Array(array) => Some(match array.data {
            Column::Bool(_) => "Boolean Array",
            Column::Str(_) => "String Array",
            Column::Null(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) | Column::Object(_) => "Array",
        }),
        Value::Null => None,
        other => Some(other.type_name()),
    }
}

fn element_unit(value: &Value) -> Option<Unit> {
    match value {
        Value::Quantity(quantity) if !(quantity.is_null() && quantity.unit.is_none()) => Some(quantity.unit),
        Value::Array(array) if array.is_numeric() => Some(array.unit),
        _ => None,
    }
}

fn common_unit(values: &[Value]) -> Result<Unit, Fault> {
    let mut units = values.iter().filter_map(element_unit);
    let first = units.next().unwrap_or(Unit::NONE);
    let other = units.find(|unit| *unit != first);
    let shown = |unit: Unit| if unit.is_none() { "dimensionless".to_owned() } else { unit.to_string() };
    other.map_or(Ok(first), |other| Err(fault::mixed_units(shown(first), shown(other))))
}

fn into_number(value: Value) -> Number {
    match value {
        Value::Quantity(quantity) => quantity.number,
        _ => Number::Null,
    }
}

fn as_bool(value: &Value) -> Option<bool> {
    if let Value::Bool(bool) = value { Some(*bool) } else { None }
}

fn as_str(value: &Value) -> Option<&str> {
    if let Value::Str(string) = value { Some(string) } else { None }
}

fn narrow(int: i128) -> Result<i64, Fault> {
    i64::try_from(int).map_err(|_| fault::wide_integer(int))
}

fn uncertain_column(numbers: impl Iterator<Item = Number>) -> Column {
    let element = |number: Number| match number {
        Number::Uncertain(_) => Value::Quantity(number.into()),
        other => other.as_f64().map_or(Value::Null, |nominal| Value::Quantity(Uncertain::exact(nominal).into())),
    };
    Column::Object(numbers.map(element).collect())
}
