//! Jobs of a Slurm cluster.
//!
//! The driver never waits for Slurm: it reads and writes the [`books`], and the [`clerk`], a thread of its own, submits, asks and
//! cancels. Jobs of one statement go as one array. What is about to be submitted is in the store before, and how Slurm calls it after;
//! jobs carry a tag in their name by which a driver finds those of which it does not know whether they were taken.
//!
//! The first evidence of how a job ended is its manifest. A query that fails or does not answer changes nothing, a state that is not
//! known counts as running, and a job that no query knows counts as running for a time, see [`verdict`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::local::Launcher;
use super::{BatchId, BatchSystem, JobSpec, JobState, SubmitError};
use crate::diagnostic::Fault;
use crate::job::{Cause, FileError, Submission};
use crate::resources::Request;
use crate::site::Cluster;
use books::{Desk, Entry};
use clerk::Clerk;

pub use end::{Survivor, end, standing};
pub use lower::{Lowered, Memory, show_minutes};
pub use script::{Batch, UNPREPARED, job_name, script, tag, within};

mod books;
mod clerk;
mod client;
mod end;
mod lower;
mod replies;
mod script;
mod verdict;

/// How many jobs are worth writing before they are submitted, at least and at most.
const FEW: usize = 1024;
const MANY: usize = 10_000;

/// How long a submission is waited for when the driver ends.
const FAREWELL: Duration = Duration::from_secs(10);

/// How the ids begin by which a run calls its jobs, as long as Slurm has none for them.
pub const CLUSTER: &str = "slurm-";

/// What the jobs of a run have in common.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the site says.
    pub cluster: Cluster,
    /// The directory of all jobs.
    pub jobs: PathBuf,
    /// The program on the nodes.
    pub program: PathBuf,
    /// Where it is run.
    pub directory: PathBuf,
}

impl Settings {
    /// Jobs of a directory, run by this program where it was called, unless the site says otherwise.
    pub fn new(cluster: Cluster, jobs: &Path, launcher: &Launcher) -> Result<Self, Fault> {
        let here = || std::env::current_dir().map_err(|error| Fault::new("E0813", format!("cannot find the current directory: {error}")));
        let program = cluster.program.clone().unwrap_or_else(|| launcher.program.clone());
        let directory = cluster.directory.clone().map_or_else(here, Ok)?;
        Ok(Settings { cluster, jobs: jobs.to_owned(), program, directory })
    }
}

/// The batch system of a cluster.
#[derive(Debug)]
pub struct Slurm {
    settings: Arc<Settings>,
    desk: Arc<Desk>,
    clerk: Option<JoinHandle<()>>,
    count: u64,
}

impl Slurm {
    /// Opens the books; nothing is asked of Slurm before there is a job.
    pub fn new(settings: Settings) -> Result<Self, Fault> {
        let (settings, desk) = (Arc::new(settings), Arc::new(Desk::default()));
        let clerk = Clerk::new(settings.clone(), desk.clone());
        let thread = thread::Builder::new().name("scl-slurm".to_owned()).spawn(move || clerk.work());
        let clerk = thread.map_err(|error| Fault::new("E0814", format!("no thread can be started: {error}")))?;
        Ok(Slurm { settings, desk, clerk: Some(clerk), count: 0 })
    }

    fn new_id(&mut self) -> BatchId {
        self.count += 1;
        BatchId(format!("{CLUSTER}{}", self.count).into())
    }

    /// What an earlier run has submitted, or was about to.
    fn adopt(&mut self, job: &JobSpec) -> Result<Option<BatchId>, FileError> {
        let Some(ticket) = job.attempt.ticket()? else { return Ok(None) };
        if job.attempt.verdict()?.is_some() {
            return Ok(None);
        }
        let mut entry = Entry::new(job);
        entry.id = Submission::at(&self.settings.jobs, &ticket.tag).id()?;
        entry.unclear = entry.id.is_none().then(Instant::now);
        entry.ticket = Some(ticket);
        entry.state = JobState::Unknown;
        let id = self.new_id();
        self.desk.open().jobs.insert(id.clone(), entry);
        self.desk.news.notify_one();
        Ok(Some(id))
    }
}

impl BatchSystem for Slurm {
    fn check(&self, request: &Request) -> Result<(), Fault> {
        self.settings.cluster.choose(request).map(|_| ())
    }

    fn clamp(&self, request: &Request) -> Request {
        self.settings.cluster.clamp(request)
    }

    fn find(&mut self, jobs: &[JobSpec]) -> Vec<Result<Option<BatchId>, Fault>> {
        jobs.iter().map(|job| self.adopt(job).map_err(Fault::from)).collect()
    }

    fn submit(&mut self, jobs: &[JobSpec]) -> Vec<Result<BatchId, SubmitError>> {
        let answers: Vec<Result<BatchId, SubmitError>> =
            jobs.iter().map(|job| self.check(&job.request).map(|()| self.new_id()).map_err(SubmitError::Permanent)).collect();
        // all at once, so that jobs of one statement are submitted together
        let mut books = self.desk.open();
        for (job, id) in jobs.iter().zip(&answers).filter_map(|(job, answer)| Some((job, answer.as_ref().ok()?))) {
            books.jobs.insert(id.clone(), Entry::new(job));
            books.queue.push_back(id.clone());
        }
        self.desk.news.notify_one();
        drop(books);
        answers
    }

    fn poll(&mut self) -> Vec<(BatchId, JobState)> {
        let mut books = self.desk.open();
        let news = books.jobs.iter_mut().filter_map(|(id, entry)| Some((id.clone(), entry.tell()?))).collect();
        books.jobs.retain(|_, entry| !entry.is_over());
        news
    }

    fn cancel(&mut self, ids: &[BatchId]) -> Vec<Result<(), Fault>> {
        let now = Instant::now();
        let mut books = self.desk.open();
        let meant: BTreeSet<&BatchId> = ids.iter().collect();
        books.queue.retain(|id| !meant.contains(id));
        for id in ids {
            if let Some(entry) = books.jobs.get_mut(id).filter(|entry| !entry.is_over()) {
                match entry.ticket {
                    None if !entry.in_hand => entry.conclude(Err(Cause::Cancelled)),
                    _ => entry.doomed = entry.doomed.or(Some((now, None))),
                }
            }
        }
        self.desk.news.notify_one();
        vec![Ok(()); ids.len()]
    }

    fn outlives_driver(&self) -> bool {
        true
    }

    fn jobs_at_once(&self) -> usize {
        // an array is not to be made smaller by this
        (self.settings.cluster.largest_array as usize).clamp(FEW, MANY)
    }

    fn left(&self) -> usize {
        self.desk.open().out()
    }

    fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.desk.open().said)
    }
}

/// Jobs go on. A submission that has begun is waited for, so that what came of it is in the store, but not for long: the next run finds it
/// by its tag. Nobody waits for the answer to a question.
impl Drop for Slurm {
    fn drop(&mut self) {
        self.desk.open().over = true;
        self.desk.news.notify_one();
        let Some(clerk) = self.clerk.take() else { return };
        let end = Instant::now() + FAREWELL;
        while !clerk.is_finished() && self.desk.open().submitting && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(test)]
mod tests;
