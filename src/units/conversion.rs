//! Conversion between units of one dimension, in Pint's order of operations.
//!
//! The factor is the root factor of the quotient of the two units, so the factors of the definitions are multiplied one by one
//! in the order of writing: the last bit agrees with Pint.

use super::intern::Entry;
use super::product::Product;
use super::scale::Scale;
use super::table::{Curve, Definition, Name, TABLE};
use super::{Unit, UnitError};

/// What turns a number in one unit into a number in another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conversion {
    /// Nothing: the units are the same, or differ by the factor 1 (`radian` and no unit). Integers stay integers.
    Identity,
    /// A whole factor (minutes to seconds). Integers stay integers, as they do in Pint.
    Whole(i128),
    /// A factor.
    Factor(f64),
    /// From or to an affine unit: `((x * source.scale + source.offset) * factor - target.offset) / target.scale`.
    Affine {
        /// The unit that is left; scale 1 and offset 0 for one that is not affine.
        source: Line,
        /// Between the references of the two units.
        factor: f64,
        /// The unit that is reached.
        target: Line,
    },
    /// From or to a level (decibel).
    Level {
        /// The level that is left, if it is one.
        source: Option<Level>,
        /// Between the references of the two units.
        factor: f64,
        /// The level that is reached, if it is one.
        target: Option<Level>,
    },
}

/// An affine scale: the reference is `scale * x + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Size of a degree in units of the reference.
    pub scale: f64,
    /// Value of the reference where the scale has its zero.
    pub offset: f64,
}

/// A logarithmic scale: the reference is `scale * base ** (x / factor)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Value of the reference where the level is zero.
    pub scale: f64,
    /// Base of the logarithm.
    pub base: f64,
    /// Before the logarithm, 10 for a decibel.
    pub factor: f64,
}

impl Conversion {
    /// Converts a number.
    pub fn apply(&self, x: f64) -> f64 {
        match *self {
            Conversion::Identity => x,
            Conversion::Whole(factor) => x * factor as f64,
            Conversion::Factor(factor) => x * factor,
            Conversion::Affine { source, factor, target } => ((x * source.scale + source.offset) * factor - target.offset) / target.scale,
            Conversion::Level { source, factor, target } => {
                let reference = source.map_or(x, |level| level.reference(x)) * factor;
                target.map_or(reference, |level| level.level(reference))
            }
        }
    }

    /// Whether it changes nothing, not even the type of an integer.
    pub fn is_identity(&self) -> bool {
        matches!(self, Conversion::Identity)
    }

    /// The whole factor by which an integer stays an integer.
    pub fn whole(&self) -> Option<i128> {
        match *self {
            Conversion::Identity => Some(1),
            Conversion::Whole(factor) => Some(factor),
            Conversion::Factor(_) | Conversion::Affine { .. } | Conversion::Level { .. } => None,
        }
    }

    /// The factor for differences and uncertainties; not a number for levels, where it depends on the value.
    pub fn scale(&self) -> f64 {
        match *self {
            Conversion::Identity => 1.0,
            Conversion::Whole(factor) => factor as f64,
            Conversion::Factor(factor) => factor,
            Conversion::Affine { source, factor, target } => source.scale * factor / target.scale,
            Conversion::Level { .. } => f64::NAN,
        }
    }
}

impl Line {
    const REFERENCE: Line = Line { scale: 1.0, offset: 0.0 };
}

impl Level {
    /// The reference at a level.
    fn reference(self, x: f64) -> f64 {
        self.scale * (self.base.ln() * (x / self.factor)).exp()
    }

    /// The level of a reference.
    fn level(self, reference: f64) -> f64 {
        self.factor * (reference / self.scale).ln() / self.base.ln()
    }
}

/// The conversion between two units that are not the same.
pub(super) fn between(from: Unit, source: &Entry, to: Unit, target: &Entry) -> Result<Conversion, UnitError> {
    let offset = |()| UnitError::Offset { from, to };
    let (leaving, reaching) = (source.product.curved().map_err(offset)?, target.product.curved().map_err(offset)?);
    if source.dimension != target.dimension {
        return Err(UnitError::Dimension { from, to });
    }
    if (leaving.is_some() && has_delta(&target.product)) || (reaching.is_some() && has_delta(&source.product)) {
        return Err(UnitError::Offset { from, to });
    }
    let factor = reference(leaving, &source.product).multiply(&reference(reaching, &target.product), -1.0).root().scale;
    Ok(curved(leaving, factor.to_f64(), reaching).unwrap_or_else(|| linear(factor)))
}

fn linear(factor: Scale) -> Conversion {
    match factor {
        Scale::Whole(1) => Conversion::Identity,
        Scale::Whole(factor) => Conversion::Whole(factor),
        Scale::Real(factor) => Conversion::Factor(factor),
    }
}

/// The conversion when one of the units is affine or a level.
fn curved(from: Option<Name>, factor: f64, to: Option<Name>) -> Option<Conversion> {
    from.or(to)?;
    Some(match (from.and_then(level), to.and_then(level)) {
        (None, None) => Conversion::Affine { source: line(from), factor, target: line(to) },
        (source, target) => Conversion::Level { source, factor, target },
    })
}

fn line(name: Option<Name>) -> Line {
    match name.map(|name| TABLE.definition(name)) {
        Some(Definition::Derived { scale, curve: Curve::Affine { offset }, .. }) => Line { scale: scale.to_f64(), offset: *offset },
        Some(Definition::Derived { .. } | Definition::Base { .. }) | None => Line::REFERENCE,
    }
}

fn level(name: Name) -> Option<Level> {
    match *TABLE.definition(name) {
        Definition::Derived { scale, curve: Curve::Level { base, factor }, .. } => Some(Level { scale: scale.to_f64(), base, factor }),
        Definition::Derived { .. } | Definition::Base { .. } => None,
    }
}

/// The product in which the linear part of a conversion is done: the unit itself, or the reference of its scale.
fn reference(name: Option<Name>, product: &Product) -> Product {
    match name.map(|name| TABLE.definition(name)) {
        Some(Definition::Derived { reference, .. }) => reference.iter().copied().collect(),
        Some(Definition::Base { .. }) | None => product.clone(),
    }
}

fn has_delta(product: &Product) -> bool {
    product.factors().iter().any(|factor| TABLE.affine_of_delta(factor.0).is_some())
}
