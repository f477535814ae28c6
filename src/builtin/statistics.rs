//! Module `statistics`: of the numbers of a tuple, series or array; missing ones are left out.
//!
//! Sums are exact before they are rounded, as those of Python's module.

use super::arguments::comparable;
use super::real::fsum;
use super::reduce::Elements;
use super::{Native, ResultKind, fault};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::{Number, Quantity, Value};

const MODULE: &str = "statistics";

/// Functions of the module.
pub(super) fn functions() -> Vec<Native> {
    let of = |name, doc, function| Native::whole(MODULE, name, &["data"], ResultKind::Number, doc, function);
    vec![
        of("mean", "Arithmetic mean", |args| Data::of(args, 1)?.mean()),
        of("fmean", "Arithmetic mean, as a float", |args| {
            let data = Data::of(args, 1)?;
            Ok(data.float(data.center(), data.unit))
        }),
        of("geometric_mean", "Root of the product", |args| {
            let data = Data::of(args, 1)?.positive()?;
            Ok(data.float((fsum(data.reals.iter().map(|real| real.ln())) / data.count()).exp(), data.unit))
        }),
        of("harmonic_mean", "Reciprocal of the mean of the reciprocals", |args| {
            let data = Data::of(args, 1)?.positive()?;
            Ok(data.float(data.count() / fsum(data.reals.iter().map(|real| 1.0 / real)), data.unit))
        }),
        of("median", "Middle of the sorted numbers, or the mean of the two middle ones", |args| Data::of(args, 1)?.median()),
        of("median_low", "Middle of the sorted numbers, or the lower middle one", |args| {
            Data::of(args, 1)?.middle(|count| (count - 1) / 2)
        }),
        of("median_high", "Middle of the sorted numbers, or the higher middle one", |args| Data::of(args, 1)?.middle(|count| count / 2)),
        of("pstdev", "Standard deviation of a whole population", |args| {
            let data = Data::of(args, 1)?;
            Ok(data.float((data.squares() / data.count()).sqrt(), data.difference_unit))
        }),
        of("pvariance", "Variance of a whole population", |args| {
            let data = Data::of(args, 1)?;
            Ok(data.float(data.squares() / data.count(), data.unit.power(2.0)))
        }),
        of("stdev", "Standard deviation estimated from a sample", |args| {
            let data = Data::of(args, 2)?;
            Ok(data.float((data.squares() / (data.count() - 1.0)).sqrt(), data.difference_unit))
        }),
        of("variance", "Variance estimated from a sample", |args| {
            let data = Data::of(args, 2)?;
            Ok(data.float(data.squares() / (data.count() - 1.0), data.unit.power(2.0)))
        }),
    ]
}

/// At least one real number.
struct Data {
    numbers: Vec<Number>,
    reals: Vec<f64>,
    unit: Unit,
    difference_unit: Unit,
}

impl Data {
    fn of(args: &[Value], least: usize) -> Result<Self, Fault> {
        let elements = Elements::of(&args[0])?;
        let reals = elements.reals()?;
        if reals.len() < least {
            return Err(fault::bad_value(format!("at least {least} numbers are needed, {} were given", reals.len())));
        }
        let difference_unit = elements.difference_unit();
        Ok(Data { numbers: elements.numbers, reals, unit: elements.unit, difference_unit })
    }

    fn positive(self) -> Result<Self, Fault> {
        match self.reals.iter().find(|real| **real <= 0.0) {
            Some(real) => Err(fault::bad_value(format!("only positive numbers have this mean, not {real}"))),
            None => Ok(self),
        }
    }

    fn count(&self) -> f64 {
        self.reals.len() as f64
    }

    fn center(&self) -> f64 {
        fsum(self.reals.iter().copied()) / self.count()
    }

    /// Sum of the squared distances from the mean.
    fn squares(&self) -> f64 {
        let center = self.center();
        fsum(self.reals.iter().map(|real| (real - center) * (real - center)))
    }

    /// Whole when all numbers are and the division leaves nothing.
    fn mean(&self) -> Result<Value, Fault> {
        let whole = self.numbers.iter().try_fold(0_i128, |sum, number| sum.checked_add(number.as_int()?));
        let count = self.numbers.len() as i128;
        match whole {
            Some(sum) if sum % count == 0 => Ok(self.value(Number::Int(sum / count))),
            _ => Ok(self.float(self.center(), self.unit)),
        }
    }

    fn median(&self) -> Result<Value, Fault> {
        if self.reals.len() % 2 == 1 {
            return self.middle(|count| count / 2);
        }
        let mut sorted = self.reals.clone();
        sorted.sort_by(f64::total_cmp);
        let half = sorted.len() / 2;
        Ok(self.float((sorted[half - 1] + sorted[half]) / 2.0, self.unit))
    }

    fn middle(&self, place: fn(usize) -> usize) -> Result<Value, Fault> {
        let mut keyed = self.numbers.iter().map(|number| Ok((comparable(number)?, number))).collect::<Result<Vec<_>, Fault>>()?;
        keyed.sort_by(|(left, _), (right, _)| left.total_cmp(right));
        Ok(self.value(keyed[place(keyed.len())].1.clone()))
    }

    fn value(&self, number: Number) -> Value {
        Value::Quantity(Quantity { number, unit: self.unit })
    }

    fn float(&self, float: f64, unit: Unit) -> Value {
        Value::Quantity(Quantity { number: Number::Float(float), unit })
    }
}
