//! Functions of whole numbers, exact or a fault: nothing wraps and nothing is rounded.
//!
//! `None` stands for a result that does not fit into 128 bits; arguments outside of the domain are faults of the caller.

/// The greatest common divisor; zero of zeros.
pub(super) fn gcd(left: i128, right: i128) -> Option<i128> {
    let (mut a, mut b) = (left.unsigned_abs(), right.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).ok()
}

/// The least common multiple; zero when one is zero.
pub(super) fn lcm(left: i128, right: i128) -> Option<i128> {
    if left == 0 || right == 0 {
        return Some(0);
    }
    (left / gcd(left, right)?).checked_mul(right)?.checked_abs()
}

/// `n!` of a number that is not negative.
pub(super) fn factorial(n: i128) -> Option<i128> {
    // 34! is beyond 128 bits: no loop over a huge range.
    (n < 34).then(|| (1..=n).try_fold(1, i128::checked_mul)).flatten()
}

/// The number of ways to choose `k` of `n` without order; both are not negative.
pub(super) fn comb(n: i128, k: i128) -> Option<i128> {
    if k > n {
        return Some(0);
    }
    let k = k.min(n - k);
    // With 2k <= n each factor at least doubles the result, so a loop that is too long overflows early.
    (1..=k).try_fold(1_i128, |ways, i| {
        let common = gcd(ways, i)?;
        let (ways, i) = (ways / common, i / common);
        ways.checked_mul((n - k).checked_add(i * common)? / i)
    })
}

/// The number of ways to choose `k` of `n` with order; both are not negative.
pub(super) fn perm(n: i128, k: i128) -> Option<i128> {
    if k > n {
        return Some(0);
    }
    (0..k).try_fold(1_i128, |ways, i| ways.checked_mul(n - i))
}

/// The square root of a number that is not negative, rounded down.
pub(super) fn isqrt(n: i128) -> i128 {
    n.isqrt()
}

/// Quotient and remainder with the sign of the divisor, as Python divides; `None` on division by zero or overflow.
pub(super) fn floor_divide(left: i128, right: i128) -> Option<(i128, i128)> {
    let (quotient, remainder) = (left.checked_div(right)?, left.checked_rem(right)?);
    let apart = remainder != 0 && (remainder < 0) != (right < 0);
    Some(if apart { (quotient - 1, remainder + right) } else { (quotient, remainder) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_and_multiples() {
        assert_eq!(gcd(12, -18), Some(6));
        assert_eq!(gcd(0, 0), Some(0));
        assert_eq!(gcd(i128::MIN, 0), None);
        assert_eq!(lcm(4, -6), Some(12));
        assert_eq!(lcm(i128::MAX, i128::MAX - 1), None);
    }

    #[test]
    fn counting() {
        assert_eq!(factorial(33), Some(8683317618811886495518194401280000000));
        assert_eq!(factorial(34), None);
        assert_eq!(comb(52, 5), Some(2598960));
        assert_eq!(comb(130, 65), Some(95067625827960698145584333020095113100));
        assert_eq!(comb(i128::MAX, i128::MAX / 2), None);
        assert_eq!(comb(i128::MAX, 1), Some(i128::MAX));
        assert_eq!(comb(3, 5), Some(0));
        assert_eq!(perm(10, 3), Some(720));
        assert_eq!(perm(i128::MAX, i128::MAX - 5), None);
    }

    #[test]
    fn division_rounds_down() {
        assert_eq!(floor_divide(-7, 2), Some((-4, 1)));
        assert_eq!(floor_divide(7, -2), Some((-4, -1)));
        assert_eq!(floor_divide(6, -2), Some((-3, 0)));
        assert_eq!(floor_divide(1, 0), None);
        assert_eq!(floor_divide(i128::MIN, -1), None);
    }
}
