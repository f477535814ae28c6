//! Units: products of named units with exponents, interned, so that a [`Unit`] is two numbers and operations on units are
//! look-ups.
//!
//! Names, factors and rules are those of the default registry of Pint 0.24, recorded in `stdlib/units.txt`; `tests/units`
//! holds the record that the tests compare with, to the last bit. Nothing is reduced or converted unless asked for:
//! `kilometer * meter` stays.
//!
//! An affine unit (`degC`) keeps its meaning only when it stands alone; in a compound or a power it means differences, and
//! becomes its delta unit (`delta_degree_Celsius / second`).

mod conversion;
mod dimension;
mod forms;
mod intern;
mod product;
mod quantities;
mod scale;
mod table;
mod text;

#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use conversion::{Conversion, Level, Line};
pub use dimension::Dimension;

use product::Product;
use table::{Curve, TABLE};

/// A product of named units with exponents; [`Unit::NONE`] by default. Equality ignores the order of the factors: `km*m` is `m*km`.
#[derive(Clone, Copy, Default)]
pub struct Unit {
    /// Place in the interner, one for each order of the factors.
    order: u32,
    /// The same for all orders of the same factors.
    class: u32,
}

/// Why a unit, or a conversion, does not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnitError {
    /// No unit has this name.
    #[error("unit '{name}' is not defined")]
    Unknown {
        /// As written.
        name: String,
        /// A name that may have been meant.
        suggestion: Option<String>,
    },
    /// An affine unit or a level with a prefix.
    #[error("unit '{name}' cannot have a prefix, because its scale has a zero of its own")]
    Prefixed {
        /// As written.
        name: String,
    },
    /// A level in a compound or a power.
    #[error("logarithmic unit '{name}' cannot be part of a compound unit")]
    Level {
        /// Long name.
        name: String,
    },
    /// Not a product of units.
    #[error("'{text}' is not a product of units")]
    Syntax {
        /// The whole text.
        text: String,
    },
    /// Units of two dimensions.
    #[error("cannot convert from '{}' ({}) to '{}' ({})", from.info_name(), from.dimension(), to.info_name(), to.dimension())]
    Dimension {
        /// The unit that is there.
        from: Unit,
        /// The unit that is wanted.
        to: Unit,
    },
    /// Between an affine unit or a level and differences.
    #[error("cannot convert from '{}' to '{}': one is a point on a scale, the other a difference", from.info_name(), to.info_name())]
    Offset {
        /// The unit that is there.
        from: Unit,
        /// The unit that is wanted.
        to: Unit,
    },
}

impl Unit {
    /// The unit without factors.
    pub const NONE: Unit = Unit { order: 0, class: 0 };

    /// The product of units by their names as written (long or short, with prefix and plural) with signed exponents, in the
    /// order of writing. `dimensionless` is a name too.
    pub fn from_factors<'a>(factors: impl IntoIterator<Item = (&'a str, f64)>) -> Result<Unit, UnitError> {
        let written = text::merged(factors);
        let mut left = written.iter().map(|factor| factor.1).filter(|&exponent| exponent != 0.0);
        let compound = left.next().is_some_and(|exponent| exponent != 1.0) || left.next().is_some();
        let mut product = Product::default();
        for (name, exponent) in written.into_iter().filter(|factor| factor.0 != "dimensionless") {
            let name = intern::resolve(name)?;
            if compound && matches!(TABLE.curve(name), Curve::Level { .. }) {
                return Err(UnitError::Level { name: TABLE.long_name(name) });
            }
            let delta = if compound { TABLE.delta(name) } else { None };
            product.push(delta.unwrap_or(name), exponent);
        }
        Ok(intern::intern(product))
    }

    /// Reads `m/s**2`, `meter / second ** 2`, `1/s`, `dimensionless` or nothing; whatever [`Unit::exact_text`] gives reads back
    /// to an equal unit.
    pub fn parse(text: &str) -> Result<Unit, UnitError> {
        text::parse(text)
    }

    /// The product, factors of `self` first.
    pub fn multiply(self, other: Unit) -> Unit {
        match (self.is_none(), other.is_none()) {
            (_, true) => self,
            (true, false) => other,
            (false, false) => intern::multiply(self, other),
        }
    }

    /// The quotient, factors of `self` first.
    pub fn divide(self, other: Unit) -> Unit {
        if other.is_none() { self } else { intern::divide(self, other) }
    }

    /// The power; [`Unit::NONE`] for exponent zero.
    pub fn power(self, exponent: f64) -> Unit {
        match exponent {
            1.0 => self,
            // Not memorised: columns of numbers have as many exponents as elements.
            _ if self.is_none() || exponent == 0.0 => Unit::NONE,
            _ => intern::power(self, exponent),
        }
    }

    /// Whether there are no factors at all.
    pub fn is_none(self) -> bool {
        self == Unit::NONE
    }

    /// Whether the dimension is empty: no factors, percent, radian, m/cm.
    pub fn is_dimensionless(self) -> bool {
        intern::entry(self).dimension.is_dimensionless()
    }

    /// The dimension.
    pub fn dimension(self) -> Dimension {
        intern::entry(self).dimension.clone()
    }

    /// Whether the dimensions of both are the same but for what rounding does to fractional exponents.
    pub fn has_dimension_of(self, other: Unit) -> bool {
        self == other || intern::entry(self).dimension.is_near(&intern::entry(other).dimension)
    }

    /// Long names and exponents in the order of writing.
    pub fn factors(self) -> Vec<(Arc<str>, f64)> {
        let entry = intern::entry(self);
        entry.product.factors().iter().map(|&(name, exponent)| (TABLE.long_name(name).into(), exponent)).collect()
    }

    /// Whether the factors also stand in the same order, so that conversions have the same last digits.
    pub fn is_identical(self, other: Unit) -> bool {
        self.order == other.order
    }

    /// As it prints; `dimensionless` when there are no factors.
    pub fn info_name(self) -> String {
        if self.is_none() { "dimensionless".to_owned() } else { self.to_string() }
    }

    /// As it prints, but with all digits of the exponents, of which printing shows six.
    pub fn exact_text(self) -> String {
        intern::entry(self).product.printed(text::exact)
    }

    /// The unit of differences, when this is exactly one affine unit (`degC` gives `delta_degree_Celsius`).
    pub fn affine(self) -> Option<Unit> {
        let name = intern::entry(self).curved.ok()??;
        Some(intern::intern(Product::of(TABLE.delta(name)?)))
    }

    /// The affine unit, when this is exactly its unit of differences (`delta_degC` gives `degree_Celsius`).
    pub fn is_delta(self) -> Option<Unit> {
        Some(intern::intern(Product::of(intern::entry(self).affine_of_delta?)))
    }

    /// Whether a factor is affine or a level, so that products need conversion to root units first.
    pub fn has_affine(self) -> bool {
        !self.is_none() && intern::entry(self).curved != Ok(None)
    }

    /// Whether this is exactly one level (decibel).
    pub fn is_level(self) -> bool {
        let name = intern::entry(self).curved.ok().flatten();
        name.is_some_and(|name| matches!(TABLE.curve(name), Curve::Level { .. }))
    }

    /// What converts numbers in this unit to numbers in `to`.
    pub fn conversion(self, to: Unit) -> Result<Conversion, UnitError> {
        if self == to { Ok(Conversion::Identity) } else { intern::conversion(self, to) }
    }

    /// The same in base units of the SI.
    pub fn base(self) -> Unit {
        forms::base(self)
    }

    /// The same in root units, which differ from the base units in `gram`.
    pub fn root(self) -> Unit {
        forms::root(self)
    }

    /// The same with one unit per dimension (`mm*m` gives `meter ** 2`); compound units are left alone.
    pub fn reduced(self) -> Unit {
        forms::reduced(self)
    }

    /// The same with the prefix that suits the magnitude.
    pub fn compact(self, magnitude: f64) -> Unit {
        forms::compact(self, magnitude)
    }

    /// The size of this unit in its root units (of a degree, for an affine unit).
    pub fn root_factor(self) -> f64 {
        intern::entry(self).root.scale.to_f64()
    }
}

/// Every name of every unit in alphabetical order: long names, symbols, aliases; without prefixes.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.names().into_iter()
}

/// Every prefix, long names, symbols and aliases, in the order of the table.
pub fn prefixes() -> impl Iterator<Item = &'static str> {
    TABLE.prefix_names()
}

impl PartialEq for Unit {
    fn eq(&self, other: &Unit) -> bool {
        self.class == other.class
    }
}

impl Eq for Unit {}

impl Hash for Unit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class.hash(state);
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&intern::entry(*self).text)
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Unit({self})")
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.exact_text())
    }
}

impl<'de> Deserialize<'de> for Unit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unit, D::Error> {
        Unit::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
