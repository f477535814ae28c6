//! What is known of the unit of a number before it is computed.

use serde::{Deserialize, Serialize};

use crate::units::Unit;

/// Knowledge of a unit, from nothing to everything.
///
/// A unit that depends on the data still has one dimension nearly always: `if(c, 1 [m], 1 [km])` is a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnitType {
    /// Nothing is known.
    Any,
    /// Some unit of the dimension of this one, which stands for it in messages.
    Like(Unit),
    /// This unit.
    Exact(Unit),
}

impl UnitType {
    /// No unit: a plain number.
    pub const NONE: UnitType = UnitType::Exact(Unit::NONE);

    /// The unit, when it is certain.
    pub fn exact(self) -> Option<Unit> {
        match self {
            UnitType::Exact(unit) => Some(unit),
            UnitType::Any | UnitType::Like(_) => None,
        }
    }

    /// A unit of the right dimension. Levels (decibel) have none that can be relied on: which dimension they stand for depends on
    /// what is done with them.
    pub fn known(self) -> Option<Unit> {
        match self {
            UnitType::Any => None,
            UnitType::Like(unit) | UnitType::Exact(unit) => (!unit.has_affine() || unit.affine().is_some()).then_some(unit),
        }
    }

    /// The dimension only.
    pub fn loosened(self) -> UnitType {
        self.known().map_or(UnitType::Any, UnitType::Like)
    }

    /// The knowledge that holds for both.
    pub fn common(self, other: UnitType) -> UnitType {
        match (self.known(), other.known()) {
            _ if self == other => self,
            (Some(unit), Some(_)) if self.conflict(other).is_none() => UnitType::Like(unit),
            _ => UnitType::Any,
        }
    }

    /// Of the product.
    pub fn multiply(self, other: UnitType) -> UnitType {
        self.combined(other, Unit::multiply)
    }

    /// Of the quotient.
    pub fn divide(self, other: UnitType) -> UnitType {
        self.combined(other, Unit::divide)
    }

    fn combined(self, other: UnitType, combine: fn(Unit, Unit) -> Unit) -> UnitType {
        let (Some(left), Some(right)) = (self.known(), other.known()) else { return UnitType::Any };
        let is_exact = self.exact().is_some() && other.exact().is_some();
        if is_exact && !left.has_affine() && !right.has_affine() {
            return UnitType::Exact(combine(left, right));
        }
        UnitType::Like(combine(from_zero(left), from_zero(right)))
    }

    /// The dimension of the power.
    pub fn power(self, exponent: f64) -> UnitType {
        match self.known() {
            Some(unit) if exponent.is_finite() => UnitType::Like(from_zero(unit).power(exponent)),
            _ => UnitType::Any,
        }
    }

    /// The two units, when it is certain that they have different dimensions, so that no number of one converts to the other.
    pub fn conflict(self, other: UnitType) -> Option<(Unit, Unit)> {
        let (left, right) = (self.known()?, other.known()?);
        (!left.has_dimension_of(right)).then_some((left, right))
    }
}

/// A point on a scale counts from absolute zero in products and powers.
fn from_zero(unit: Unit) -> Unit {
    if unit.has_affine() { unit.root() } else { unit }
}
