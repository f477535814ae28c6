//! What people call the common dimensions.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Dimension, Unit};

/// A unit of each, and its name with an article. Where one dimension has two names, as energy and torque have, the commoner one.
const NAMES: [(&str, &str); 39] = [
    ("meter", "a length"),
    ("meter**2", "an area"),
    ("meter**3", "a volume"),
    ("1/meter", "a wavenumber"),
    ("second", "a time"),
    ("hertz", "a frequency or rate"),
    ("meter/second", "a velocity"),
    ("meter/second**2", "an acceleration"),
    ("meter**2/second", "a diffusivity"),
    ("meter**3/second", "a volume flow"),
    ("kilogram", "a mass"),
    ("kilogram/meter**3", "a density"),
    ("kilogram/second", "a mass flow"),
    ("kilogram*meter/second", "a momentum"),
    ("kilogram/mole", "a molar mass"),
    ("kelvin", "a temperature"),
    ("mole", "an amount of substance"),
    ("mole/meter**3", "a concentration"),
    ("1/mole", "a number per amount"),
    ("newton", "a force"),
    ("newton/meter", "a force per length"),
    ("pascal", "a pressure"),
    ("pascal*second", "a viscosity"),
    ("joule", "an energy"),
    ("joule/mole", "a molar energy"),
    ("joule/kelvin", "an entropy or heat capacity"),
    ("joule/mole/kelvin", "a molar heat capacity"),
    ("joule/kilogram", "a specific energy"),
    ("joule/kilogram/kelvin", "a specific heat capacity"),
    ("watt", "a power"),
    ("watt/meter**2", "a power per area"),
    ("watt/meter/kelvin", "a thermal conductivity"),
    ("ampere", "an electric current"),
    ("coulomb", "an electric charge"),
    ("volt", "a voltage"),
    ("ohm", "an electric resistance"),
    ("farad", "a capacitance"),
    ("tesla", "a magnetic flux density"),
    ("candela", "a luminous intensity"),
];

static TABLE: LazyLock<HashMap<Dimension, &str>> =
    LazyLock::new(|| NAMES.iter().filter_map(|(unit, name)| Some((Unit::parse(unit).ok()?.dimension(), *name))).collect());

impl Dimension {
    /// What people call it, with an article: `a pressure`; `None` for the many that have no common name.
    pub fn name(&self) -> Option<&'static str> {
        TABLE.get(self).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_dimension_of_its_own() {
        for (unit, name) in NAMES {
            let unit = Unit::parse(unit).unwrap_or_else(|fault| panic!("{unit}: {fault}"));
            assert_eq!(unit.dimension().name(), Some(name), "{unit}");
        }
        let named = |text| Unit::parse(text).unwrap().dimension().name();
        assert_eq!(named("bar"), Some("a pressure"));
        assert_eq!(named("kWh"), Some("an energy"));
        assert_eq!(named("m**7"), None);
        assert_eq!(named("percent"), None);
    }
}
