//! What the driver and the clerk know of the jobs between them.
//!
//! The driver asks and is answered at once, from here; the clerk, a thread of its own, talks to Slurm, which may take its time.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::replies::{Ending, Line, Phase};
use crate::batch::{BatchId, JobSpec, JobState};
use crate::job::{Attempt, Cause, Ticket};
use crate::resources::Request;

/// What both use.
#[derive(Debug, Default)]
pub struct Desk {
    books: Mutex<Books>,
    /// There is something for the clerk to do.
    pub news: Condvar,
}

impl Desk {
    /// The books; a thread that panicked has left them whole, for nothing is computed while they are open.
    pub fn open(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All jobs that the driver still asks for.
#[derive(Debug, Default)]
pub struct Books {
    pub jobs: BTreeMap<BatchId, Entry>,
    /// Jobs to be submitted, in this order.
    pub queue: VecDeque<BatchId>,
    /// A submission is on its way.
    pub submitting: bool,
    /// What people are to be told.
    pub said: Vec<String>,
    /// What they have been told.
    told: HashSet<String>,
    /// The driver ends.
    pub over: bool,
}

/// A job.
#[derive(Debug)]
pub struct Entry {
    pub name: Arc<str>,
    pub attempt: Arc<Attempt>,
    pub request: Request,
    /// As in [`JobSpec::group`].
    pub group: Option<u32>,
    /// As what it was submitted, or may have been.
    pub ticket: Option<Ticket>,
    /// How Slurm calls the job, or its array.
    pub id: Option<String>,
    /// How it stands.
    pub state: JobState,
    /// What the driver was told.
    told: JobState,
    /// Since when nobody knows whether it was submitted.
    pub unclear: Option<Instant>,
    /// Whether the clerk has it in hand, who is about to submit it.
    pub in_hand: bool,
    /// How often it was submitted and answered with words that are not known, and which those were the last time.
    pub tries: u32,
    pub complaint: Option<Arc<str>>,
    /// Since when the query does not know it.
    pub missing: Option<Instant>,
    /// Since when the controller does not know it, when it was asked for this very job.
    pub gone: Option<Instant>,
    /// Since when Slurm says that it is over, and how it says it ended.
    pub ended: Option<(Instant, Ending)>,
    /// Exit status and signal by Slurm's word.
    pub exit: Option<(i32, i32)>,
    /// Since when its manifest says that it was ended by a signal, of which Slurm may know the cause.
    pub signalled: Option<Instant>,
    /// Since when it is to be ended, and when Slurm was last asked to.
    pub doomed: Option<(Instant, Option<Instant>)>,
    /// Why it waits, if time alone will not help.
    pub stuck: Option<String>,
}

impl Entry {
    /// One that has not been submitted.
    pub fn new(job: &JobSpec) -> Self {
        Entry {
            name: job.name.clone(),
            attempt: Arc::new(job.attempt.clone()),
            request: job.request.clone(),
            group: job.group,
            ticket: None,
            id: None,
            state: JobState::Waiting,
            told: JobState::Waiting,
            unclear: None,
            in_hand: false,
            tries: 0,
            complaint: None,
            missing: None,
            gone: None,
            ended: None,
            exit: None,
            signalled: None,
            doomed: None,
            stuck: None,
        }
    }

    /// How it stands, if the driver was not told.
    pub fn tell(&mut self) -> Option<JobState> {
        (self.told != self.state).then(|| {
            self.told = self.state.clone();
            self.state.clone()
        })
    }

    /// Whether nothing more is to be learnt of it.
    pub fn is_over(&self) -> bool {
        matches!(self.state, JobState::Ended(_))
    }

    /// Whether Slurm has it, or may have.
    pub fn is_out(&self) -> bool {
        self.ticket.is_some() && !self.is_over()
    }

    /// How Slurm calls it, if that is known.
    pub fn slurm_id(&self) -> Option<String> {
        Some(self.ticket.as_ref()?.id_within(self.id.as_ref()?))
    }

    /// It is about to be submitted under this ticket.
    pub fn begin(&mut self, ticket: Ticket, now: Instant) {
        self.ticket = Some(ticket);
        self.id = None;
        self.unclear = Some(now);
        self.in_hand = false;
    }

    /// It was not submitted after all.
    pub fn forget(&mut self) {
        self.ticket = None;
        self.unclear = None;
        self.in_hand = false;
    }

    /// Enters what a query says of it; whether that is news.
    pub fn hear(&mut self, line: &Line, now: Instant) -> bool {
        self.missing = None;
        self.gone = None;
        self.unclear = None;
        self.exit = line.exit.or(self.exit);
        let state = match line.phase {
            Phase::Waiting => JobState::Waiting,
            Phase::Running => JobState::Running,
            Phase::Ended(ending) => {
                let news = self.ended.is_none();
                self.ended = Some(self.ended.map_or((now, ending), |(since, _)| (since, ending)));
                return news;
            }
        };
        self.ended = None;
        let news = self.state != state;
        self.state = state;
        news
    }

    /// Ends it by Slurm's word.
    pub fn conclude(&mut self, end: Result<(), Cause>) {
        self.state = JobState::Ended(end);
    }
}

impl Books {
    /// How many jobs Slurm has, or may have.
    pub fn out(&self) -> usize {
        self.jobs.values().filter(|entry| entry.is_out()).count()
    }

    /// Tells people something, once.
    pub fn say(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.said.push(text);
        }
    }
}
