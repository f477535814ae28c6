//! The thread that talks to Slurm.
//!
//! It does one thing at a time: cancels, submits, looks for manifests, asks how jobs stand. The books are open only while it reads from
//! them or writes into them, never during a call.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::books::{Books, Desk, Entry};
use super::replies::{self, Ending, Lines};
use super::script;
use super::verdict::{Evidence, verdict};
use super::{Settings, client};
use crate::batch::{BatchId, JobState};
use crate::job::{Attempt, Cause, Submission};
use crate::resources::Request;

/// Pauses between queries: they begin short, and grow while nothing changes or nobody answers.
const SHORTEST_QUERY: Duration = Duration::from_secs(1);
const LONGEST_QUERY: Duration = Duration::from_secs(15);
const LONGEST_SILENCE: Duration = Duration::from_secs(60);

/// A pause is at least so many times as long as what comes before it took.
const RESTRAINT: u32 = 10;

/// The shortest pause between two looks for manifests.
const SHORTEST_LOOK: Duration = Duration::from_millis(100);

/// Pauses before another submission when one was not taken.
const SHORTEST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// How long a submission of which nobody knows may be on its way before it is made again. Should it arrive after all, both have one tag,
/// and only one of them takes the attempt.
const ON_ITS_WAY: Duration = Duration::from_secs(5);

/// How long Slurm may know the cause of a signal later than the job.
const HEARSAY: Duration = Duration::from_secs(30);

/// The pause before a job that does not end is cancelled again, and how long that goes on.
const CANCEL_AGAIN: Duration = Duration::from_secs(10);
const CANCEL_PATIENCE: Duration = Duration::from_secs(60);

/// How long queries may fail before people are told.
const SILENCE: Duration = Duration::from_secs(10);

/// How many jobs are asked for one by one in a cycle.
const DETAILS_AT_ONCE: usize = 8;

mod submit;

/// See [`Clerk::work`].
#[derive(Debug)]
pub struct Clerk {
    settings: Arc<Settings>,
    desk: Arc<Desk>,
    look_at: Instant,
    query_at: Instant,
    query_pause: Duration,
    submit_at: Instant,
    submit_pause: Duration,
    /// How many jobs may be in an array: fewer for a time when so many were refused.
    most_at_once: usize,
    /// How often a job alone was refused for there being too many, one after the other.
    refused_alone: u32,
    /// Whether the next submission waits for a job to end.
    waits_for_room: bool,
    /// When each id was asked for the last time, for those that are asked for one by one.
    asked: BTreeMap<String, Instant>,
    /// Since when queries fail.
    silent: Option<Instant>,
    /// Whether there is an accounting to ask.
    accounting: bool,
    /// Whether it has answered the last time.
    accountable: bool,
}

/// A job that may be over.
struct Suspect {
    id: BatchId,
    attempt: Arc<Attempt>,
    request: Request,
    evidence: Evidence,
}

/// A job that is about to be submitted.
pub(super) struct Draft {
    pub(super) id: BatchId,
    name: Arc<str>,
    attempt: Arc<Attempt>,
    request: Request,
}

impl Clerk {
    pub fn new(settings: Arc<Settings>, desk: Arc<Desk>) -> Self {
        let now = Instant::now();
        let most_at_once = settings.cluster.largest_array as usize;
        Clerk {
            settings,
            desk,
            most_at_once,
            refused_alone: 0,
            waits_for_room: false,
            asked: BTreeMap::new(),
            look_at: now,
            query_at: now,
            query_pause: SHORTEST_QUERY,
            submit_at: now,
            submit_pause: SHORTEST_RETRY,
            silent: None,
            accounting: true,
            accountable: true,
        }
    }

    /// Works until the driver ends.
    pub fn work(mut self) {
        while self.wait() {
            self.cancel();
            self.submit();
            self.look();
            self.query();
        }
    }

    /// Waits until something is to be done; `false` when nothing is any more.
    fn wait(&self) -> bool {
        let mut books = self.desk.open();
        loop {
            let now = Instant::now();
            match self.next(&books, now) {
                _ if books.over => return false,
                Some(next) if next <= now => return true,
                Some(next) => {
                    let waited = self.desk.news.wait_timeout(books, next - now);
                    books = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => books = self.desk.news.wait(books).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// When there is something to do next.
    fn next(&self, books: &Books, now: Instant) -> Option<Instant> {
        let submit = (!books.queue.is_empty()).then_some(self.submit_at);
        let out = books.jobs.values().any(Entry::is_out);
        let watch = out.then(|| self.look_at.min(self.query_at));
        let cancel = books.jobs.values().any(|entry| must_cancel(entry, now)).then_some(now);
        [submit, watch, cancel].into_iter().flatten().min()
    }

    /// Something is new, so that the next query is soon.
    fn hurry(&mut self) {
        self.query_pause = SHORTEST_QUERY;
        self.query_at = self.query_at.min(Instant::now() + SHORTEST_QUERY);
    }

    /// Looks for manifests, which are there before Slurm knows of an end.
    fn look(&mut self) {
        let began = Instant::now();
        if began < self.look_at {
            return;
        }
        let mut ended = false;
        for (id, attempt) in self.out() {
            let manifest = attempt.manifest();
            if !matches!(manifest, Ok(None)) {
                self.found(&id, manifest.ok().flatten().is_some_and(|manifest| manifest.outcome.is_by_signal()));
                ended = true;
            }
        }
        if ended && self.waits_for_room {
            self.submit_at = began;
        }
        self.look_at = Instant::now() + (began.elapsed() * RESTRAINT).max(SHORTEST_LOOK);
    }

    fn out(&self) -> Vec<(BatchId, Arc<Attempt>)> {
        let books = self.desk.open();
        books.jobs.iter().filter(|(_, entry)| entry.is_out()).map(|(id, entry)| (id.clone(), entry.attempt.clone())).collect()
    }

    /// There is a manifest. Of a signal Slurm knows the cause, so its word is waited for.
    fn found(&self, id: &BatchId, by_signal: bool) {
        let now = Instant::now();
        let mut books = self.desk.open();
        let Some(entry) = books.jobs.get_mut(id) else { return };
        let since = *entry.signalled.get_or_insert(now);
        let heard = match entry.ended {
            Some((_, ending)) => purpose(ending, &entry.request),
            None if by_signal && now.duration_since(since) < HEARSAY => return,
            None => None,
        };
        entry.conclude(if by_signal { heard.map_or(Ok(()), Err) } else { Ok(()) });
    }

    /// Asks how all jobs stand, in one call whatever their number, and then for those that seem to be over.
    fn query(&mut self) {
        let began = Instant::now();
        if began < self.query_at || self.out().is_empty() {
            return;
        }
        let news = match client::queue() {
            Ok(lines) => {
                self.silent = None;
                let news = self.hear(&lines);
                self.settle();
                news
            }
            Err(complaint) => {
                let since = *self.silent.get_or_insert(began);
                if since.elapsed() >= SILENCE {
                    self.desk.open().say(format!("Slurm does not answer; its jobs count as running until it does ({complaint})"));
                }
                false
            }
        };
        let longest = if self.silent.is_some() { LONGEST_SILENCE } else { LONGEST_QUERY };
        self.query_pause = if news { SHORTEST_QUERY } else { (self.query_pause * 3 / 2).min(longest) };
        let soon = self
            .desk
            .open()
            .jobs
            .values()
            .any(|entry| entry.is_out() && (entry.ended.is_some() || entry.unclear.is_some() || entry.doomed.is_some()));
        let pause = if soon { SHORTEST_QUERY } else { self.query_pause };
        self.query_at = Instant::now() + pause.max(began.elapsed() * RESTRAINT);
    }

    /// Enters what a query says; whether something is new.
    pub(super) fn hear(&self, lines: &Lines) -> bool {
        let now = Instant::now();
        let mut books = self.desk.open();
        let (mut news, mut said, mut ids) = (false, Vec::new(), BTreeMap::new());
        for entry in books.jobs.values_mut().filter(|entry| entry.is_out()) {
            let Some(ticket) = entry.ticket.clone() else { continue };
            let Some(line) = replies::line(lines, &ticket) else {
                if entry.unclear.is_none() {
                    entry.missing.get_or_insert(now);
                }
                continue;
            };
            news |= entry.hear(line, now);
            if entry.id.as_ref() != Some(&line.id) {
                entry.id = Some(line.id.clone());
                ids.insert(ticket.tag, line.id.clone());
            }
            if entry.state == JobState::Waiting && replies::waits_for_ever(&line.reason) && entry.stuck.as_ref() != Some(&line.reason) {
                entry.stuck = Some(line.reason.clone());
                let (name, reason) = (entry.name.split(' ').next().unwrap_or_default().to_owned(), &line.reason);
                said.push(format!(
                    "a job of `{name}` waits for the reason {reason}, which time alone will not change (`scontrol show job {}`)",
                    line.id
                ));
            }
        }
        said.into_iter().for_each(|text| books.say(text));
        drop(books);
        for (tag, id) in ids {
            // it is found by its tag again if it cannot be kept
            let _ = Submission::at(&self.settings.jobs, &tag).accept(&id);
        }
        news
    }

    /// Finds out about jobs that are over, or that the query did not know.
    fn settle(&mut self) {
        self.ask_for_details();
        self.ask_accounting();
        self.submit_again();
        self.judge();
    }

    /// Whether there still are jobs that the query left out, and the exit status of those that failed, where the query does not tell it; those
    /// first that were not asked for the longest.
    fn ask_for_details(&mut self) {
        let wants = |entry: &&Entry| {
            entry.is_out() && (entry.missing.is_some() || matches!(entry.ended, Some((_, Ending::Failed))) && entry.exit.is_none())
        };
        let wanted: BTreeSet<String> = self.desk.open().jobs.values().filter(wants).filter_map(|entry| entry.id.clone()).collect();
        self.asked.retain(|id, _| wanted.contains(id));
        let mut wanted: Vec<String> = wanted.into_iter().collect();
        wanted.sort_by_key(|id| self.asked.get(id).copied());
        for id in wanted.into_iter().take(DETAILS_AT_ONCE) {
            if self.desk.open().over {
                return;
            }
            self.asked.insert(id.clone(), Instant::now());
            match client::details(&id) {
                Ok(lines) => {
                    self.hear_more(&lines);
                    self.is_gone(&id, &lines);
                }
                Err(complaint) if client::is_unknown(&complaint) => self.is_gone(&id, &Lines::new()),
                // who does not answer says nothing
                Err(_) => {}
            }
        }
    }

    /// The controller has answered for this id, and left these jobs out.
    fn is_gone(&self, id: &str, lines: &Lines) {
        let now = Instant::now();
        let mut books = self.desk.open();
        for entry in books.jobs.values_mut().filter(|entry| entry.is_out() && entry.missing.is_some() && entry.id.as_deref() == Some(id)) {
            let known = entry.ticket.as_ref().is_some_and(|ticket| replies::line(lines, ticket).is_some());
            if !known {
                entry.gone.get_or_insert(now);
            }
        }
    }

    fn ask_accounting(&mut self) {
        if !self.accounting {
            return;
        }
        let missing: Vec<Option<String>> = {
            let books = self.desk.open();
            let missing = books.jobs.values().filter(|entry| entry.is_out() && (entry.missing.is_some() || entry.unclear.is_some()));
            missing.map(Entry::slurm_id).collect()
        };
        let ids: BTreeSet<String> = missing.iter().flatten().cloned().collect();
        if !ids.is_empty() {
            let ids: Vec<String> = ids.into_iter().collect();
            self.hear_accounting(&client::accounts(&ids));
        }
        if self.accounting && missing.iter().any(Option::is_none) {
            let names = self.unclear_names();
            self.hear_accounting(&client::accounts_by_name(&names));
        }
    }

    fn hear_accounting(&mut self, answer: &Result<Lines, String>) {
        self.accountable = answer.is_ok();
        match answer {
            Ok(lines) => self.hear_more(lines),
            Err(complaint) if client::is_without_accounting(complaint) => {
                self.accounting = false;
                self.accountable = true;
            }
            Err(complaint) => self.desk.open().say(format!("sacct does not say what became of jobs ({complaint})")),
        }
    }

    fn unclear_names(&self) -> Vec<String> {
        let books = self.desk.open();
        let unclear = books.jobs.values().filter(|entry| entry.is_out() && entry.id.is_none());
        let name = |entry: &Entry| Some(script::job_name(entry.name.split(' ').next()?, &entry.ticket.as_ref()?.tag));
        unclear.filter_map(name).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The same as [`Clerk::hear`] from a second source, which says nothing by what it leaves out.
    fn hear_more(&self, lines: &Lines) {
        let now = Instant::now();
        let mut books = self.desk.open();
        for entry in books.jobs.values_mut().filter(|entry| entry.is_out()) {
            let line = entry.ticket.as_ref().and_then(|ticket| replies::line(lines, ticket));
            if let Some(line) = line {
                entry.hear(line, now);
                entry.id.get_or_insert_with(|| line.id.clone());
            }
        }
    }

    /// Ends jobs by Slurm's word that have left none themselves.
    fn judge(&self) {
        let now = Instant::now();
        let suspects: Vec<Suspect> = self.desk.open().jobs.iter().filter_map(|(id, entry)| self.suspect(id, entry, now)).collect();
        for Suspect { id, attempt, request, mut evidence } in suspects {
            evidence.taken = matches!(attempt.holder(), Ok(Some(_)));
            let Some(cause) = verdict(&evidence, &request, self.settings.cluster.unknown_after) else { continue };
            // listing a directory makes a network filesystem look
            fs::read_dir(attempt.path()).into_iter().flatten().for_each(drop);
            let end = if matches!(attempt.manifest(), Ok(None)) { Err(cause) } else { Ok(()) };
            if let Err(cause) = &end {
                // without a word a later run would ask Slurm for it
                let _ = attempt.note_verdict(cause);
            }
            self.desk.open().jobs.get_mut(&id).into_iter().for_each(|entry| entry.conclude(end.clone()));
        }
    }

    /// A job that Slurm says is over, or that nobody knows: all who could have answered, and it is not among what they know.
    fn suspect(&self, id: &BatchId, entry: &Entry, now: Instant) -> Option<Suspect> {
        let unknown = entry.gone.filter(|_| self.accountable && entry.missing.is_some());
        let since = entry.ended.map(|(since, _)| since).or(unknown).filter(|_| entry.is_out())?;
        let ending = entry.ended.map(|(_, ending)| ending);
        let evidence = Evidence { ending, exit: entry.exit, since: now.duration_since(since), taken: false };
        Some(Suspect { id: id.clone(), attempt: entry.attempt.clone(), request: entry.request.clone(), evidence })
    }

    /// Asks Slurm to end what is to be ended, again and again, and gives up after a time.
    fn cancel(&mut self) {
        let now = Instant::now();
        let mut books = self.desk.open();
        let mut ids = Vec::new();
        let mut survivors = Vec::new();
        for entry in books.jobs.values_mut().filter(|entry| must_cancel(entry, now)) {
            let (Some(id), Some((since, _))) = (entry.slurm_id(), entry.doomed) else { continue };
            if now.duration_since(since) >= CANCEL_PATIENCE {
                entry.conclude(Err(Cause::Unknown { reason: format!("job {id} does not end") }));
                survivors.push(id);
                continue;
            }
            entry.doomed = Some((since, Some(now)));
            ids.push(id);
        }
        if !survivors.is_empty() {
            books.say(format!("these jobs do not end; `scancel {}` asks for it again", survivors.join(" ")));
        }
        drop(books);
        if ids.is_empty() {
            return;
        }
        if let Err(complaint) = client::cancel(&ids) {
            self.desk.open().say(format!("jobs could not be cancelled, which is tried again ({complaint})"));
        }
        self.hurry();
    }
}

/// Whether Slurm is to be asked to end it, now.
fn must_cancel(entry: &Entry, now: Instant) -> bool {
    let due = |last: Option<Instant>| last.is_none_or(|last| now.duration_since(last) >= CANCEL_AGAIN);
    entry.is_out() && entry.id.is_some() && entry.doomed.is_some_and(|(_, last)| due(last))
}

/// Why Slurm sent a signal, if it did.
fn purpose(ending: Ending, request: &Request) -> Option<Cause> {
    let evidence = Evidence { ending: Some(ending), exit: None, since: Duration::MAX, taken: true };
    verdict(&evidence, request, Duration::ZERO).filter(Cause::is_purpose)
}
