//! A job directory: everything that one batch task is given, and everything that comes of it.
//!
//! ```text
//! jobs/<key>/
//!     inputs/000-name.arrow       what the task reads, the same for every attempt (.json where Arrow has no form)
//!     attempt-1/
//!         task.json               the expression, its functions, the request, the source text; with versions
//!         task.txt                the statement, for people
//!         command                 what was run, or submitted
//!         process.json            who runs it, from the moment that someone does
//!         stdout  stderr          of the process
//!         result.arrow            (or .json) if it succeeded
//!         manifest.json           how it ended: the last file to appear
//!     attempt-2/ …
//! ```
//!
//! The directory is named by the task's [`key`], which depends on what is computed and on nothing else. What may differ between
//! two runs that ask for the same value (places in the text, request, version of the program) belongs to the attempt, and no
//! attempt is ever overwritten. The manifest is the evidence: an attempt without one is not over, or died.

use crate::eval::Input;
use crate::model::{Function, Task};
use crate::value::codec;

pub use attempt::{Attempt, Description, InputFile, Keeping, Source};
pub use digest::{Digest, NotADigest};
pub use directory::{Job, quote, running};
pub use files::{FileError, VERSION, host};
pub use holder::{Holder, Life};
pub use manifest::{Cause, Manifest, Outcome, ResultFile, Timestamp, Usage};

mod attempt;
mod canonical;
mod digest;
mod directory;
pub(crate) mod files;
mod holder;
mod manifest;
pub mod points;

/// The version of the rules by which keys are made and of what expressions mean; a change makes every kept result unfindable.
const SCHEME: &str = "scl task 1";

/// The content of an input, for the key of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum InputDigest {
    /// Of a value.
    Value(Digest),
    /// There is no value.
    Failed,
}

impl InputDigest {
    /// Of an input.
    pub fn of(input: &Input) -> Self {
        match input {
            Input::Value(value) => InputDigest::Value(Digest(codec::digest(value))),
            Input::Failed => InputDigest::Failed,
        }
    }
}

/// What a task computes, and from what: two tasks with one key have one result.
///
/// The names of the task, of its inputs and of its functions are for messages only and do not matter; neither do places.
pub fn key(task: &Task, inputs: &[InputDigest]) -> Result<Digest, FileError> {
    let functions: Vec<_> = task.functions.iter().map(function).collect();
    let content = (SCHEME, &task.expr, functions, inputs);
    canonical::digest(&content).map_err(|error| FileError::Unserializable { name: task.name.to_string(), message: error.to_string() })
}

fn function(function: &Function) -> (usize, &crate::model::Expr) {
    (function.parameters.len(), &function.body)
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
