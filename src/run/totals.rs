//! What the jobs of a run asked for and took.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::job::Manifest;
use crate::resources::Request;

/// Sums over the jobs that ran, and the one that needed the most memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many jobs there were.
    jobs: usize,
    /// Cores times walltime that they asked for, in milliseconds; nothing when one asked for no time.
    asked: Option<u128>,
    /// Cores times the time that they had them, in milliseconds.
    taken: u128,
    /// Processor time, in microseconds.
    computing: u128,
    peak: Option<Peak>,
}

/// What is less than this is told in seconds, in milliseconds: a tenth of an hour.
const SHORT: u128 = 360_000;

/// The memory of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Peak {
    name: Arc<str>,
    /// In bytes.
    used: u64,
    /// In bytes.
    asked: Option<u64>,
}

impl Totals {
    /// Adds a job that is over.
    pub fn add(&mut self, name: &Arc<str>, request: &Request, manifest: &Manifest) {
        let cores = u128::from(request.cores().get());
        let asked = request.duration().map(|time| time.as_millis() * cores);
        self.count(asked, u128::from(manifest.ended.0.saturating_sub(manifest.started.0)) * cores);
        self.computing += u128::from(manifest.usage.user_us) + u128::from(manifest.usage.system_us);
        let peak = Peak { name: name.clone(), used: manifest.usage.peak_rss, asked: request.memory_bytes() };
        if self.peak.as_ref().is_none_or(|largest| largest.nearness() < peak.nearness()) {
            self.peak = Some(peak);
        }
    }

    /// Adds a job that left no word, by how long it was seen to run.
    pub fn add_unspoken(&mut self, request: &Request, ran: Duration) {
        let cores = u128::from(request.cores().get());
        let asked = request.duration().map(|time| time.as_millis() * cores);
        self.count(asked, ran.as_millis() * cores);
    }

    fn count(&mut self, asked: Option<u128>, taken: u128) {
        self.asked = if self.jobs == 0 { asked } else { self.asked.zip(asked).map(|(sum, asked)| sum + asked) };
        self.jobs += 1;
        self.taken += taken;
    }

    /// Whether no job ran.
    pub fn is_empty(&self) -> bool {
        self.jobs == 0
    }
}

impl Peak {
    /// How near it came to what it asked for, in thousandths, so that the one that is shown is the one to look after; those that asked
    /// for nothing come last, by their size.
    fn nearness(&self) -> (u128, u64) {
        (self.asked.map_or(0, |asked| u128::from(self.used) * 1000 / u128::from(asked.max(1))), self.used)
    }
}

/// Two lines for people.
impl fmt::Display for Totals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // a job that takes seconds would take no hours at all
        let (unit, length) = if self.asked.unwrap_or(self.taken) < SHORT { ("seconds", 1e3) } else { ("hours", 3.6e6) };
        let amount = |milliseconds: u128| milliseconds as f64 / length;
        write!(out, "core {unit}: ")?;
        self.asked.map_or(Ok(()), |asked| write!(out, "{:.2} asked, ", amount(asked)))?;
        write!(out, "{:.2} used, {:.2} of processor time", amount(self.taken), amount(self.computing / 1000))?;
        let Some(peak) = &self.peak else { return Ok(()) };
        write!(out, "\nmemory: at most {} MiB", peak.used.div_ceil(1 << 20))?;
        match peak.asked {
            Some(asked) => write!(out, " of {} MiB asked, by `{}`", asked >> 20, peak.name),
            None => write!(out, ", by `{}`, which asked for none", peak.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::job::{Cause, Digest, Outcome, Timestamp, Usage};

    fn manifest(seconds: u64, peak_rss: u64, user_us: u64) -> Manifest {
        let outcome = Outcome::Failure { cause: Cause::Evaluation, diagnostics: Vec::new() };
        let (started, ended) = (Timestamp(5000), Timestamp(5000 + 1000 * seconds));
        let usage = Usage { peak_rss, user_us, system_us: 0 };
        Manifest { key: Digest::of(b""), outcome, started, ended, host: "h".to_owned(), pid: 1, usage }
    }

    fn request(cores: u32, memory: Option<u64>, hours: Option<u64>) -> Request {
        let cores = NonZeroU32::new(cores).expect("positive");
        Request::new(cores, memory, hours.map(|hours| hours * 3_600_000_000_000)).expect("a request")
    }

    #[test]
    fn short_jobs_are_told_in_seconds() {
        let mut totals = Totals::default();
        totals.add(&"a".into(), &request(2, None, None), &manifest(3, 1, 500_000));
        let text = "core seconds: 6.00 used, 0.50 of processor time\nmemory: at most 1 MiB, by `a`, which asked for none";
        assert_eq!(totals.to_string(), text);
    }

    #[test]
    fn cores_count_and_the_job_nearest_to_its_limit_is_named() {
        let mut totals = Totals::default();
        assert!(totals.is_empty());
        totals.add(&"a".into(), &request(2, Some(1 << 30), Some(3)), &manifest(3600, 200 << 20, 3_600_000_000));
        totals.add(&"b".into(), &request(1, Some(100 << 20), Some(1)), &manifest(1800, 90 << 20, 0));
        let text = "core hours: 7.00 asked, 2.50 used, 1.00 of processor time\nmemory: at most 90 MiB of 100 MiB asked, by `b`";
        assert_eq!(totals.to_string(), text);
        totals.add(&"c".into(), &request(1, None, None), &manifest(0, 500 << 20, 0));
        assert!(totals.to_string().starts_with("core hours: 2.50 used"), "who asks for no time asks for any: {totals}");
    }
}
