//! What `in` looks into: a list or series that is the same for all rows, prepared for many questions.

use std::collections::HashSet;
use std::sync::Arc;

use crate::ops::convert::{conversion, convert_number};
use crate::units::{Conversion, Unit};
use crate::value::{Number, Value};

use super::program::Kind;

/// The elements of a list or series, as those of a column of one kind and unit see them.
#[derive(Debug)]
pub struct Members {
    /// What a missing item gives: whether an element is missing.
    pub of_missing: bool,
    /// What an item gives that equals no element; `None` is null.
    pub otherwise: Option<bool>,
    elements: Elements,
}

#[derive(Debug)]
enum Elements {
    /// None that an item of the kind could equal.
    Foreign,
    Bools([bool; 2]),
    Strings(HashSet<Arc<str>>),
    /// By their units: to what an item is converted, and which keys it may have then.
    Numbers(Vec<(Conversion, Keys)>),
}

/// Few keys are compared one by one.
#[derive(Debug)]
enum Keys {
    Few(Vec<Key>),
    Many(HashSet<Key>),
}

const FEW: usize = 8;

/// What makes two numbers equal: an integer for each number that is one, else the bits of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Int(i128),
    Bits(u64, u64),
}

impl Members {
    /// The elements for items of a kind, numbers in a unit; `None` when there are uncertain numbers among them.
    pub fn new(values: impl IntoIterator<Item = Value>, kind: Kind, unit: Unit) -> Option<Members> {
        let (mut missing, mut typed, mut foreign) = (false, false, true);
        let mut elements = match kind {
            Kind::Bool => Elements::Bools([false; 2]),
            Kind::Str => Elements::Strings(HashSet::new()),
            Kind::Int | Kind::Float | Kind::Complex => Elements::Numbers(Vec::new()),
        };
        let mut units: Vec<(Unit, HashSet<Key>)> = Vec::new();
        for value in values {
            if value.is_null() {
                missing = true;
                continue;
            }
            typed = true;
            match (&value, &mut elements) {
                (Value::Bool(bool), Elements::Bools(known)) => known[usize::from(*bool)] = true,
                (Value::Str(text), Elements::Strings(known)) => {
                    known.insert(text.clone());
                }
                (Value::Quantity(quantity), Elements::Numbers(_)) => {
                    if matches!(quantity.number, Number::Uncertain(_)) {
                        return None;
                    }
                    let at = units.iter().position(|(unit, _)| unit.is_identical(quantity.unit)).unwrap_or_else(|| {
                        units.push((quantity.unit, HashSet::new()));
                        units.len() - 1
                    });
                    units[at].1.extend(key(&quantity.number));
                }
                _ => continue,
            }
            foreign = false;
        }
        if let Elements::Numbers(groups) = &mut elements {
            // Numbers of another dimension equal none.
            let group = |(to, keys): (Unit, HashSet<Key>)| Some((conversion(unit, to).ok()?, Keys::new(keys)));
            *groups = units.into_iter().filter_map(group).collect();
        }
        let otherwise = if missing && !(typed && foreign) { None } else { Some(false) };
        Some(Members { of_missing: missing, otherwise, elements: if foreign { Elements::Foreign } else { elements } })
    }

    /// Whether a number is among them; `None` is null.
    pub fn number(&self, item: &Number) -> Option<bool> {
        let Elements::Numbers(groups) = &self.elements else { return self.otherwise };
        let has = |(conversion, keys): &(Conversion, Keys)| {
            convert_number(item, conversion).is_ok_and(|number| key(&number).is_some_and(|key| keys.contain(key)))
        };
        if groups.iter().any(has) { Some(true) } else { self.otherwise }
    }

    /// Whether a string is among them.
    pub fn string(&self, item: &str) -> Option<bool> {
        let has = matches!(&self.elements, Elements::Strings(known) if known.contains(item));
        if has { Some(true) } else { self.otherwise }
    }

    /// Whether a truth value is among them.
    pub fn bool(&self, item: bool) -> Option<bool> {
        let has = matches!(&self.elements, Elements::Bools(known) if known[usize::from(item)]);
        if has { Some(true) } else { self.otherwise }
    }
}

impl Keys {
    fn new(keys: HashSet<Key>) -> Keys {
        if keys.len() <= FEW { Keys::Few(keys.into_iter().collect()) } else { Keys::Many(keys) }
    }

    fn contain(&self, key: Key) -> bool {
        match self {
            Keys::Few(keys) => keys.contains(&key),
            Keys::Many(keys) => keys.contains(&key),
        }
    }
}

/// `None` for what equals nothing, not even itself.
fn key(number: &Number) -> Option<Key> {
    match number {
        Number::Int(int) => Some(Key::Int(*int)),
        Number::Float(float) => real_key(*float),
        Number::Complex(complex) if complex.im == 0.0 => real_key(complex.re),
        // Adding zero makes a positive zero of a negative one.
        Number::Complex(complex) if complex.re.is_nan() || complex.im.is_nan() => None,
        Number::Complex(complex) => Some(Key::Bits((complex.re + 0.0).to_bits(), complex.im.to_bits())),
        Number::Null | Number::Uncertain(_) => None,
    }
}

fn real_key(float: f64) -> Option<Key> {
    const LIMIT: f64 = -(i128::MIN as f64);
    match float {
        _ if float.is_nan() => None,
        _ if float == float.trunc() && (-LIMIT..LIMIT).contains(&float) => Some(Key::Int(float as i128)),
        _ => Some(Key::Bits(float.to_bits(), 0)),
    }
}
