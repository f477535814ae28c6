//! How jobs get to Slurm, once each.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::{Clerk, Draft, LONGEST_RETRY, ON_ITS_WAY, SHORTEST_LOOK, SHORTEST_RETRY};
use crate::batch::JobState;
use crate::batch::slurm::books::Entry;
use crate::batch::slurm::replies::{self, Refusal};
use crate::batch::slurm::script::{self, Batch};
use crate::batch::slurm::{Lowered, Settings, client};
use crate::job::points::point;
use crate::job::{Cause, Digest, FileError, Holder, Submission, Ticket, host};
use crate::site::Reply;

/// How often a submission is made again that was answered with words that are not known here, and did not arrive.
const MOST_TRIES: u32 = 3;

/// How often a job alone may be refused for there being too many while there is none.
const MOST_REFUSALS: u32 = 5;

impl Clerk {
    /// Makes one submission, if it is time for one: other things are to be done in between.
    pub(super) fn submit(&mut self) {
        if Instant::now() < self.submit_at {
            return;
        }
        let drafts = self.draft();
        if !drafts.is_empty() {
            self.hand_in(&drafts);
        }
    }

    /// What is to be submitted together next, out of the queue: one job, or those of one statement.
    pub(in crate::batch::slurm) fn draft(&mut self) -> Vec<Draft> {
        let mut books = self.desk.open();
        let room = self.settings.cluster.most_jobs.map_or(usize::MAX, |most| (most as usize).saturating_sub(books.out()));
        if books.over || books.queue.is_empty() {
            return Vec::new();
        }
        self.waits_for_room = room == 0;
        if room == 0 {
            self.submit_at = self.query_at.max(Instant::now() + SHORTEST_LOOK);
            books.say("the site allows no more jobs at a time; the others wait".to_owned());
            return Vec::new();
        }
        let most = room.min(self.most_at_once);
        let mut drafts: Vec<Draft> = Vec::new();
        let mut group = None;
        while let Some(id) = books.queue.front().cloned() {
            let Some(entry) = books.jobs.get_mut(&id) else {
                books.queue.pop_front();
                continue;
            };
            let belongs =
                drafts.first().is_none_or(|first| entry.group.is_some() && entry.group == group && entry.request == first.request);
            if !belongs || drafts.len() == most {
                break;
            }
            group = entry.group;
            entry.in_hand = true;
            drafts.push(entry.draft(&id));
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
                for draft in drafts {
                    books.jobs.get_mut(&draft.id).into_iter().for_each(|entry| entry.conclude(Err(cause.clone())));
                }
                return;
            }
        };
        if self.enter_tickets(drafts, &tag) {
            let reply = self.call(&submission, None);
            self.heed(drafts, &submission, &reply);
        } else {
            // somebody has cancelled while it was written
            self.put_back(drafts, &submission);
        }
    }

    /// Asks Slurm to take a submission, or these elements of it.
    fn call(&self, submission: &Submission, elements: Option<&[u32]>) -> Reply {
        self.desk.open().submitting = true;
        point();
        let reply = client::submit(submission, elements);
        point();
        // the answer that counts is the id, which is found by the tag if it cannot be kept here
        let _ = submission.note_reply(&format!("{}{}", reply.stdout, reply.stderr));
        reply
    }

    fn heed(&mut self, drafts: &[Draft], submission: &Submission, reply: &Reply) {
        let complaint = reply.complaint();
        match (reply.is_well(), replies::accepted(&reply.stdout)) {
            (true, Some(id)) => self.accepted(drafts, submission, &id),
            (true, None) => self.unclear(drafts, &format!("sbatch said {:?}", reply.stdout), false),
            (false, _) => match replies::refusal(&reply.stderr) {
                Refusal::Permanent => self.refused(drafts, &complaint),
                Refusal::Limit => self.too_many(drafts, submission, &complaint),
                Refusal::Unclear => self.unclear(drafts, &complaint, true),
                Refusal::Unheard => self.unclear(drafts, &complaint, false),
            },
        }
        self.desk.open().submitting = false;
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

    /// Whether all of it is still wanted, and by a driver that is there.
    pub(in crate::batch::slurm) fn enter_tickets(&self, drafts: &[Draft], tag: &str) -> bool {
        let now = Instant::now();
        let mut books = self.desk.open();
        let unwanted = |draft: &Draft| books.jobs.get(&draft.id).is_none_or(|entry| entry.doomed.is_some());
        if books.over || drafts.iter().any(unwanted) {
            return false;
        }
        for (ticket, draft) in tickets(drafts, tag) {
            if let Some(entry) = books.jobs.get_mut(&draft.id) {
                entry.begin(ticket, now);
            }
        }
        true
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
        self.most_at_once = (2 * self.most_at_once).min(self.settings.cluster.largest_array as usize);
        self.refused_alone = 0;
        self.hurry();
    }

    fn refused(&self, drafts: &[Draft], complaint: &str) {
        let cause = Cause::Refused { reason: complaint.to_owned() };
        for draft in drafts {
            // without a word a later run would ask Slurm for it
            let _ = draft.attempt.note_verdict(&cause);
        }
        let mut books = self.desk.open();
        for draft in drafts {
            books.jobs.get_mut(&draft.id).into_iter().for_each(|entry| entry.conclude(Err(cause.clone())));
        }
    }

    /// The user has too many jobs, or would have: fewer are tried the next time. That there are too many when there is none means that
    /// there will never be fewer.
    fn too_many(&mut self, drafts: &[Draft], submission: &Submission, complaint: &str) {
        let others = self.desk.open().out() > drafts.len();
        self.refused_alone = if drafts.len() == 1 && !others { self.refused_alone + 1 } else { 0 };
        if self.refused_alone >= MOST_REFUSALS {
            self.refused(drafts, complaint);
            return;
        }
        self.most_at_once = (drafts.len() / 2).max(1);
        self.put_back(drafts, submission);
        self.desk.open().say(format!("the cluster takes no more jobs now; the others wait ({complaint})"));
        self.pause_submitting();
    }

    /// Nothing was submitted.
    fn put_back(&self, drafts: &[Draft], submission: &Submission) {
        // there will be another one, and this one says nothing
        let _ = fs::remove_dir_all(submission.path());
        let mut books = self.desk.open();
        for draft in drafts.iter().rev() {
            if let Some(entry) = books.jobs.get_mut(&draft.id) {
                entry.forget();
                match entry.doomed {
                    Some(_) => entry.conclude(Err(Cause::Cancelled)),
                    None => books.queue.push_front(draft.id.clone()),
                }
            }
        }
    }

    /// Nobody knows whether it was taken. If sbatch has `answered`, in words that are not known here, it is not asked for ever.
    fn unclear(&mut self, drafts: &[Draft], complaint: &str, answered: bool) {
        let now = Instant::now();
        let mut books = self.desk.open();
        for draft in drafts {
            if let Some(entry) = books.jobs.get_mut(&draft.id) {
                entry.unclear = Some(now);
                entry.tries += u32::from(answered);
                entry.complaint = answered.then(|| complaint.into());
            }
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

    /// What Slurm was asked for and does not have is asked for again, under the same tag: should it come twice, either is found by it.
    pub(in crate::batch::slurm) fn submit_again(&mut self) {
        for (tag, lost) in self.lost() {
            let submission = Submission::at(&self.settings.jobs, &tag);
            let (drafts, elements): (Vec<Draft>, Vec<Option<u32>>) = lost.into_iter().unzip();
            let elements: Option<Vec<u32>> = elements.into_iter().collect();
            if Instant::now() < self.submit_at || self.desk.open().over {
                return;
            }
            if submission.script().exists() {
                let reply = self.call(&submission, elements.as_deref());
                self.heed(&drafts, &submission, &reply);
            } else {
                self.put_back(&drafts, &submission);
            }
        }
    }

    /// Jobs that did not arrive, by their tags. Those that nobody wants any more are given up, so that they never begin.
    pub(in crate::batch::slurm) fn lost(&self) -> BTreeMap<String, Vec<(Draft, Option<u32>)>> {
        let now = Instant::now();
        let mut lost: BTreeMap<String, Vec<(Draft, Option<u32>)>> = BTreeMap::new();
        let mut books = self.desk.open();
        let did_not_arrive = |entry: &Entry| {
            entry.is_out() && entry.id.is_none() && entry.unclear.is_some_and(|since| now.duration_since(since) >= ON_ITS_WAY)
        };
        for (id, entry) in books.jobs.iter_mut().filter(|(_, entry)| did_not_arrive(entry)) {
            let Some(Ticket { tag, index }) = entry.ticket.clone() else { continue };
            if entry.doomed.is_some() {
                // one that has begun after all goes on, which the next run will see
                let _ = entry.attempt.take(&Holder::nobody());
                entry.conclude(Err(Cause::Cancelled));
            } else if let Some(complaint) = entry.complaint.clone().filter(|_| entry.tries >= MOST_TRIES) {
                entry.conclude(Err(Cause::Refused { reason: complaint.to_string() }));
            } else {
                entry.state = JobState::Waiting;
                lost.entry(tag).or_default().push((entry.draft(id), index));
            }
        }
        lost
    }
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

impl Entry {
    fn draft(&self, id: &crate::batch::BatchId) -> Draft {
        Draft { id: id.clone(), name: Arc::clone(&self.name), attempt: self.attempt.clone(), request: self.request.clone() }
    }
}
