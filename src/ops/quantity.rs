//! Arithmetic of numbers with units, by Pint's rules.
//!
//! Affine units (`degC`) need care: a difference of two points is in the unit of differences, a point plus a difference is a point, two
//! points have no sum, and in products a point counts from absolute zero.

use super::convert::{conversion, to_unit};
use super::{fault, number};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::{Number, Quantity};

type NumberOp = fn(&Number, &Number) -> Result<Number, Fault>;

/// The sum, in the unit of the left operand.
pub fn add(left: &Quantity, right: &Quantity) -> Result<Quantity, Fault> {
    if left.unit == right.unit && !left.unit.has_affine() {
        return Ok(Quantity { number: number::add(&left.number, &right.number)?, unit: left.unit });
    }
    let common = sum_units(left.unit, right.unit, false)?;
    common.combine(left, right, number::add)
}

/// The difference, in the unit of the left operand; of two points on an affine scale, in the unit of differences.
pub fn subtract(left: &Quantity, right: &Quantity) -> Result<Quantity, Fault> {
    if left.unit == right.unit && !left.unit.has_affine() {
        return Ok(Quantity { number: number::subtract(&left.number, &right.number)?, unit: left.unit });
    }
    let common = sum_units(left.unit, right.unit, true)?;
    common.combine(left, right, number::subtract)
}

/// The product; units are combined, not reduced.
pub fn multiply(left: &Quantity, right: &Quantity) -> Result<Quantity, Fault> {
    let (left, right) = (from_zero(left)?, from_zero(right)?);
    Ok(Quantity { number: number::multiply(&left.number, &right.number)?, unit: left.unit.multiply(right.unit) })
}

/// The quotient; units are combined, not reduced.
pub fn divide(left: &Quantity, right: &Quantity) -> Result<Quantity, Fault> {
    let (left, right) = (from_zero(left)?, from_zero(right)?);
    Ok(Quantity { number: number::divide(&left.number, &right.number)?, unit: left.unit.divide(right.unit) })
}

/// The power; the exponent must be dimensionless and, for a base with a unit, a plain real number.
///
/// As in Pint, the exponent one leaves the base alone and the exponent zero counts as an integer, whatever their kinds.
pub fn power(base: &Quantity, exponent: &Quantity) -> Result<Quantity, Fault> {
    let exponent = to_unit(exponent, Unit::NONE)?.number;
    let is = |int: i128| number::equal(&exponent, &Number::Int(int)) == Some(true);
    if is(1) && !matches!(exponent, Number::Uncertain(_)) {
        return Ok(base.clone());
    }
    if is(0) && !matches!(exponent, Number::Uncertain(_)) {
        return Ok(Quantity { number: number::power(&base.number, &Number::Int(0))?, unit: Unit::NONE });
    }
    let base = from_zero(base)?;
    let unit = power_unit(base.unit, &exponent)?;
    Ok(Quantity { number: number::power(&base.number, &exponent)?, unit })
}

/// The quantity with its sign changed.
pub fn negate(quantity: &Quantity) -> Result<Quantity, Fault> {
    Ok(Quantity { number: number::negate(&quantity.number)?, unit: quantity.unit })
}

/// The real part.
pub fn real(quantity: &Quantity) -> Result<Quantity, Fault> {
    let number = match &quantity.number {
        Number::Complex(complex) => Number::Float(complex.re),
        other => other.clone(),
    };
    Ok(Quantity { number, unit: quantity.unit })
}

/// The imaginary part.
pub fn imag(quantity: &Quantity) -> Result<Quantity, Fault> {
    let number = match &quantity.number {
        Number::Null => Number::Null,
        Number::Complex(complex) => Number::Float(complex.im),
        Number::Int(_) => Number::Int(0),
        Number::Float(_) | Number::Uncertain(_) => Number::Float(0.0),
    };
    Ok(Quantity { number, unit: quantity.unit })
}

/// The unit of a power, for an exponent without unit; a missing exponent leaves no unit.
pub fn power_unit(base: Unit, exponent: &Number) -> Result<Unit, Fault> {
    match exponent {
        _ if base.is_none() => Ok(Unit::NONE),
        Number::Null => Ok(Unit::NONE),
        Number::Int(int) => Ok(base.power(*int as f64)),
        Number::Float(float) if float.is_finite() => Ok(base.power(*float)),
        Number::Float(_) => Err(fault::exponent("an infinite or undefined")),
        Number::Complex(_) => Err(fault::exponent("a complex")),
        Number::Uncertain(_) => Err(fault::exponent("an uncertain")),
    }
}

/// In which units two operands are added or subtracted, and in which unit the result is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SumUnits {
    /// What the left operand is converted to.
    pub left: Unit,
    /// What the right operand is converted to.
    pub right: Unit,
    /// Unit of the result.
    pub result: Unit,
}

impl SumUnits {
    fn combine(self, left: &Quantity, right: &Quantity, apply: NumberOp) -> Result<Quantity, Fault> {
        let (left, right) = (to_unit(left, self.left)?, to_unit(right, self.right)?);
        Ok(Quantity { number: apply(&left.number, &right.number)?, unit: self.result })
    }
}

/// The units in which numbers of these units are added, or `subtract`ed; the same for all elements of two columns.
pub fn sum_units(left: Unit, right: Unit, subtract: bool) -> Result<SumUnits, Fault> {
    if !left.dimension().is_near(&right.dimension()) {
        return Err(fault::dimensions(left, right));
    }
    let (left_delta, right_delta) = (left.is_delta().is_some(), right.is_delta().is_some());
    let same = |unit: Unit, result: Unit| Ok(SumUnits { left: unit, right: unit, result });
    match (left.affine(), right.affine()) {
        (None, None) if left.has_affine() || right.has_affine() => Err(fault::offset(left, right)),
        (None, None) if left_delta && !right_delta => same(right, right),
        (None, None) => same(left, left),
        // Point minus point, point minus absolute value, absolute value minus point.
        (Some(difference), _) if subtract && !right_delta => same(left, difference),
        (None, Some(_)) if subtract && !left_delta => same(left, left),
        // Point and difference, in either order.
        (Some(difference), None) if right_delta => Ok(SumUnits { left, right: difference, result: left }),
        (None, Some(difference)) if left_delta => Ok(SumUnits { left: difference, right, result: right }),
        (Some(_), _) | (_, Some(_)) => Err(fault::offset(left, right)),
    }
}

/// A point on an affine scale as a multiple of the root unit; any other quantity as it is.
pub fn from_zero(quantity: &Quantity) -> Result<Quantity, Fault> {
    if !quantity.unit.has_affine() {
        return Ok(quantity.clone());
    }
    let root = quantity.unit.root();
    conversion(quantity.unit, root)?;
    to_unit(quantity, root)
}
