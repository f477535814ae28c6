//! Products of named units with exponents, in the order in which they were written.
//!
//! The order does not matter for what a unit is, but it decides in which order factors are multiplied, and so the last bit of
//! a conversion.

use super::dimension::Dimension;
use super::scale::Scale;
use super::table::{Curve, Definition, Factor, Name, TABLE};
use super::text;

/// A product of units; no name twice, no exponent zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Product(Vec<Factor>);

/// A product of base units and the factor before it.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) scale: Scale,
    pub(super) units: Product,
}

impl Product {
    /// A single unit.
    pub(super) fn of(name: Name) -> Product {
        Product(vec![(name, 1.0)])
    }

    pub(super) fn factors(&self) -> &[Factor] {
        &self.0
    }

    /// Multiplies by `name ** exponent`; a name that is there keeps its place, one whose exponent becomes zero goes.
    pub(super) fn push(&mut self, name: Name, exponent: f64) {
        match self.0.iter().position(|factor| factor.0 == name) {
            Some(place) => {
                self.0[place].1 += exponent;
                if self.0[place].1 == 0.0 {
                    self.0.remove(place);
                }
            }
            None if exponent != 0.0 => self.0.push((name, exponent)),
            None => {}
        }
    }

    pub(super) fn multiply(&self, other: &Product, exponent: f64) -> Product {
        let mut product = self.clone();
        for &(name, power) in &other.0 {
            product.push(name, power * exponent);
        }
        product
    }

    pub(super) fn power(&self, exponent: f64) -> Product {
        let powers = self.0.iter().map(|&(name, power)| (name, power * exponent));
        Product(powers.filter(|factor| factor.1 != 0.0).collect())
    }

    /// Replaces a unit, which goes to the end; the exponents add up when the new one is there already.
    pub(super) fn rename(&self, old: Name, new: Name) -> Product {
        let mut product = self.clone();
        if let Some(place) = product.0.iter().position(|factor| factor.0 == old) {
            let (_, exponent) = product.0.remove(place);
            product.push(new, exponent);
        }
        product
    }

    /// In a compound or a power, an affine unit stands for its differences.
    pub(super) fn with_deltas(self) -> Product {
        if let [(_, 1.0)] | [] = self.0[..] {
            return self;
        }
        let mut product = Product::default();
        for (name, exponent) in self.0 {
            product.push(TABLE.delta(name).unwrap_or(name), exponent);
        }
        product
    }

    /// The affine unit or level, when the product is exactly one; `Err` when one stands in a compound or a power.
    pub(super) fn curved(&self) -> Result<Option<Name>, ()> {
        let mut curved = self.0.iter().filter(|factor| TABLE.curve(factor.0) != Curve::Linear);
        match (curved.next(), self.0.len()) {
            (None, _) => Ok(None),
            (Some(&(name, 1.0)), 1) => Ok(Some(name)),
            _ => Err(()),
        }
    }

    /// The same in base units: factors are multiplied in the order of the product, outer before inner, as Pint does.
    pub(super) fn root(&self) -> Root {
        let mut root = Root { scale: Scale::ONE, units: Product::default() };
        root.descend(&self.0, 1.0);
        root.units.0.retain(|factor| factor.1 != 0.0);
        root
    }

    /// The dimension.
    pub(super) fn dimension(&self) -> Dimension {
        self.root().dimension()
    }

    /// As it prints, in the order of the alphabet; nothing for the empty product.
    pub(super) fn printed(&self, number: fn(f64) -> String) -> String {
        let mut factors: Vec<_> = self.0.iter().map(|&(name, exponent)| (TABLE.long_name(name), exponent)).collect();
        factors.sort_by(|left, right| left.0.cmp(&right.0));
        if factors.is_empty() { String::new() } else { text::product(factors.iter().map(|(name, exponent)| (name, *exponent)), number) }
    }

    /// A key that does not depend on the order of the factors.
    pub(super) fn sorted_key(&self) -> Vec<(Name, u64)> {
        let mut key = self.key();
        key.sort_unstable();
        key
    }

    /// A key for this order of the factors.
    pub(super) fn key(&self) -> Vec<(Name, u64)> {
        self.0.iter().map(|&(name, exponent)| (name, exponent.to_bits())).collect()
    }
}

impl Root {
    /// The dimension of the base units.
    pub(super) fn dimension(&self) -> Dimension {
        Dimension::of(self.units.0.iter().filter_map(|&(name, exponent)| match TABLE.definition(name) {
            Definition::Base { dimension } => Some(((*dimension)?, exponent)),
            Definition::Derived { .. } => None,
        }))
    }

    fn descend(&mut self, factors: &[Factor], outer: f64) {
        for &(name, inner) in factors {
            let exponent = outer * inner;
            if let Some(prefix) = TABLE.prefix_scale(name) {
                self.scale = self.scale.times(prefix.power(exponent));
            }
            match TABLE.definition(name) {
                Definition::Base { .. } => self.add_base(name.bare(), exponent),
                Definition::Derived { scale, reference, .. } => {
                    self.scale = self.scale.times(scale.power(exponent));
                    self.descend(reference, exponent);
                }
            }
        }
    }

    /// Unlike in [`Product::push`], an exponent that becomes zero on the way keeps its place.
    fn add_base(&mut self, name: Name, exponent: f64) {
        match self.units.0.iter_mut().find(|factor| factor.0 == name) {
            Some(factor) => factor.1 += exponent,
            None => self.units.0.push((name, exponent)),
        }
    }
}

impl FromIterator<Factor> for Product {
    fn from_iter<I: IntoIterator<Item = Factor>>(factors: I) -> Product {
        let mut product = Product::default();
        for (name, exponent) in factors {
            product.push(name, exponent);
        }
        product
    }
}
