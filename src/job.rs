//! A job directory: everything that one batch task is given, and everything that comes of it.
//!
//! ```text
//! jobs/<key>/
//!     inputs/000-name.arrow       what the task reads, the same for every attempt (.json where Arrow has no form)
//!     attempt-1/
//!         task.json               the expression, its functions, the request; with versions
//!         task.txt                the statement, for people
//!         command                 what was run, or submitted
//!         ticket.json             as what it was submitted to a batch system, if it was
//!         process.json            who runs it, from the moment that someone does
//!         stdout  stderr          of the process
//!         result.arrow            (or .json) if it succeeded
//!         manifest.json           how it ended: the last file to appear
//!         verdict.json            how it ended, by the word of the batch system or of who cancelled it, when it could not say it itself
//!     attempt-2/ …
//! jobs/texts/<digest>             texts of programs, for messages, each once for all jobs
//! jobs/submissions/<tag>/         what was given to a batch system, and its answer
//! ```
//!
//! The directory is named by the task's [`key()`], which depends on what is computed and on nothing else. What may differ between
//! two runs that ask for the same value (places in the text, request, version of the program) belongs to the attempt, and no
//! attempt is ever overwritten. The manifest is the evidence: an attempt without one is not over, or died.

pub use attempt::{Attempt, Description, InputFile, Keeping, Outline};
pub use digest::{Digest, NotADigest};
pub use directory::{Job, Kept, quote, running};
pub use files::{FileError, VERSION, host};
pub use holder::{Holder, Life};
pub use key::{FileDigest, InputDigest, Parts, key};
pub use manifest::{Cause, Manifest, Outcome, ResultFile, Timestamp, Usage};
pub use submission::{Submission, Ticket};
pub use texts::Text;
pub use written::Written;

mod attempt;
mod canonical;
mod digest;
mod directory;
pub(crate) mod files;
mod holder;
mod key;
mod manifest;
mod mapped;
pub mod points;
mod submission;
pub mod texts;
mod written;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
