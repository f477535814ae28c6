//! What is worth remembering of a run, as plain data, and who remembers it.
//!
//! The scheduler tells a [`Recorder`] what happens and asks it what someone outside wants ended. It neither knows nor waits for
//! what becomes of its notes, so that tests and sessions run without a store.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::standing::TaskState;
use crate::job::{Cause, Digest, Manifest, Outcome, Parts, Timestamp, Usage};
use crate::resources::Request;

/// Remembers what happens to the batch tasks of a run.
pub trait Recorder {
    /// Takes note; it neither fails nor waits.
    fn note(&mut self, event: Event);

    /// What someone outside wants ended, each wish once. It is called again and again while jobs run.
    fn wishes(&mut self) -> Wishes;
}

/// Remembers nothing, and nobody can reach it.
impl Recorder for () {
    fn note(&mut self, _: Event) {}

    fn wishes(&mut self) -> Wishes {
        Wishes::default()
    }
}

/// What is to be ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes {
    /// The whole run.
    pub all: bool,
    /// Tasks by their names, `rates 1/2`, or by those of their variables, `rates`.
    pub tasks: Vec<String>,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The inputs of a batch task are there, and so is its key.
    Task(Box<Entry>),
    /// Something became of a task that was noted before.
    State {
        /// As in [`Entry::task`].
        task: u32,
        /// What it is now.
        state: Box<State>,
    },
    /// A line was printed.
    Line(Arc<str>),
}

/// A batch task whose key is known.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its number in the run.
    pub task: u32,
    /// Its name, `rates 1/2`.
    pub name: Arc<str>,
    /// The variable that it computes, or a part of.
    pub variable: Arc<str>,
    /// Which part, from 0, of how many.
    pub part: Option<(u32, u32)>,
    /// Whether the parts, put one behind the other, are the value of the variable.
    pub joins: bool,
    /// Where its result is kept.
    pub key: Digest,
    /// What the key was made of, if that is known.
    pub parts: Option<Parts>,
    /// Whether the key covers all files that it reads; if not, its result serves no later run.
    pub knows_files: bool,
    /// What it asks for.
    pub request: Request,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The result of an attempt of an earlier run was taken.
    Kept {
        /// Its number.
        attempt: u32,
    },
    /// It waits for the job of a task of this run that computes the same.
    Shared {
        /// The number of the attempt.
        attempt: u32,
    },
    /// Its job was submitted, or found again.
    Waiting {
        /// The number of the attempt.
        attempt: u32,
        /// What the batch system calls it.
        job: Arc<str>,
    },
    /// Its job failed, and is going to be tried again.
    Pausing {
        /// The number of the attempt that failed.
        attempt: u32,
    },
    /// Its job has begun.
    Running,
    /// It is over.
    Ended(End),
    /// It was not computed, and would have to be. Only when a program is looked at without running it.
    Lacking {
        /// Whether a process that an earlier run left behind computes it.
        running: bool,
    },
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Why there is no result, if there is none.
    pub cause: Option<Cause>,
    /// When it began and when it was over, if that is known.
    pub times: Option<(Timestamp, Timestamp)>,
    /// What it took, if that is known.
    pub usage: Option<Usage>,
}

impl End {
    /// As a manifest has it.
    pub fn of(manifest: &Manifest) -> End {
        let cause = match &manifest.outcome {
            Outcome::Success { .. } => None,
            Outcome::Failure { cause, .. } => Some(cause.clone()),
        };
        End { cause, times: Some((manifest.started, manifest.ended)), usage: Some(manifest.usage) }
    }

    /// How the task stands then.
    pub fn state(&self) -> TaskState {
        match self.cause {
            None => TaskState::Done,
            Some(Cause::Cancelled) => TaskState::Cancelled,
            Some(_) => TaskState::Failed,
        }
    }
}
