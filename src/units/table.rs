//! The unit table: prefixes, units and all their names, read once from the embedded `stdlib/units.txt`.
//!
//! A name of a unit is a prefix and a unit of the table ([`Name`], four bytes), so prefixed units need no table of their own.
//! Reading the table takes a fraction of a millisecond; nothing is read before the first unit is met.

use std::str::Split;
use std::sync::{LazyLock, OnceLock};

use super::UnitError;
use super::scale::Scale;
use crate::diagnostic::nearest;
use crate::hash::Map;

static TEXT: &str = include_str!("../../stdlib/units.txt");

/// The table of the binary.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(TEXT).expect("the embedded unit table is well formed"));

/// A named unit: a prefix (0 is none) and a unit, both as places in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name {
    prefix: u16,
    unit: u16,
}

/// A named unit and its exponent.
pub(super) type Factor = (Name, f64);

/// How values of a unit relate to values of the unit's reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// By the scale alone.
    Linear,
    /// By scale and offset: `reference = scale * x + offset`.
    Affine { offset: f64 },
    /// A level: `reference = scale * base ** (x / factor)`.
    Level { base: f64, factor: f64 },
}

/// What a unit is.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    /// A base unit; without a dimension for `radian`, `bit`, `count`.
    Base { dimension: Option<&'static str> },
    /// `scale` times a product of other units, along a curve.
    Derived { scale: Scale, reference: Vec<Factor>, curve: Curve },
}

struct Entry {
    name: &'static str,
    /// The definition as the table has it; few units of a table are ever used, so it is read when it is asked for.
    body: &'static str,
    definition: OnceLock<Definition>,
}

struct Prefix {
    name: &'static str,
    scale: Scale,
}

/// Prefixes and units; the prefix at place 0 is the empty one.
#[derive(Default)]
pub(super) struct Table {
    prefixes: Vec<Prefix>,
    prefix_names: Vec<(&'static str, u16)>,
    units: Vec<Entry>,
    index: Map<&'static str, u16>,
}

impl Name {
    fn of(unit: u16) -> Name {
        Name { prefix: 0, unit }
    }

    /// The unit without the prefix.
    pub(super) fn bare(self) -> Name {
        Name::of(self.unit)
    }
}

impl Table {
    /// The unit that is written `name`: a name of the table, or a prefix and a name, or either with a plural `s`.
    pub(super) fn resolve(&self, name: &str) -> Result<Name, UnitError> {
        let unknown = || UnitError::Unknown { name: name.into(), suggestion: self.suggestion(name) };
        let found = self.find(name).or_else(|| self.split(name)).ok_or_else(unknown)?;
        if found.prefix == 0 {
            return Ok(found);
        }
        if self.curve(found) != Curve::Linear {
            return Err(UnitError::Prefixed { name: name.into() });
        }
        // `marcsec` is the `milliarcsecond` of the table, not another unit of that name.
        Ok(self.find(&self.long_name(found)).unwrap_or(found))
    }

    /// The unit that has this name in the table.
    fn find(&self, name: &str) -> Option<Name> {
        self.index.get(name).copied().map(Name::of)
    }

    /// Reads prefix, unit and plural out of a name. The first prefix of the table that leaves a known unit wins, and any
    /// reading in the singular wins over one in the plural. A unit of one letter has no plural: `kms` is no kilometers.
    fn split(&self, name: &str) -> Option<Name> {
        self.prefixed(name, |_| true).or_else(|| self.prefixed(name.strip_suffix('s')?, |rest| rest.chars().count() != 1))
    }

    fn prefixed(&self, name: &str, fits: impl Fn(&str) -> bool) -> Option<Name> {
        self.prefix_names.iter().find_map(|&(text, prefix)| {
            let rest = name.strip_prefix(text).filter(|rest| fits(rest))?;
            Some(Name { prefix, ..self.find(rest)? })
        })
    }

    /// The unit without its prefix, also where the table itself holds prefix and unit as one (`kilogram`).
    pub(super) fn without_prefix(&self, name: Name) -> Name {
        if name.prefix != 0 {
            return name.bare();
        }
        let long = self.units[usize::from(name.unit)].name;
        self.prefixes[1..].iter().find_map(|prefix| self.find(long.strip_prefix(prefix.name)?)).unwrap_or(name)
    }

    /// The long name, prefix included.
    pub(super) fn long_name(&self, name: Name) -> String {
        format!("{}{}", self.prefixes[usize::from(name.prefix)].name, self.units[usize::from(name.unit)].name)
    }

    /// What the unit without its prefix is.
    pub(super) fn definition(&self, name: Name) -> &Definition {
        let entry = &self.units[usize::from(name.unit)];
        entry.definition.get_or_init(|| self.read_definition(entry.body).expect("the embedded unit table is well formed"))
    }

    /// The factor of the prefix, when there is one.
    pub(super) fn prefix_scale(&self, name: Name) -> Option<Scale> {
        (name.prefix != 0).then(|| self.prefixes[usize::from(name.prefix)].scale)
    }

    /// The curve of a unit.
    pub(super) fn curve(&self, name: Name) -> Curve {
        match self.definition(name) {
            Definition::Base { .. } => Curve::Linear,
            Definition::Derived { curve, .. } => *curve,
        }
    }

    /// The unit of differences between values of an affine unit.
    pub(super) fn delta(&self, name: Name) -> Option<Name> {
        let Curve::Affine { .. } = self.curve(name) else { return None };
        self.find(&format!("delta_{}", self.long_name(name)))
    }

    /// The affine unit of a unit of differences.
    pub(super) fn affine_of_delta(&self, name: Name) -> Option<Name> {
        self.find(self.long_name(name).strip_prefix("delta_")?)
    }

    /// Every prefix, as its factor and its long name.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = (f64, &'static str)> {
        self.prefixes.iter().map(|prefix| (prefix.scale.to_f64(), prefix.name))
    }

    /// Every name of every prefix but the empty one.
    pub(super) fn prefix_names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.prefix_names.iter().map(|(name, _)| *name).filter(|name| !name.is_empty())
    }

    /// Every name of every unit, in the order of the alphabet.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.index.keys().copied().collect();
        names.sort_unstable();
        names
    }

    /// What may have been meant by an unknown name: the same in small letters, or else the nearest name, behind a long prefix if
    /// there is one.
    fn suggestion(&self, name: &str) -> Option<String> {
        let small = name.to_lowercase();
        if self.find(&small).or_else(|| self.split(&small)).is_some() {
            return Some(small);
        }
        let long_prefixes = self.prefixes.iter().map(|prefix| prefix.name).filter(|prefix| prefix.len() > 3);
        let mut prefixed = long_prefixes.filter_map(|prefix| Some(format!("{prefix}{}", self.near(small.strip_prefix(prefix)?)?)));
        prefixed.next().or_else(|| self.near(&small).map(str::to_owned))
    }

    /// The nearest name; none to a name of up to three letters, for which one would be as good as another.
    fn near(&self, name: &str) -> Option<&'static str> {
        let length = name.chars().count();
        let alike = |candidate: &&str| length > 3 && candidate.chars().count().abs_diff(length) <= 3;
        nearest(name, self.names().into_iter().filter(alike))
    }
}

/// Reading.
impl Table {
    fn read(text: &'static str) -> Option<Table> {
        let mut table = Table::default();
        table.index.reserve(1200);
        table.add_prefix("", "", Scale::ONE)?;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (line, aliases) = line.split_once(':').unwrap_or((line, ""));
            let (head, body) = line.split_once('=')?;
            match head.trim_ascii().split_once(' ')? {
                ("prefix", name) => table.add_prefix(name, aliases, Scale::read(body.trim_ascii())?)?,
                ("unit", name) => table.add_unit(name, aliases, body.trim_ascii())?,
                _ => return None,
            }
        }
        Some(table)
    }

    fn add_unit(&mut self, name: &'static str, aliases: &'static str, body: &'static str) -> Option<()> {
        let place = u16::try_from(self.units.len()).ok()?;
        self.units.push(Entry { name, body, definition: OnceLock::new() });
        self.index.extend(all_names(name, aliases).map(|name| (name, place)));
        Some(())
    }

    fn add_prefix(&mut self, name: &'static str, aliases: &'static str, scale: Scale) -> Option<()> {
        let place = u16::try_from(self.prefixes.len()).ok()?;
        self.prefixes.push(Prefix { name, scale });
        self.prefix_names.extend(all_names(name, aliases).map(|name| (name, place)));
        Some(())
    }

    fn read_definition(&self, body: &'static str) -> Option<Definition> {
        if let Some(dimension) = body.strip_prefix('[') {
            return Some(Definition::Base { dimension: (dimension != "]").then_some(body) });
        }
        let mut words = body.split(' ');
        let scale = Scale::read(words.next()?)?;
        let mut reference = Vec::new();
        let mut curve = Curve::Linear;
        while let Some(word) = words.next() {
            match word {
                "+" => curve = Curve::Affine { offset: next_number(&mut words)? },
                "log" => curve = Curve::Level { base: next_number(&mut words)?, factor: next_number(&mut words)? },
                factor => reference.push(self.factor_of(factor)?),
            }
        }
        Some(Definition::Derived { scale, reference, curve })
    }

    fn factor_of(&self, word: &str) -> Option<Factor> {
        let (name, exponent) = word.split_once("**").unwrap_or((word, "1"));
        Some((self.find(name)?, exponent.parse().ok()?))
    }
}

fn all_names(name: &'static str, aliases: &'static str) -> impl Iterator<Item = &'static str> {
    std::iter::once(name).chain(aliases.split(',').map(str::trim_ascii).filter(|alias| !alias.is_empty()))
}

fn next_number(words: &mut Split<'_, char>) -> Option<f64> {
    words.next()?.parse().ok()
}
