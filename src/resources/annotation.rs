//! From what was written to a request.

use std::num::NonZeroU32;
use std::sync::LazyLock;

use super::decimal::Decimal;
use super::request::{Impossible, Request};
use crate::diagnostic::Diagnostic;
use crate::source::{Span, Spanned};
use crate::syntax::ast::{Cores, Measure, Resources, UnitExpr};
use crate::units::Unit;

/// The request that an annotation means; `unit` finds units by their names.
///
/// Numbers are read as exact decimals. A walltime is rounded up to nanoseconds; memory must be whole bytes.
pub fn request(resources: &Resources, unit: impl Fn(&UnitExpr) -> Result<Unit, Diagnostic>) -> Result<Request, Vec<Diagnostic>> {
    let read = |measure: &Option<Measure>, what| measure.as_ref().map(|measure| amount(measure, what, &unit)).transpose();
    let memory = resources.cores.as_ref().map_or(&None, |cores| &cores.memory);
    let faults = |result: &Result<_, Diagnostic>| result.as_ref().err().cloned();
    let walltime = read(&resources.walltime, &WALLTIME);
    let count = resources.cores.as_ref().map_or(Ok(NonZeroU32::MIN), cores);
    let bytes = read(memory, &MEMORY);
    match (walltime, count, bytes) {
        (Ok(walltime), Ok(count), Ok(bytes)) => {
            Request::new(count, bytes, walltime).map_err(|impossible| vec![refuse(resources, impossible)])
        }
        (walltime, count, bytes) => Err([faults(&walltime), count.err(), faults(&bytes)].into_iter().flatten().collect()),
    }
}

/// A kind of quantity in annotations.
struct Kind {
    name: &'static str,
    /// What is counted.
    step: &'static str,
    /// Units of this kind have the same root unit as this one.
    like: &'static LazyLock<Unit>,
    /// How many steps the root unit is.
    steps: Decimal,
    /// Whether parts of a step count as one.
    round_up: bool,
    example: &'static str,
    units: &'static str,
}

static SECOND: LazyLock<Unit> = LazyLock::new(|| Unit::parse("second").unwrap_or(Unit::NONE).root());
static BIT: LazyLock<Unit> = LazyLock::new(|| Unit::parse("bit").unwrap_or(Unit::NONE).root());

static WALLTIME: Kind = Kind {
    name: "walltime",
    step: "nanoseconds",
    like: &SECOND,
    steps: Decimal::power_of_ten(9),
    round_up: true,
    example: "`for 90 [min]`",
    units: "units of time such as [s], [min], [hours] and [days]",
};

static MEMORY: Kind = Kind {
    name: "memory",
    step: "bytes",
    like: &BIT,
    steps: Decimal::EIGHTH,
    round_up: false,
    example: "`with 3 [GiB]`",
    units: "units of information such as [GiB], [MiB] (powers of 1024), [GB], [MB] (powers of 1000) and [byte]",
};

/// How many steps of its kind were asked for.
fn amount(measure: &Measure, kind: &Kind, unit: &impl Fn(&UnitExpr) -> Result<Unit, Diagnostic>) -> Result<u64, Diagnostic> {
    let number = number(measure, kind)?;
    let written = measure.unit.as_ref().ok_or_else(|| no_unit(measure, kind))?;
    let unit = unit(written)?;
    if unit.root() != **kind.like {
        return Err(wrong_unit(written, unit, kind));
    }
    let factor = Decimal::from_f64(unit.root_factor()).and_then(|factor| factor.times(kind.steps));
    let whole = factor.and_then(|factor| factor.times(number)).and_then(Decimal::whole).ok_or_else(|| too_much(measure, kind))?;
    if !whole.exact && !kind.round_up {
        return Err(fraction(measure, whole.floor, kind));
    }
    whole.ceil().ok_or_else(|| too_much(measure, kind))
}

/// A number that is more than nothing.
fn number(measure: &Measure, kind: &Kind) -> Result<Decimal, Diagnostic> {
    let (negative, digits) = split_sign(&measure.number);
    let number = Decimal::parse(digits).ok_or_else(|| unreadable(measure, kind))?;
    if negative || number.is_zero() { Err(not_positive(measure, kind)) } else { Ok(number) }
}

fn cores(cores: &Cores) -> Result<NonZeroU32, Diagnostic> {
    let (negative, digits) = split_sign(&cores.count.node);
    let whole = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if negative || !whole || digits.bytes().all(|digit| digit == b'0') {
        return Err(wrong_cores(&cores.count));
    }
    digits.parse().map_err(|_| too_many_cores(&cores.count))
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (true, digits.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text).trim_start()),
    }
}

fn wrong_cores(count: &Spanned<std::sync::Arc<str>>) -> Diagnostic {
    let message = format!("number of cores must be a positive integer number, not {}", count.node);
    Diagnostic::error("E0501", message, count.span).help("write how many cores the task is to have, as in `on 4 cores`")
}

fn too_many_cores(count: &Spanned<std::sync::Arc<str>>) -> Diagnostic {
    Diagnostic::error("E0502", format!("no machine has {} cores", count.node), count.span)
}

fn no_unit(measure: &Measure, kind: &Kind) -> Diagnostic {
    let message = format!("{} needs a unit", kind.name);
    Diagnostic::error("E0503", message, measure.span).help(format!("write it in brackets, as in {}", kind.example))
}

fn wrong_unit(written: &UnitExpr, unit: Unit, kind: &Kind) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0504", format!("invalid unit of {}: {}", kind.name, unit.info_name()), written.span);
    let meters = Unit::parse("m").is_ok_and(|meter| meter == unit);
    match kind.name {
        "walltime" if meters => diagnostic.help("`m` is the meter; minutes are [min]"),
        name => diagnostic.help(format!("{name} is given in {}", kind.units)),
    }
}

fn not_positive(measure: &Measure, kind: &Kind) -> Diagnostic {
    let message = format!("{} must be positive, not {}", kind.name, measure.number);
    Diagnostic::error("E0505", message, measure.span).help(format!("write a number above zero, as in {}", kind.example))
}

fn fraction(measure: &Measure, floor: u64, kind: &Kind) -> Diagnostic {
    let message = format!("{} must be a whole number of {}", kind.name, kind.step);
    let more = floor.saturating_add(1);
    let help = if floor == 0 { format!("the least is {more} [byte]") } else { format!("it is between {floor} and {more} [byte]") };
    Diagnostic::error("E0506", message, measure.span).help(help)
}

fn too_much(measure: &Measure, kind: &Kind) -> Diagnostic {
    let message = format!("{} is too large or has too many digits", kind.name);
    Diagnostic::error("E0507", message, measure.span)
}

fn unreadable(measure: &Measure, kind: &Kind) -> Diagnostic {
    let message = format!("{} must be an integer or decimal number of at most 38 digits, not {}", kind.name, measure.number);
    Diagnostic::error("E0508", message, measure.span).help(format!("write it as in {}", kind.example))
}

/// What only the parts together show.
fn refuse(resources: &Resources, impossible: Impossible) -> Diagnostic {
    let memory = resources.cores.as_ref().and_then(|cores| cores.memory.as_ref()).map(|memory| memory.span);
    let span: Span = match impossible {
        Impossible::NoTime => resources.walltime.as_ref().map(|walltime| walltime.span),
        Impossible::NoMemory | Impossible::TooMuchMemory => memory,
    }
    .unwrap_or(resources.span);
    let diagnostic = Diagnostic::error("E0509", impossible.to_string(), span);
    match impossible {
        Impossible::TooMuchMemory => diagnostic.help("memory is for each core"),
        Impossible::NoTime | Impossible::NoMemory => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uom::si::information::byte;
    use uom::si::time::nanosecond;

    use super::*;
    use crate::source::FileId;
    use crate::syntax::ast::{UnitBase, UnitFactor};

    fn span(start: usize) -> Span {
        Span::new(FileId(0), start, start + 1)
    }

    /// `number [unit]` at a place; no unit for an empty one.
    fn measure(start: usize, number: &str, unit: &str) -> Measure {
        let factor = UnitFactor { span: span(start), divide: false, base: UnitBase::Name(unit.into()), exponent: None };
        let unit = (!unit.is_empty()).then(|| Box::new(UnitExpr { span: span(start + 1), factors: vec![factor] }));
        Measure { span: span(start), number: number.into(), unit }
    }

    fn annotation(walltime: Option<(&str, &str)>, count: &str, memory: Option<(&str, &str)>) -> Resources {
        let memory = memory.map(|(number, unit)| measure(30, number, unit));
        let cores = (!count.is_empty()).then(|| Cores { span: span(20), count: Spanned::new(count.into(), span(20)), memory });
        Resources { span: span(0), walltime: walltime.map(|(number, unit)| measure(10, number, unit)), cores }
    }

    /// Names as the registry has them, and `a/b` as a compound.
    fn unit(expr: &UnitExpr) -> Result<Unit, Diagnostic> {
        let UnitBase::Name(name) = &expr.factors[0].base else { return Ok(Unit::NONE) };
        Unit::parse(name).map_err(|error| Diagnostic::error("E0000", error.to_string(), expr.span))
    }

    fn read(resources: &Resources) -> Result<Request, Vec<(String, u32)>> {
        let faults = |list: Vec<Diagnostic>| list.into_iter().map(|fault| (fault.code.clone(), fault.span().start)).collect();
        request(resources, unit).map_err(faults)
    }

    fn bytes(number: &str, unit: &str) -> Result<u64, String> {
        let request = read(&annotation(None, "1", Some((number, unit)))).map_err(|faults| faults[0].0.clone())?;
        Ok(request.memory_per_core().map_or(0, |memory| memory.get::<byte>()))
    }

    fn nanoseconds(number: &str, unit: &str) -> Result<u64, String> {
        let request = read(&annotation(Some((number, unit)), "", None)).map_err(|faults| faults[0].0.clone())?;
        Ok(request.walltime().map_or(0, |walltime| walltime.get::<nanosecond>()))
    }

    #[test]
    fn memory_is_exact() {
        assert_eq!(bytes("3", "GiB"), Ok(3 << 30));
        assert_eq!(bytes("4.1", "GB"), Ok(4_100_000_000));
        assert_eq!(bytes("1.001", "kB"), Ok(1001));
        assert_eq!(bytes("0.5", "KiB"), Ok(512));
        assert_eq!(bytes("+16", "bit"), Ok(2));
        assert_eq!(bytes("1e-3", "MB"), Ok(1000));
        assert_eq!(bytes("1e3", "byte"), Ok(1000));
        assert_eq!(bytes("8", "Mbit"), Ok(1_000_000));
        assert_eq!(bytes("0.000000000000000000867361737988403547205962240695953369140625", "EiB"), Err("E0508".to_owned()));
    }

    #[test]
    fn memory_is_whole_and_positive() {
        for (number, unit) in [("0.5", "byte"), ("1.0000000001", "kB"), ("4", "bit"), ("1e-300", "GB")] {
            assert_eq!(bytes(number, unit), Err("E0506".to_owned()), "{number} {unit}");
        }
        for (number, unit, code) in [
            ("0", "GB", "E0505"),
            ("-1", "GB", "E0505"),
            ("0.0", "GB", "E0505"),
            ("2", "m", "E0504"),
            ("2", "GB/s", "E0504"),
            ("2", "radian", "E0504"),
            ("2", "dimensionless", "E0504"),
            ("2", "", "E0503"),
            ("2j", "GB", "E0508"),
            ("1e400", "GB", "E0507"),
            ("1e12", "GB", "E0507"),
            ("10", "EiB", "E0509"),
            ("2", "EiB", "E0509"),
        ] {
            assert_eq!(bytes(number, unit), Err(code.to_owned()), "{number} {unit}");
        }
    }

    #[test]
    fn walltimes_are_rounded_up() {
        assert_eq!(nanoseconds("90", "min"), Ok(5_400_000_000_000));
        assert_eq!(nanoseconds("0.5", "hours"), Ok(1_800_000_000_000));
        assert_eq!(nanoseconds("0.1", "ms"), Ok(100_000));
        assert_eq!(nanoseconds("1.5", "ns"), Ok(2));
        assert_eq!(nanoseconds("1e-30", "s"), Ok(1));
        assert_eq!(nanoseconds("1", "day"), Ok(86_400_000_000_000));
        assert_eq!(nanoseconds("1", "1/Hz"), Ok(1_000_000_000));
        assert_eq!(nanoseconds("600", "years"), Err("E0507".to_owned()));
        assert_eq!(nanoseconds("0", "s"), Err("E0505".to_owned()));
        assert_eq!(nanoseconds("10", "m"), Err("E0504".to_owned()));
        assert_eq!(nanoseconds("10", ""), Err("E0503".to_owned()));
    }

    #[test]
    fn a_mistaken_minute_is_explained() {
        let faults = request(&annotation(Some(("10", "m")), "", None), unit).expect_err("no time");
        assert_eq!(faults[0].message, "invalid unit of walltime: meter");
        assert_eq!(faults[0].help.as_deref(), Some("`m` is the meter; minutes are [min]"));
        let faults = request(&annotation(None, "1", Some(("1", "m"))), unit).expect_err("no memory");
        assert_eq!(faults[0].message, "invalid unit of memory: meter");
        assert!(faults[0].help.as_deref().is_some_and(|help| help.contains("[GiB]")));
    }

    #[test]
    fn cores_are_counted() {
        let count = |text| read(&annotation(None, text, None)).map(|request| request.cores().get()).map_err(|faults| faults[0].0.clone());
        assert_eq!(count("8"), Ok(8));
        assert_eq!(count("+08"), Ok(8));
        for (text, code) in [("0", "E0501"), ("-2", "E0501"), ("1.5", "E0501"), ("1e3", "E0501"), ("-", "E0501"), ("5000000000", "E0502")] {
            assert_eq!(count(text), Err(code.to_owned()), "{text}");
        }
        let walltime_only = read(&annotation(Some(("1", "s")), "", None)).map(|request| request.cores());
        assert_eq!(walltime_only, Ok(NonZeroU32::MIN));
    }

    #[test]
    fn every_fault_is_reported_at_its_place() {
        let faults = read(&annotation(Some(("-1", "s")), "0", Some(("1", "m"))));
        let expected = [("E0505", 10), ("E0501", 20), ("E0504", 31)].map(|(code, at)| (code.to_owned(), at));
        assert_eq!(faults, Err(expected.to_vec()));
        assert_eq!(read(&annotation(None, "1", Some(("1", "nosuch")))), Err(vec![("E0000".to_owned(), 31)]));
    }

    /// Takes `for 90 [min] on 2 cores with 3 [GiB]` apart again.
    fn reread(text: &str) -> Resources {
        let words: Vec<_> = text.split(' ').collect();
        let after =
            |word| words.iter().position(|found| *found == word).map(|at| (words[at + 1], words.get(at + 2).copied().unwrap_or("")));
        let bare = |(number, unit): (&'static str, &'static str)| (number, unit.trim_matches(['[', ']']));
        let leak = |(number, unit): (&str, &str)| -> (&'static str, &'static str) {
            (Box::leak(number.to_owned().into_boxed_str()), Box::leak(unit.to_owned().into_boxed_str()))
        };
        let count = after("on").map_or("1", |(count, _)| count);
        annotation(after("for").map(leak).map(bare), count, after("with").map(leak).map(bare))
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_read(count in 1_u32..1000, memory in prop::option::of(1_u64..1 << 50), time in prop::option::of(1_u64..)) {
            let asked = Request::new(NonZeroU32::new(count).expect("at least one"), memory, time).expect("within limits");
            prop_assert_eq!(read(&reread(&asked.to_string())), Ok(asked));
        }

        #[test]
        fn never_panics(number in "[0-9.eE+-]{0,8}|\\PC{0,4}", name in "GB|s|bit|ms|m|degC|dB|1/Hz|planck_time|", count in "[0-9+-]{0,12}") {
            let measured = Some((number.as_str(), name.as_str()));
            let _ = read(&annotation(measured, &count, measured));
        }

        #[test]
        fn decimal_places_are_not_lost(whole in 0_u64..10_000, thousandths in 0_u64..1000) {
            prop_assume!(whole + thousandths > 0);
            prop_assert_eq!(bytes(&format!("{whole}.{thousandths:03}"), "kB"), Ok(whole * 1000 + thousandths));
        }
    }
}
