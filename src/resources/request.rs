//! A validated request.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uom::si;
use uom::si::information::{byte, gibibyte, gigabyte, kibibyte, kilobyte, mebibyte, megabyte};
use uom::si::time::nanosecond;

/// `uom` with whole numbers and the nanosecond for time, so that a quantity is what was asked for, to the byte and nanosecond.
type Base = dyn si::Units<
        u64,
        length = si::length::meter,
        mass = si::mass::kilogram,
        time = nanosecond,
        electric_current = si::electric_current::ampere,
        thermodynamic_temperature = si::thermodynamic_temperature::kelvin,
        amount_of_substance = si::amount_of_substance::mole,
        luminous_intensity = si::luminous_intensity::candela,
    >;

/// An amount of memory: whole bytes; conversions to larger units round down.
pub type Information = si::Quantity<si::information::Dimension, Base, u64>;

/// A span of time: whole nanoseconds; conversions to larger units round down.
pub type Time = si::Quantity<si::time::Dimension, Base, u64>;

/// No machine has more: 1 EiB, so that a total in bits still fits.
const MOST_MEMORY: u64 = 1 << 60;

/// What a batch task asks for; only requests that make sense can be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Plain", try_from = "Plain")]
pub struct Request {
    cores: NonZeroU32,
    memory_per_core: Option<Information>,
    walltime: Option<Time>,
}

/// Why there can be no such request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// Memory of zero bytes.
    #[error("memory must be positive")]
    NoMemory,
    /// Walltime of zero.
    #[error("walltime must be positive")]
    NoTime,
    /// More memory in all than [`Request`] can express.
    #[error("more than 1 EiB of memory in all")]
    TooMuchMemory,
}

impl Request {
    /// One core, for as long as it takes, with as much memory as there is.
    pub const ONE_CORE: Request = Request { cores: NonZeroU32::MIN, memory_per_core: None, walltime: None };

    /// A request of that many cores, bytes per core and nanoseconds.
    pub fn new(cores: NonZeroU32, bytes_per_core: Option<u64>, nanoseconds: Option<u64>) -> Result<Self, Impossible> {
        if bytes_per_core == Some(0) {
            return Err(Impossible::NoMemory);
        }
        if nanoseconds == Some(0) {
            return Err(Impossible::NoTime);
        }
        let total = bytes_per_core.unwrap_or(0).checked_mul(u64::from(cores.get()));
        if total.is_none_or(|total| total > MOST_MEMORY) {
            return Err(Impossible::TooMuchMemory);
        }
        Ok(Request {
            cores,
            memory_per_core: bytes_per_core.map(Information::new::<byte>),
            walltime: nanoseconds.map(Time::new::<nanosecond>),
        })
    }

    /// How many cores, on one machine.
    pub fn cores(&self) -> NonZeroU32 {
        self.cores
    }

    /// Memory for each core.
    pub fn memory_per_core(&self) -> Option<Information> {
        self.memory_per_core
    }

    /// For how long at most.
    pub fn walltime(&self) -> Option<Time> {
        self.walltime
    }

    /// The same on no more than so many cores, with no more than so many bytes for all of them together (rounded down to whole MiB per
    /// core, if there are any).
    pub fn at_most(&self, cores: NonZeroU32, memory: u64) -> Request {
        let cores = self.cores.min(cores);
        let share = memory / u64::from(cores.get());
        let whole = share - share % (1 << 20);
        let most = Information::new::<byte>(if whole > 0 { whole } else { share.max(1) });
        let limit = |memory: Information| if memory > most { most } else { memory };
        Request { cores, memory_per_core: self.memory_per_core.map(limit), walltime: self.walltime }
    }

    /// The same for no longer than that.
    pub fn no_longer_than(&self, most: Duration) -> Request {
        let most = Time::new::<nanosecond>(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX).max(1));
        Request { walltime: self.walltime.map(|time| if time > most { most } else { time }), ..self.clone() }
    }

    /// Bytes for all cores together.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory_per_core.map(|memory| memory.get::<byte>() * u64::from(self.cores.get()))
    }

    /// The walltime for clocks.
    pub fn duration(&self) -> Option<Duration> {
        self.walltime.map(|walltime| Duration::from_nanos(walltime.get::<nanosecond>()))
    }
}

/// As in an annotation: `for 90 [min] on 2 cores with 3 [GiB]`.
impl fmt::Display for Request {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(walltime) = self.walltime {
            write!(out, "for {} ", show_time(walltime))?;
        }
        let plural = if self.cores == NonZeroU32::MIN { "" } else { "s" };
        write!(out, "on {} core{plural}", self.cores)?;
        match self.memory_per_core {
            Some(memory) => write!(out, " with {}", show_memory(memory)),
            None => Ok(()),
        }
    }
}

/// An amount of memory as a literal, in the unit that gives the smallest whole number.
pub fn show_memory(memory: Information) -> String {
    let bytes = memory.get::<byte>();
    let units = [
        (Information::new::<gibibyte>(1), "GiB"),
        (Information::new::<gigabyte>(1), "GB"),
        (Information::new::<mebibyte>(1), "MiB"),
        (Information::new::<megabyte>(1), "MB"),
        (Information::new::<kibibyte>(1), "KiB"),
        (Information::new::<kilobyte>(1), "kB"),
        (Information::new::<byte>(1), "byte"),
    ];
    show(bytes, units.map(|(unit, name)| (unit.get::<byte>(), name)))
}

/// A span of time as a literal, in the largest unit of which it is a multiple.
pub fn show_time(time: Time) -> String {
    let nanoseconds = time.get::<nanosecond>();
    let units = [3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1_000_000, 1_000, 1];
    show(nanoseconds, std::array::from_fn::<_, 6, _>(|at| (units[at], ["hours", "min", "s", "ms", "us", "ns"][at])))
}

fn show<const N: usize>(amount: u64, units: [(u64, &str); N]) -> String {
    let fitting = units.into_iter().find(|(unit, _)| amount.is_multiple_of(*unit));
    let (unit, name) = fitting.unwrap_or((1, ""));
    format!("{} [{name}]", amount / unit)
}

/// How a request is written to files: whole numbers, with their units in their names.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    cores: NonZeroU32,
    memory_per_core_bytes: Option<u64>,
    walltime_ns: Option<u64>,
}

impl From<Request> for Plain {
    fn from(request: Request) -> Self {
        Plain {
            cores: request.cores,
            memory_per_core_bytes: request.memory_per_core.map(|memory| memory.get::<byte>()),
            walltime_ns: request.walltime.map(|walltime| walltime.get::<nanosecond>()),
        }
    }
}

impl TryFrom<Plain> for Request {
    type Error = Impossible;

    fn try_from(plain: Plain) -> Result<Self, Impossible> {
        Request::new(plain.cores, plain.memory_per_core_bytes, plain.walltime_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cores(count: u32) -> NonZeroU32 {
        NonZeroU32::new(count).expect("a test asks for at least one core")
    }

    #[test]
    fn quantities_are_exact_at_the_edges() {
        let request = Request::new(cores(1), Some(MOST_MEMORY - 1), Some(u64::MAX)).expect("the largest request");
        assert_eq!(request.memory_per_core().map(|memory| memory.get::<byte>()), Some(MOST_MEMORY - 1));
        assert_eq!(request.walltime().map(|walltime| walltime.get::<nanosecond>()), Some(u64::MAX));
        assert_eq!(Request::new(cores(2), Some(MOST_MEMORY), None), Err(Impossible::TooMuchMemory));
        assert_eq!(Request::new(cores(u32::MAX), Some(u64::MAX), None), Err(Impossible::TooMuchMemory));
        assert_eq!(Request::new(cores(1), Some(0), None), Err(Impossible::NoMemory));
        assert_eq!(Request::new(cores(1), None, Some(0)), Err(Impossible::NoTime));
    }

    #[test]
    fn is_shown_as_it_would_be_written() {
        let request = Request::new(cores(2), Some(3 << 30), Some(1_800_000_000_000)).expect("a request");
        assert_eq!(request.to_string(), "for 30 [min] on 2 cores with 3 [GiB]");
        assert_eq!(Request::ONE_CORE.to_string(), "on 1 core");
        assert_eq!(show_memory(Information::new::<byte>(4_100_000_000)), "4100 [MB]");
        assert_eq!(show_memory(Information::new::<byte>(1025)), "1025 [byte]");
    }

    #[test]
    fn can_be_made_smaller() {
        let request = |count, memory| Request::new(cores(count), memory, Some(1_000_000_000)).expect("a request");
        assert_eq!(request(8, Some(1 << 30)).at_most(cores(4), 1 << 40), request(4, Some(1 << 30)));
        assert_eq!(request(8, Some(1 << 30)).at_most(cores(3), 1 << 30), request(3, Some(341 << 20)));
        assert_eq!(request(2, Some(10)).at_most(cores(4), 8), request(2, Some(4)));
        assert_eq!(request(2, Some(10)).at_most(cores(4), 0), request(2, Some(1)));
        assert_eq!(request(2, None).at_most(cores(1), 5), request(1, None));
    }

    #[test]
    fn a_file_cannot_smuggle_in_nonsense() {
        for text in [
            r#"{"cores":0,"memory_per_core_bytes":null,"walltime_ns":null}"#,
            r#"{"cores":1,"memory_per_core_bytes":0,"walltime_ns":null}"#,
            r#"{"cores":1,"memory_per_core_bytes":null,"walltime_ns":-1}"#,
            r#"{"cores":1,"memory_per_core_bytes":1.5,"walltime_ns":null}"#,
            r#"{"cores":1,"memory_per_core_bytes":null,"walltime_ns":null,"gpus":1}"#,
        ] {
            assert!(serde_json::from_str::<Request>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn survives_a_file(count in 1_u32.., memory in prop::option::of(1_u64..1 << 28), time in prop::option::of(1_u64..)) {
            let request = Request::new(cores(count), memory, time).expect("within limits");
            let text = serde_json::to_string(&request).expect("plain numbers");
            prop_assert_eq!(serde_json::from_str::<Request>(&text).expect("as written"), request);
        }
    }
}
