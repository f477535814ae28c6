//! How products of units read and print: `kilogram * meter / second ** 2`.

use super::{Unit, UnitError};

/// Prints a product: factors of positive exponent in the order of the iterator, then the others, each after its own ` / `.
pub(super) fn product<N: AsRef<str>>(factors: impl Iterator<Item = (N, f64)> + Clone, number: fn(f64) -> String) -> String {
    let power = |name: N, exponent: f64| match exponent {
        1.0 => name.as_ref().to_owned(),
        _ => format!("{} ** {}", name.as_ref(), number(exponent)),
    };
    let is_above = |factor: &(N, f64)| factor.1 > 0.0 || factor.1.is_nan();
    let above: Vec<_> = factors.clone().filter(is_above).map(|(name, exponent)| power(name, exponent)).collect();
    let above = if above.is_empty() { "1".to_owned() } else { above.join(" * ") };
    let below = factors.filter(|factor| !is_above(factor)).map(|(name, exponent)| power(name, -exponent));
    below.fold(above, |text, factor| format!("{text} / {factor}"))
}

/// An exponent in at most six significant digits, integers in full.
pub(super) fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let scientific = format!("{value:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e').and_then(|(m, e)| Some((m, e.parse::<i32>().ok()?))) else {
        return value.to_string();
    };
    match usize::try_from(5 - exponent) {
        Ok(decimals) if exponent >= -4 => trimmed(&format!("{value:.decimals$}")).to_owned(),
        _ => format!("{}e{}{:02}", trimmed(mantissa), if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

/// An exponent in as many digits as it takes to read it back.
pub(super) fn exact(value: f64) -> String {
    value.to_string()
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Reads a product: names with `**` and a number, `*`, `/`, and `1`; nothing is the unit without factors.
pub(super) fn parse(text: &str) -> Result<Unit, UnitError> {
    let fault = || UnitError::Syntax { text: text.to_owned() };
    let mut factors = Vec::new();
    let mut rest = text.trim();
    let mut sign = 1.0;
    while !rest.is_empty() {
        let (name, after) = word(rest);
        let (exponent, after) = exponent(after).ok_or_else(fault)?;
        match (name, exponent) {
            ("1", None) => {}
            _ if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) => return Err(fault()),
            _ => factors.push((name, sign * exponent.unwrap_or(1.0))),
        }
        (sign, rest) = operator(after).ok_or_else(fault)?;
    }
    Unit::from_factors(factors)
}

/// Factors with those of one spelling merged; an exponent may become zero.
pub(super) fn merged<'a>(factors: impl IntoIterator<Item = (&'a str, f64)>) -> Vec<(&'a str, f64)> {
    let mut merged: Vec<(&str, f64)> = Vec::new();
    for (name, exponent) in factors {
        match merged.iter_mut().find(|factor| factor.0 == name) {
            Some(factor) => factor.1 += exponent,
            None => merged.push((name, exponent)),
        }
    }
    merged
}

/// The name at the start, and what follows.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| c.is_whitespace() || "*/[]()^".contains(c)).unwrap_or(text.len()))
}

/// The exponent at the start, if any; nothing when `**` has no number.
fn exponent(text: &str) -> Option<(Option<f64>, &str)> {
    let Some(text) = text.trim_start().strip_prefix("**") else { return Some((None, text)) };
    let (number, rest) = word(text.trim_start());
    Some((Some(number.parse().ok()?), rest))
}

/// The operator at the start as the sign of the next exponent, and what follows; nothing when either is missing.
fn operator(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return Some((1.0, text));
    }
    let (sign, rest) = text.strip_prefix('*').map(|rest| (1.0, rest)).or_else(|| Some((-1.0, text.strip_prefix('/')?)))?;
    let rest = rest.trim_start();
    (!rest.is_empty()).then_some((sign, rest))
}
