//! Running a task graph: interactive tasks on threads of this process, batch tasks as jobs of a batch system.
//!
//! [`state`] knows which task waits for which, as pure transitions; [`perform`] computes what one task computes; [`jobs`] keeps the
//! books of submitted jobs. Threads take tasks from the state and put their results back; the calling thread submits, polls and
//! prints. A task whose evaluation asks for a variable that is not there yet waits for it and is evaluated again, so that nothing
//! recurses and nothing blocks.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::batch::BatchSystem;
use crate::diagnostic::Diagnostic;
use crate::eval::{Exporter, STACK_SIZE, World};
use crate::graph::{TaskGraph, TaskId, TaskKind};
use crate::model::{Model, Output};
use crate::source::SourceMap;
use crate::value::Value;

use jobs::Jobs;
use perform::{Done, Performer};
use state::State;

mod jobs;
mod perform;
mod state;

pub use jobs::Settings as JobSettings;

/// The pause between two looks at jobs; it grows while nothing happens.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// What is run.
#[derive(Clone, Copy)]
pub struct Program<'p> {
    /// The checked program.
    pub model: &'p Model,
    /// Its tasks.
    pub graph: &'p TaskGraph,
    /// Its texts.
    pub sources: &'p SourceMap,
    /// Files that it reads.
    pub world: &'p dyn World,
    /// Files that it writes.
    pub exporter: &'p dyn Exporter,
}

/// Batch tasks of a run.
pub struct Batch<'b> {
    /// Where they run.
    pub system: &'b mut dyn BatchSystem,
    /// How they are kept.
    pub settings: JobSettings,
    /// Set from outside when the user wants to stop.
    pub interrupted: &'b AtomicBool,
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
    /// Jobs that ended well.
    pub jobs_done: usize,
    /// Jobs that failed.
    pub jobs_failed: usize,
    /// Results that were kept from earlier runs, or are shared by equal tasks.
    pub jobs_kept: usize,
}

/// Runs everything that the roots of the graph need, on so many threads; each line is given away as soon as all before it are
/// settled.
pub fn run(program: Program, threads: usize, batch: Option<Batch>, line: &mut dyn FnMut(&str)) -> Summary {
    let is_batch = batch.is_some();
    let threads = threads.clamp(1, program.graph.len().max(1));
    let shared = Shared::new(program, is_batch, threads);
    let mut jobs = batch.map(|batch| Jobs::new(program, batch));
    thread::scope(|scope| {
        for index in 0..threads {
            let worker = thread::Builder::new().name(format!("scl-{index}")).stack_size(STACK_SIZE);
            if worker.spawn_scoped(scope, || shared.work()).is_err() && index == 0 {
                shared.drive_alone(line);
            }
        }
        shared.lead(jobs.as_mut(), line);
    });
    shared.summary(jobs)
}

/// What the threads share.
struct Shared<'p> {
    program: Program<'p>,
    threads: usize,
    performer: Performer<'p>,
    state: Mutex<Inner<'p>>,
    work: Condvar,
    news: Condvar,
}

struct Inner<'p> {
    state: State<'p>,
    diagnostics: Vec<Diagnostic>,
    said: HashSet<String>,
    over: bool,
}

impl<'p> Shared<'p> {
    fn new(program: Program<'p>, batch: bool, threads: usize) -> Self {
        let model = program.model;
        let is_batch = |task| batch && request_of(program.graph.kind(task), model).is_some();
        let mut state = State::new(program.graph, &is_batch);
        program.graph.roots().iter().for_each(|root| state.demand(*root));
        Shared {
            program,
            threads,
            performer: Performer::new(program),
            state: Mutex::new(Inner { state, diagnostics: Vec::new(), said: HashSet::new(), over: false }),
            work: Condvar::new(),
            news: Condvar::new(),
        }
    }

    /// A panic is caught at the border of a task, so a poisoned lock protects nothing broken.
    fn lock(&self) -> MutexGuard<'_, Inner<'p>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does until everything is over.
    fn work(&self) {
        let mut inner = self.lock();
        loop {
            if inner.over {
                return;
            }
            let Some(task) = inner.state.next() else {
                inner = self.work.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(inner);
            let done = self.performer.perform(task);
            inner = self.lock();
            self.apply(&mut inner, task, done);
        }
    }

    /// Enters what came of a task, and wakes whoever has something to do now.
    fn apply(&self, inner: &mut Inner<'p>, task: TaskId, done: Done) {
        match done {
            Done::Needs(variable) => inner.state.wait_for(task, self.program.graph.of_variable(variable)),
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
        // one of the ready tasks is taken by this thread itself
        for _ in 1..inner.state.ready().min(self.threads) {
            self.work.notify_one();
        }
        let is_output = matches!(self.program.graph.kind(task), TaskKind::Output(_));
        if is_output || inner.state.has_ready_jobs() || inner.state.is_over() {
            self.news.notify_one();
        }
    }

    /// What the calling thread does: prints, submits, polls, until everything is settled.
    fn lead(&self, mut jobs: Option<&mut Jobs<'p, '_>>, line: &mut dyn FnMut(&str)) {
        let mut printed = 0;
        let mut pause = SHORTEST_PAUSE;
        loop {
            self.print_settled(&mut printed, line);
            let mut inner = self.lock();
            let ready = inner.state.take_ready_jobs();
            if inner.state.is_over() {
                break;
            }
            let active = jobs.as_ref().is_some_and(|jobs| jobs.is_active());
            if ready.is_empty() && !self.has_news(&inner, printed) {
                inner = match active {
                    true => self.news.wait_timeout(inner, pause).unwrap_or_else(PoisonError::into_inner).0,
                    false => self.news.wait(inner).unwrap_or_else(PoisonError::into_inner),
                };
            }
            drop(inner);
            if let Some(jobs) = jobs.as_mut() {
                let ended = self.serve(jobs, &ready);
                pause = if ended || !ready.is_empty() { SHORTEST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
                if jobs.is_interrupted() {
                    break;
                }
            }
        }
        self.print_settled(&mut printed, line);
        self.lock().over = true;
        self.work.notify_all();
    }

    /// Submits what is ready and enters what has ended.
    fn serve(&self, jobs: &mut Jobs<'p, '_>, ready: &[TaskId]) -> bool {
        let mut settled = Vec::new();
        let mut prepared = Vec::new();
        for task in ready {
            match self.performer.prepare(*task) {
                Ok(job) => prepared.push((*task, job)),
                Err(done) => settled.push((*task, done)),
            }
        }
        settled.extend(jobs.submit(prepared));
        settled.extend(jobs.poll());
        let ended = !settled.is_empty();
        let mut inner = self.lock();
        for (task, done) in settled {
            self.apply(&mut inner, task, done);
        }
        self.work.notify_all();
        ended
    }

    fn has_news(&self, inner: &Inner, printed: usize) -> bool {
        let next = self.program.graph.outputs().get(printed);
        inner.state.is_over() || next.is_some_and(|task| inner.state.is_settled(*task))
    }

    /// Gives away the lines of settled prints, in the order of the text, up to the first that is not settled.
    fn print_settled(&self, printed: &mut usize, line: &mut dyn FnMut(&str)) {
        while let Some(task) = self.program.graph.outputs().get(*printed) {
            if !self.lock().state.is_settled(*task) {
                return;
            }
            let is_print = matches!(self.program.model.outputs[*printed], Output::Print { .. });
            if let (true, Some(Some(Value::Str(text)))) = (is_print, self.performer.results.get(*task)) {
                line(text);
            }
            *printed += 1;
        }
    }

    /// Without any other thread: everything in turn, on this one.
    fn drive_alone(&self, line: &mut dyn FnMut(&str)) {
        let mut printed = 0;
        loop {
            let Some(task) = self.lock().state.next() else { break };
            let done = self.performer.perform(task);
            self.apply(&mut self.lock(), task, done);
        }
        self.print_settled(&mut printed, line);
    }

    fn summary(self, jobs: Option<Jobs>) -> Summary {
        let graph = self.program.graph;
        let interrupted = jobs.as_ref().is_some_and(|jobs| jobs.is_interrupted());
        let failed = graph.roots().iter().any(|root| !matches!(self.performer.results.get(*root), Some(Some(_))));
        let inner = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut diagnostics = inner.diagnostics;
        let place = |diagnostic: &Diagnostic| (diagnostic.span().file, diagnostic.span().start);
        // those of one place must not stand in the order in which threads happened to find them
        diagnostics.sort_by(|left, right| place(left).cmp(&place(right)).then_with(|| left.cmp(right)));
        let counts = jobs.map(|jobs| jobs.counts).unwrap_or_default();
        Summary { diagnostics, failed, interrupted, jobs_done: counts.done, jobs_failed: counts.failed, jobs_kept: counts.kept }
    }
}

/// What makes two faults one: chunks that fail alike differ only in their jobs, which the notes tell.
fn identity(fault: &Diagnostic) -> String {
    format!("{} {} {:?}", fault.code, fault.message, fault.labels)
}

/// The request of a task that is to be a job.
fn request_of(kind: TaskKind, model: &Model) -> Option<&crate::resources::Request> {
    let variable = match kind {
        TaskKind::Variable(id) => id,
        TaskKind::Chunk { variable, .. } => variable,
        TaskKind::Merge(_) | TaskKind::Output(_) => return None,
    };
    model.variables[variable.index()].request.as_ref().map(|request| &request.node)
}

/// Whether a flag was set from outside.
fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}
