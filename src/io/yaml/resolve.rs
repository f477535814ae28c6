//! What a plain scalar is, by the rules of YAML 1.1 as PyYAML has them.
//!
//! Dates and numbers to the base 60 stay strings: no value of the schema is one.

use super::super::node::Node;

/// The node of a plain scalar; a whole number beyond 128 bits and a merge key are faults.
pub fn plain(text: &str) -> Result<Node, &'static str> {
    match text {
        "<<" => Err("merging of objects by '<<' is not supported"),
        "" | "~" | "null" | "Null" | "NULL" => Ok(Node::Null),
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Ok(Node::Bool(true)),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Ok(Node::Bool(false)),
        _ => match (integer(text), float(text)) {
            (Some(int), _) => int.map(Node::Int),
            (None, Some(float)) => Ok(Node::Float(float)),
            (None, None) => Ok(text.into()),
        },
    }
}

/// `12`, `-1_000`, `0x1F`, `0b101`, `017`
fn integer(text: &str) -> Option<Result<i128, &'static str>> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'b', ..] => (2, &unsigned[2..]),
        [b'0', b'x', ..] => (16, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        [b'0'..=b'9', ..] => (10, unsigned),
        _ => return None,
    };
    if !digits.chars().all(|c| c == '_' || c.is_digit(radix)) || digits.chars().all(|c| c == '_') {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let signed = format!("{sign}{}", digits.replace('_', ""));
    Some(i128::from_str_radix(&signed, radix).map_err(|_| "a whole number has more than 128 bits"))
}

/// `1.5`, `.5`, `1.0e-05`, `-.inf`, `.nan`; there must be a point, and a sign in the exponent.
fn float(text: &str) -> Option<f64> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    match unsigned {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if unsigned.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let (whole, fraction) = mantissa.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let number = digits(whole) && digits(fraction) && (whole.is_empty() || whole.starts_with(|c: char| c.is_ascii_digit()));
    let scaled = exponent.is_none_or(|exponent| exponent.starts_with(['+', '-']));
    let parsed = (number && scaled).then(|| unsigned.replace('_', "").parse::<f64>().ok())?;
    parsed.map(|magnitude| sign * magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        for (text, int) in [("0", 0), ("-12", -12), ("+1", 1), ("1_000", 1000), ("0x1F", 31), ("0b101", 5), ("017", 15), ("-0x10", -16)] {
            assert_eq!(plain(text), Ok(Node::Int(int)), "{text}");
        }
        assert!(plain("170141183460469231731687303715884105728").is_err());
    }

    #[test]
    fn floats() {
        for (text, float) in
            [("1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("1.0e-05", 1e-5), ("-1.0e+22", -1e22), ("1_0.5", 10.5), ("-.inf", f64::NEG_INFINITY)]
        {
            assert_eq!(plain(text), Ok(Node::Float(float)), "{text}");
        }
        assert!(matches!(plain(".nan"), Ok(Node::Float(nan)) if nan.is_nan()));
        assert!(matches!(plain("-0.0"), Ok(Node::Float(zero)) if zero.is_sign_negative()));
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        for text in [
            "1e5",
            "1.0e5",
            "08",
            "0x",
            "1:30",
            ".",
            "-",
            "+",
            "_1",
            "_.5",
            "-.nan",
            "inf",
            "nan",
            "1.2.3",
            "2020-01-01",
            "0o17",
            "1e",
            "x",
        ] {
            assert_eq!(plain(text), Ok(text.into()), "{text}");
        }
    }
}
