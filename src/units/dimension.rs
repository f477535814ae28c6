//! Dimensions: products of `[length]`, `[mass]`, `[time]`, … with exponents.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::text;

/// A product of base dimensions with exponents; the order of the factors matters only for how it prints.
#[derive(Clone, Debug, Default)]
pub struct Dimension(Vec<(&'static str, f64)>);

impl Dimension {
    pub(super) fn of(factors: impl IntoIterator<Item = (&'static str, f64)>) -> Dimension {
        let mut dimension = Dimension::default();
        for (name, exponent) in factors {
            dimension.push(name, exponent);
        }
        dimension
    }

    /// Whether no base dimension is left.
    pub fn is_dimensionless(&self) -> bool {
        self.0.is_empty()
    }

    /// The product of two dimensions.
    pub fn multiply(&self, other: &Dimension) -> Dimension {
        Dimension::of(self.0.iter().chain(&other.0).copied())
    }

    /// The quotient of two dimensions.
    pub fn divide(&self, other: &Dimension) -> Dimension {
        self.multiply(&other.power(-1.0))
    }

    /// The power of a dimension.
    pub fn power(&self, exponent: f64) -> Dimension {
        Dimension::of(self.0.iter().map(|&(name, power)| (name, power * exponent)))
    }

    /// Whether the two are the same but for what rounding does to fractional exponents.
    pub fn is_near(&self, other: &Dimension) -> bool {
        self.0 == other.0 || self.divide(other).0.iter().all(|&(_, exponent)| exponent.abs() < 1e-9)
    }

    /// How much larger the exponents of `other` are, when that is the same for all of them.
    pub(super) fn ratio(&self, other: &Dimension) -> Option<f64> {
        if self == other {
            return Some(1.0);
        }
        let mut ratios = self.0.iter().map(|&(name, exponent)| other.exponent(name).map(|power| power / exponent));
        let first = ratios.next()??;
        (self.0.len() == other.0.len() && ratios.all(|ratio| ratio == Some(first))).then_some(first)
    }

    fn exponent(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|factor| factor.0 == name).map(|factor| factor.1)
    }

    fn push(&mut self, name: &'static str, exponent: f64) {
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

    fn sorted_key(&self) -> Vec<(&'static str, u64)> {
        let mut key: Vec<_> = self.0.iter().map(|&(name, exponent)| (name, exponent.to_bits())).collect();
        key.sort_unstable();
        key
    }
}

impl PartialEq for Dimension {
    fn eq(&self, other: &Dimension) -> bool {
        self.0.len() == other.0.len() && self.sorted_key() == other.sorted_key()
    }
}

impl Eq for Dimension {}

impl Hash for Dimension {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sorted_key().hash(state);
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_dimensionless() {
            return formatter.write_str("dimensionless");
        }
        formatter.write_str(&text::product(self.0.iter().copied(), text::short))
    }
}
