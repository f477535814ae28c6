//! How an attempt ended.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::digest::Digest;
use crate::diagnostic::Diagnostic;

/// The last file of an attempt: that it is there means that the attempt is over, and it is the first evidence of how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of the task that was run.
    pub key: Digest,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub started: Timestamp,
    /// When it was over.
    pub ended: Timestamp,
    /// The machine.
    pub host: String,
    /// The process.
    pub pid: u32,
    /// What it took.
    pub usage: Usage,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// There is a result.
    Success {
        /// Where it is.
        result: ResultFile,
    },
    /// There is none.
    Failure {
        /// Why.
        cause: Cause,
        /// What evaluation has to say.
        diagnostics: Vec<Diagnostic>,
    },
}

impl Outcome {
    /// Whether it was ended by a signal, of which whoever sent it may know more.
    pub fn is_by_signal(&self) -> bool {
        matches!(self, Outcome::Failure { cause: Cause::Signal { .. }, .. })
    }
}

/// A value in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultFile {
    /// Its name in the attempt's directory.
    pub file: String,
    /// Of its bytes.
    pub sha256: Digest,
    /// How many bytes.
    pub size: u64,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// The program was evaluated and has no value; the diagnostics say why.
    Evaluation,
    /// The process ended by itself, with this status.
    ExitCode {
        /// Not 0.
        code: i32,
    },
    /// A signal ended it.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// It used more memory than it asked for.
    OutOfMemory {
        /// Bytes that all its processes used together.
        used: u64,
        /// Bytes that were asked for.
        limit: u64,
    },
    /// It ran for longer than it asked for.
    Walltime {
        /// Nanoseconds that were asked for.
        limit_ns: u64,
    },
    /// Something more important took its place.
    Preempted,
    /// The machine broke down.
    NodeFailure,
    /// Someone ended it on purpose.
    Cancelled,
    /// The batch system would not take it, and never will.
    Refused {
        /// Its words.
        reason: String,
    },
    /// It was not even begun.
    NeverStarted {
        /// Why.
        reason: String,
    },
    /// Nobody knows.
    Unknown {
        /// What is known.
        reason: String,
    },
}

impl Cause {
    /// Whether the process brought a signal upon itself, as against one that came from outside.
    pub fn is_crash(&self) -> bool {
        matches!(self, Cause::Signal { signal } if CRASHES.iter().any(|crash| *crash as i32 == *signal))
    }

    /// Whether it says why someone ended a job, and not only that it ended.
    pub fn is_purpose(&self) -> bool {
        match self {
            Cause::OutOfMemory { .. } | Cause::Walltime { .. } | Cause::Preempted | Cause::NodeFailure | Cause::Cancelled => true,
            Cause::Evaluation | Cause::ExitCode { .. } | Cause::Signal { .. } => false,
            Cause::Refused { .. } | Cause::NeverStarted { .. } | Cause::Unknown { .. } => false,
        }
    }
}

/// Signals that a process brings upon itself.
const CRASHES: [Signal; 7] =
    [Signal::SIGILL, Signal::SIGTRAP, Signal::SIGABRT, Signal::SIGBUS, Signal::SIGFPE, Signal::SIGSEGV, Signal::SIGSYS];

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Evaluation => write!(out, "evaluation failed"),
            Cause::ExitCode { code } => write!(out, "exit status {code}"),
            Cause::Signal { signal } => match Signal::try_from(*signal) {
                Ok(known) => write!(out, "killed by signal {signal} ({known})"),
                Err(_) => write!(out, "killed by signal {signal}"),
            },
            // by the word of a batch system that tells no numbers
            Cause::OutOfMemory { limit: 0, .. } => write!(out, "out of memory, of which it asked for none"),
            Cause::OutOfMemory { used, limit } if used == limit => {
                write!(out, "out of memory: more than the {} MiB that were requested", limit / (1 << 20))
            }
            Cause::OutOfMemory { used, limit } => {
                write!(out, "out of memory: {} MiB used, {} MiB requested", used.div_ceil(1 << 20), limit / (1 << 20))
            }
            Cause::Walltime { limit_ns: 0 } => write!(out, "over the walltime of its queue, for it asked for none"),
            Cause::Walltime { limit_ns } => write!(out, "walltime of {:?} exceeded", Duration::from_nanos(*limit_ns)),
            Cause::Preempted => write!(out, "preempted"),
            Cause::NodeFailure => write!(out, "node failure"),
            Cause::Cancelled => write!(out, "cancelled"),
            Cause::Refused { reason } => write!(out, "refused: {reason}"),
            Cause::NeverStarted { reason } => write!(out, "never started: {reason}"),
            Cause::Unknown { reason } => write!(out, "unknown cause: {reason}"),
        }
    }
}

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The time on this machine's clock.
    pub fn now() -> Self {
        Timestamp::of(SystemTime::now())
    }

    /// A time, whole milliseconds; 0 for all before 1970.
    pub fn of(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

/// What an attempt took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The most resident memory of all its processes together that was seen, in bytes.
    pub peak_rss: u64,
    /// Processor time in the program, in microseconds.
    pub user_us: u64,
    /// Processor time in the system, in microseconds.
    pub system_us: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_survive_a_file_and_read_well() {
        let causes = [
            (Cause::Evaluation, "evaluation failed"),
            (Cause::ExitCode { code: 3 }, "exit status 3"),
            (Cause::Signal { signal: 9 }, "killed by signal 9 (SIGKILL)"),
            (Cause::Signal { signal: 99 }, "killed by signal 99"),
            (Cause::OutOfMemory { used: (3 << 20) + 1, limit: 2 << 20 }, "out of memory: 4 MiB used, 2 MiB requested"),
            (Cause::OutOfMemory { used: 2 << 20, limit: 2 << 20 }, "out of memory: more than the 2 MiB that were requested"),
            (Cause::OutOfMemory { used: 0, limit: 0 }, "out of memory, of which it asked for none"),
            (Cause::Walltime { limit_ns: 0 }, "over the walltime of its queue, for it asked for none"),
            (Cause::Walltime { limit_ns: 1_500_000_000 }, "walltime of 1.5s exceeded"),
            (Cause::Preempted, "preempted"),
            (Cause::NodeFailure, "node failure"),
            (Cause::Cancelled, "cancelled"),
            (Cause::Refused { reason: "no such queue".to_owned() }, "refused: no such queue"),
            (Cause::NeverStarted { reason: "no input".to_owned() }, "never started: no input"),
            (Cause::Unknown { reason: "no manifest".to_owned() }, "unknown cause: no manifest"),
        ];
        for (cause, text) in causes {
            assert_eq!(cause.to_string(), text);
            let json = serde_json::to_string(&cause).expect("plain");
            assert_eq!(serde_json::from_str::<Cause>(&json).expect("as written"), cause, "{json}");
        }
    }
}
