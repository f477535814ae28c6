//! What Slurm's clients print, read.

use std::collections::BTreeMap;

use super::script;
use crate::job::Ticket;

/// The fields of `squeue` that [`queue`] reads, each with what ends it; the name stands last, for it may hold anything.
pub const QUEUE_FIELDS: &str = "ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|,Reason:|,Name:";

/// The fields of `sacct` that [`accounts`] reads.
pub const ACCOUNT_FIELDS: &str = "JobID,State,ExitCode,JobName";

/// How a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has not begun.
    Waiting,
    /// It has begun; so does every state count that is not known here.
    Running,
    /// It is over.
    Ended(Ending),
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With status 0.
    Completed,
    /// By itself with another status, or by a signal.
    Failed,
    /// On purpose.
    Cancelled,
    /// Over its walltime.
    Timeout,
    /// Over its memory.
    OutOfMemory,
    /// With its node, which failed, or did not boot.
    NodeFailed,
    /// To make room for another.
    Preempted,
}

impl Phase {
    /// By a state's long or short name; what follows it (`CANCELLED by 1000`) does not matter.
    pub fn named(state: &str) -> Phase {
        let word = state.split([' ', '+']).next().unwrap_or_default();
        match word {
            "PENDING" | "PD" | "CONFIGURING" | "CF" | "REQUEUED" | "RQ" | "REQUEUE_HOLD" | "RH" | "SPECIAL_EXIT" | "SE" | "REQUEUE_FED"
            | "RF" | "RESV_DEL_HOLD" | "RD" => Phase::Waiting,
            "COMPLETED" | "CD" => Phase::Ended(Ending::Completed),
            "FAILED" | "F" => Phase::Ended(Ending::Failed),
            "CANCELLED" | "CA" | "REVOKED" | "RV" => Phase::Ended(Ending::Cancelled),
            "TIMEOUT" | "TO" | "DEADLINE" | "DL" => Phase::Ended(Ending::Timeout),
            "OUT_OF_MEMORY" | "OOM" => Phase::Ended(Ending::OutOfMemory),
            "NODE_FAIL" | "NF" | "BOOT_FAIL" | "BF" => Phase::Ended(Ending::NodeFailed),
            "PREEMPTED" | "PR" => Phase::Ended(Ending::Preempted),
            _ => Phase::Running,
        }
    }
}

/// What is said of a job, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Of the job, or of its array.
    pub id: String,
    /// Which element it is.
    pub index: Option<u32>,
    /// How it stands.
    pub phase: Phase,
    /// Slurm's word for that.
    pub state: String,
    /// Why it waits, or ended.
    pub reason: String,
    /// Exit status and signal, where they are told.
    pub exit: Option<(i32, i32)>,
}

impl Line {
    fn new(id: &str, index: Option<u32>, state: &str, reason: &str, exit: Option<(i32, i32)>) -> Self {
        Line { id: id.to_owned(), index, phase: Phase::named(state), state: state.to_owned(), reason: reason.to_owned(), exit }
    }
}

/// Lines by what jobs are found by; several if a submission was made twice. What has no tag is somebody else's.
pub type Lines = BTreeMap<Ticket, Vec<Line>>;

/// The lines of `squeue --array` with [`QUEUE_FIELDS`].
pub fn queue(stdout: &str) -> Lines {
    let line = |line: &str| {
        let fields: Vec<&str> = line.splitn(6, '|').collect();
        let &[id, index, state, exit, reason, name] = fields.as_slice() else { return None };
        let line = Line::new(id, index.parse().ok(), state, reason, status(exit));
        Some((script::tag(name.trim_end())?.to_owned(), line))
    };
    by_ticket(stdout.lines().filter_map(line))
}

/// The lines of `sacct --parsable2 --allocations` with [`ACCOUNT_FIELDS`].
pub fn accounts(stdout: &str) -> Lines {
    let line = |line: &str| {
        let mut fields = line.splitn(4, '|');
        let (id, state, exit, name) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let (id, index) = id.split_once('_').map_or((id, None), |(id, index)| (id, index.parse().ok()));
        Some((script::tag(name)?.to_owned(), Line::new(id, index, state, "", status(exit))))
    };
    by_ticket(stdout.lines().filter_map(line))
}

/// The lines of `scontrol --oneliner show job`.
pub fn details(stdout: &str) -> Lines {
    let line = |line: &str| {
        let value = |name: &str| line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let id = value("ArrayJobId").or_else(|| value("JobId"))?;
        let index = value("ArrayTaskId").and_then(|index| index.parse().ok());
        let exit = value("ExitCode").and_then(status);
        let line = Line::new(id, index, value("JobState")?, value("Reason").unwrap_or_default(), exit);
        Some((script::tag(value("JobName")?)?.to_owned(), line))
    };
    by_ticket(stdout.lines().filter_map(line))
}

fn by_ticket(lines: impl Iterator<Item = (String, Line)>) -> Lines {
    let mut tickets = Lines::new();
    for (tag, line) in lines {
        tickets.entry(Ticket { tag, index: line.index }).or_default().push(line);
    }
    tickets
}

/// `code:signal`, or the number that the kernel makes of both.
fn status(text: &str) -> Option<(i32, i32)> {
    match text.split_once(':') {
        Some((code, signal)) => Some((code.parse().ok()?, signal.parse().ok()?)),
        None => text.parse().ok().map(|status: i32| (status >> 8 & 0xff, status & 0x7f)),
    }
}

/// The line of a ticket; if a submission was made twice, the one that is not over.
pub fn line<'l>(lines: &'l Lines, ticket: &Ticket) -> Option<&'l Line> {
    let own = lines.get(ticket)?;
    own.iter().find(|line| !matches!(line.phase, Phase::Ended(_))).or(own.last())
}

/// How `sbatch --parsable` calls the job that it has handed in: `id` or `id;cluster`.
pub fn accepted(stdout: &str) -> Option<String> {
    let line = stdout.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let id = line.split(';').next().unwrap_or_default();
    (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then(|| id.to_owned())
}

/// What a refusal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The job was not taken and never will be.
    Permanent,
    /// The job was not taken, because the user has too many: it will be when there are fewer.
    Limit,
    /// Nobody knows whether it was taken: the answer says nothing that is known here.
    Unclear,
    /// Nobody knows whether it was taken: the server did not hear, or was not heard.
    Unheard,
}

/// The words by which `sbatch` says that the user has as many jobs as are allowed.
const LIMITS: [&str; 6] = [
    "job submit limit",
    "MaxSubmitJob",
    "SubmitJobsLimit",
    "temporarily unable to accept job",
    "Resource temporarily unavailable",
    "Job limit",
];

/// The words by which it says that it was not heard, or did not hear.
const UNHEARD: [&str; 13] = [
    "did not answer within",
    "it was killed",
    "I/O error writing script",
    "Unable to contact slurm controller",
    "timed out",
    "Zero Bytes were transmitted",
    "Connection refused",
    "Connection reset",
    "connect failure",
    "Communication",
    "ransport endpoint",
    "standby mode",
    "Protocol authentication error",
];

/// By the complaint of an `sbatch` that has failed. Only what it says itself of the job is final.
pub fn refusal(complaint: &str) -> Refusal {
    let says = |words: &[&str]| words.iter().any(|word| complaint.contains(word));
    if complaint.contains("cannot be run: ") {
        Refusal::Permanent
    } else if says(&UNHEARD) {
        Refusal::Unheard
    } else if says(&LIMITS) {
        Refusal::Limit
    } else if complaint.contains("sbatch: error: ") || complaint.contains("sbatch: fatal: ") {
        Refusal::Permanent
    } else {
        Refusal::Unclear
    }
}

/// Reasons for which a job waits for ever, unless someone changes it or the cluster.
const NEVER: [&str; 16] = [
    "PartitionConfig",
    "PartitionNodeLimit",
    "PartitionTimeLimit",
    "PartitionDown",
    "PartitionInactive",
    "BadConstraints",
    "DependencyNeverSatisfied",
    "InvalidAccount",
    "InvalidQOS",
    "AccountNotAllowed",
    "QOSNotAllowed",
    "JobHeldUser",
    "JobHeldAdmin",
    "JobLaunchFailure",
    "AssocMaxWallDurationPerJobLimit",
    "QOSMaxWallDurationPerJobLimit",
];

/// Whether time alone will not end this waiting.
pub fn waits_for_ever(reason: &str) -> bool {
    NEVER.contains(&reason.trim_matches(['(', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'l>(lines: &'l Lines, tag: &str, index: Option<u32>) -> Option<&'l Line> {
        line(lines, &Ticket { tag: tag.to_owned(), index })
    }

    #[test]
    fn statuses_are_told_in_two_ways() {
        assert_eq!((status("3:0"), status("768"), status("9"), status("0")), (Some((3, 0)), Some((3, 0)), Some((0, 9)), Some((0, 0))));
        assert_eq!(status("N/A"), None);
    }

    #[test]
    fn states_that_are_not_known_count_as_running() {
        for (name, phase) in [
            ("PENDING", Phase::Waiting),
            ("CG", Phase::Running),
            ("COMPLETING", Phase::Running),
            ("SUSPENDED", Phase::Running),
            ("A_STATE_OF_THE_FUTURE", Phase::Running),
            ("", Phase::Running),
            ("CANCELLED by 1000", Phase::Ended(Ending::Cancelled)),
            ("CANCELLED+", Phase::Ended(Ending::Cancelled)),
            ("OOM", Phase::Ended(Ending::OutOfMemory)),
            ("BOOT_FAIL", Phase::Ended(Ending::NodeFailed)),
        ] {
            assert_eq!(Phase::named(name), phase, "{name}");
        }
    }

    #[test]
    fn a_queue_is_read_by_tags() {
        let lines =
            queue("12|3|RUNNING|0|None|rates.scl-ab12\n13|N/A|PENDING|0|Priority|a|b.scl-cd\n14|N/A|RUNNING|0|None|vasp\nnonsense\n");
        assert_eq!(lines.len(), 2);
        let running = at(&lines, "ab12", Some(3)).expect("a line");
        assert_eq!((&*running.id, running.phase), ("12", Phase::Running));
        assert_eq!(at(&lines, "cd", None).map(|line| &*line.reason), Some("Priority"));
        assert_eq!(at(&lines, "ab12", Some(4)), None);
    }

    #[test]
    fn of_a_job_that_was_submitted_twice_the_living_one_counts() {
        let lines = queue("1|N/A|FAILED|768|x|a.scl-t\n2|N/A|RUNNING|0|x|a.scl-t\n3|N/A|FAILED|9|x|a.scl-t\n");
        assert_eq!(at(&lines, "t", None).map(|line| &*line.id), Some("2"));
    }

    #[test]
    fn records_of_one_job_are_read() {
        let text = "JobId=7 ArrayJobId=5 ArrayTaskId=2 JobName=a.scl-t UserId=root(0) JobState=FAILED Reason=NonZeroExitCode ExitCode=3:0 X=\n\
                    JobId=8 JobName=b.scl-u JobState=CANCELLED Reason=None ExitCode=0:15\n";
        let lines = details(text);
        let failed = at(&lines, "t", Some(2)).expect("a line");
        assert_eq!((&*failed.id, failed.exit, failed.phase), ("5", Some((3, 0)), Phase::Ended(Ending::Failed)));
        assert_eq!(at(&lines, "u", None).and_then(|line| line.exit), Some((0, 15)));
        let lines = accounts("9_4|CANCELLED by 0|0:15|a.scl-v\n10|COMPLETED|0:0|a.scl-w\n9_[5-7]|PENDING|0:0|a.scl-v\n");
        assert_eq!(at(&lines, "v", Some(4)).map(|line| line.phase), Some(Phase::Ended(Ending::Cancelled)));
        assert_eq!(at(&lines, "w", None).map(|line| line.phase), Some(Phase::Ended(Ending::Completed)));
    }

    #[test]
    fn an_acceptance_is_a_number() {
        assert_eq!(accepted("4711\n").as_deref(), Some("4711"));
        assert_eq!(accepted("a banner of the site\n4711;test\n").as_deref(), Some("4711"));
        assert_eq!(accepted(""), None);
        assert_eq!(accepted("Submitted"), None);
    }

    #[test]
    fn refusals_are_told_apart() {
        let failed = "sbatch: error: Batch job submission failed: ";
        for (complaint, refusal) in [
            ("Invalid partition name specified", Refusal::Permanent),
            ("Requested node configuration is not available", Refusal::Permanent),
            ("Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)", Refusal::Limit),
            ("Unable to contact slurm controller (connect failure)", Refusal::Unheard),
            ("Socket timed out on send/recv operation", Refusal::Unheard),
        ] {
            assert_eq!(super::refusal(&format!("{failed}{complaint}")), refusal, "{complaint}");
        }
        assert_eq!(super::refusal("`sbatch` cannot be run: No such file or directory"), Refusal::Permanent);
        assert_eq!(super::refusal("it ended with status 1 and said nothing"), Refusal::Unclear);
        assert_eq!(super::refusal("`sbatch` did not answer within 60 s"), Refusal::Unheard);
    }

    #[test]
    fn some_waiting_never_ends() {
        assert!(waits_for_ever("PartitionTimeLimit") && waits_for_ever("(JobHeldUser)"));
        assert!(!waits_for_ever("Resources") && !waits_for_ever("Priority") && !waits_for_ever("None"));
    }
}
