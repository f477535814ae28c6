//! Names of units within brackets.
//!
//! There are about a thousand names and thirty prefixes, so what is offered is limited: to an empty word only common symbols, to the
//! beginning of a prefix that prefix with common units, and behind a whole prefix units of the same kind, long or short, as it.

use super::Completion;
use crate::units::{self, Unit};

/// Offered where nothing was typed.
const SYMBOLS: &[&str] = &["m", "s", "g", "kg", "K", "mol", "J", "kJ", "eV", "N", "Pa", "bar", "V", "A", "W", "Hz", "degC", "angstrom"];

/// Offered behind the beginning of a prefix.
const COMMON: &[&str] =
    &["meter", "second", "gram", "mole", "joule", "electron_volt", "newton", "pascal", "volt", "ampere", "watt", "hertz"];

/// The longest symbols of prefixes and of units; longer ones are names.
const LONGEST_SYMBOL: usize = 3;

/// Units that begin with the text from `start` on.
pub fn complete(before: &str, start: usize) -> Completion {
    let partial = before.get(start..).unwrap_or_default();
    if partial.is_empty() {
        return Completion::of(before, start, SYMBOLS.iter().copied());
    }
    let plain: Vec<String> = units::names().filter(|name| name.starts_with(partial)).map(str::to_owned).collect();
    let begun = units::prefixes().filter(|prefix| is_name(prefix) && prefix.starts_with(partial) && *prefix != partial);
    let begun = begun.flat_map(|prefix| COMMON.iter().map(move |unit| format!("{prefix}{unit}")));
    let whole = units::prefixes().filter_map(|prefix| Some((prefix, partial.strip_prefix(prefix)?)));
    let whole = whole.flat_map(|(prefix, rest)| {
        let fits = move |unit: &&str| is_name(unit) == is_name(prefix) && unit.starts_with(rest) && (!rest.is_empty() || is_common(unit));
        units::names().filter(fits).map(move |unit| format!("{prefix}{unit}"))
    });
    let exists = |name: &String| Unit::from_factors([(name.as_str(), 1.0)]).is_ok();
    let all: Vec<String> = plain.into_iter().chain(begun.chain(whole).filter(exists)).collect();
    Completion::of(before, start, all.iter().map(String::as_str))
}

fn is_name(text: &str) -> bool {
    text.chars().count() > LONGEST_SYMBOL
}

fn is_common(unit: &str) -> bool {
    COMMON.contains(&unit) || SYMBOLS.contains(&unit)
}
