//! What a run would do with its jobs, without beginning any.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{Batch, JobSettings, Program, job_tasks, run};
use crate::batch::{BatchId, BatchSystem, JobSpec, JobState, SubmitError};
use crate::diagnostic::{Diagnostic, Fault};
use crate::eval::Exporter;
use crate::graph::{self, TaskId, TaskKind};
use crate::job::{Cause, Parts};
use crate::resources::Request;
use crate::site::Retries;
use crate::store::{Entry, Event, Recorder, State, Wishes};
use crate::value::Value;

/// A job of a program, looked at.
#[derive(Clone, Debug)]
pub struct Looked {
    /// `rates 1/2`
    pub name: String,
    /// The variable that it computes, or a part of.
    pub variable: Arc<str>,
    /// Its key and what would become of it, if its inputs are there.
    pub known: Option<(Entry, State)>,
    /// The variables of the jobs that have to be computed before anything can be said; none when its inputs have failed.
    pub after: Vec<Arc<str>>,
}

/// Evaluates what needs no job, takes what is kept, and tells of each job how it stands, in the order of the program; and what went
/// wrong on the way. Nothing is begun, printed or exported.
pub fn look(program: &Program, threads: usize, jobs: &Path) -> (Vec<Looked>, Vec<Diagnostic>) {
    let program = Program { exporter: Arc::new(Nowhere), ..program.clone() };
    let mut notes = Notes::default();
    let settings = JobSettings { jobs: jobs.to_owned(), fresh: false, retries: Retries::default(), only_look: true, read_only: false };
    let interrupted = AtomicBool::new(false);
    let batch = Batch { system: &mut Idle, settings, interrupted: &interrupted, watcher: &mut (), recorder: &mut notes };
    let diagnostics = run(&program, threads, Some(batch), &mut |_| {}).diagnostics;
    let jobs: BTreeSet<TaskId> = job_tasks(&program).collect();
    let is_open = |task: TaskId| !matches!(notes.0.get(&task.index()), Some((_, State::Kept { .. })));
    let looked = jobs.iter().filter_map(|task| {
        let variable = match program.graph.kind(*task) {
            TaskKind::Variable(id) | TaskKind::Merge(id) | TaskKind::Chunk { variable: id, .. } => {
                &program.model.variables[id.index()].name
            }
            TaskKind::Output(_) => return None,
        };
        let name = graph::name(program.graph.kind(*task), &program.model, &program.sources);
        // a value that is missing because nothing was begun is no value that has failed
        let lacks = |(entry, _): &&(Entry, State)| entry.parts.as_ref().is_some_and(Parts::lacks_inputs);
        let known = notes.0.get(&task.index());
        let after = if known.is_none_or(|known| lacks(&known)) { before(&program, *task, &jobs, &is_open) } else { Vec::new() };
        Some(Looked { name, variable: variable.clone(), known: known.filter(|_| after.is_empty()).cloned(), after })
    });
    (looked.collect(), diagnostics)
}

/// The variables of the nearest open jobs on which a task depends.
fn before(program: &Program, task: TaskId, jobs: &BTreeSet<TaskId>, is_open: &dyn Fn(TaskId) -> bool) -> Vec<Arc<str>> {
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    let dependencies = |task| program.graph.dependencies(task).map(|(dependency, _)| dependency);
    let mut stack: Vec<TaskId> = dependencies(task).collect();
    while let Some(task) = stack.pop() {
        if !seen.insert(task) {
            continue;
        }
        match program.graph.kind(task) {
            TaskKind::Variable(id) | TaskKind::Chunk { variable: id, .. } if jobs.contains(&task) => {
                found.extend(Some(id).filter(|_| is_open(task)));
            }
            TaskKind::Variable(_) | TaskKind::Chunk { .. } | TaskKind::Merge(_) | TaskKind::Output(_) => stack.extend(dependencies(task)),
        }
    }
    found.into_iter().map(|id| program.model.variables[id.index()].name.clone()).collect()
}

/// What was noted of each task, by its number.
#[derive(Default)]
struct Notes(BTreeMap<usize, (Entry, State)>);

impl Recorder for Notes {
    fn note(&mut self, event: Event) {
        match event {
            Event::Task(entry) => {
                self.0.insert(entry.task as usize, (*entry, State::Lacking { running: false }));
            }
            Event::State { task, state } => {
                if let Some((_, noted)) = self.0.get_mut(&(task as usize)) {
                    *noted = *state;
                }
            }
            Event::Line(_) => {}
        }
    }

    fn wishes(&mut self) -> Wishes {
        Wishes::default()
    }
}

/// Writes nothing.
struct Nowhere;

impl Exporter for Nowhere {
    fn save(&self, _: &Value, _: &str) -> Result<(), Fault> {
        Ok(())
    }
}

/// Nobody asks it for anything; whoever did would be told that nothing is begun.
struct Idle;

impl BatchSystem for Idle {
    fn check(&self, _: &Request) -> Result<(), Fault> {
        Ok(())
    }

    fn clamp(&self, request: &Request) -> Request {
        request.clone()
    }

    fn find(&mut self, jobs: &[JobSpec]) -> Vec<Result<Option<BatchId>, Fault>> {
        vec![Ok(None); jobs.len()]
    }

    fn submit(&mut self, jobs: &[JobSpec]) -> Vec<Result<BatchId, SubmitError>> {
        jobs.iter().map(|_| Ok(BatchId("none".into()))).collect()
    }

    fn poll(&mut self) -> Vec<(BatchId, JobState)> {
        vec![(BatchId("none".into()), JobState::Ended(Err(Cause::Cancelled)))]
    }

    fn cancel(&mut self, ids: &[BatchId]) -> Vec<Result<(), Fault>> {
        vec![Ok(()); ids.len()]
    }
}
