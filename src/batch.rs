//! Batch systems: whatever runs job directories as processes of their own.
//!
//! The trait works on whole sets, because a cluster's client costs tens of milliseconds a call and knows job arrays. It never
//! blocks on a job. A batch system's word is the second evidence of how a job ended; the first is the job's own manifest
//! ([`verdict`]).

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Fault;
use crate::job::{Attempt, Cause, Digest, FileError, Manifest, Outcome};
use crate::resources::Request;

pub mod local;
pub mod slurm;

/// The environment variable with the CPUs that a process is to keep to: `0,1,4`.
pub const CPUS: &str = "SCL_CPUS";

/// The environment variable with the directory of the control group that a process is to join.
pub const GROUP: &str = "SCL_GROUP";

/// Libraries start as many threads as these say.
const THREADS: [&str; 5] = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "RAYON_NUM_THREADS"];

/// The exit status of a job's process that did not begin: another has its attempt, or its directory cannot be run.
pub const REFUSED: u8 = 2;

/// The exit status of a job's process that could not write how it ended.
pub const UNWRITTEN: u8 = 74;

/// Why a job failed that ended with this status and left no manifest.
pub(crate) fn cause_of_status(code: i32) -> Cause {
    if code == i32::from(UNWRITTEN) {
        Cause::Unknown { reason: "it could not write its result or how it ended: the disk may be full".to_owned() }
    } else {
        Cause::ExitCode { code }
    }
}

/// An attempt to run.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The task, for people.
    pub name: Arc<str>,
    /// The task, for look-ups.
    pub key: Digest,
    /// Where it is described.
    pub attempt: Attempt,
    /// What to reserve.
    pub request: Request,
    /// Jobs of one number come from one statement, differ in nothing but their directories, and may become one job array.
    pub group: Option<u32>,
}

/// How a batch system calls a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub Arc<str>);

impl fmt::Display for BatchId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// What a batch system says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It has not begun.
    Waiting,
    /// It has begun.
    Running,
    /// It is over; without a fault, as far as the batch system can see, or with this cause.
    Ended(Result<(), Cause>),
    /// The batch system cannot say: no evidence of anything.
    Unknown,
}

/// Why a job was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// It may be taken later: a limit for the user, a server that does not answer.
    #[error("{}", .0.message)]
    Transient(Fault),
    /// It will never be taken.
    #[error("{}", .0.message)]
    Permanent(Fault),
}

/// What all jobs together may use at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Cores.
    pub cores: u32,
    /// Bytes.
    pub memory: u64,
}

/// How someone is told that there may be news; in a moment, on whatever thread.
pub type Waker = Box<dyn Fn() + Send>;

/// Something that runs jobs.
pub trait BatchSystem {
    /// Whether a request can ever be satisfied; to be asked before anything runs.
    fn check(&self, request: &Request) -> Result<(), Fault>;

    /// What of a request can be satisfied: the request itself, or one that asks for less.
    fn clamp(&self, request: &Request) -> Request;

    /// The jobs of an earlier run that still wait or run, by attempt. To be asked before anything is submitted again: what was
    /// submitted by a program that was killed goes on.
    fn find(&mut self, jobs: &[JobSpec]) -> Vec<Result<Option<BatchId>, Fault>>;

    /// Takes jobs in this order; one answer for each.
    fn submit(&mut self, jobs: &[JobSpec]) -> Vec<Result<BatchId, SubmitError>>;

    /// What has become of jobs since the last call, in this order; of a job that is not named there is no news. It must be called again
    /// and again: some batch systems live only in this call. That a job has ended is said once; after that it is forgotten.
    fn poll(&mut self) -> Vec<(BatchId, JobState)>;

    /// Has someone told when [`BatchSystem::poll`] may have news. Where a batch system cannot know when, nobody is told; it is to be
    /// polled from time to time all the same.
    fn wake(&mut self, _: Waker) {}

    /// Asks for the end of each of these jobs; a job that is over is no fault. They are over when [`BatchSystem::poll`] says so.
    fn cancel(&mut self, ids: &[BatchId]) -> Vec<Result<(), Fault>>;

    /// Whether its jobs go on when this program ends.
    fn outlives_driver(&self) -> bool {
        false
    }

    /// How many jobs are worth writing before they are submitted together.
    fn jobs_at_once(&self) -> usize {
        256
    }

    /// How many of its jobs go on when this program ends.
    fn left(&self) -> usize {
        0
    }

    /// What people should know of how it goes, since the last time that this was asked.
    fn news(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// How an attempt ended, by its manifest or else by the batch system's word; nothing while it may still go on.
///
/// A job that was sent a signal knows no more than that; there the batch system's word counts if it says more. On a network
/// filesystem a manifest may appear after its job has ended: a [`Cause::Unknown`] end deserves a second look.
pub fn verdict(attempt: &Attempt, state: &JobState) -> Result<Option<Outcome>, FileError> {
    Ok(judge(attempt.manifest()?.as_ref(), state))
}

/// The same for a manifest that was read already.
pub fn judge(manifest: Option<&Manifest>, state: &JobState) -> Option<Outcome> {
    let outcome = manifest.map(|manifest| manifest.outcome.clone());
    let cause = match (outcome, state) {
        (Some(Outcome::Failure { cause: Cause::Signal { .. }, .. }), JobState::Ended(Err(cause))) if cause.is_purpose() => cause.clone(),
        (Some(outcome), _) => return Some(outcome),
        (None, JobState::Waiting | JobState::Running | JobState::Unknown) => return None,
        (None, JobState::Ended(Ok(()))) => Cause::Unknown { reason: "the process is over, but left no manifest".to_owned() },
        (None, JobState::Ended(Err(cause))) => cause.clone(),
    };
    Some(Outcome::Failure { cause, diagnostics: Vec::new() })
}
