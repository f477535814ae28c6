//! The books of a run's jobs: prepared, submitted, watched, their results taken.
//!
//! A result is kept under its task's key. A task whose key has a result takes it; tasks of one key share one job. Tasks that read
//! files whose names are not known beforehand are computed anew in each run, since the key does not cover what is in the files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::perform::{Done, Prepared};
use super::totals::Totals;
use super::watch::{Event, EventKind, Running, Watcher};
use super::{Batch, Program};
use crate::batch::{BatchId, JobSpec, JobState, SubmitError, Waker, judge};
use crate::diagnostic::{Diagnostic, Fault};
use crate::graph::{self, TaskId, TaskKind};
use crate::job::{
    self, Attempt, Cause, Description, Digest, FileError, Holder, Job, Kept, Life, Manifest, Outcome, Parts, Submission, Text, Written,
};
use crate::model::{ExprKind, VarId};
use crate::resources::Request;
use crate::site::Retries;
use crate::source::Span;
use crate::store::{self, End, Entry, State, Wishes};
use crate::value::Value;

/// How jobs are kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory of all job directories.
    pub jobs: PathBuf,
    /// Whether kept results are ignored.
    pub fresh: bool,
    /// Which failed jobs are tried again.
    pub retries: Retries,
    /// Whether nothing is begun: what is not kept is noted, and has no value.
    pub only_look: bool,
    /// Whether the directory can only be read: what is not kept cannot be computed, and what others compute is none of this run's business.
    pub read_only: bool,
}

/// How many jobs ended how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub done: usize,
    pub failed: usize,
    pub cancelled: usize,
    pub kept: usize,
}

/// How long a user who interrupts may decide to cancel all jobs instead of leaving them to the batch system.
const LEAVING: Duration = Duration::from_secs(3);

/// How many lines of a failed job's log are shown.
const LOG_LINES: usize = 20;

/// The jobs of a run.
pub struct Jobs<'b> {
    program: Program,
    batch: Batch<'b>,
    active: BTreeMap<BatchId, Active>,
    by_key: HashMap<Digest, BatchId>,
    /// Of this run, by key: what failed is not tried again for the next task that computes the same.
    failures: HashMap<Digest, Failure>,
    /// Jobs that failed and are going to be tried again.
    pausing: Vec<Pausing>,
    /// Of the program, once they are kept.
    texts: Option<Vec<Text>>,
    /// Values that are on the disk.
    written: Written,
    cancelled: bool,
    /// Someone wants all to end.
    unwanted: bool,
    /// Tasks that someone wants to end, or not to begin, by their names or by those of their variables.
    unwanted_tasks: HashSet<String>,
    /// Since when the driver is about to leave its jobs to the batch system.
    leaving: Option<Instant>,
    pub counts: Counts,
    pub totals: Totals,
    /// What the user should know of, though nothing is missing.
    pub warnings: Vec<Diagnostic>,
}

/// A job that failed.
struct Failure {
    id: BatchId,
    job: Active,
    cause: Cause,
    diagnostics: Vec<Diagnostic>,
}

/// A job that is not over.
struct Active {
    /// Of the task, for people.
    name: Arc<str>,
    attempt: Attempt,
    key: Digest,
    walltime: Option<Duration>,
    /// When it was seen to run for the first time.
    began: Option<Instant>,
    order: Order,
}

/// What is to be computed, for whom, and what came of it so far.
struct Order {
    prepared: Prepared,
    /// All that wait for it.
    tasks: Vec<(TaskId, VarId)>,
    /// Why it failed in this run before, the first time first.
    failed: Vec<Cause>,
    /// Whether someone outside wants it to end.
    unwanted: bool,
}

/// A job before its next try.
struct Pausing {
    until: Instant,
    name: Arc<str>,
    key: Digest,
    /// The number of the last attempt.
    attempt: u32,
    order: Order,
}

impl<'b> Jobs<'b> {
    /// No jobs yet.
    pub fn new(program: Program, batch: Batch<'b>) -> Self {
        Jobs {
            program,
            batch,
            active: BTreeMap::new(),
            by_key: HashMap::new(),
            failures: HashMap::new(),
            pausing: Vec::new(),
            texts: None,
            written: Written::default(),
            cancelled: false,
            unwanted: false,
            unwanted_tasks: HashSet::new(),
            leaving: None,
            counts: Counts::default(),
            totals: Totals::default(),
            warnings: Vec::new(),
        }
    }

    /// Has someone told when a poll may have news.
    pub fn wake(&mut self, waker: Waker) {
        self.batch.system.wake(waker);
    }

    /// Whether the user wants to stop: nothing more is to be submitted.
    pub fn is_stopping(&self) -> bool {
        self.wants_end() || self.leaving.is_some() || self.batch.interrupted.load(Ordering::Relaxed)
    }

    /// Whether all jobs are to end.
    fn wants_end(&self) -> bool {
        self.cancelled || self.unwanted || !self.batch.system.outlives_driver() && self.batch.interrupted.load(Ordering::Relaxed)
    }

    /// How many jobs are worth writing before they are submitted together.
    pub fn at_once(&self) -> usize {
        self.batch.system.jobs_at_once()
    }

    /// How many jobs go on although the run is over.
    pub fn left(&self) -> usize {
        if self.leaving.is_some() { self.batch.system.left() } else { 0 }
    }

    /// Takes note of a line that was printed.
    pub fn record_line(&mut self, line: &str) {
        self.batch.recorder.note(store::Event::Line(line.into()));
    }

    fn record(&mut self, task: TaskId, state: State) {
        self.batch.recorder.note(store::Event::State { task: task.index() as u32, state: Box::new(state) });
    }

    /// Whether the user stopped the run, and all jobs are over or left to the batch system.
    pub fn is_interrupted(&self) -> bool {
        let left = !self.wants_end() && self.leaving.is_some_and(|since| since.elapsed() >= LEAVING);
        left || (self.cancelled || self.leaving.is_some()) && self.active.is_empty()
    }

    /// Submits tasks; those whose results are there, or that cannot be submitted, are settled at once.
    pub fn submit(&mut self, prepared: Vec<(TaskId, Prepared)>) -> Vec<(TaskId, Done)> {
        let mut settled = Vec::new();
        let mut pending = Pending::default();
        for (task, prepared) in prepared {
            let variable = prepared.variable;
            match self.take(task, prepared, &mut pending) {
                Ok(None) => {}
                Ok(Some(done)) => settled.push((task, done)),
                Err(error) => settled.extend(self.unusable(&[(task, variable)], &error)),
            }
        }
        settled.extend(self.send(pending));
        settled
    }

    /// The value that is kept for a task, or the failure that it shares, or nothing after the task was joined to a job: one of this run,
    /// one that an earlier run left behind, or a new one.
    fn take(&mut self, task: TaskId, prepared: Prepared, pending: &mut Pending) -> Result<Option<Done>, FileError> {
        let digests = &prepared.digests;
        let files = prepared.files.as_deref().unwrap_or_default();
        let key = job::key(&prepared.task, digests, files)?;
        let parts = Parts::of(&prepared.task, digests, files)?;
        self.batch.recorder.note(store::Event::Task(Box::new(self.entry(task, &prepared, key, parts))));
        let reusable = !self.batch.settings.fresh && prepared.files.is_some();
        if let Some(kept) = if reusable { self.kept(key, &prepared)? } else { None } {
            return Ok(Some(self.take_kept(task, &prepared, kept)));
        }
        if let Some(failure) = self.failures.get(&key) {
            let (cause, faults) = (failure.cause.clone(), self.failure(prepared.variable, failure));
            self.record(task, State::Ended(End { cause: Some(cause), times: None, usage: None }));
            return Ok(Some(Done::Failed(faults)));
        }
        if self.batch.settings.only_look {
            let running = reusable && self.is_running(key);
            self.record(task, State::Lacking { running });
            return Ok(Some(Done::Failed(Vec::new())));
        }
        if self.batch.settings.read_only {
            return Err(read_only(&self.batch.settings.jobs));
        }
        let waiter = (task, prepared.variable);
        if !self.unwanted_tasks.is_empty() && self.names(&waiter).iter().any(|name| self.unwanted_tasks.contains(name)) {
            return Ok(Some(self.never_begin(waiter)));
        }
        if let Some(attempt) = self.share(key, waiter, pending) {
            self.record(task, State::Shared { attempt });
            return Ok(None);
        }
        let found = if reusable { self.adopt(key, &prepared)? } else { None };
        // a job that was left behind may have ended between the two looks
        let again = reusable && found.is_none();
        if let Some(kept) = if again { Job::at(&self.batch.settings.jobs, key).kept()?.found } else { None } {
            return Ok(Some(self.take_kept(task, &prepared, kept)));
        }
        let order = Order { prepared, tasks: vec![waiter], failed: Vec::new(), unwanted: false };
        match found {
            Some((id, spec)) => {
                self.note(spec.name.clone(), EventKind::Adopted { attempt: spec.attempt.number() });
                self.watch(id, spec, order);
            }
            None => pending.add(self.begin(key, &order.prepared)?, order),
        }
        Ok(None)
    }

    fn entry(&self, task: TaskId, prepared: &Prepared, key: Digest, parts: Parts) -> Entry {
        let variable = &self.program.model.variables[prepared.variable.index()];
        let part = match self.program.graph.kind(task) {
            TaskKind::Chunk { index, of, .. } => Some((index, of)),
            TaskKind::Variable(_) | TaskKind::Merge(_) | TaskKind::Output(_) => None,
        };
        Entry {
            task: task.index() as u32,
            name: prepared.task.name.clone(),
            variable: variable.name.clone(),
            part,
            joins: part.is_some() && !matches!(variable.expr.kind, ExprKind::Reduce { .. }),
            key,
            parts: Some(parts),
            knows_files: prepared.files.is_some(),
            request: self.request(prepared),
        }
    }

    fn take_kept(&mut self, task: TaskId, prepared: &Prepared, (attempt, value): (Attempt, Value)) -> Done {
        self.counts.kept += 1;
        self.note(prepared.task.name.clone(), EventKind::Kept);
        self.record(task, State::Kept { attempt: attempt.number() });
        Done::Value(value)
    }

    /// The names by which a task may be meant.
    fn names(&self, (task, id): &(TaskId, VarId)) -> [String; 2] {
        let Program { model, graph, sources, .. } = &self.program;
        [graph::name(graph.kind(*task), model, sources), model.variables[id.index()].name.to_string()]
    }

    /// Someone wanted it to end before it could begin.
    fn never_begin(&mut self, (task, id): (TaskId, VarId)) -> Done {
        self.counts.cancelled += 1;
        self.record_end(&[(task, id)], Some(&Cause::Cancelled), None);
        let [name, _] = self.names(&(task, id));
        Done::Failed(vec![job_failed(&name, &Cause::Cancelled, self.name_span(id))])
    }

    /// What is damaged is no result, but the user should know.
    fn kept(&mut self, key: Digest, prepared: &Prepared) -> Result<Option<(Attempt, Value)>, FileError> {
        let Kept { found, damaged } = Job::at(&self.batch.settings.jobs, key).kept()?;
        let variable = &self.program.model.variables[prepared.variable.index()];
        let becomes = if found.is_some() { "an earlier one is used" } else { "it is computed anew" };
        let warning = |error| damaged_result(&prepared.task.name, &error, becomes, variable.name_span);
        self.warnings.extend(damaged.into_iter().map(warning));
        Ok(found)
    }

    /// Whether a process computes what has this key, or a batch system is going to have it computed.
    fn is_running(&self, key: Digest) -> bool {
        let last = Job::at(&self.batch.settings.jobs, key).attempts().ok().and_then(|mut attempts| attempts.pop());
        let open = last.filter(|attempt| matches!(attempt.manifest(), Ok(None)));
        let held = |attempt: &Attempt| attempt.life().is_some_and(|life| life != Life::Over);
        open.is_some_and(|attempt| attempt.is_submitted() || held(&attempt))
    }

    /// Joins a task to a job of this run that computes the same; gives the number of its attempt.
    fn share(&mut self, key: Digest, waiter: (TaskId, VarId), pending: &mut Pending) -> Option<u32> {
        let active = self.by_key.get(&key).and_then(|id| self.active.get_mut(id));
        let active = active.map(|active| (&mut active.order, active.attempt.number()));
        let pausing = self.pausing.iter_mut().find(|pausing| pausing.key == key).map(|pausing| (&mut pausing.order, pausing.attempt));
        let (order, attempt) = active.or(pausing).or_else(|| pending.of(key))?;
        order.tasks.push(waiter);
        Some(attempt)
    }

    /// The job of a task that a driver which is gone left running. One that it left before it began is given up, so that it never
    /// begins.
    fn adopt(&mut self, key: Digest, prepared: &Prepared) -> Result<Option<(BatchId, JobSpec)>, FileError> {
        for attempt in Job::at(&self.batch.settings.jobs, key).attempts()?.into_iter().rev() {
            if attempt.manifest().is_ok_and(|manifest| manifest.is_some()) {
                continue;
            }
            let spec = self.spec(key, prepared, self.request(prepared), attempt);
            let mut found = self.find(&spec);
            self.warn_of_another_host(&spec, prepared);
            // it may have begun since
            if found.is_none() && !spec.attempt.take(&Holder::nobody())? {
                found = self.find(&spec);
            }
            if let Some(id) = found {
                return Ok(Some((id, spec)));
            }
        }
        Ok(None)
    }

    /// What may run on another machine cannot be asked nor ended from here.
    fn warn_of_another_host(&mut self, spec: &JobSpec, prepared: &Prepared) {
        let holder = spec.attempt.holder().ok().flatten().filter(|holder| holder.life() == Life::Elsewhere && !spec.attempt.is_submitted());
        let span = self.name_span(prepared.variable);
        self.warnings.extend(holder.map(|holder| elsewhere(&prepared.task.name, &holder, span)));
    }

    /// The batch system's job of an attempt.
    fn find(&mut self, spec: &JobSpec) -> Option<BatchId> {
        self.batch.system.find(std::slice::from_ref(spec)).into_iter().next()?.ok()?
    }

    fn begin(&mut self, key: Digest, prepared: &Prepared) -> Result<JobSpec, FileError> {
        let variable = &self.program.model.variables[prepared.variable.index()];
        let request = self.request(prepared);
        let jobs = &self.batch.settings.jobs;
        let inputs: Vec<_> = prepared.inputs.iter().cloned().zip(prepared.digests.iter().copied()).collect();
        let job = Job::create(jobs, key, &prepared.task, &inputs, &mut self.written)?;
        let sources = match &self.texts {
            Some(texts) => texts.clone(),
            None => self.texts.insert(job::texts::keep(jobs, &self.program.sources)?).clone(),
        };
        let files = prepared.files.clone().unwrap_or_default();
        let description = Description { key, task: prepared.task.clone(), request: request.clone(), files, sources };
        let attempt = job.begin(&description, self.program.sources.text(variable.span))?;
        Ok(self.spec(key, prepared, request, attempt))
    }

    fn request(&self, prepared: &Prepared) -> Request {
        let variable = &self.program.model.variables[prepared.variable.index()];
        variable.request.as_ref().map_or(Request::ONE_CORE, |request| request.node.clone())
    }

    fn spec(&self, key: Digest, prepared: &Prepared, request: Request, attempt: Attempt) -> JobSpec {
        let chunked = self.program.model.variables[prepared.variable.index()].chunks.is_some();
        JobSpec { name: prepared.task.name.clone(), key, attempt, request, group: chunked.then_some(prepared.variable.0) }
    }

    fn send(&mut self, pending: Pending) -> Vec<(TaskId, Done)> {
        let mut refused = Vec::new();
        let answers = if pending.specs.is_empty() { Vec::new() } else { self.batch.system.submit(&pending.specs) };
        for ((spec, order), answer) in pending.specs.into_iter().zip(pending.orders).zip(answers) {
            let (fault, cause) = match answer {
                Ok(id) => {
                    self.watch(id, spec, order);
                    continue;
                }
                Err(SubmitError::Transient(fault)) => (fault.clone(), Some(Cause::NeverStarted { reason: fault.message })),
                Err(SubmitError::Permanent(fault)) => (fault, None),
            };
            let again = cause.and_then(|cause| self.batch.settings.retries.pause(&cause, &order.failed).map(|pause| (cause, pause)));
            // an attempt that was taken after all is not given up here, and found by the next run
            if let Some((cause, pause)) = again.filter(|_| spec.attempt.take(&Holder::nobody()).is_ok_and(|given_up| given_up)) {
                self.pause(spec.name, spec.key, spec.attempt.number(), order, cause, pause);
                continue;
            }
            self.counts.failed += 1;
            self.record_end(&order.tasks, Some(&Cause::NeverStarted { reason: fault.message.clone() }), None);
            let failed = |(task, variable)| (task, Done::Failed(vec![self.refused(variable, &fault)]));
            refused.extend(order.tasks.into_iter().map(failed));
        }
        refused
    }

    fn watch(&mut self, id: BatchId, spec: JobSpec, order: Order) {
        let JobSpec { name, key, attempt, request, .. } = spec;
        if let Some((task, _)) = order.tasks.first() {
            self.record(*task, State::Waiting { attempt: attempt.number(), job: id.0.clone() });
        }
        self.by_key.insert(key, id.clone());
        self.active.insert(id, Active { name, attempt, key, walltime: request.duration(), began: None, order });
    }

    /// The first task has the job; to the others only a failure is news.
    fn record_end(&mut self, tasks: &[(TaskId, VarId)], cause: Option<&Cause>, manifest: Option<&Manifest>) {
        for (index, (task, _)) in tasks.iter().enumerate() {
            let known = manifest.filter(|_| index == 0);
            let times = known.map(|manifest| (manifest.started, manifest.ended));
            if index == 0 || cause.is_some() {
                self.record(*task, State::Ended(End { cause: cause.cloned(), times, usage: known.map(|manifest| manifest.usage) }));
            }
        }
    }

    fn note(&mut self, name: Arc<str>, kind: EventKind) {
        self.batch.watcher.note(&Event { name, kind });
    }

    /// Whether someone wants to see how they stand.
    pub fn is_watched(&self) -> bool {
        self.batch.watcher.wants_progress()
    }

    /// Who watches the jobs, what of them runs, the longest first, and how many wait for another try.
    pub fn view(&mut self) -> (&mut dyn Watcher, Vec<Running>, usize) {
        let now = Instant::now();
        let running = |active: &Active| {
            let time = now.duration_since(active.began?);
            Some(Running { name: active.name.clone(), time, walltime: active.walltime })
        };
        let mut running: Vec<_> = self.active.values().filter_map(running).collect();
        running.sort_by(|left, right| right.time.cmp(&left.time).then_with(|| left.name.cmp(&right.name)));
        (&mut *self.batch.watcher, running, self.pausing.len())
    }

    /// Begins what has waited long enough for another try; when the user stops the run, nothing is tried any more.
    fn try_again(&mut self) -> Vec<(TaskId, Done)> {
        let now = Instant::now();
        let stopping = self.wants_end();
        if self.is_stopping() && !stopping {
            return Vec::new();
        }
        let is_due = |pausing: &mut Pausing| stopping || pausing.order.unwanted || pausing.until <= now;
        let due: Vec<Pausing> = self.pausing.extract_if(.., is_due).collect();
        let mut settled = Vec::new();
        let mut pending = Pending::default();
        for Pausing { name, key, order, .. } in due {
            if stopping || order.unwanted {
                self.counts.cancelled += 1;
                self.record_end(&order.tasks, Some(&Cause::Cancelled), None);
                // that the user ended the run is said once, of all
                let said = |id: &VarId| (!stopping).then(|| job_failed(&name, &Cause::Cancelled, self.name_span(*id)));
                settled.extend(order.tasks.iter().map(|(task, id)| (*task, Done::Failed(said(id).into_iter().collect()))));
                continue;
            }
            match self.begin(key, &order.prepared) {
                Ok(spec) => pending.add(spec, order),
                Err(error) => settled.extend(self.unusable(&order.tasks, &error)),
            }
        }
        settled.extend(self.send(pending));
        settled
    }

    /// The user does not want to wait any longer: jobs that need no driver are left alone, unless this is the second time.
    fn heed_interrupt(&mut self) {
        if !self.batch.system.outlives_driver() || !self.batch.interrupted.swap(false, Ordering::Relaxed) {
            return;
        }
        if self.leaving.is_some() {
            self.unwanted = true;
            self.batch.watcher.say("cancelling all jobs");
        } else {
            self.leaving = Some(Instant::now());
            let text = format!("leaving; jobs go on, unless you interrupt again within {} s, which cancels them", LEAVING.as_secs());
            self.batch.watcher.say(&text);
        }
    }

    /// What has ended since the last look. When the user stopped the run, all jobs are ended that do not outlive it.
    pub fn poll(&mut self) -> Vec<(TaskId, Done)> {
        self.heed_interrupt();
        self.heed();
        for text in self.batch.system.news() {
            self.batch.watcher.say(&text);
        }
        let mut settled = self.try_again();
        if self.wants_end() && !std::mem::replace(&mut self.cancelled, true) {
            let ids: Vec<BatchId> = self.active.keys().cloned().collect();
            // a refusal shows in the next polls: the job is still there
            let _ = self.batch.system.cancel(&ids);
        }
        for (id, state) in self.batch.system.poll() {
            settled.extend(self.look(&id, &state));
        }
        settled
    }

    /// Ends what someone outside wants ended.
    fn heed(&mut self) {
        let Wishes { all, tasks } = self.batch.recorder.wishes();
        self.unwanted |= all;
        if tasks.is_empty() {
            return;
        }
        let tasks: HashSet<String> = tasks.into_iter().collect();
        let is_meant = |order: &Order| order.tasks.iter().any(|waiter| self.names(waiter).iter().any(|name| tasks.contains(name)));
        let ids: Vec<BatchId> = self.active.iter().filter(|(_, active)| is_meant(&active.order)).map(|(id, _)| id.clone()).collect();
        let pausing: Vec<usize> = (0..self.pausing.len()).filter(|index| is_meant(&self.pausing[*index].order)).collect();
        for id in &ids {
            self.active.get_mut(id).into_iter().for_each(|active| active.order.unwanted = true);
        }
        pausing.into_iter().for_each(|index| self.pausing[index].order.unwanted = true);
        // what has not begun is met when its inputs are there
        self.unwanted_tasks.extend(tasks);
        // a refusal shows in the next polls: the job is still there
        let _ = self.batch.system.cancel(&ids);
    }

    fn look(&mut self, id: &BatchId, state: &JobState) -> Vec<(TaskId, Done)> {
        let Some(active) = self.active.get_mut(id) else { return Vec::new() };
        // a manifest may be there before the process is gone; the batch system must see it go
        if !matches!(state, JobState::Ended(_)) {
            if *state == JobState::Running && active.began.is_none() {
                active.began = Some(Instant::now());
                let (name, attempt) = (active.name.clone(), active.attempt.number());
                let first = active.order.tasks.first().map(|(task, _)| *task);
                first.into_iter().for_each(|task| self.record(task, State::Running));
                self.note(name, EventKind::Started { attempt });
            }
            return Vec::new();
        }
        let manifest = active.attempt.manifest();
        let result = match manifest.as_ref().map(|manifest| judge(manifest.as_ref(), state)) {
            Ok(None) => return Vec::new(),
            Ok(Some(Outcome::Success { result })) => {
                self.written.note_result(result.sha256, active.attempt.path().join(&result.file));
                active.attempt.result(&result).map_err(|error| unreadable(&error))
            }
            Ok(Some(Outcome::Failure { .. })) if !active.attempt.path().is_dir() => Err(removed(active.attempt.path())),
            Ok(Some(Outcome::Failure { cause, diagnostics })) => Err((cause, diagnostics)),
            Err(error) => Err(unreadable(error)),
        };
        let Some(active) = self.active.remove(id) else { return Vec::new() };
        self.by_key.remove(&active.key);
        let took = active.began.map(|began| began.elapsed());
        let manifest = manifest.ok().flatten();
        let request = self.request(&active.order.prepared);
        match (&manifest, took) {
            (Some(manifest), _) => self.totals.add(&active.name, &request, manifest),
            (None, Some(took)) => self.totals.add_unspoken(&request, took),
            (None, None) => {}
        }
        let cause = result.as_ref().err().map(|(cause, _)| cause.clone());
        let may_retry = !self.is_stopping() && !active.order.unwanted;
        let again = cause.clone().filter(|_| may_retry);
        let again = again.and_then(|cause| self.batch.settings.retries.pause(&cause, &active.order.failed).map(|pause| (cause, pause)));
        // what is going to be tried again has not ended
        if let Some((cause, pause)) = again {
            self.pause(active.name, active.key, active.attempt.number(), active.order, cause, pause);
            return Vec::new();
        }
        self.record_end(&active.order.tasks, cause.as_ref(), manifest.as_ref());
        match result {
            Ok(value) => {
                self.counts.done += 1;
                self.counts.kept += active.order.tasks.len().saturating_sub(1);
                self.note(active.name, EventKind::Done { took });
                active.order.tasks.into_iter().map(|(task, _)| (task, Done::Value(value.clone()))).collect()
            }
            // that the user ended it is said once, of all
            Err((Cause::Cancelled, _)) if self.cancelled => {
                self.counts.cancelled += 1;
                active.order.tasks.into_iter().map(|(task, _)| (task, Done::Failed(Vec::new()))).collect()
            }
            Err((cause, diagnostics)) => {
                let count = if cause == Cause::Cancelled { &mut self.counts.cancelled } else { &mut self.counts.failed };
                *count += 1;
                self.note(active.name.clone(), EventKind::Failed { cause: cause.clone(), took });
                let (key, tasks) = (active.key, active.order.tasks.clone());
                let failure = Failure { id: id.clone(), job: active, cause, diagnostics };
                let failed = |(task, variable)| (task, Done::Failed(self.failure(variable, &failure)));
                let failed = tasks.into_iter().map(failed).collect();
                self.failures.insert(key, failure);
                failed
            }
        }
    }

    /// Puts a job that failed aside until its next try.
    fn pause(&mut self, name: Arc<str>, key: Digest, attempt: u32, mut order: Order, cause: Cause, pause: Duration) {
        order.failed.push(cause.clone());
        order.tasks.first().into_iter().for_each(|(task, _)| self.record(*task, State::Pausing { attempt }));
        self.note(name.clone(), EventKind::Retried { cause, pause });
        self.pausing.push(Pausing { until: Instant::now() + pause, name, key, attempt, order });
    }

    /// Source line, cause, log and its last lines.
    fn failure(&self, id: VarId, failure: &Failure) -> Vec<Diagnostic> {
        let Failure { id: job, job: active, cause, diagnostics } = failure;
        let variable = &self.program.model.variables[id.index()];
        let log = active.attempt.stderr();
        let ticket = active.attempt.ticket().ok().flatten();
        let jobs = &self.batch.settings.jobs;
        let submission = ticket.as_ref().map(|ticket| Submission::at(jobs, &ticket.tag));
        let called = match (&ticket, &submission) {
            (Some(ticket), Some(submission)) => {
                ticket.job(jobs).unwrap_or_else(|| format!("without a number, submitted in {}", submission.path().display()))
            }
            _ => job.to_string(),
        };
        // parts are called `name 1/9`
        let part = active.name.split_once(' ').map_or_else(String::new, |(_, part)| format!("part {part}, "));
        let place = format!("{part}job {called}, log {}", log.display());
        if matches!(cause, Cause::Evaluation) && !diagnostics.is_empty() {
            let evaluated = diagnostics.iter().cloned();
            return evaluated.map(|fault| fault.label(variable.name_span, "while computing this").note(place.clone())).collect();
        }
        let mut fault = job_failed(&variable.name, cause, variable.name_span).note(place);
        if let Some(tail) = tail(&log) {
            fault = fault.note(format!("its last lines:\n{tail}"));
        }
        let words = submission.zip(ticket).map(|(submission, ticket)| submission.log(ticket.index));
        if let Some((words, tail)) = words.and_then(|log| Some((log.display().to_string(), tail(&log)?))) {
            fault = fault.note(format!("the batch system's last lines, in {words}:\n{tail}"));
        }
        if !active.order.failed.is_empty() {
            let before: Vec<_> = active.order.failed.iter().map(Cause::to_string).collect();
            fault = fault.note(format!("it was tried {} times; before, it failed by: {}", before.len() + 1, before.join("; ")));
        }
        if let Some(request) = &variable.request {
            fault = fault.label(request.span, "its resources");
        }
        vec![match cause_help(cause) {
            Some(help) => fault.help(help),
            None => fault,
        }]
    }

    /// The failure of a job that has no directory.
    fn unusable(&mut self, tasks: &[(TaskId, VarId)], error: &FileError) -> Vec<(TaskId, Done)> {
        self.counts.failed += 1;
        self.record_end(tasks, Some(&Cause::NeverStarted { reason: error.to_string() }), None);
        let failed = |(task, id): &(TaskId, VarId)| {
            let fault = Diagnostic::error("E0702", format!("the job's directory cannot be used: {error}"), self.name_span(*id));
            (*task, Done::Failed(vec![fault.help("choose a directory that can be written with `--store`")]))
        };
        tasks.iter().map(failed).collect()
    }

    fn name_span(&self, id: VarId) -> Span {
        self.program.model.variables[id.index()].name_span
    }

    fn refused(&self, id: VarId, fault: &Fault) -> Diagnostic {
        let variable = &self.program.model.variables[id.index()];
        let span = variable.request.as_ref().map_or(variable.name_span, |request| request.span);
        Fault { message: format!("the job was refused: {}", fault.message), ..fault.clone() }.at(span)
    }
}

/// Jobs that are going to be submitted together.
#[derive(Default)]
struct Pending {
    specs: Vec<JobSpec>,
    orders: Vec<Order>,
    places: HashMap<Digest, usize>,
}

impl Pending {
    fn add(&mut self, spec: JobSpec, order: Order) {
        self.places.insert(spec.key, self.specs.len());
        self.specs.push(spec);
        self.orders.push(order);
    }

    /// The order of the job of a key, and the number of its attempt.
    fn of(&mut self, key: Digest) -> Option<(&mut Order, u32)> {
        self.places.get(&key).map(|place| (&mut self.orders[*place], self.specs[*place].attempt.number()))
    }
}

fn job_failed(name: &str, cause: &Cause, span: Span) -> Diagnostic {
    Diagnostic::error("E0701", format!("the job of `{name}` failed: {cause}"), span).here("computed by this job")
}

fn read_only(jobs: &Path) -> FileError {
    FileError::io("write", jobs)(std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem))
}

fn elsewhere(name: &str, holder: &Holder, span: Span) -> Diagnostic {
    let message = format!("`{name}` may still be running on {}, where an earlier run began it; it is computed here too", holder.host);
    Diagnostic::warning("W0727", message, span).help(format!("if it does, end process {} there: nothing is lost by it", holder.pid))
}

fn damaged_result(name: &str, error: &FileError, becomes: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("W0720", format!("a kept result of `{name}` cannot be used, {becomes}: {error}"), span)
}

fn removed(attempt: &Path) -> (Cause, Vec<Diagnostic>) {
    (Cause::Unknown { reason: format!("its directory {} was removed while it ran", attempt.display()) }, Vec::new())
}

fn unreadable(error: &FileError) -> (Cause, Vec<Diagnostic>) {
    (Cause::Unknown { reason: error.to_string() }, Vec::new())
}

fn cause_help(cause: &Cause) -> Option<&'static str> {
    match cause {
        Cause::OutOfMemory { .. } => Some("ask for more memory: `with …` behind the cores is per core"),
        Cause::Walltime { .. } => Some("ask for more time: `for …`"),
        Cause::Evaluation
        | Cause::ExitCode { .. }
        | Cause::Signal { .. }
        | Cause::Preempted
        | Cause::NodeFailure
        | Cause::Cancelled
        | Cause::Refused { .. }
        | Cause::NeverStarted { .. }
        | Cause::Unknown { .. } => None,
    }
}

/// The last lines of a log, if there are any.
fn tail(log: &Path) -> Option<String> {
    let bytes = fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES)..];
    (!last.is_empty()).then(|| last.join("\n"))
}
