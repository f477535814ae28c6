//! Dimensions that are found wrong before anything runs are those that are wrong when it runs.

use super::*;

/// A term over the variables before it.
fn term(depth: u32) -> BoxedStrategy<String> {
    let unit = prop::sample::select(vec!["", " [m]", " [km]", " [s]", " [kg]", " [m/s]", " [percent]", " [degC]", " [K]", " [delta_degC]"]);
    let number = (1_u8..9, unit).prop_map(|(number, unit)| format!("{number}.5{unit}"));
    let leaf = prop_oneof![number, (0_u8..4).prop_map(|place| format!("v{place}"))];
    let inner = leaf.clone();
    leaf.prop_recursive(depth, 24, 3, move |term| {
        let two = (term.clone(), term.clone());
        prop_oneof![
            (two.clone(), prop::sample::select(vec!["+", "-", "*", "/"])).prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            (term.clone(), prop::sample::select(vec!["2", "0.5", "-1", "3", "0", "1"])).prop_map(|(a, power)| format!("({a}) ** {power}")),
            (two.clone(), prop::sample::select(vec!["product", "ratio", "total", "larger"]))
                .prop_map(|((a, b), function)| format!("{function}({a}, {b})")),
            two.clone().prop_map(|(a, b)| format!("sum({a}, {b})")),
            (term.clone(), prop::sample::select(vec!["sqrt", "exp", "sin", "floor", "square"]))
                .prop_map(|(a, function)| format!("{function}({a})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("reduce((x, y: x + y), map((x: x * ({a})), s)) + {b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("sum(map((r: r.l / ({a}) + r.t * ({b})), t))")),
        ]
    })
    .boxed()
}

const HEAD: &str = "use sqrt, exp, sin, floor, square from numpy\n\
    product(a, b) = a * b\n\
    ratio(a, b) = 1 / product(b, 1 / a)\n\
    total(a, b) = a + b\n\
    larger(a, b) = if(total(a, b) > a, a, b)\n\
    s = (s: 1.5, 2.5) [m]\n\
    t = ((l: 1.5, 2.5) [m], (t: 1.5, 2.5) [s])\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// `v0` to `v3` are numbers, and the one print needs everything. Of other faults than those of dimensions nothing is claimed: a
    /// number may be wrong for its size, and two points on a scale are known to have no sum only where their units are.
    #[test]
    fn wrong_dimensions_are_found_before_exactly_if_they_are_when_it_runs(
        units in prop::array::uniform4(prop::sample::select(vec!["", " [m]", " [cm]", " [s]", " [m**2]"])),
        term in term(4),
    ) {
        let variables: String = units.iter().enumerate().map(|(place, unit)| format!("v{place} = 2.5{unit}\n")).collect();
        let text = format!("{HEAD}{variables}print({term})\n");
        let mut sources = SourceMap::new();
        let file = sources.add("m.scl", text.as_str());
        let (ast, faults) = syntax::parse(file, &text);
        prop_assert!(!has_errors(&faults), "{faults:?}\n{text}");
        let (model, before) = check(&ast, Mode::Deferred, Extent::Outputs);
        let is_of_units = |fault: &Diagnostic| matches!(fault.code.as_str(), "E0360" | "E0361" | "E0362" | "E0363" | "E0364" | "E0423" | "E0424");
        prop_assert!(before.iter().all(|fault| is_of_units(fault) || fault.severity == Severity::Warning), "{before:?}\n{text}");
        let graph = Arc::new(TaskGraph::build(&model, Options { chunks: false, batch: false, all: false }));
        let program =
            Program { model: Arc::new(model), graph, sources: Arc::new(sources), world: Arc::new(Nowhere), exporter: Arc::new(Nowhere) };
        let (_, summary) = lines(&program, 1, None);
        let found = summary.diagnostics.first().filter(|fault| !fault.message.contains("point on a scale"));
        match found.map(|fault| fault.code.as_str()) {
            None if summary.failed => {}
            None => prop_assert!(!has_errors(&before), "{before:?}\n{text}"),
            Some("E0423") => prop_assert!(has_errors(&before), "{:?}\n{text}", summary.diagnostics),
            Some(_) => {}
        }
    }
}
