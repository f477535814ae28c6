//! One engine for all functions of numbers.
//!
//! A function is a pair. Its [`UnitRule`] says to which units the arguments are converted and which unit the result has; its
//! [`Kernel`] computes with the bare numbers. Everything else is the same for all and lives here: missing numbers make missing
//! results, uncertainties propagate to first order by the kernel's derivatives, series and arrays are treated element by element.

use std::sync::{Arc, LazyLock};

use super::arguments::{self, comparable, number_name, quantity};
use super::fault;
use crate::diagnostic::Fault;
use crate::ops;
use crate::ops::convert::{conversion, convert_number};
use crate::units::{Conversion, Unit, UnitError};
use crate::value::{Array, Column, Number, Quantity, Series, Table, Uncertain, Value};

/// A function of bare numbers under a rule for units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elementwise {
    /// What happens to units.
    pub(super) units: UnitRule,
    /// What happens to numbers.
    pub(super) kernel: Kernel,
    /// Which shapes of arguments are accepted.
    pub(super) shapes: Shapes,
}

/// What happens to units.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitRule {
    /// What the arguments are converted to.
    pub(super) input: Input,
    /// What the result is in.
    pub(super) output: Output,
}

/// What arguments are converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// As they are: units are not looked at.
    Any,
    /// Plain numbers; percent and radians count as such.
    Plain,
    /// Radians; plain numbers count as such.
    Radian,
    /// Degrees; plain numbers count as radians.
    Degree,
    /// The unit of the first argument.
    First,
    /// The first as it is, the others to plain numbers.
    Head,
    /// As `isclose` takes them: two values, a relative tolerance and an absolute one.
    Close,
}

/// What the result is in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Output {
    /// A plain number.
    Plain,
    /// Radians.
    Radian,
    /// Degrees.
    Degree,
    /// The unit of the first argument.
    First,
    /// The unit of the first argument to a power.
    Power(f64),
}

/// Which shapes of arguments are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shapes {
    /// Scalars only.
    Scalars,
    /// Scalars, series and arrays.
    Columns,
}

/// A function of bare numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kernel {
    /// A real function of one number that is defined everywhere, as in numpy: `nan` outside of its domain.
    Real(Real),
    /// A real function of two numbers that is defined everywhere.
    Real2(Real2),
    /// A real function that faults outside of its domain, as in Python's `math`.
    Strict(fn(f64) -> f64, Overflow),
    /// A real function of two numbers that faults outside of its domain, as in Python's `math`.
    Strict2(fn(f64, f64) -> f64, Overflow),
    /// A property of one real number.
    Test(fn(f64) -> bool),
    /// A property of several real numbers.
    Tests(fn(&[f64]) -> bool),
    /// A property of a number of any kind.
    Property(fn(&Number) -> bool),
    /// A function of whole numbers; the first argument is the function's name, for faults.
    Integers(fn(&str, &[i128]) -> Result<i128, Fault>),
    /// A function that treats kinds of number differently.
    Numbers(fn(&str, &[Number]) -> Result<Number, Fault>),
}

/// A real function with what is known of it beyond the real numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real {
    /// The function.
    pub(super) apply: fn(f64) -> f64,
    /// Its derivative, for uncertain numbers.
    pub(super) slope: Option<fn(f64) -> f64>,
    /// Its continuation to complex numbers, of which only those are given.
    pub(super) complex: Option<fn(&Number) -> Option<Number>>,
}

/// Partial derivatives of a function of two numbers.
pub(super) type Slopes = fn(f64, f64) -> (f64, f64);

/// A real function of two numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Real2 {
    /// The function.
    pub(super) apply: fn(f64, f64) -> f64,
    /// Its partial derivatives, for uncertain numbers.
    pub(super) slopes: Option<Slopes>,
}

/// What an infinite result of finite arguments means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    /// The true result is too large for a double.
    Range,
    /// The function has a pole there.
    Domain,
    /// Nothing wrong.
    Allowed,
}

/// A scalar result.
#[derive(Clone, Debug)]
enum Scalar {
    Number(Number),
    Bool(bool),
}

/// The arguments of a call over columns, with what they have in common.
struct Columns<'a> {
    args: Vec<Cells<'a>>,
    model: &'a Value,
    len: usize,
}

/// One argument of a call over columns.
enum Cells<'a> {
    Same(Quantity),
    Each(&'a Column, Unit),
}

impl Elementwise {
    /// Applies the function called `name` to arguments of any accepted shape.
    pub(super) fn call(&self, name: &str, args: &[Value]) -> Result<Value, Fault> {
        if self.shapes == Shapes::Columns
            && let Some(result) = self.call_each(name, args)
        {
            return result;
        }
        self.scalar(name, args)
    }

    /// Applies the function to each element of columns, to each column of a table that is the only argument; `None` when there are none.
    pub(super) fn call_each(&self, name: &str, args: &[Value]) -> Option<Result<Value, Fault>> {
        if let [Value::Table(table)] = args {
            return Some(self.table(name, table));
        }
        let model = args.iter().find(|arg| matches!(arg, Value::Series(_) | Value::Array(_)))?;
        Some(Columns::new(name, args, model).and_then(|columns| self.columns(name, &columns)))
    }

    fn scalar(&self, name: &str, args: &[Value]) -> Result<Value, Fault> {
        if args.iter().any(is_untyped_null) {
            return Ok(Value::Null);
        }
        let mut first = Unit::NONE;
        let mut numbers = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let arg = quantity(arg)?;
            first = if index == 0 { arg.unit } else { first };
            numbers.push(arguments::convert(&arg.number, arg.unit, self.units.target(index, arg.unit, first)?)?);
        }
        let unit = self.units.output.unit(first)?;
        Ok(match self.kernel.apply(name, &numbers)? {
            Scalar::Number(number) => Value::Quantity(Quantity { number, unit }),
            Scalar::Bool(flag) => Value::Bool(flag),
        })
    }

    fn table(&self, name: &str, table: &Table) -> Result<Value, Fault> {
        let column = |series: &Arc<Series>| {
            let model = Value::Series(series.clone());
            match Columns::new(name, std::slice::from_ref(&model), &model).and_then(|columns| self.columns(name, &columns))? {
                Value::Series(series) => Ok(series),
                other => Err(fault::wrong_type("a series", other.type_name())),
            }
        };
        let columns = table.columns().iter().map(column).collect::<Result<Vec<_>, Fault>>()?;
        Ok(Value::Table(Arc::new(Table::new(columns)?)))
    }

    /// Units are settled once for all elements.
    fn columns(&self, name: &str, columns: &Columns) -> Result<Value, Fault> {
        let unit = self.units.output.unit(columns.first_unit())?;
        let conversions = columns.conversions(self.units)?;
        let mut numbers = Vec::with_capacity(conversions.len());
        let mut element = |index| {
            numbers.clear();
            for (cells, conversion) in columns.args.iter().zip(&conversions) {
                numbers.push(convert_number(&cells.number(index), conversion)?);
            }
            self.kernel.apply(name, &numbers)
        };
        let data = if self.kernel.is_test() {
            (0..columns.len).map(|index| Ok(element(index)?.flag())).collect::<Result<Vec<_>, Fault>>()?.into_iter().collect()
        } else {
            let numbers = (0..columns.len).map(|index| Ok(element(index)?.number())).collect::<Result<Vec<_>, Fault>>()?;
            Column::from_numbers(numbers)?
        };
        columns.like_model(data, unit)
    }
}

impl Scalar {
    fn flag(self) -> Option<bool> {
        match self {
            Scalar::Bool(flag) => Some(flag),
            Scalar::Number(_) => None,
        }
    }

    fn number(self) -> Number {
        match self {
            Scalar::Number(number) => number,
            Scalar::Bool(_) => Number::Null,
        }
    }
}

impl<'a> Columns<'a> {
    fn new(name: &str, args: &'a [Value], model: &'a Value) -> Result<Self, Fault> {
        let shape = shape(model);
        let cells = args.iter().map(|arg| match arg {
            Value::Series(_) | Value::Array(_) if self::shape(arg) != shape => Err(fault::shapes(name)),
            Value::Series(series) => Ok(Cells::Each(numeric(&series.data)?, series.unit)),
            Value::Array(array) => Ok(Cells::Each(numeric(&array.data)?, array.unit)),
            _ => quantity(arg).map(Cells::Same),
        });
        Ok(Columns { args: cells.collect::<Result<_, _>>()?, model, len: shape.iter().product() })
    }

    fn first_unit(&self) -> Unit {
        self.args.first().map_or(Unit::NONE, Cells::unit)
    }

    fn conversions(&self, units: UnitRule) -> Result<Vec<Conversion>, Fault> {
        let convert = |(index, cells): (usize, &Cells)| match cells {
            Cells::Same(quantity) if quantity.is_null() && quantity.unit.is_none() => Ok(Conversion::Identity),
            _ => conversion(cells.unit(), units.target(index, cells.unit(), self.first_unit())?),
        };
        self.args.iter().enumerate().map(convert).collect()
    }

    /// The results in the shape, and under the name, of the first column among the arguments.
    fn like_model(&self, data: Column, unit: Unit) -> Result<Value, Fault> {
        // Without elements the kind of numbers is not known: floats are what most functions give.
        let data = if self.len == 0 { std::iter::empty::<Option<f64>>().collect() } else { data };
        Ok(match self.model {
            Value::Array(array) => Value::Array(Arc::new(Array::new(array.shape.clone(), data, unit)?)),
            Value::Series(series) => Value::Series(Arc::new(Series::new(series.name.clone(), data, unit))),
            other => other.clone(),
        })
    }
}

impl Cells<'_> {
    fn unit(&self) -> Unit {
        match self {
            Cells::Same(quantity) => quantity.unit,
            Cells::Each(_, unit) => *unit,
        }
    }

    fn number(&self, index: usize) -> Number {
        match self {
            Cells::Same(quantity) => quantity.number.clone(),
            Cells::Each(column, _) => column.number(index),
        }
    }
}

/// `null` goes with every unit; a missing number with a unit makes a missing result with a unit.
fn is_untyped_null(value: &Value) -> bool {
    match value {
        Value::Quantity(quantity) => quantity.is_null() && quantity.unit.is_none(),
        other => other.is_null(),
    }
}

fn shape(value: &Value) -> Vec<usize> {
    match value {
        Value::Series(series) => vec![series.data.len()],
        Value::Array(array) => array.shape.clone(),
        _ => Vec::new(),
    }
}

fn numeric(column: &Column) -> Result<&Column, Fault> {
    match column {
        Column::Bool(_) | Column::Str(_) => Err(fault::wrong_type("numbers", column.type_name())),
        Column::Null(_) | Column::Int(_) | Column::Float(_) | Column::Complex(_) | Column::Object(_) => Ok(column),
    }
}

impl UnitRule {
    /// What arguments of these units are converted to, and which unit the result has.
    pub(super) fn all(self, units: &[Unit]) -> Result<(Vec<Unit>, Unit), Fault> {
        let first = units.first().copied().unwrap_or_default();
        let targets = units.iter().enumerate().map(|(index, own)| self.target(index, *own, first));
        Ok((targets.collect::<Result<_, Fault>>()?, self.output.unit(first)?))
    }

    /// As [`super::Native::takes`].
    pub(super) fn takes(self, index: usize, units: &[Option<Unit>]) -> Option<Unit> {
        let own = units.get(index).copied().flatten()?;
        let depends = match self.input {
            Input::Any => return None,
            Input::Plain | Input::Radian | Input::Degree => false,
            Input::First => true,
            Input::Head => index == 0,
            Input::Close => index != 2,
        };
        let first = units.first().copied().flatten();
        if depends && first.is_none() { None } else { self.target(index, own, first.unwrap_or_default()).ok() }
    }

    /// As [`super::Native::gives`].
    pub(super) fn gives(self, units: &[Option<Unit>]) -> Option<Unit> {
        let first = units.first().copied().flatten();
        match self.output {
            Output::Plain | Output::Radian | Output::Degree => self.output.unit(Unit::NONE).ok(),
            Output::First | Output::Power(_) => self.output.unit(first?).ok(),
        }
    }

    /// What to convert the argument at `index` to, which has the unit `own`; `first` is the unit of the first argument.
    fn target(self, index: usize, own: Unit, first: Unit) -> Result<Unit, Fault> {
        match self.input {
            Input::Any => Ok(own),
            Input::Plain => Ok(Unit::NONE),
            Input::Radian => radian(),
            Input::Degree => degree(),
            Input::First => Ok(first),
            Input::Head => Ok(if index == 0 { first } else { Unit::NONE }),
            Input::Close => Ok(if index == 2 { Unit::NONE } else { first }),
        }
    }
}

impl Output {
    fn unit(self, first: Unit) -> Result<Unit, Fault> {
        match self {
            Output::Plain => Ok(Unit::NONE),
            Output::Radian => radian(),
            Output::Degree => degree(),
            Output::First => Ok(first),
            Output::Power(exponent) => Ok(first.power(exponent)),
        }
    }
}

impl Kernel {
    fn is_test(self) -> bool {
        match self {
            Kernel::Test(_) | Kernel::Tests(_) | Kernel::Property(_) => true,
            Kernel::Real(_) | Kernel::Real2(_) | Kernel::Strict(..) | Kernel::Strict2(..) | Kernel::Integers(_) | Kernel::Numbers(_) => {
                false
            }
        }
    }

    fn apply(self, name: &str, args: &[Number]) -> Result<Scalar, Fault> {
        if args.iter().any(|arg| matches!(arg, Number::Null)) {
            return Ok(Scalar::Number(Number::Null));
        }
        let number = match self {
            Kernel::Real(function) => function.apply(name, one(name, args)?)?,
            Kernel::Real2(function) => function.apply(name, two(name, args)?)?,
            Kernel::Strict(function, overflow) => {
                let x = arguments::real(one(name, args)?)?;
                Number::Float(overflow.check(name, function(x), &[x])?)
            }
            Kernel::Strict2(function, overflow) => {
                let (x, y) = reals(name, args)?;
                Number::Float(overflow.check(name, function(x, y), &[x, y])?)
            }
            Kernel::Test(test) => return Ok(Scalar::Bool(test(comparable(one(name, args)?)?))),
            Kernel::Tests(test) => {
                let reals = args.iter().map(comparable).collect::<Result<Vec<_>, _>>()?;
                return Ok(Scalar::Bool(test(&reals)));
            }
            Kernel::Property(test) => return Ok(Scalar::Bool(test(one(name, args)?))),
            Kernel::Integers(function) => {
                let integers = args.iter().map(arguments::integer).collect::<Result<Vec<_>, _>>()?;
                Number::Int(function(name, &integers)?)
            }
            Kernel::Numbers(function) => function(name, args)?,
        };
        Ok(Scalar::Number(number))
    }
}

impl Real {
    fn apply(self, name: &str, arg: &Number) -> Result<Number, Fault> {
        match (arg, self.slope, self.complex) {
            (Number::Uncertain(x), Some(slope), _) => Ok(x.chain((self.apply)(x.nominal), slope(x.nominal)).into()),
            (Number::Uncertain(_), None, _) => Err(fault::uncertain(name)),
            (Number::Complex(_), _, Some(complex)) => complex(arg).ok_or_else(|| fault::domain(name)),
            (Number::Null | Number::Int(_) | Number::Float(_) | Number::Complex(_), _, _) => {
                Ok(Number::Float((self.apply)(arguments::real(arg)?)))
            }
        }
    }
}

impl Real2 {
    fn apply(self, name: &str, (left, right): (&Number, &Number)) -> Result<Number, Fault> {
        if !matches!(left, Number::Uncertain(_)) && !matches!(right, Number::Uncertain(_)) {
            return Ok(Number::Float((self.apply)(arguments::real(left)?, arguments::real(right)?)));
        }
        let slopes = self.slopes.ok_or_else(|| fault::uncertain(name))?;
        let (left, right) = (uncertain(left)?, uncertain(right)?);
        let (x, y) = (left.nominal, right.nominal);
        let (by_left, by_right) = slopes(x, y);
        Ok(Uncertain::combine((self.apply)(x, y), (&left, by_left), (&right, by_right)).into())
    }
}

impl Overflow {
    /// The result, unless it says that the arguments were out of the domain or the result is out of range.
    pub(super) fn check(self, name: &str, result: f64, args: &[f64]) -> Result<f64, Fault> {
        if result.is_nan() && !args.iter().any(|arg| arg.is_nan()) {
            return Err(fault::domain(name));
        }
        let overflown = result.is_infinite() && args.iter().all(|arg| arg.is_finite());
        match self {
            Overflow::Range if overflown => Err(fault::range(name)),
            Overflow::Domain if overflown => Err(fault::domain(name)),
            Overflow::Range | Overflow::Domain | Overflow::Allowed => Ok(result),
        }
    }
}

fn one<'a>(name: &str, args: &'a [Number]) -> Result<&'a Number, Fault> {
    let [arg] = args else { return Err(fault::shapes(name)) };
    Ok(arg)
}

fn two<'a>(name: &str, args: &'a [Number]) -> Result<(&'a Number, &'a Number), Fault> {
    let [left, right] = args else { return Err(fault::shapes(name)) };
    Ok((left, right))
}

fn reals(name: &str, args: &[Number]) -> Result<(f64, f64), Fault> {
    let (left, right) = two(name, args)?;
    Ok((arguments::real(left)?, arguments::real(right)?))
}

fn uncertain(number: &Number) -> Result<Uncertain, Fault> {
    match number {
        Number::Uncertain(uncertain) => Ok(uncertain.clone()),
        Number::Int(_) | Number::Float(_) => Ok(Uncertain::exact(arguments::real(number)?)),
        Number::Null | Number::Complex(_) => Err(fault::wrong_type("a real number", number_name(number))),
    }
}

fn radian() -> Result<Unit, Fault> {
    static RADIAN: LazyLock<Result<Unit, UnitError>> = LazyLock::new(|| Unit::parse("radian"));
    known(&RADIAN)
}

fn degree() -> Result<Unit, Fault> {
    static DEGREE: LazyLock<Result<Unit, UnitError>> = LazyLock::new(|| Unit::parse("degree"));
    known(&DEGREE)
}

fn known(unit: &Result<Unit, UnitError>) -> Result<Unit, Fault> {
    unit.as_ref().copied().map_err(ops::fault::conversion)
}
