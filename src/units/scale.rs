//! Factors of units: integers as long as they are whole, floats after.
//!
//! Pint keeps a factor an integer when the definition is one (a minute is 60 seconds), and so keeps integers integers when it
//! converts (5 minutes are 300 seconds, not 300.0). Products and powers follow Python's arithmetic, in Python's order.

/// A factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// A whole factor.
    Whole(i128),
    /// Any other.
    Real(f64),
}

impl Scale {
    pub(super) const ONE: Scale = Scale::Whole(1);

    /// Reads a number of the table; without a decimal point it is whole.
    pub(super) fn read(text: &str) -> Option<Scale> {
        text.parse().map(Scale::Whole).or_else(|_| text.parse().map(Scale::Real)).ok()
    }

    pub(super) fn to_f64(self) -> f64 {
        match self {
            Scale::Whole(value) => value as f64,
            Scale::Real(value) => value,
        }
    }

    pub(super) fn times(self, other: Scale) -> Scale {
        match (self, other) {
            (Scale::Whole(left), Scale::Whole(right)) if left.checked_mul(right).is_some() => Scale::Whole(left * right),
            _ => Scale::Real(self.to_f64() * other.to_f64()),
        }
    }

    /// The power; whole for a whole factor and a small natural exponent.
    pub(super) fn power(self, exponent: f64) -> Scale {
        if let Scale::Whole(value) = self
            && (0.0..=128.0).contains(&exponent)
            && exponent.fract() == 0.0
            && let Some(power) = value.checked_pow(exponent as u32)
        {
            return Scale::Whole(power);
        }
        Scale::Real(self.to_f64().powf(exponent))
    }
}
