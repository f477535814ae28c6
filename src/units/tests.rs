//! Tests of the room against the record of Pint in `tests/units`, where `record.py` says how it came about.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// The lines of a record, split at `separator`.
fn record(file: &str, separator: &str) -> Vec<Vec<String>> {
    let path = format!("{}/tests/units/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines: Vec<Vec<String>> = text.lines().map(|line| line.split(separator).map(str::to_owned).collect()).collect();
    assert!(!lines.is_empty(), "{path} is empty");
    lines
}

/// Fails with all differences at once.
fn assert_none(differences: &str) {
    assert!(differences.is_empty(), "\n{differences}");
}

fn unit(text: &str) -> Unit {
    Unit::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn convert(value: f64, from: &str, to: &str) -> f64 {
    unit(from).conversion(unit(to)).unwrap_or_else(|error| panic!("{error}")).apply(value)
}

#[test]
fn root_factors_and_dimensions_agree_to_the_last_bit() {
    let mut differences = String::new();
    for line in record("roots.txt", " = ") {
        let (factor, dimension) = line[1].split_once("; ").unwrap();
        let found = unit(&line[0]);
        let (expected, factor) = (factor.parse::<f64>().unwrap(), found.root_factor());
        if factor.to_bits() != expected.to_bits() || found.dimension().to_string() != dimension {
            writeln!(differences, "{}: {factor} {} for {}", line[0], found.dimension(), line[1]).unwrap();
        }
    }
    assert_none(&differences);
}

#[test]
fn conversions_agree_to_the_last_bit() {
    let mut differences = String::new();
    for line in record("conversions.txt", "; ") {
        let conversion = unit(&line[1]).conversion(unit(&line[2])).unwrap();
        let whole = line[0].parse::<i128>().ok().zip(conversion.whole()).map(|(value, factor)| value * factor);
        let found = whole.ok_or_else(|| conversion.apply(line[0].parse().unwrap()).to_bits());
        let expected = line[3].parse::<i128>().map_err(|_| line[3].parse::<f64>().unwrap().to_bits());
        if found != expected {
            let found = found.map_or_else(|bits| f64::from_bits(bits).to_string(), |whole| format!("{whole} (whole)"));
            writeln!(differences, "{found} for {}", line.join("; ")).unwrap();
        }
    }
    assert_none(&differences);
}

#[test]
fn names_and_compounds_print_as_recorded() {
    let mut differences = String::new();
    for line in record("names.txt", " = ") {
        let found = match Unit::parse(&line[0]) {
            Ok(unit) => format!("{unit}; {}", unit.dimension()),
            Err(UnitError::Unknown { name, .. }) => format!("undefined {name}"),
            Err(UnitError::Prefixed { .. }) => "prefixed".to_owned(),
            Err(error) => error.to_string(),
        };
        if found != line[1] {
            writeln!(differences, "{}: {found} for {}", line[0], line[1]).unwrap();
        }
    }
    assert_none(&differences);
}

#[test]
fn standard_forms_agree() {
    let mut differences = String::new();
    for line in record("forms.txt", "; ") {
        let unit = unit(&line[1]);
        let forms = [unit.base(), unit.root(), unit.reduced(), unit.compact(line[0].parse().unwrap())].map(|form| form.to_string());
        if forms != line[2..] {
            writeln!(differences, "{}: {} for {}", line[..2].join(" "), forms.join("; "), line[2..].join("; ")).unwrap();
        }
    }
    assert_none(&differences);
}

#[test]
fn order_of_factors_matters_for_nothing_but_the_order() {
    let (left, right) = (unit("km*m"), unit("m*km"));
    assert_eq!(left, right);
    assert_eq!(left.to_string(), right.to_string());
    assert_eq!(left.factors()[0].0.as_ref(), "kilometer");
    assert_eq!(right.factors()[0].0.as_ref(), "meter");
    assert_ne!(unit("m"), unit("m**2"));
}

#[test]
fn an_affine_unit_is_a_point_alone_and_a_difference_in_a_compound() {
    let celsius = unit("degC");
    assert_eq!(celsius.affine(), Some(unit("delta_degC")));
    assert_eq!(unit("delta_degC").is_delta(), Some(celsius));
    assert!(celsius.has_affine() && !unit("delta_degC").has_affine() && !unit("K").has_affine());
    assert_eq!(celsius.divide(unit("s")), unit("delta_degC/s"));
    assert_eq!(celsius.power(2.0), unit("delta_degC**2"));
    assert_eq!(celsius.multiply(Unit::NONE), celsius);
    assert_eq!(celsius.divide(celsius), Unit::NONE);
    assert_eq!(celsius.conversion(unit("degF")).unwrap().scale(), 1.0 / 0.5555555555555556);
    assert!(matches!(celsius.conversion(unit("delta_degC")), Err(UnitError::Offset { .. })));
    assert!(matches!(celsius.conversion(unit("m")), Err(UnitError::Dimension { .. })));
}

#[test]
fn a_level_converts_alone_and_enters_no_compound() {
    assert!(unit("dBm").is_level() && unit("dBm").has_affine() && unit("dBm").affine().is_none());
    assert!((convert(30.0, "dBm", "W") - 1.0).abs() < 1e-12);
    assert!(unit("dBm").conversion(unit("W")).unwrap().scale().is_nan());
    assert_eq!(Unit::parse("dB/s"), Err(UnitError::Level { name: "decibel".into() }));
}

#[test]
fn whole_factors_keep_integers_whole() {
    let whole = |from: &str, to: &str| unit(from).conversion(unit(to)).unwrap().whole();
    assert_eq!(whole("min", "s"), Some(60));
    assert_eq!(whole("YiB", "bit"), Some(8 << 80));
    assert_eq!(whole("rad", ""), Some(1));
    assert_eq!(whole("km", "m"), None);
    assert_eq!(whole("s", "min"), None);
    assert_eq!(whole("YiB**2", "bit**2"), None, "does not fit 128 bits");
}

#[test]
fn what_is_wrong_is_said() {
    let message = |text: &str| Unit::parse(text).unwrap_err().to_string();
    let suggestion = |text: &str| match Unit::parse(text) {
        Err(UnitError::Unknown { suggestion, .. }) => suggestion,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(message("m/parrsec"), "unit 'parrsec' is not defined");
    assert_eq!(message("kdegC"), "unit 'kdegC' cannot have a prefix, because its scale has a zero of its own");
    assert_eq!(suggestion("parrsec").as_deref(), Some("parsec"));
    assert_eq!(suggestion("kilometr").as_deref(), Some("kilometer"));
    assert_eq!(suggestion("KM").as_deref(), Some("km"));
    assert_eq!(suggestion("qqq"), None);
    for text in ["m**", "m//s", "m/", "*m", "m s", "m^2", "(m)", "2*m", "m**2**2", "1**2", "m**x"] {
        assert!(matches!(Unit::parse(text), Err(UnitError::Syntax { .. })), "{text}");
    }
    let error = unit("m/s").conversion(unit("")).unwrap_err();
    assert_eq!(error.to_string(), "cannot convert from 'meter / second' ([length] / [time]) to 'dimensionless' (dimensionless)");
}

#[test]
fn exponents_print_in_six_digits_and_serialise_in_all() {
    let third = unit("s").power(1.0 / 3.0);
    assert_eq!(third.to_string(), "second ** 0.333333");
    let text = serde_json::to_string(&third).unwrap();
    assert_eq!(serde_json::from_str::<Unit>(&text).unwrap(), third);
    for (exponent, printed) in [(1e-7, "1e-07"), (0.0001234567, "0.000123457"), (0.9999999, "1"), (123456.75, "123457"), (1e20, "1e+20")] {
        assert_eq!(text::short(exponent), printed);
    }
}

#[test]
fn threads_agree_on_what_a_unit_is() {
    let intern = || (1..50).map(|exponent| unit("kg*m").power(f64::from(exponent)).divide(unit("s"))).collect::<Vec<_>>();
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(intern)).collect();
    let units: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(units.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn every_name_of_the_table_is_a_unit() {
    assert!(names().all(|name| Unit::from_factors([(name, 1.0)]).is_ok()));
    assert!(names().is_sorted());
    assert_eq!(names().filter(|name| ["meter", "m", "metre", "%", "°C"].contains(name)).count(), 5);
}

/// A written name, with a prefix and a plural where they fit; neither affine nor a level.
fn name() -> impl Strategy<Value = String> {
    let prefixes = ["", "kilo", "m", "micro", "Gi"];
    let units = ["m", "meter", "second", "eV", "pound", "foot", "kelvin", "radian", "percent", "Pa", "speed_of_light", "byte", "statC"];
    (prop::sample::select(prefixes.to_vec()), prop::sample::select(units.to_vec())).prop_map(|(prefix, unit)| format!("{prefix}{unit}"))
}

fn any_unit() -> impl Strategy<Value = Unit> {
    let exponent = (-6_i8..=6).prop_map(|halves| f64::from(halves) / 2.0);
    prop::collection::vec((name(), exponent), 0..5)
        .prop_map(|factors| Unit::from_factors(factors.iter().map(|(name, exponent)| (name.as_str(), *exponent))).unwrap())
}

proptest! {
    #[test]
    fn what_prints_reads_back(unit in any_unit(), exponent in -3.0..3.0) {
        prop_assert_eq!(Unit::parse(&unit.to_string()), Ok(unit));
        let power = unit.power(exponent);
        prop_assert_eq!(Unit::parse(&power.exact_text()), Ok(power));
    }

    #[test]
    fn no_text_is_too_strange(text in ".*", number in any::<f64>()) {
        let _ = Unit::parse(&text);
        let _ = Unit::parse("m").unwrap().power(number).to_string();
    }

    #[test]
    fn units_are_a_group(left in any_unit(), right in any_unit()) {
        let product = left.multiply(right);
        prop_assert_eq!(product, right.multiply(left));
        prop_assert_eq!(product.divide(right), left);
        prop_assert_eq!(left.divide(left), Unit::NONE);
        prop_assert_eq!(left.multiply(left), left.power(2.0));
        prop_assert_eq!(product.dimension(), left.dimension().multiply(&right.dimension()));
        prop_assert_eq!(left.power(-1.5).dimension(), left.dimension().power(-1.5));
    }

    #[test]
    fn conversion_there_and_back_is_the_identity(unit in any_unit(), value in -1e6..1e6) {
        for other in [unit.base(), unit.root(), unit.reduced(), unit.compact(value)] {
            prop_assert_eq!(other.dimension(), unit.dimension());
            let back = other.conversion(unit).unwrap().apply(unit.conversion(other).unwrap().apply(value));
            prop_assert!((back - value).abs() <= 64.0 * f64::EPSILON * value.abs(), "{back} for {value} [{unit}] by [{other}]");
        }
    }

    #[test]
    fn affine_conversion_there_and_back_is_the_identity(value in -1e3..1e3) {
        let scales = ["degC", "degF", "kelvin", "degRe", "degR"];
        for (from, to) in scales.iter().flat_map(|from| scales.iter().map(move |to| (from, to))) {
            prop_assert!((convert(convert(value, from, to), to, from) - value).abs() < 1e-9, "{value} [{from}] by [{to}]");
        }
    }
}
