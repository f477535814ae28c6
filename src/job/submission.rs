//! What was handed to a batch system together: one job, or a job array.
//!
//! ```text
//! jobs/submissions/<tag>/
//!     script          as it was submitted
//!     command         the call, as one would type it
//!     reply           the batch system's words
//!     id              how it calls the job, once that is known
//!     log  log-1 …    what the batch system itself writes about the job, or about each element of an array
//! ```
//!
//! The directory is there, and each attempt names it, before anything is submitted; the id comes after. A driver that was killed in
//! between finds the tag, and asks for it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, FORMAT};
use super::files::{self, FileError};
use super::{Cause, Manifest};

/// The directory of all submissions, among those of the jobs, whose names are all digests.
const SUBMISSIONS: &str = "submissions";

/// By what a batch system's job is found again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// Of the submission: part of the name of its jobs.
    pub tag: String,
    /// Which element of an array it is, if it is one.
    pub index: Option<u32>,
}

/// How an attempt ended that left no manifest, as the batch system says.
#[derive(Serialize, Deserialize)]
struct Verdict {
    cause: Cause,
}

/// The directory of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    path: PathBuf,
}

impl Submission {
    /// The one of a tag, which may not be there.
    pub fn at(jobs: &Path, tag: &str) -> Self {
        Submission { path: jobs.join(SUBMISSIONS).join(tag) }
    }

    /// What is going to be submitted.
    pub fn create(jobs: &Path, tag: &str, script: &[u8], command: &[u8]) -> Result<Self, FileError> {
        let submission = Submission::at(jobs, tag);
        files::make_dir(&submission.path)?;
        files::write(&submission.script(), script)?;
        files::write(&submission.path.join("command"), &[command, b"\n"].concat())?;
        Ok(submission)
    }

    /// All that are there.
    pub fn all(jobs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(jobs.join(SUBMISSIONS)).into_iter().flatten().flatten();
        entries.map(|entry| Submission { path: entry.path() }).collect()
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the script is.
    pub fn script(&self) -> PathBuf {
        self.path.join("script")
    }

    /// Where the batch system writes what it has to say of a job.
    pub fn log(&self, index: Option<u32>) -> PathBuf {
        self.path.join(index.map_or_else(|| "log".to_owned(), |index| format!("log-{index}")))
    }

    /// Keeps the batch system's answer.
    pub fn note_reply(&self, reply: &str) -> Result<(), FileError> {
        files::write(&self.path.join("reply"), reply.as_bytes())
    }

    /// Keeps how the batch system calls the job.
    pub fn accept(&self, id: &str) -> Result<(), FileError> {
        files::write(&self.path.join("id"), format!("{id}\n").as_bytes())
    }

    /// How the batch system calls the job; nothing as long as it is not known to have it.
    pub fn id(&self) -> Result<Option<String>, FileError> {
        let bytes = files::read_if_there(&self.path.join("id"))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()).filter(|id| !id.is_empty()))
    }
}

impl Ticket {
    /// How the batch system calls the job of which it calls the whole array so.
    pub fn id_within(&self, array: &str) -> String {
        self.index.map_or_else(|| array.to_owned(), |index| format!("{array}_{index}"))
    }

    /// How the batch system calls the job, if that was kept in the directory of all jobs.
    pub fn job(&self, jobs: &Path) -> Option<String> {
        Some(self.id_within(&Submission::at(jobs, &self.tag).id().ok()??))
    }
}

impl Attempt {
    /// Says as what it is going to be submitted.
    pub fn note_ticket(&self, ticket: &Ticket) -> Result<(), FileError> {
        let path = self.ticket_path();
        files::write(&path, &files::to_json(&path, FORMAT, ticket)?)
    }

    /// As what it was submitted, or was going to be.
    pub fn ticket(&self) -> Result<Option<Ticket>, FileError> {
        files::json_if_there(&self.ticket_path(), FORMAT)
    }

    /// Keeps how it ended, by the word of whoever knows it, when it left no manifest and never will, or one that says less.
    pub fn note_verdict(&self, cause: &Cause) -> Result<(), FileError> {
        let path = self.verdict_path();
        files::write(&path, &files::to_json(&path, FORMAT, &Verdict { cause: cause.clone() })?)
    }

    /// Keeps that someone has ended it on purpose, of which it knows at most the signal. What ended before that in another way has not
    /// been cancelled.
    pub fn note_cancelled(&self) -> Result<(), FileError> {
        let by_signal = |manifest: Manifest| manifest.outcome.is_by_signal();
        if self.manifest().is_ok_and(|manifest| manifest.is_none_or(by_signal)) { self.note_verdict(&Cause::Cancelled) } else { Ok(()) }
    }

    /// How it ended, by the word of whoever knew it, when it left no manifest, or one that says less.
    pub fn verdict(&self) -> Result<Option<Cause>, FileError> {
        let verdict: Option<Verdict> = files::json_if_there(&self.verdict_path(), FORMAT)?;
        Ok(verdict.map(|verdict| verdict.cause))
    }

    /// Whether a batch system may have it, be it that it was given up for lost.
    pub fn may_be_out(&self) -> bool {
        let lost = || matches!(self.verdict(), Ok(Some(Cause::Unknown { .. }))) && matches!(self.manifest(), Ok(None));
        self.is_submitted() || matches!(self.ticket(), Ok(Some(_))) && lost()
    }

    /// Whether a batch system has it, or may have, as far as is known here.
    pub fn is_submitted(&self) -> bool {
        let known = |there: Result<bool, FileError>| there.unwrap_or(false);
        known(self.ticket().map(|ticket| ticket.is_some()))
            && !known(self.verdict().map(|cause| cause.is_some()))
            && !known(self.manifest().map(|manifest| manifest.is_some()))
    }

    fn ticket_path(&self) -> PathBuf {
        self.path().join("ticket.json")
    }

    fn verdict_path(&self) -> PathBuf {
        self.path().join("verdict.json")
    }
}
