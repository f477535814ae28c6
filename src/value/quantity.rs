//! A number with a unit.

use super::number::Number;
use crate::units::Unit;

/// A number with a unit.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// The magnitude.
    pub number: Number,
    /// Its unit.
    pub unit: Unit,
}

impl Quantity {
    /// `number` in `unit`.
    pub fn new(number: impl Into<Number>, unit: Unit) -> Self {
        Quantity { number: number.into(), unit }
    }

    /// A whole number without unit.
    pub fn int(int: impl Into<i128>) -> Self {
        Quantity { number: Number::Int(int.into()), unit: Unit::NONE }
    }

    /// A real number without unit.
    pub fn float(float: f64) -> Self {
        Quantity { number: Number::Float(float), unit: Unit::NONE }
    }

    /// A missing number in `unit`.
    pub fn null(unit: Unit) -> Self {
        Quantity { number: Number::Null, unit }
    }

    /// Whether the number is missing.
    pub fn is_null(&self) -> bool {
        self.number.is_null()
    }
}

impl<N: Into<Number>> From<N> for Quantity {
    fn from(number: N) -> Self {
        Quantity::new(number, Unit::NONE)
    }
}
