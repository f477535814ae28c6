//! How a job ended that left no manifest, by Slurm's word and the time that has passed.

use std::time::Duration;

use super::UNPREPARED;
use super::replies::Ending;
use crate::batch::{REFUSED, cause_of_status};
use crate::job::Cause;
use crate::resources::Request;

/// How long a manifest may take to appear after a job was ended from outside: it may have had time to write one.
const GRACE: Duration = Duration::from_secs(2);

/// How long it may take after a job has ended by itself, which it does after it has written one: a network filesystem may show it late.
const LATE: Duration = Duration::from_secs(60);

/// What is known of a job that has no manifest and does not run, as far as Slurm says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// How it ended; nothing when no query knows the job.
    pub ending: Option<Ending>,
    /// Exit status and signal, where they are known.
    pub exit: Option<(i32, i32)>,
    /// For how long this has been so.
    pub since: Duration,
    /// Whether a process has taken the attempt.
    pub taken: bool,
}

/// Why it failed; nothing as long as it may still say so itself. What no query knows counts as running for `patience`.
pub fn verdict(evidence: &Evidence, request: &Request, patience: Duration) -> Option<Cause> {
    let Evidence { ending, exit, since, taken } = evidence;
    let after = |wait: Duration, cause: Cause| (*since >= wait).then_some(cause);
    let unknown = |reason: &str| Cause::Unknown { reason: reason.to_owned() };
    let minutes = patience.as_secs_f64() / 60.0;
    let Some(ending) = ending else {
        let reason = format!("it left no manifest, and neither squeue nor scontrol nor sacct has known it for {minutes} min");
        return after(patience, unknown(&reason));
    };
    match (ending, exit) {
        (Ending::Cancelled, _) => after(GRACE, Cause::Cancelled),
        (Ending::NodeFailed, _) => after(GRACE, Cause::NodeFailure),
        (Ending::Preempted, _) => after(GRACE, Cause::Preempted),
        (Ending::Timeout, _) => after(GRACE, Cause::Walltime { limit_ns: limit(request) }),
        (Ending::OutOfMemory, _) => {
            let limit = request.memory_bytes().unwrap_or(0);
            after(GRACE, Cause::OutOfMemory { used: limit, limit })
        }
        (Ending::Completed, _) => after(LATE, unknown("Slurm says that it is completed, but it left no manifest")),
        (Ending::Failed, Some((_, signal))) if *signal > 0 => after(GRACE, Cause::Signal { signal: *signal }),
        (Ending::Failed, Some((UNPREPARED, _))) => after(
            GRACE,
            Cause::NeverStarted { reason: "what the site file says to run first has failed, or a directory is not there".to_owned() },
        ),
        // it was submitted twice, and the other one has it
        (Ending::Failed, Some((code, _))) if *taken && *code == i32::from(REFUSED) => {
            after(patience, unknown("another job had begun it and left no manifest"))
        }
        (Ending::Failed, Some((0 | 1, _))) => after(LATE, unknown("Slurm says that it has failed, but it left no manifest")),
        (Ending::Failed, Some((code, _))) => after(GRACE, cause_of_status(*code)),
        (Ending::Failed, None) => after(LATE, unknown("Slurm says that it has failed, but not how")),
    }
}

fn limit(request: &Request) -> u64 {
    request.duration().map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(600);

    fn after(seconds: u64, ending: Option<Ending>, exit: Option<(i32, i32)>, taken: bool) -> Option<Cause> {
        let evidence = Evidence { ending, exit, since: Duration::from_secs(seconds), taken };
        verdict(&evidence, &Request::ONE_CORE, PATIENCE)
    }

    #[test]
    fn what_nobody_knows_is_lost_only_after_the_deadline() {
        assert_eq!(after(599, None, None, true), None);
        assert!(matches!(after(600, None, None, true), Some(Cause::Unknown { reason }) if reason.contains("10 min")));
    }

    #[test]
    fn the_state_is_read_before_the_status() {
        assert_eq!(after(3, Some(Ending::Cancelled), Some((0, 0)), false), Some(Cause::Cancelled));
        assert_eq!(after(3, Some(Ending::NodeFailed), Some((1, 0)), true), Some(Cause::NodeFailure));
        assert_eq!(after(3, Some(Ending::Failed), Some((0, 9)), true), Some(Cause::Signal { signal: 9 }));
        assert_eq!(after(3, Some(Ending::Failed), Some((3, 0)), false), Some(Cause::ExitCode { code: 3 }));
        assert!(matches!(after(3, Some(Ending::Failed), Some((97, 0)), false), Some(Cause::NeverStarted { .. })));
        assert!(matches!(after(3, Some(Ending::Timeout), None, true), Some(Cause::Walltime { .. })));
        assert!(matches!(after(3, Some(Ending::OutOfMemory), None, true), Some(Cause::OutOfMemory { .. })));
        assert_eq!(after(3, Some(Ending::Preempted), None, true), Some(Cause::Preempted));
    }

    #[test]
    fn a_manifest_may_be_late() {
        for exit in [(0, 0), (1, 0)] {
            assert_eq!(after(59, Some(Ending::Failed), Some(exit), true), None);
            assert!(matches!(after(60, Some(Ending::Failed), Some(exit), true), Some(Cause::Unknown { .. })));
        }
        assert_eq!(after(59, Some(Ending::Completed), None, true), None);
        assert!(matches!(after(60, Some(Ending::Completed), None, true), Some(Cause::Unknown { .. })));
        assert_eq!(after(1, Some(Ending::Cancelled), None, true), None);
    }

    #[test]
    fn a_job_that_was_refused_because_another_has_it_waits_for_that_one() {
        assert_eq!(after(599, Some(Ending::Failed), Some((2, 0)), true), None);
        assert_eq!(after(3, Some(Ending::Failed), Some((2, 0)), false), Some(Cause::ExitCode { code: 2 }));
    }
}
