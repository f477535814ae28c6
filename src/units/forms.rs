//! The standard forms of a unit: base (SI), root, reduced and compact.

use super::intern::{entry, intern};
use super::product::Product;
use super::table::{Name, TABLE};
use super::{Dimension, Unit};

/// Base units of the SI: root units with `kilogram` for `gram`.
pub(super) fn base(unit: Unit) -> Unit {
    let si = |(name, exponent)| (if TABLE.long_name(name) == "gram" { kilogram(name) } else { name }, exponent);
    intern(entry(unit).root.units.factors().iter().copied().map(si).collect())
}

fn kilogram(gram: Name) -> Name {
    TABLE.resolve("kilogram").unwrap_or(gram)
}

/// The units that the table does not define by others.
pub(super) fn root(unit: Unit) -> Unit {
    intern(entry(unit).root.units.clone())
}

/// One unit per dimension: a unit is merged into the first other one that is a power of its dimension.
pub(super) fn reduced(unit: Unit) -> Unit {
    let entry = entry(unit);
    if entry.dimension.is_dimensionless() {
        return Unit::NONE;
    }
    if entry.product.factors().len() == 1 {
        return unit;
    }
    intern(entry.product.factors().iter().fold(entry.product.clone(), |product, &(name, _)| merged(&product, name)))
}

/// The product without `name`, whose exponent went to the first unit of like dimension; the product itself if there is none.
fn merged(product: &Product, name: Name) -> Product {
    let Some(&(_, exponent)) = product.factors().iter().find(|factor| factor.0 == name) else { return product.clone() };
    let dimension = dimension_of(name);
    let others = product.factors().iter().map(|factor| factor.0).filter(|&other| other != name);
    let like = |other: Name| Some((other, dimension.ratio(&dimension_of(other))?));
    let Some((other, ratio)) = others.filter_map(like).next() else { return product.clone() };
    let mut product = product.clone();
    product.push(other, exponent / ratio);
    product.push(name, -exponent);
    product
}

fn dimension_of(name: Name) -> Dimension {
    Product::of(name).dimension()
}

/// The prefix that brings the magnitude near 1, on the first unit above the line (or else below it).
pub(super) fn compact(unit: Unit, magnitude: f64) -> Unit {
    compacted(unit, magnitude).unwrap_or(unit)
}

fn compacted(unit: Unit, magnitude: f64) -> Option<Unit> {
    let entry = entry(unit);
    if entry.root.units.factors().is_empty() || unit.has_affine() {
        return None;
    }
    let bare: Product = entry.product.factors().iter().map(|&(name, exponent)| (TABLE.without_prefix(name), exponent)).collect();
    let magnitude = unit.conversion(intern(bare.clone())).ok()?.apply(magnitude).abs();
    if magnitude == 0.0 || !magnitude.is_finite() {
        return None;
    }
    let &(name, exponent) = bare.factors().iter().find(|factor| factor.1 > 0.0).or_else(|| bare.factors().first())?;
    let thousands = magnitude.log10() / exponent / 3.0;
    let power = if exponent > 0.0 { thousands.floor() } else { thousands.ceil() } * 3.0;
    let prefixed = TABLE.resolve(&format!("{}{}", decimal_prefix(power), TABLE.long_name(name))).ok()?;
    Some(intern(bare.rename(name, prefixed)))
}

/// The first decimal prefix of at least this power of ten, or the largest.
fn decimal_prefix(power: f64) -> &'static str {
    let powers = TABLE.prefixes().map(|(factor, name)| (factor.log10(), name));
    let mut decimal: Vec<_> = powers.filter(|(power, _)| power.fract() == 0.0).collect();
    decimal.sort_by(|left, right| left.0.total_cmp(&right.0));
    let fitting = decimal.iter().find(|prefix| prefix.0 >= power).or(decimal.last());
    fitting.map_or("", |prefix| prefix.1)
}
