//! The thread that talks to Slurm.
//!
//! It does one thing at a time: cancels, submits, looks for manifests, asks how jobs stand. The books are open only while it reads from
//! them or writes into them, never during a call.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::books::{Books, Desk, Entry};
use super::replies::{self, Ending, Lines, Refusal};
use super::script::{self, Batch};
use super::verdict::{Evidence, verdict};
use super::{Lowered, Settings, client};
use crate::batch::{BatchId, JobState};
use crate::job::points::point;
use crate::job::{Attempt, Cause, Digest, FileError, Outcome, Submission, Ticket, host};
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

/// How long a submission of which nobody knows may be on its way before it is made again.
const ON_ITS_WAY: Duration = Duration::from_secs(3);

/// How long Slurm may know the cause of a signal later than the job.
const HEARSAY: Duration = Duration::from_secs(30);

/// The pause before a job that does not end is cancelled again, and how long that goes on.
const CANCEL_AGAIN: Duration = Duration::from_secs(10);
const CANCEL_PATIENCE: Duration = Duration::from_secs(60);

/// How long queries may fail before people are told.
const SILENCE: Duration = Duration::from_secs(10);

/// How many jobs are asked for one by one in a cycle.
const DETAILS_AT_ONCE: usize = 8;

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
    /// Since when queries fail.
    silent: Option<Instant>,
    /// Whether there is an accounting to ask.
    accounting: bool,
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
        Clerk {
            settings,
            desk,
            look_at: now,
            query_at: now,
            query_pause: SHORTEST_QUERY,
            submit_at: now,
            submit_pause: SHORTEST_RETRY,
            silent: None,
            accounting: true,
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

    fn submit(&mut self) {
        while Instant::now() >= self.submit_at {
            let drafts = self.draft();
            if drafts.is_empty() {
                return;
            }
            self.hand_in(&drafts);
        }
    }

    /// What is to be submitted together next, out of the queue: one job, or those of one statement.
    pub(super) fn draft(&mut self) -> Vec<Draft> {
        let mut books = self.desk.open();
        let room = self.settings.cluster.most_jobs.map_or(usize::MAX, |most| (most as usize).saturating_sub(books.out()));
        if books.over || books.queue.is_empty() {
            return Vec::new();
        }
        if room == 0 {
            self.submit_at = self.query_at.max(Instant::now() + SHORTEST_LOOK);
            books.say("the site allows no more jobs at a time; the others wait".to_owned());
            return Vec::new();
        }
        let most = room.min(self.settings.cluster.largest_array as usize);
        let mut drafts: Vec<Draft> = Vec::new();
        let mut group = None;
        while let Some(id) = books.queue.front().cloned() {
            let Some(entry) = books.jobs.get(&id) else {
                books.queue.pop_front();
                continue;
            };
            let belongs =
                drafts.first().is_none_or(|first| entry.group.is_some() && entry.group == group && entry.request == first.request);
            if !belongs || drafts.len() == most {
                break;
            }
            group = entry.group;
            drafts.push(Draft { id: id.clone(), name: entry.name.clone(), attempt: entry.attempt.clone(), request: entry.request.clone() });
            books.queue.pop_front();
        }
        drafts
    }

    /// First the intent is in the store, then Slurm is asked, then its answer is in the store.
    fn hand_in(&mut self, drafts: &[Draft]) {
        let tag = new_tag(&self.settings);
        let submission = match self.prepare(drafts, &tag) {
            Ok(submission) => submission,
            Err(cause) => {
                let mut books = self.desk.open();
                drafts.iter().filter_map(|draft| books.jobs.get_mut(&draft.id).map(|entry| entry.conclude(Err(cause.clone())))).count();
                return;
            }
        };
        self.enter_tickets(drafts, &tag);
        point();
        let reply = client::submit(&submission);
        point();
        // the answer that counts is the id, which is found by the tag if it cannot be kept here
        let _ = submission.note_reply(&format!("{}{}", reply.stdout, reply.stderr));
        let complaint = reply.complaint();
        match (reply.is_well().then(|| replies::accepted(&reply.stdout)).flatten(), replies::refusal(&reply.stderr)) {
            (Some(id), _) => self.accepted(drafts, &submission, &id),
            (None, Refusal::Permanent) => self.refused(drafts, &complaint),
            (None, Refusal::Limit) => self.put_back(drafts, &submission, &complaint),
            (None, Refusal::Unclear) => self.unclear(drafts, &complaint),
        }
    }

    fn prepare(&self, drafts: &[Draft], tag: &str) -> Result<Submission, Cause> {
        let Settings { cluster, jobs, program, directory } = &*self.settings;
        let unable = |error: FileError| Cause::NeverStarted { reason: error.to_string() };
        let Some(first) = drafts.first() else { return Err(Cause::NeverStarted { reason: "no job".to_owned() }) };
        let queue = cluster.choose(&first.request).map_err(|fault| Cause::Refused { reason: fault.message })?;
        let path = |draft: &Draft| script::within(draft.attempt.path(), jobs).map(str::to_owned);
        let attempts: Option<Vec<String>> = drafts.iter().map(path).collect();
        let attempts = attempts.ok_or_else(|| Cause::NeverStarted { reason: format!("the job is not in {jobs:?}") })?;
        // parts are called `name 1/9`
        let name = script::job_name(first.name.split(' ').next().unwrap_or_default(), tag);
        let lowered = Lowered::new(&first.request, cluster, queue);
        let batch = Batch { name: &name, lowered: &lowered, cluster, jobs, attempts: &attempts, program, directory };
        let command = client::command(directory, &Submission::at(jobs, tag));
        let submission = Submission::create(jobs, tag, &script::script(&batch), &command).map_err(unable)?;
        for (ticket, draft) in tickets(drafts, tag) {
            draft.attempt.note_ticket(&ticket).map_err(unable)?;
        }
        Ok(submission)
    }

    pub(super) fn enter_tickets(&self, drafts: &[Draft], tag: &str) {
        let now = Instant::now();
        let mut books = self.desk.open();
        for (ticket, draft) in tickets(drafts, tag) {
            if let Some(entry) = books.jobs.get_mut(&draft.id) {
                entry.ticket = Some(ticket);
                entry.id = None;
                entry.unclear = Some(now);
                entry.missing = None;
                entry.ended = None;
            }
        }
    }

    fn accepted(&mut self, drafts: &[Draft], submission: &Submission, id: &str) {
        let kept = submission.accept(id);
        let mut books = self.desk.open();
        for draft in drafts {
            if let Some(entry) = books.jobs.get_mut(&draft.id) {
                entry.id = Some(id.to_owned());
                entry.unclear = None;
            }
        }
        if let Err(error) = kept {
            books.say(format!("job {id} was submitted, but that cannot be kept: {error}"));
        }
        drop(books);
        self.submit_pause = SHORTEST_RETRY;
        self.hurry();
    }

    fn refused(&self, drafts: &[Draft], complaint: &str) {
        let cause = Cause::Refused { reason: complaint.to_owned() };
        let mut books = self.desk.open();
        for draft in drafts {
            // without a word a later run would ask Slurm for it
            let _ = draft.attempt.note_verdict(&cause);
            books.jobs.get_mut(&draft.id).into_iter().for_each(|entry| entry.conclude(Err(cause.clone())));
        }
    }

    fn put_back(&mut self, drafts: &[Draft], submission: &Submission, complaint: &str) {
        // there will be another one, and this one says nothing
        let _ = fs::remove_dir_all(submission.path());
        let mut books = self.desk.open();
        for draft in drafts.iter().rev() {
            if let Some(entry) = books.jobs.get_mut(&draft.id) {
                entry.ticket = None;
                entry.unclear = None;
                match entry.doomed {
                    Some(_) => entry.conclude(Err(Cause::Cancelled)),
                    None => books.queue.push_front(draft.id.clone()),
                }
            }
        }
        books.say(format!("the cluster takes no more jobs now; the others wait ({complaint})"));
        drop(books);
        self.pause_submitting();
    }

    fn unclear(&mut self, drafts: &[Draft], complaint: &str) {
        let now = Instant::now();
        let mut books = self.desk.open();
        for draft in drafts {
            books.jobs.get_mut(&draft.id).into_iter().for_each(|entry| entry.unclear = Some(now));
        }
        books.say(format!("a submission was not answered; before it is made again, Slurm is asked whether it was taken ({complaint})"));
        drop(books);
        self.pause_submitting();
        self.hurry();
    }

    fn pause_submitting(&mut self) {
        self.submit_at = Instant::now() + self.submit_pause;
        self.submit_pause = (2 * self.submit_pause).min(LONGEST_RETRY);
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
        for (id, attempt) in self.out() {
            let manifest = attempt.manifest();
            if !matches!(manifest, Ok(None)) {
                let by_signal = matches!(manifest, Ok(Some(manifest)) if matches!(manifest.outcome, Outcome::Failure { cause: Cause::Signal { .. }, .. }));
                self.found(&id, by_signal);
            }
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
            let Some(line) = replies::line(lines, &ticket.tag, ticket.index) else {
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

    /// The exit status of jobs that failed by themselves; whether there still is a job that the query left out.
    fn ask_for_details(&self) {
        let wants = |entry: &&Entry| {
            entry.is_out() && (entry.missing.is_some() || matches!(entry.ended, Some((_, Ending::Failed))) && entry.exit.is_none())
        };
        let ids: BTreeSet<String> = self.desk.open().jobs.values().filter(wants).filter_map(|entry| entry.id.clone()).collect();
        for id in ids.into_iter().take(DETAILS_AT_ONCE) {
            if let Ok(lines) = client::details(&id) {
                self.hear_more(&lines);
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
        match answer {
            Ok(lines) => self.hear_more(lines),
            Err(complaint) if client::is_without_accounting(complaint) => self.accounting = false,
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
            let line = entry.ticket.as_ref().and_then(|ticket| replies::line(lines, &ticket.tag, ticket.index));
            if let Some(line) = line {
                entry.hear(line, now);
                entry.id.get_or_insert_with(|| line.id.clone());
            }
        }
    }

    /// What Slurm was asked for and does not have goes to the queue again.
    pub(super) fn submit_again(&self) {
        let now = Instant::now();
        let mut books = self.desk.open();
        let Books { jobs, queue, .. } = &mut *books;
        let lost = |entry: &Entry| {
            entry.is_out() && entry.id.is_none() && entry.unclear.is_some_and(|since| now.duration_since(since) >= ON_ITS_WAY)
        };
        for (id, entry) in jobs.iter_mut().filter(|(_, entry)| lost(entry)).rev() {
            entry.ticket = None;
            entry.unclear = None;
            entry.state = JobState::Waiting;
            match entry.doomed {
                Some(_) => entry.conclude(Err(Cause::Cancelled)),
                None => queue.push_front(id.clone()),
            }
        }
    }

    /// Ends jobs by Slurm's word that have left none themselves.
    fn judge(&self) {
        let now = Instant::now();
        let patience = self.settings.cluster.unknown_after;
        let evidence = |entry: &Entry| {
            let since = entry.ended.map(|(since, _)| since).or(entry.missing)?;
            let taken = matches!(entry.attempt.holder(), Ok(Some(_)));
            let evidence =
                Evidence { ending: entry.ended.map(|(_, ending)| ending), exit: entry.exit, since: now.duration_since(since), taken };
            verdict(&evidence, &entry.request, patience)
        };
        let condemned: Vec<(BatchId, Arc<Attempt>, Cause)> = {
            let books = self.desk.open();
            let out = books.jobs.iter().filter(|(_, entry)| entry.is_out());
            out.filter_map(|(id, entry)| Some((id.clone(), entry.attempt.clone(), evidence(entry)?))).collect()
        };
        for (id, attempt, cause) in condemned {
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

/// The jobs of a submission with what they are found by.
fn tickets<'d>(drafts: &'d [Draft], tag: &str) -> impl Iterator<Item = (Ticket, &'d Draft)> {
    let is_array = drafts.len() > 1;
    drafts.iter().zip(1..).map(move |(draft, index)| (Ticket { tag: tag.to_owned(), index: is_array.then_some(index) }, draft))
}

/// A tag that nobody else has.
fn new_tag(settings: &Settings) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let seed = format!("{} {} {time} {count} {:?}", host(), std::process::id(), settings.jobs);
    Digest::of(seed.as_bytes()).to_string().chars().take(16).collect()
}
