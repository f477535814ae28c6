//! Running a task graph: interactive tasks on threads of this process, batch tasks as jobs of a batch system.
//!
//! [`state`] knows which task waits for which, as pure transitions; [`perform`] computes what one task computes; [`jobs`] keeps the
//! books of submitted jobs. Threads take tasks from the state and put their results back; the calling thread submits, polls and
//! prints. A task whose evaluation asks for a variable that is not there yet waits for it and is evaluated again, so that nothing
//! recurses and nothing blocks.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::batch::{BatchSystem, Waker};
use crate::diagnostic::Diagnostic;
use crate::eval::{Exporter, STACK_SIZE, World};
use crate::graph::{TaskGraph, TaskId, TaskKind};
use crate::model::{Model, VarId};
use crate::source::SourceMap;
use crate::store::Recorder;
use crate::value::Value;

use jobs::{Counts, Jobs};
use perform::{Done, Performer};
use state::State;

mod jobs;
mod look;
mod perform;
pub mod plan;
mod reads;
mod state;
mod totals;
mod watch;

pub use jobs::Settings as JobSettings;
pub use look::{Looked, look};
pub use totals::Totals;
pub use watch::{Event, EventKind, Progress, Running, Watcher};

/// The pause between two looks at jobs; it grows while nothing happens.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// What is run.
#[derive(Clone)]
pub struct Program {
    /// The checked program.
    pub model: Arc<Model>,
    /// Its tasks.
    pub graph: Arc<TaskGraph>,
    /// Its texts.
    pub sources: Arc<SourceMap>,
    /// Files that it reads.
    pub world: Arc<dyn World>,
    /// Files that it writes.
    pub exporter: Arc<dyn Exporter>,
}

/// Batch tasks of a run.
pub struct Batch<'b> {
    /// Where they run.
    pub system: &'b mut dyn BatchSystem,
    /// How they are kept.
    pub settings: JobSettings,
    /// Set from outside when the user wants to stop.
    pub interrupted: &'b AtomicBool,
    /// Who is told of them.
    pub watcher: &'b mut dyn Watcher,
    /// Who is told what becomes of them.
    pub recorder: &'b mut dyn Recorder,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// What went wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether something that was asked for has no result.
    pub failed: bool,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Jobs that go on all the same.
    pub jobs_left: usize,
    /// Jobs that ended well.
    pub jobs_done: usize,
    /// Jobs that failed.
    pub jobs_failed: usize,
    /// Jobs that someone ended on purpose.
    pub jobs_cancelled: usize,
    /// Results that were kept from earlier runs, or are shared by equal tasks.
    pub jobs_kept: usize,
    /// The variables that have a value now.
    pub values: Vec<(VarId, Value)>,
    /// What the jobs asked for and took.
    pub totals: Totals,
}

/// Runs everything that the roots of the graph need, on so many threads; each line is given away as soon as all before it are
/// settled.
///
/// Jobs have cores of their own from the batch system, and the threads share all cores of this process with them: what waits for
/// jobs takes no core, and the system divides what is computed here at the same time. When the user stops the run (which the batch
/// tells, or else the world), a thread that is in the middle of a task is left behind: it ends at the next call or row of its
/// evaluation when the world knows of the interrupt, and with the process when not.
pub fn run(program: &Program, threads: usize, batch: Option<Batch>, line: &mut dyn FnMut(&str)) -> Summary {
    let shared = Arc::new(Shared::new(program, batch.is_some()));
    let mut jobs = batch.map(|batch| Jobs::new(program.clone(), batch));
    jobs.iter_mut().for_each(|jobs| jobs.wake(waker(&shared)));
    let workers = Workers::start(&shared, threads.clamp(1, program.graph.len().max(1)));
    shared.lead(jobs.as_mut(), workers.threads.is_empty(), line);
    let interrupted = shared.is_interrupted(jobs.as_ref());
    if !interrupted {
        workers.join();
    }
    let mut summary = shared.summary(interrupted);
    if let Some(jobs) = jobs {
        let Counts { done, failed, cancelled, kept } = jobs.counts;
        summary = Summary {
            jobs_done: done,
            jobs_failed: failed,
            jobs_cancelled: cancelled,
            jobs_kept: kept,
            jobs_left: jobs.left(),
            totals: jobs.totals,
            ..summary
        };
        summary.diagnostics.extend(jobs.warnings);
    }
    summary
}

/// The threads that perform tasks; when this is dropped, they end with the task that they have.
struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// As many as can be started, which may be none.
    fn start(shared: &Arc<Shared>, count: usize) -> Workers {
        let start = |index| {
            let shared = shared.clone();
            thread::Builder::new().name(format!("scl-{index}")).stack_size(STACK_SIZE).spawn(move || shared.work()).ok()
        };
        Workers { shared: shared.clone(), threads: (0..count).map_while(start).collect() }
    }

    fn join(mut self) {
        let threads = std::mem::take(&mut self.threads);
        drop(self);
        for thread in threads {
            // panics are caught at the border of a task
            let _ = thread.join();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.work.notify_all();
    }
}

/// What the threads share.
struct Shared {
    graph: Arc<TaskGraph>,
    /// What may be asked for.
    reachable: Vec<bool>,
    performer: Performer,
    inner: Mutex<Inner>,
    /// There are tasks to perform, or it is over.
    work: Condvar,
    /// There is something for the leading thread.
    news: Condvar,
}

struct Inner {
    state: State,
    diagnostics: Vec<Diagnostic>,
    said: HashSet<String>,
    /// How many threads wait for tasks and were not woken.
    idle: usize,
    /// Whether the leading thread waits for news and was not woken.
    awaited: bool,
    /// How many outputs were given away.
    printed: usize,
    /// Whether a job may have ended since the last look.
    rung: bool,
    over: bool,
}

impl Shared {
    fn new(program: &Program, batch: bool) -> Self {
        let graph = program.graph.clone();
        let is_batch = |task| batch && is_job(graph.kind(task), &program.model);
        let mut state = State::new(graph.clone(), &is_batch);
        graph.roots().iter().for_each(|root| state.demand(*root));
        let inner =
            Inner { state, diagnostics: Vec::new(), said: HashSet::new(), idle: 0, awaited: false, printed: 0, rung: false, over: false };
        Shared {
            reachable: graph.reachable(),
            graph,
            performer: Performer::new(program.clone()),
            inner: Mutex::new(inner),
            work: Condvar::new(),
            news: Condvar::new(),
        }
    }

    /// A panic is caught at the border of a task, so a poisoned lock protects nothing broken.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does until everything is over.
    fn work(&self) {
        let mut inner = self.lock();
        while !inner.over {
            let Some(task) = inner.state.next() else {
                inner.idle += 1;
                inner = self.work.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(inner);
            let done = self.performer.perform(task);
            inner = self.lock();
            self.apply(&mut inner, task, done);
            // this thread itself takes one of the tasks that are ready
            self.wake(&mut inner, 1);
        }
    }

    /// What the leading thread does of the same when there is no other.
    fn work_alone(&self) {
        loop {
            let Some(task) = self.lock().state.next() else { return };
            let done = self.performer.perform(task);
            self.apply(&mut self.lock(), task, done);
        }
    }

    /// Enters what came of a task.
    fn apply(&self, inner: &mut Inner, task: TaskId, done: Done) {
        match done {
            Done::Needs(variable) => inner.state.wait_for(task, self.graph.of_variable(variable)),
            Done::Value(value) => {
                self.performer.results.set(task, Some(value));
                inner.state.settle(task);
            }
            Done::Failed(faults) => {
                self.performer.results.set(task, None);
                for fault in faults {
                    if inner.said.insert(identity(&fault)) {
                        inner.diagnostics.push(fault);
                    }
                }
                inner.state.settle(task);
            }
        }
    }

    /// Wakes no more threads than there are tasks for, besides those that somebody `takes`, and the leading one if it has something
    /// to do.
    fn wake(&self, inner: &mut Inner, takes: usize) {
        let woken = inner.state.ready().saturating_sub(takes).min(inner.idle);
        inner.idle -= woken;
        (0..woken).for_each(|_| self.work.notify_one());
        if inner.awaited && self.has_news(inner) {
            inner.awaited = false;
            self.news.notify_one();
        }
    }

    /// Whether there is something to print or to submit, or nothing left to do.
    fn has_news(&self, inner: &Inner) -> bool {
        inner.state.is_over() || inner.state.has_ready_jobs() || self.next_line(inner).is_some()
    }

    /// What the leading thread does: prints, submits, polls, until everything is settled or the user stops it.
    fn lead(&self, mut jobs: Option<&mut Jobs>, alone: bool, line: &mut dyn FnMut(&str)) {
        let mut pause = if jobs.is_some() { SHORTEST_PAUSE } else { LONGEST_PAUSE };
        loop {
            if alone {
                self.work_alone();
            }
            let (ready, over) = self.await_news(pause, jobs.as_deref().map_or(0, Jobs::at_once));
            self.print_settled(&mut |text| {
                jobs.iter_mut().for_each(|jobs| jobs.record_line(text));
                line(text);
            });
            if over || self.is_interrupted(jobs.as_deref()) {
                return;
            }
            if let Some(jobs) = jobs.as_deref_mut() {
                let ended = self.serve(jobs, &ready);
                pause = if ended || !ready.is_empty() { SHORTEST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            }
        }
    }

    /// Waits until there is something to do, but for no longer than a pause; gives jobs to submit, and whether all is settled.
    fn await_news(&self, pause: Duration, jobs_at_once: usize) -> (Vec<TaskId>, bool) {
        let mut inner = self.lock();
        if !inner.rung && !self.has_news(&inner) {
            inner.awaited = true;
            inner = self.news.wait_timeout(inner, pause).unwrap_or_else(PoisonError::into_inner).0;
            inner.awaited = false;
        }
        inner.rung = false;
        (inner.state.take_ready_jobs(jobs_at_once), inner.state.is_over())
    }

    /// Submits what is ready and enters what has ended; whether something has.
    fn serve(&self, jobs: &mut Jobs, ready: &[TaskId]) -> bool {
        let mut settled = Vec::new();
        // what becomes ready because others are being ended is not begun
        if !jobs.is_stopping() {
            let mut prepared = Vec::with_capacity(ready.len());
            for task in ready {
                match self.performer.prepare(*task) {
                    Ok(job) => prepared.push((*task, job)),
                    Err(done) => settled.push((*task, done)),
                }
            }
            settled.extend(jobs.submit(prepared));
        }
        settled.extend(jobs.poll());
        let ended = !settled.is_empty();
        let mut inner = self.lock();
        for (task, done) in settled {
            self.apply(&mut inner, task, done);
        }
        self.wake(&mut inner, 0);
        self.show(&inner, jobs);
        ended
    }

    /// Shows how the run stands to whoever wants to know just now.
    fn show(&self, inner: &Inner, jobs: &mut Jobs) {
        if jobs.is_watched() {
            let failed = jobs.counts.failed;
            let (watcher, running, pausing) = jobs.view();
            let (over, needed, possible) = inner.state.count_jobs(&self.reachable);
            watcher.look(&Progress { over, needed, possible, failed, pausing, running });
        }
    }

    /// The next output in the order of the text, if it is settled.
    fn next_line(&self, inner: &Inner) -> Option<TaskId> {
        self.graph.outputs().get(inner.printed).copied().filter(|task| inner.state.is_settled(*task))
    }

    /// Gives away the lines of settled prints, in the order of the text, up to the first that is not settled.
    fn print_settled(&self, line: &mut dyn FnMut(&str)) {
        loop {
            let mut inner = self.lock();
            let first = inner.printed;
            while self.next_line(&inner).is_some() {
                inner.printed += 1;
            }
            let settled = &self.graph.outputs()[first..inner.printed];
            drop(inner);
            if settled.is_empty() {
                return;
            }
            for task in settled {
                // of the outputs only prints have a text
                if let Some(Some(Value::Str(text))) = self.performer.results.get(*task) {
                    line(text);
                }
            }
        }
    }

    /// Whether the user stopped it and nothing is to be waited for any longer.
    fn is_interrupted(&self, jobs: Option<&Jobs>) -> bool {
        // who wants to end what is over already has all of it, unless it is over because something of it was ended
        let is_complete = self.lock().state.is_over() && jobs.is_none_or(|jobs| jobs.counts.cancelled == 0);
        !is_complete && jobs.map_or_else(|| self.performer.is_interrupted(), Jobs::is_interrupted)
    }

    fn values(&self) -> Vec<(VarId, Value)> {
        let value = |task: TaskId| match self.graph.kind(task) {
            TaskKind::Variable(id) | TaskKind::Merge(id) => Some((id, self.performer.results.get(task)?.clone()?)),
            TaskKind::Chunk { .. } | TaskKind::Output(_) => None,
        };
        self.graph.tasks().filter_map(value).collect()
    }

    fn summary(&self, interrupted: bool) -> Summary {
        let failed = self.graph.roots().iter().any(|root| !matches!(self.performer.results.get(*root), Some(Some(_))));
        let mut diagnostics = std::mem::take(&mut self.lock().diagnostics);
        let place = |diagnostic: &Diagnostic| (diagnostic.span().file, diagnostic.span().start);
        // those of one place must not stand in the order in which threads happened to find them
        diagnostics.sort_by(|left, right| place(left).cmp(&place(right)).then_with(|| left.cmp(right)));
        Summary { diagnostics, failed, interrupted, values: self.values(), ..Summary::default() }
    }
}

/// Has the leading thread look at its jobs; does nothing once the run is over.
fn waker(shared: &Arc<Shared>) -> Waker {
    let shared = Arc::downgrade(shared);
    Box::new(move || {
        if let Some(shared) = shared.upgrade() {
            shared.lock().rung = true;
            shared.news.notify_one();
        }
    })
}

/// What makes two faults one: chunks that fail alike differ only in their jobs, which the notes tell.
fn identity(fault: &Diagnostic) -> String {
    format!("{} {} {:?}", fault.code, fault.message, fault.labels)
}

/// The names of the jobs that a program may need, of those that something needs.
pub fn job_names(program: &Program) -> Vec<String> {
    job_tasks(program).map(|task| crate::graph::name(program.graph.kind(task), &program.model, &program.sources)).collect()
}

fn job_tasks(program: &Program) -> impl Iterator<Item = TaskId> {
    let reachable = program.graph.reachable();
    let needed = program.graph.tasks().filter(move |task| reachable[task.index()]);
    needed.filter(|task| is_job(program.graph.kind(*task), &program.model))
}

/// Whether a task asks for resources.
fn is_job(kind: TaskKind, model: &Model) -> bool {
    match kind {
        TaskKind::Variable(id) | TaskKind::Chunk { variable: id, .. } => model.variables[id.index()].request.is_some(),
        TaskKind::Merge(_) | TaskKind::Output(_) => false,
    }
}

#[cfg(test)]
mod tests;
