//! Exact decimals.
//!
//! `4.1 [GB]` is a whole number of bytes, but no double is 4.1: annotations are read as `digits * 10^exponent` and multiplied as
//! such. A double that stands for a short decimal (the factor 0.001 of a millisecond) is read as that decimal.

/// `digits * 10^exponent`, without trailing zeros in `digits`; never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    exponent: i64,
}

/// The whole part of a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    /// The largest integer that is not larger.
    pub floor: u64,
    /// Whether that is all of it.
    pub exact: bool,
}

impl Whole {
    /// The smallest integer that is not smaller; `None` beyond 64 bits.
    pub(super) fn ceil(self) -> Option<u64> {
        self.floor.checked_add(u64::from(!self.exact))
    }
}

impl Decimal {
    /// One thousand millionth, and its like: `10^exponent`.
    pub(super) const fn power_of_ten(exponent: i64) -> Self {
        Decimal { digits: 1, exponent }
    }

    /// One eighth.
    pub(super) const EIGHTH: Decimal = Decimal { digits: 125, exponent: -3 };

    /// Reads a number without a sign; `None` when it is no number or has more digits than fit into 128 bits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], parse_exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let digits = parse_digits(whole.bytes().chain(fraction.trim_end_matches('0').bytes()))?;
        let places = i64::try_from(fraction.trim_end_matches('0').len()).ok()?;
        Some(Decimal { digits, exponent: exponent - places }.normalised())
    }

    /// What a factor means: a whole number is itself (`2^63`), and any other the shortest decimal that reads as the same double.
    /// `None` when it is negative or not finite.
    pub(super) fn from_f64(value: f64) -> Option<Self> {
        const LARGEST: f64 = (1_u128 << 127) as f64;
        if value.fract() == 0.0 && (0.0..LARGEST).contains(&value) {
            return Some(Decimal { digits: value as u128, exponent: 0 }.normalised());
        }
        Decimal::parse(&format!("{value:e}"))
    }

    /// Whether it is nothing.
    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The exact product; `None` when it has more digits than fit.
    pub(super) fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Decimal { digits, exponent: self.exponent + other.exponent }.normalised())
    }

    /// Its whole part; `None` beyond 64 bits.
    pub(super) fn whole(self) -> Option<Whole> {
        let power = u32::try_from(self.exponent.unsigned_abs()).ok().and_then(|exponent| 10_u128.checked_pow(exponent));
        let (floor, rest) = match (power, self.exponent >= 0) {
            _ if self.digits == 0 => (0, 0),
            (Some(power), true) => (self.digits.checked_mul(power)?, 0),
            (None, true) => return None,
            (Some(power), false) => (self.digits / power, self.digits % power),
            (None, false) => (0, self.digits),
        };
        Some(Whole { floor: u64::try_from(floor).ok()?, exact: rest == 0 })
    }

    fn normalised(mut self) -> Self {
        if self.digits == 0 {
            return Decimal { digits: 0, exponent: 0 };
        }
        while self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.exponent += 1;
        }
        self
    }
}

fn parse_digits(digits: impl Iterator<Item = u8>) -> Option<u128> {
    let mut value = 0_u128;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| u128::from(digit - b'0'))?;
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(value)
}

/// An exponent with its sign; one of more than nine digits is cut to a number that is as far out of range.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(i64::from(u32::MAX)).min(i64::from(u32::MAX));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> Option<(u64, bool)> {
        Decimal::parse(text).and_then(Decimal::whole).map(|whole| (whole.floor, whole.exact))
    }

    #[test]
    fn reads_what_the_language_writes() {
        assert_eq!(whole("12"), Some((12, true)));
        assert_eq!(whole("1.5e3"), Some((1500, true)));
        assert_eq!(whole(".5"), Some((0, false)));
        assert_eq!(whole("5."), Some((5, true)));
        assert_eq!(whole("1E+2"), Some((100, true)));
        assert_eq!(whole("100e-2"), Some((1, true)));
        assert_eq!(whole("2.50"), Some((2, false)));
        assert_eq!(whole("0e999999999999"), Some((0, true)));
        assert_eq!(whole("1e-999999999999"), Some((0, false)));
        assert_eq!(whole("1e99"), None);
        assert_eq!(whole("1e999999999999"), None);
        assert_eq!(whole("18446744073709551616"), None);
    }

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["", ".", "e3", "1e", "1e+", "1.2.3", "-1", "+1", "inf", "NaN", "1j", "1_000", "٣", "1e٣"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::from_f64(f64::INFINITY), None);
        assert_eq!(Decimal::from_f64(-1.0), None);
    }

    #[test]
    fn a_double_is_what_was_meant() {
        assert_eq!(Decimal::from_f64(2_f64.powi(63)).and_then(Decimal::whole), Some(Whole { floor: 1 << 63, exact: true }));
        assert_eq!(Decimal::from_f64(0.001), Some(Decimal::power_of_ten(-3)));
        assert_eq!(Decimal::from_f64(8e9).and_then(Decimal::whole), Some(Whole { floor: 8_000_000_000, exact: true }));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9.eE+-]{0,12}|\\PC{0,6}") {
            if let Some(decimal) = Decimal::parse(&text) {
                let _ = (decimal.whole(), decimal.times(decimal).and_then(Decimal::whole));
            }
        }

        #[test]
        fn products_are_exact(a in 0_u64..1 << 40, b in 0_u64..1 << 20, places in 0_i64..12) {
            let scaled = Decimal::parse(&format!("{a}e-{places}")).and_then(|a| a.times(Decimal::parse(&b.to_string())?));
            let power = 10_u64.pow(u32::try_from(places).unwrap_or(0));
            let product = u128::from(a) * u128::from(b);
            let expected = Whole { floor: (product / u128::from(power)) as u64, exact: product % u128::from(power) == 0 };
            prop_assert_eq!(scaled.and_then(Decimal::whole), Some(expected));
        }
    }
}
