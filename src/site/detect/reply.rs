//! Replies of `scontrol` taken apart.

use std::collections::HashMap;
use std::time::Duration;

/// Fields by their names.
pub type Fields<'t> = HashMap<&'t str, &'t str>;

/// `Key=Value Key=Value`, of one partition or node. Some values have blanks in them, and a reason for which a node is down may look
/// like anything: only first words are taken, and of several fields of one name the first.
pub fn fields(line: &str) -> Fields<'_> {
    let mut fields = Fields::new();
    for (name, value) in line.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
        fields.entry(name).or_insert(value);
    }
    fields
}

/// `Key = Value` in each line, of the configuration.
pub fn settings(text: &str) -> Fields<'_> {
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.trim(), value.trim())).collect()
}

/// A number above zero; nothing for `UNLIMITED`, `NONE`, `(null)`, `N/A` and the like.
pub fn number<T: std::str::FromStr + PartialOrd + From<u8>>(text: Option<&&str>) -> Option<T> {
    text?.parse().ok().filter(|number| *number > T::from(0))
}

/// Whole minutes of `[days-]hours:minutes:seconds`; nothing for `UNLIMITED`, `NONE` and the like.
pub fn time(text: Option<&&str>) -> Option<Duration> {
    let (days, rest) = text?.split_once('-').unwrap_or(("0", text?));
    let parts: Vec<u64> = rest.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts.as_slice() else { return None };
    let hours = days.parse::<u64>().ok()?.checked_mul(24)?.checked_add(*hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(*minutes)?.checked_add(*seconds / 60)?;
    Some(Duration::from_secs(minutes.checked_mul(60)?)).filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_counts() {
        let node = fields("NodeName=h1 OS=Linux 6.1 #1 SMP  CPUTot=16 Sockets=2 AllocTRES= Reason=broken CPUTot=1 fan = x [root@now]");
        assert_eq!((node["CPUTot"], node["Sockets"], node["OS"], node["AllocTRES"]), ("16", "2", "Linux", ""));
    }

    #[test]
    fn what_is_no_number_is_no_limit() {
        for text in ["UNLIMITED", "NONE", "(null)", "N/A", "0", "-1", "", "1.5", "99999999999999999999999"] {
            assert_eq!(number::<u64>(Some(&text)), None, "{text}");
        }
        assert_eq!((number(Some(&"100")), number::<u32>(None)), (Some(100_u64), None));
        assert_eq!(number::<u32>(Some(&"4294967296")), None);
    }

    #[test]
    fn times_are_read_as_slurm_writes_them() {
        let minutes = |text| time(Some(&text)).map(|time| time.as_secs_f64() / 60.0);
        assert_eq!(minutes("00:05:00"), Some(5.0));
        assert_eq!(minutes("2-00:30:00"), Some(2910.0));
        assert_eq!(minutes("365-00:00:59"), Some(525_600.0));
        for text in ["UNLIMITED", "NONE", "00:00:00", "00:00:30", "5", "05:00", "1-2-3", "x-00:05:00", "18446744073709551615-00:00:00"] {
            assert_eq!(minutes(text), None, "{text}");
        }
    }
}
