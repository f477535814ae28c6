//! What someone who watches a run sees of its jobs.

use std::sync::Arc;
use std::time::Duration;

use crate::job::Cause;

/// What happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The task, for people.
    pub name: Arc<str>,
    /// What happened.
    pub kind: EventKind,
}

/// What can happen to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Its result was there.
    Kept,
    /// An earlier run began it, and it goes on.
    Adopted {
        /// Which try it is.
        attempt: u32,
    },
    /// It runs.
    Started {
        /// Which try it is.
        attempt: u32,
    },
    /// It has a result.
    Done {
        /// For how long it ran, if it was seen to.
        took: Option<Duration>,
    },
    /// It has none.
    Failed {
        /// Why.
        cause: Cause,
        /// For how long it ran, if it was seen to.
        took: Option<Duration>,
    },
    /// It has none and will be tried again.
    Retried {
        /// Why it failed.
        cause: Cause,
        /// After how long it is tried.
        pause: Duration,
    },
}

/// How a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Jobs that are over, or whose results were there.
    pub over: usize,
    /// Jobs that are known to be needed, those that are over included.
    pub needed: usize,
    /// Jobs that may be needed at most: which branch is taken is not known yet.
    pub possible: usize,
    /// Jobs that failed.
    pub failed: usize,
    /// Jobs that wait for another try.
    pub pausing: usize,
    /// What runs, longest first.
    pub running: Vec<Running>,
}

/// A job that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The task, for people.
    pub name: Arc<str>,
    /// For how long it has been running, as far as this run knows.
    pub time: Duration,
    /// For how long it may.
    pub walltime: Option<Duration>,
}

/// Someone who watches a run.
pub trait Watcher {
    /// Is told of each event as it happens.
    fn note(&mut self, event: &Event);

    /// Is told something that is of no single job: that the batch system does not answer, that it takes no more jobs.
    fn say(&mut self, text: &str) {
        let _ = text;
    }

    /// Whether it is time for another look; to be asked often.
    fn wants_progress(&self) -> bool;

    /// Is shown how the run stands.
    fn look(&mut self, progress: &Progress);
}

/// Nobody.
impl Watcher for () {
    fn note(&mut self, _: &Event) {}

    fn wants_progress(&self) -> bool {
        false
    }

    fn look(&mut self, _: &Progress) {}
}
