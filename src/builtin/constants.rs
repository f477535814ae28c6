//! Constants of all modules: numbers of `math` and `numpy`, and the physical constants of `virtmat.constants`.
//!
//! A physical constant is one unit of itself: `c` is `1.0 [speed_of_light]`. So it keeps its name when printed, and its value is
//! that of the unit table.

use std::f64::consts;

use super::{arguments, math};
use crate::units::Unit;
use crate::value::{Number, Quantity, Value};

/// Module, name and value of each constant.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str, Value)> {
    let numbers = |module: &'static str, table: &'static [(&'static str, f64)]| {
        table.iter().map(move |(name, float)| (module, *name, arguments::plain(*float)))
    };
    let physical = PHYSICAL.iter().filter_map(|(unit, aliases)| Some((Unit::parse(unit).ok()?, *unit, *aliases)));
    let physical = physical.flat_map(|(unit, name, aliases)| {
        let names = std::iter::once(name).chain(aliases.iter().copied());
        names.map(move |name| ("virtmat.constants", name, Value::Quantity(Quantity { number: Number::Float(1.0), unit })))
    });
    numbers("math", &math::CONSTANTS).chain(numbers("numpy", &NUMPY)).chain(physical)
}

const NUMPY: [(&str, f64); 5] =
    [("e", consts::E), ("euler_gamma", 0.577_215_664_901_532_9), ("inf", f64::INFINITY), ("nan", f64::NAN), ("pi", consts::PI)];

/// Names of units, and what else each constant is called.
const PHYSICAL: [(&str, &[&str]); 46] = [
    ("angstrom_star", &[]),
    ("atomic_mass_constant", &["m_u"]),
    ("avogadro_constant", &["N_A"]),
    ("avogadro_number", &[]),
    ("boltzmann_constant", &["k", "k_B"]),
    ("classical_electron_radius", &["r_e"]),
    ("conductance_quantum", &["G_0"]),
    ("conventional_josephson_constant", &["K_J90"]),
    ("conventional_von_klitzing_constant", &["R_K90"]),
    ("coulomb_constant", &["k_C"]),
    ("dirac_constant", &["a_u_action", "atomic_unit_of_action", "hbar"]),
    ("electron_g_factor", &["g_e"]),
    ("electron_mass", &["a_u_mass", "atomic_unit_of_mass", "m_e"]),
    ("elementary_charge", &["e"]),
    ("eulers_number", &[]),
    ("faraday_constant", &[]),
    ("fine_structure_constant", &["alpha"]),
    ("first_radiation_constant", &["c_1"]),
    ("impedance_of_free_space", &["Z_0", "characteristic_impedance_of_vacuum"]),
    ("josephson_constant", &["K_J"]),
    ("ln10", &[]),
    ("magnetic_flux_quantum", &["Phi_0"]),
    ("molar_gas_constant", &["R"]),
    ("neutron_mass", &["m_n"]),
    ("newtonian_constant_of_gravitation", &["gravitational_constant"]),
    ("pi", &[]),
    ("planck_constant", &[]),
    ("proton_mass", &["m_p"]),
    ("rydberg_constant", &["R_inf"]),
    ("second_radiation_constant", &["c_2"]),
    ("speed_of_light", &["c", "c_0"]),
    ("standard_atmosphere", &["atm", "atmosphere"]),
    ("standard_gravity", &["g0", "g_0", "g_n", "gravity"]),
    ("stefan_boltzmann_constant", &["sigma"]),
    ("tansec", &[]),
    ("thomson_cross_section", &["sigma_e"]),
    ("vacuum_permeability", &["magnetic_constant", "mu0", "mu_0"]),
    ("vacuum_permittivity", &["electric_constant", "eps0", "eps_0", "epsilon_0"]),
    ("von_klitzing_constant", &["R_K"]),
    ("wien_frequency_displacement_law_constant", &[]),
    ("wien_u", &[]),
    ("wien_wavelength_displacement_law_constant", &[]),
    ("wien_x", &[]),
    ("x_unit_Cu", &["Xu_Cu"]),
    ("x_unit_Mo", &["Xu_Mo"]),
    ("zeta", &[]),
];
