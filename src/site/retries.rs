//! Which failed jobs are tried again, how often, and after which pause.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::job::Cause;

/// What another try may cure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Signal,
    NodeFailure,
    Preempted,
    NeverStarted,
    Unknown,
    OutOfMemory,
    Walltime,
}

/// All kinds, each with its name in site files and whether it is meant when someone asks for retries without saying of what.
pub(super) const KINDS: [(Kind, &str, bool); 7] = [
    (Kind::Signal, "signal", true),
    // these are not charged, see `BLAMELESS`
    (Kind::NodeFailure, "node_failure", false),
    (Kind::Preempted, "preempted", false),
    (Kind::NeverStarted, "never_started", true),
    (Kind::Unknown, "unknown", true),
    // these mostly happen again
    (Kind::OutOfMemory, "out_of_memory", false),
    (Kind::Walltime, "walltime", false),
];

/// How often what was no fault of the job is tried again unless someone says otherwise: a cluster that loses every node that it is given
/// will not be healed by more.
const BLAMELESS: u32 = 20;

/// How often jobs are tried again, by cause. By default none is, but for those whose machine failed or that made room for others.
#[derive(Clone, Debug, PartialEq)]
pub struct Retries {
    pub(super) counts: BTreeMap<Kind, u32>,
    /// Before the first one.
    pub(super) pause: Duration,
    pub(super) longest_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Retries { counts: BTreeMap::new(), pause: Duration::from_secs(1), longest_pause: Duration::from_secs(300) }
    }
}

impl Retries {
    /// The same with so many retries of each cause that another try may well cure: a signal from outside, a job that does not start, one
    /// that leaves no word of how it ended.
    pub fn with_all(mut self, count: u32) -> Self {
        self.counts.extend(KINDS.iter().filter(|(_, _, meant)| *meant).map(|(kind, _, _)| (*kind, count)));
        self
    }

    /// The same with this pause before the first retry.
    pub fn with_pause(self, pause: Duration) -> Self {
        Retries { pause, ..self }
    }

    /// How long to wait before another try of what failed for this cause, after it had failed for those; nothing when it is not tried
    /// again. Faults of the program and the end that someone wants are final.
    pub fn pause(&self, cause: &Cause, before: &[Cause]) -> Option<Duration> {
        let kind = kind(cause)?;
        let usual = if matches!(kind, Kind::NodeFailure | Kind::Preempted) { BLAMELESS } else { 0 };
        let allowed = self.counts.get(&kind).copied().unwrap_or(usual);
        let retried = before.iter().filter(|cause| self::kind(cause) == Some(kind)).count();
        let doublings = u32::try_from(before.len()).unwrap_or(u32::MAX);
        let pause = 2_u32.checked_pow(doublings).and_then(|factor| self.pause.checked_mul(factor)).unwrap_or(Duration::MAX);
        (retried < allowed as usize).then(|| pause.min(self.longest_pause))
    }
}

fn kind(cause: &Cause) -> Option<Kind> {
    match cause {
        Cause::Signal { .. } if cause.is_crash() => None,
        Cause::Signal { .. } => Some(Kind::Signal),
        Cause::NodeFailure => Some(Kind::NodeFailure),
        Cause::Preempted => Some(Kind::Preempted),
        Cause::NeverStarted { .. } => Some(Kind::NeverStarted),
        Cause::Unknown { .. } => Some(Kind::Unknown),
        Cause::OutOfMemory { .. } => Some(Kind::OutOfMemory),
        Cause::Walltime { .. } => Some(Kind::Walltime),
        Cause::Evaluation | Cause::ExitCode { .. } | Cause::Refused { .. } | Cause::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: Cause = Cause::Signal { signal: 9 };
    const FULL: Cause = Cause::OutOfMemory { used: 2, limit: 1 };

    #[test]
    fn nothing_is_tried_again_unless_someone_asks() {
        assert_eq!(Retries::default().pause(&KILLED, &[]), None);
        assert_eq!(Retries::default().with_all(0).pause(&KILLED, &[]), None);
    }

    #[test]
    fn a_lost_machine_is_not_charged() {
        let retries = Retries::default().with_all(0);
        for cause in [Cause::NodeFailure, Cause::Preempted] {
            assert!(retries.pause(&cause, &[cause.clone(), KILLED, cause.clone()]).is_some());
            assert_eq!(retries.pause(&cause, &vec![cause.clone(); BLAMELESS as usize]), None, "not for ever");
        }
        let one = Retries::default().with_all(1);
        assert!(one.pause(&KILLED, &[Cause::NodeFailure, Cause::Preempted]).is_some());
    }

    #[test]
    fn each_cause_has_its_own_count() {
        let mut retries = Retries::default().with_all(2);
        assert_eq!(retries.pause(&FULL, &[]), None, "it would only happen again");
        retries.counts.insert(Kind::OutOfMemory, 1);
        assert!(retries.pause(&KILLED, &[KILLED]).is_some());
        assert!(retries.pause(&FULL, &[KILLED, KILLED]).is_some());
        assert_eq!(retries.pause(&KILLED, &[KILLED, FULL, KILLED]), None);
        assert_eq!(retries.pause(&FULL, &[FULL]), None);
    }

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let retries = Retries { longest_pause: Duration::from_secs(5), ..Retries::default().with_all(u32::MAX) };
        let pauses = [0, 1, 2, 3, 100].map(|tries| retries.pause(&KILLED, &vec![Cause::NodeFailure; tries]).map(|pause| pause.as_secs()));
        assert_eq!(pauses, [Some(1), Some(2), Some(4), Some(5), Some(5)]);
    }

    #[test]
    fn what_is_the_programs_own_is_final() {
        let retries = Retries::default().with_all(9);
        let own = [Cause::Evaluation, Cause::ExitCode { code: 1 }, Cause::Cancelled, Cause::Signal { signal: 11 }];
        for cause in own {
            assert_eq!(retries.pause(&cause, &[]), None, "{cause}");
        }
        let foreign = [Cause::NodeFailure, Cause::Preempted, Cause::Signal { signal: 15 }, Cause::Unknown { reason: String::new() }];
        for cause in foreign {
            assert!(retries.pause(&cause, &[]).is_some(), "{cause}");
        }
    }
}
