//! Functions of many numbers: reductions, sorting, vectors. Part of `numpy`, `virtmat.functions` and `numpy.linalg`.
//!
//! A series, an array (all of its elements), a tuple of numbers and a single number are accepted alike. Missing elements are left
//! out, as pandas does. Sums of doubles are pairwise in numpy's blocks, so that the last digits agree.

use std::cmp::Ordering;
use std::sync::Arc;

use super::arguments::{self, comparable, plain, quantity};
use super::{Native, ResultKind, fault};
use crate::diagnostic::Fault;
use crate::ops;
use crate::ops::convert::to_unit;
use crate::units::Unit;
use crate::value::{Array, Column, Number, Quantity, Value};

/// Functions of all three modules.
pub(super) fn functions() -> impl Iterator<Item = Native> {
    let modules = ["numpy", "virtmat.functions"].into_iter();
    modules.flat_map(|module| [one_number(module), counts(module), many_numbers(module)].into_iter().flatten()).chain([norm_native()])
}

/// The numbers of an argument that are not missing, in one unit.
pub(super) struct Elements {
    /// The numbers.
    pub(super) numbers: Vec<Number>,
    /// Their unit.
    pub(super) unit: Unit,
}

impl Elements {
    /// The numbers of a series, array, tuple or single number.
    pub(super) fn of(value: &Value) -> Result<Self, Fault> {
        let (numbers, unit) = match value {
            Value::Series(series) => (column(&series.data)?, series.unit),
            Value::Array(array) => (column(&array.data)?, array.unit),
            Value::Tuple(members) => members_in_one_unit(members)?,
            other => {
                let quantity = quantity(other)?;
                (vec![quantity.number], quantity.unit)
            }
        };
        let numbers = numbers.into_iter().filter(|number| !matches!(number, Number::Null)).collect();
        Ok(Elements { numbers, unit })
    }

    /// As doubles; complex and uncertain numbers are of a wrong type.
    pub(super) fn reals(&self) -> Result<Vec<f64>, Fault> {
        self.numbers.iter().map(arguments::real).collect()
    }

    /// As plain numbers; a fault for numbers with a dimension.
    pub(super) fn plain(mut self) -> Result<Self, Fault> {
        let convert = |number: &Number| arguments::convert(number, self.unit, Unit::NONE);
        self.numbers = self.numbers.iter().map(convert).collect::<Result<_, _>>()?;
        self.unit = Unit::NONE;
        Ok(self)
    }

    /// The product of all numbers, without units; `None` of none.
    pub(super) fn product(&self) -> Result<Option<Number>, Fault> {
        fold(&self.numbers, ops::number::multiply)
    }

    fn without_nan(mut self) -> Self {
        self.numbers.retain(|number| !matches!(number, Number::Float(float) if float.is_nan()));
        self
    }

    /// The unit of differences between the numbers: for degrees Celsius that is not degrees Celsius.
    pub(super) fn difference_unit(&self) -> Unit {
        self.unit.affine().unwrap_or(self.unit)
    }

    fn difference(&self, number: Number) -> Value {
        Value::Quantity(Quantity { number, unit: self.difference_unit() })
    }

    fn value(&self, number: Number) -> Value {
        Value::Quantity(Quantity { number, unit: self.unit })
    }

    fn array(&self, numbers: Vec<Number>, unit: Unit) -> Result<Value, Fault> {
        let shape = vec![numbers.len()];
        Ok(Value::Array(Arc::new(Array::new(shape, Column::from_numbers(numbers)?, unit)?)))
    }

    /// `None` without elements.
    fn mean(&self) -> Result<Option<Number>, Fault> {
        let Some(sum) = self.sum()? else { return Ok(None) };
        ops::number::divide(&sum, &Number::Float(self.numbers.len() as f64)).map(Some)
    }

    fn sum(&self) -> Result<Option<Number>, Fault> {
        if self.numbers.iter().any(|number| matches!(number, Number::Float(_)))
            && let Ok(reals) = self.reals()
        {
            return Ok(Some(Number::Float(pairwise_sum(&reals))));
        }
        fold(&self.numbers, ops::number::add)
    }

    /// The mean square of the distance from the mean; `None` without elements.
    fn variance(&self) -> Result<Option<f64>, Fault> {
        let reals = self.reals()?;
        if reals.is_empty() {
            return Ok(None);
        }
        let count = reals.len() as f64;
        let mean = pairwise_sum(&reals) / count;
        let squares: Vec<f64> = reals.iter().map(|real| (real - mean) * (real - mean)).collect();
        Ok(Some(pairwise_sum(&squares) / count))
    }

    /// Place of the first element that no other precedes in this order; undefined numbers precede all.
    fn extreme(&self, order: Ordering) -> Result<Option<usize>, Fault> {
        let keys = self.numbers.iter().map(comparable).collect::<Result<Vec<_>, _>>()?;
        if let Some(nan) = keys.iter().position(|key| key.is_nan()) {
            return Ok(Some(nan));
        }
        let better = |best: usize, index: usize| if keys[index].partial_cmp(&keys[best]) == Some(order) { index } else { best };
        Ok((0..keys.len()).reduce(better))
    }

    fn sorted(&self) -> Result<Vec<Number>, Fault> {
        let mut keyed = self.numbers.iter().map(|number| Ok((comparable(number)?, number.clone()))).collect::<Result<Vec<_>, Fault>>()?;
        keyed.sort_by(|(left, _), (right, _)| left.total_cmp(right));
        Ok(keyed.into_iter().map(|(_, number)| number).collect())
    }

    /// The middle of the sorted elements, or the mean of the two middle ones; `None` without elements.
    fn median(&self) -> Result<Option<f64>, Fault> {
        let mut reals = self.reals()?;
        if let Some(nan) = reals.iter().find(|real| real.is_nan()) {
            return Ok(Some(*nan));
        }
        reals.sort_by(f64::total_cmp);
        let half = reals.len() / 2;
        Ok(match reals.len() % 2 {
            1 => Some(reals[half]),
            _ if reals.is_empty() => None,
            _ => Some((reals[half - 1] + reals[half]) / 2.0),
        })
    }

    /// The value below which this part of the elements lies, interpolated; `None` without elements.
    fn quantile(&self, part: f64) -> Result<Option<f64>, Fault> {
        let mut reals = self.reals()?;
        if let Some(nan) = reals.iter().find(|real| real.is_nan()) {
            return Ok(Some(*nan));
        }
        reals.sort_by(f64::total_cmp);
        let Some(last) = reals.len().checked_sub(1) else { return Ok(None) };
        let place = part * last as f64;
        let (low, high) = (reals[place.floor() as usize], reals[(place.ceil() as usize).min(last)]);
        let fraction = place.fract();
        if low == high {
            return Ok(Some(low));
        }
        // From the nearer end, as numpy does, so that the ends are exact.
        Ok(Some(if fraction >= 0.5 { high - (high - low) * (1.0 - fraction) } else { low + (high - low) * fraction }))
    }
}

/// The sum in blocks of eight partial sums, halved above 128 elements, as numpy adds.
pub(super) fn pairwise_sum(values: &[f64]) -> f64 {
    const BLOCK: usize = 128;
    if values.len() > BLOCK {
        let half = values.len() / 2;
        let (left, right) = values.split_at(half - half % 8);
        return pairwise_sum(left) + pairwise_sum(right);
    }
    let mut eights = values.chunks_exact(8);
    let Some(first) = eights.next() else { return values.iter().fold(-0.0, |sum, value| sum + value) };
    let mut sums = [0.0; 8];
    sums.copy_from_slice(first);
    for eight in eights.by_ref() {
        sums.iter_mut().zip(eight).for_each(|(sum, value)| *sum += value);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    eights.remainder().iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, value| sum + value)
}

fn one_number(module: &'static str) -> Vec<Native> {
    let reduction = |name, doc, function| Native::whole(module, name, &["a"], ResultKind::Number, doc, function);
    vec![
        reduction("mean", "Arithmetic mean", |args| mean(Elements::of(&args[0])?)),
        reduction("average", "Arithmetic mean", |args| mean(Elements::of(&args[0])?)),
        reduction("nanmean", "Arithmetic mean of what is defined", |args| mean(Elements::of(&args[0])?.without_nan())),
        reduction("median", "Middle of the sorted elements", |args| median(&Elements::of(&args[0])?)),
        reduction("nanmedian", "Middle of the sorted defined elements", |args| median(&Elements::of(&args[0])?.without_nan())),
        reduction("std", "Standard deviation of all elements", |args| deviation(&Elements::of(&args[0])?)),
        reduction("nanstd", "Standard deviation of what is defined", |args| deviation(&Elements::of(&args[0])?.without_nan())),
        reduction("var", "Variance of all elements", |args| variance(&Elements::of(&args[0])?)),
        reduction("nanvar", "Variance of what is defined", |args| variance(&Elements::of(&args[0])?.without_nan())),
        reduction("max", "Largest element", |args| extreme(&Elements::of(&args[0])?, Ordering::Greater)),
        reduction("amax", "Largest element", |args| extreme(&Elements::of(&args[0])?, Ordering::Greater)),
        reduction("nanmax", "Largest defined element", |args| extreme(&Elements::of(&args[0])?.without_nan(), Ordering::Greater)),
        reduction("min", "Smallest element", |args| extreme(&Elements::of(&args[0])?, Ordering::Less)),
        reduction("amin", "Smallest element", |args| extreme(&Elements::of(&args[0])?, Ordering::Less)),
        reduction("nanmin", "Smallest defined element", |args| extreme(&Elements::of(&args[0])?.without_nan(), Ordering::Less)),
        reduction("ptp", "Largest less smallest element", range),
        reduction("prod", "Product of all elements", product),
        Native::whole(module, "quantile", &["a", "q"], ResultKind::Number, "Value below which the part q (0 to 1) lies", |args| {
            parted(args, 1.0)
        }),
        Native::whole(module, "percentile", &["a", "q"], ResultKind::Number, "Value below which q percent (0 to 100) lie", |args| {
            parted(args, 100.0)
        }),
    ]
}

fn counts(module: &'static str) -> Vec<Native> {
    let count = |name, doc, function| Native::whole(module, name, &["a"], ResultKind::Integer, doc, function);
    vec![
        count("size", "Number of elements", |args| Ok(plain(shape(&args[0]).iter().product::<usize>() as i128))),
        count("ndim", "Number of axes", |args| Ok(plain(shape(&args[0]).len() as i128))),
        count("argmax", "Place of the largest element, from 0", |args| place(&args[0], Ordering::Greater)),
        count("argmin", "Place of the smallest element, from 0", |args| place(&args[0], Ordering::Less)),
        count("count_nonzero", "Number of elements that are not 0", |args| {
            let nonzero = |number: &&Number| number.as_complex().is_none_or(|complex| complex.re != 0.0 || complex.im != 0.0);
            Ok(plain(Elements::of(&args[0])?.numbers.iter().filter(nonzero).count() as i128))
        }),
        Native::whole(module, "shape", &["a"], ResultKind::Tuple, "Lengths of the axes", |args| {
            Ok(Value::Tuple(shape(&args[0]).into_iter().map(|len| plain(len as i128)).collect()))
        }),
    ]
}

fn many_numbers(module: &'static str) -> Vec<Native> {
    let many = |name, parameters, doc, function| Native::whole(module, name, parameters, ResultKind::Any, doc, function);
    vec![
        many("cumsum", &["a"], "Sums of the first elements", |args| running(&args[0], ops::number::add)),
        many("cumprod", &["a"], "Products of the first elements, which have no dimension", |args| {
            let elements = Elements::of(&args[0])?.plain()?;
            elements.array(scan(&elements.numbers, ops::number::multiply)?, Unit::NONE)
        }),
        many("diff", &["a"], "Differences of neighbours", differences),
        many("sort", &["a"], "Elements from the smallest to the largest", |args| {
            let elements = Elements::of(&args[0])?;
            elements.array(elements.sorted()?, elements.unit)
        }),
        many("ravel", &["a"], "All elements in one axis", |args| {
            let elements = Elements::of(&args[0])?;
            elements.array(elements.numbers.clone(), elements.unit)
        }),
        many("array", &["object"], "An array of the members of a tuple, series or array", array),
        many("transpose", &["a"], "Rows as columns", transpose),
        many("dot", &["a", "b"], "Sum of the products; the product of matrices", dot),
        many("matmul", &["x1", "x2"], "Product of vectors or matrices", dot),
        many("cross", &["a", "b"], "Cross product of two vectors of three elements", cross),
        many("linspace", &["start", "stop", "num?"], "Evenly spaced numbers, 50 unless said, both ends included", linspace),
    ]
}

fn norm_native() -> Native {
    Native::whole("numpy.linalg", "norm", &["x"], ResultKind::Float, "Length of a vector: root of the sum of squares", norm)
}

fn mean(elements: Elements) -> Result<Value, Fault> {
    Ok(elements.value(elements.mean()?.unwrap_or(Number::Null)))
}

fn median(elements: &Elements) -> Result<Value, Fault> {
    Ok(elements.value(elements.median()?.map_or(Number::Null, Number::Float)))
}

fn quantile(elements: &Elements, part: f64) -> Result<Value, Fault> {
    Ok(elements.value(elements.quantile(part)?.map_or(Number::Null, Number::Float)))
}

fn parted(args: &[Value], whole: f64) -> Result<Value, Fault> {
    let Some(part) = arguments::plain_real(&args[1])? else { return Ok(Value::Null) };
    if !(0.0..=whole).contains(&part) {
        return Err(fault::bad_value(format!("q must be from 0 to {whole}, not {part}")));
    }
    quantile(&Elements::of(&args[0])?, part / whole)
}

fn deviation(elements: &Elements) -> Result<Value, Fault> {
    Ok(elements.difference(elements.variance()?.map_or(Number::Null, |variance| Number::Float(variance.sqrt()))))
}

fn variance(elements: &Elements) -> Result<Value, Fault> {
    let number = elements.variance()?.map_or(Number::Null, Number::Float);
    Ok(Value::Quantity(Quantity { number, unit: elements.unit.power(2.0) }))
}

fn extreme(elements: &Elements, order: Ordering) -> Result<Value, Fault> {
    Ok(elements.value(elements.extreme(order)?.map_or(Number::Null, |index| elements.numbers[index].clone())))
}

fn range(args: &[Value]) -> Result<Value, Fault> {
    let elements = Elements::of(&args[0])?;
    match (elements.extreme(Ordering::Greater)?, elements.extreme(Ordering::Less)?) {
        (Some(most), Some(least)) => Ok(elements.difference(ops::number::subtract(&elements.numbers[most], &elements.numbers[least])?)),
        _ => Ok(elements.difference(Number::Null)),
    }
}

fn product(args: &[Value]) -> Result<Value, Fault> {
    let elements = Elements::of(&args[0])?;
    let number = elements.product()?.unwrap_or(Number::Float(1.0));
    Ok(Value::Quantity(Quantity { number, unit: elements.unit.power(elements.numbers.len() as f64) }))
}

fn place(value: &Value, order: Ordering) -> Result<Value, Fault> {
    Ok(Elements::of(value)?.extreme(order)?.map_or(Value::Null, |index| plain(index as i128)))
}

fn shape(value: &Value) -> Vec<usize> {
    match value {
        Value::Series(series) => vec![series.len()],
        Value::Array(array) => array.shape.clone(),
        Value::Tuple(members) => vec![members.len()],
        Value::Table(table) => vec![table.len(), table.columns().len()],
        Value::Null | Value::Bool(_) | Value::Str(_) | Value::Quantity(_) | Value::Dict(_) | Value::Function(_) => Vec::new(),
    }
}

type Binary = fn(&Number, &Number) -> Result<Number, Fault>;

fn fold(numbers: &[Number], join: Binary) -> Result<Option<Number>, Fault> {
    let Some((first, rest)) = numbers.split_first() else { return Ok(None) };
    rest.iter().try_fold(first.clone(), |joined, number| join(&joined, number)).map(Some)
}

fn scan(numbers: &[Number], join: Binary) -> Result<Vec<Number>, Fault> {
    let mut results: Vec<Number> = Vec::with_capacity(numbers.len());
    for number in numbers {
        results.push(results.last().map_or_else(|| Ok(number.clone()), |last| join(last, number))?);
    }
    Ok(results)
}

fn running(value: &Value, join: Binary) -> Result<Value, Fault> {
    let elements = Elements::of(value)?;
    elements.array(scan(&elements.numbers, join)?, elements.unit)
}

fn differences(args: &[Value]) -> Result<Value, Fault> {
    let elements = Elements::of(&args[0])?;
    let pairs = elements.numbers.windows(2).map(|pair| ops::number::subtract(&pair[1], &pair[0]));
    let differences = pairs.collect::<Result<Vec<_>, _>>()?;
    elements.array(differences, elements.difference_unit())
}

fn array(args: &[Value]) -> Result<Value, Fault> {
    match &args[0] {
        Value::Tuple(members) => Array::stack(members.to_vec()).map(|array| Value::Array(Arc::new(array))),
        Value::Series(series) => Array::from_series(series).map(|array| Value::Array(Arc::new(array))),
        Value::Array(_) => Ok(args[0].clone()),
        other => Err(fault::wrong_type("a tuple, series or array", other.type_name())),
    }
}

fn transpose(args: &[Value]) -> Result<Value, Fault> {
    let Value::Array(array) = &args[0] else { return array(args) };
    let &[rows, columns] = array.shape.as_slice() else {
        return if array.shape.len() < 2 { Ok(args[0].clone()) } else { Err(fault::bad_value("only matrices can be transposed")) };
    };
    let places: Vec<usize> = (0..columns).flat_map(|column| (0..rows).map(move |row| row * columns + column)).collect();
    let data = array.data.take(&places)?;
    Ok(Value::Array(Arc::new(Array::new(vec![columns, rows], data, array.unit)?)))
}

/// Rows of the left times columns of the right operand; vectors are one row or one column, and their axis is then dropped.
fn dot(args: &[Value]) -> Result<Value, Fault> {
    let (left, right) = (&args[0], &args[1]);
    let (left_shape, right_shape) = (shape(left), shape(right));
    if left_shape.is_empty() || right_shape.is_empty() {
        return ops::multiply(left, right);
    }
    let (&[ref rows @ .., inner], &[depth, ref columns @ ..]) = (left_shape.as_slice(), right_shape.as_slice()) else {
        return Err(fault::shapes("dot"));
    };
    if inner != depth || rows.len() > 1 || columns.len() > 1 {
        return Err(fault::shapes("dot"));
    }
    let (left, right) = (Elements::of(left)?, Elements::of(right)?);
    let (height, width): (usize, usize) = (rows.iter().product(), columns.iter().product());
    if left.numbers.len() != height * inner || right.numbers.len() != inner * width {
        return Ok(Value::Null);
    }
    let unit = left.unit.multiply(right.unit);
    let mut numbers = matrix_product(&left.numbers, &right.numbers, inner, width)?;
    if rows.is_empty() && columns.is_empty() {
        return Ok(Value::Quantity(Quantity { number: numbers.pop().unwrap_or(Number::Null), unit }));
    }
    let shape = rows.iter().chain(columns).copied().collect();
    Ok(Value::Array(Arc::new(Array::new(shape, Column::from_numbers(numbers)?, unit)?)))
}

/// The product of a matrix with rows of `inner` and one with rows of `width` elements.
fn matrix_product(left: &[Number], right: &[Number], inner: usize, width: usize) -> Result<Vec<Number>, Fault> {
    let element = |row: &[Number], column: usize| {
        let pairs = row.iter().enumerate().map(|(k, number)| ops::number::multiply(number, &right[k * width + column]));
        Ok(fold(&pairs.collect::<Result<Vec<_>, _>>()?, ops::number::add)?.unwrap_or(Number::Float(0.0)))
    };
    left.chunks_exact(inner.max(1)).flat_map(|row| (0..width).map(move |column| element(row, column))).collect()
}

fn cross(args: &[Value]) -> Result<Value, Fault> {
    let (left, right) = (Elements::of(&args[0])?, Elements::of(&args[1])?);
    let ([_, _, _], [_, _, _]) = (left.numbers.as_slice(), right.numbers.as_slice()) else { return Err(fault::shapes("cross")) };
    let (a, b) = (&left.numbers, &right.numbers);
    let component = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        ops::number::subtract(&ops::number::multiply(&a[j], &b[k])?, &ops::number::multiply(&a[k], &b[j])?)
    };
    left.array((0..3).map(component).collect::<Result<Vec<_>, _>>()?, left.unit.multiply(right.unit))
}

fn norm(args: &[Value]) -> Result<Value, Fault> {
    let elements = Elements::of(&args[0])?;
    let square = |number: &Number| number.as_complex().map(|complex| complex.norm_sqr());
    let squares: Vec<f64> = elements.numbers.iter().filter_map(square).collect();
    Ok(elements.value(Number::Float(pairwise_sum(&squares).sqrt())))
}

fn linspace(args: &[Value]) -> Result<Value, Fault> {
    const MOST: i128 = 100_000_000;
    let start = quantity(&args[0])?;
    let stop = to_unit(&quantity(&args[1])?, start.unit)?;
    let count = match args.get(2) {
        Some(count) => arguments::integer(&to_unit(&quantity(count)?, Unit::NONE)?.number)?,
        None => 50,
    };
    if !(0..=MOST).contains(&count) {
        return Err(fault::bad_value(format!("the number of elements must be from 0 to {MOST}, not {count}")));
    }
    let (low, high) = (arguments::real(&start.number)?, arguments::real(&stop.number)?);
    let step = (high - low) / (count - 1).max(1) as f64;
    // The last one is the end itself, whatever rounding did to the steps.
    let number = |index: i128| Number::Float(if index > 0 && index == count - 1 { high } else { low + index as f64 * step });
    Elements { numbers: Vec::new(), unit: start.unit }.array((0..count).map(number).collect(), start.unit)
}

fn column(column: &Column) -> Result<Vec<Number>, Fault> {
    match column {
        Column::Bool(_) | Column::Str(_) => Err(fault::wrong_type("numbers", column.type_name())),
        Column::Null(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) | Column::Object(_) => Ok(column.numbers().collect()),
    }
}

fn members_in_one_unit(members: &[Value]) -> Result<(Vec<Number>, Unit), Fault> {
    let quantities = members.iter().map(quantity).collect::<Result<Vec<_>, _>>()?;
    let unit = quantities.iter().find(|quantity| !quantity.is_null()).map_or(Unit::NONE, |quantity| quantity.unit);
    let number = |quantity: &Quantity| if quantity.is_null() { Ok(Number::Null) } else { Ok(to_unit(quantity, unit)?.number) };
    Ok((quantities.iter().map(number).collect::<Result<_, Fault>>()?, unit))
}
