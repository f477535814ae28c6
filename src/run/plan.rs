//! What a run would ask a batch system for, without computing anything.
//!
//! All figures are bounds: each job is counted, once, for as long as it may take. What is kept from earlier runs, or whose inputs fail,
//! is not computed; what is tried again is computed twice.

use std::collections::BTreeMap;
use std::time::Duration;

use super::perform::{Done, Performer};
use super::{Program, job_tasks};
use crate::batch::slurm::Lowered;
use crate::diagnostic::{Diagnostic, Fault};
use crate::graph::{self, TaskId, TaskKind};
use crate::job::{self, Digest};
use crate::model::{Expr, ExprKind, VarId};
use crate::resources::Request;
use crate::site::Cluster;

/// Where jobs would run.
pub enum Target<'a> {
    /// On a cluster.
    Slurm(&'a Cluster),
    /// On this machine, which says what it cannot satisfy.
    Local(&'a dyn Fn(&Request) -> Result<(), Fault>),
}

/// All that would be asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// In the order of the text.
    pub statements: Vec<Statement>,
    /// How long it takes at most when no job waits for anything but its inputs, as far as limits are known.
    pub longest: Duration,
    /// The jobs that take so long one after the other.
    pub chain: Vec<TaskId>,
}

/// A statement with its jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its variable.
    pub variable: VarId,
    /// In their order.
    pub jobs: Vec<TaskId>,
    /// How many jobs are submitted together, each time.
    pub arrays: Vec<usize>,
    /// As the annotation means it.
    pub request: Request,
    /// What Slurm would read.
    pub lowered: Option<Lowered>,
    /// How long each of them may take, if there is a limit.
    pub limit: Option<Duration>,
    /// Whether that limit is the queue's.
    pub usual_limit: bool,
}

impl Statement {
    /// Core hours of all its jobs, at most, if there is a limit.
    pub fn core_hours(&self) -> Option<f64> {
        let hours = self.limit?.as_secs_f64() / 3600.0;
        Some(hours * f64::from(self.request.cores().get()) * self.jobs.len() as f64)
    }

    /// The jobs that are submitted together with this one, the first of which has number 0.
    pub fn array_of(&self, job: usize) -> &[TaskId] {
        let mut start = 0;
        for size in &self.arrays {
            if job < start + size {
                return &self.jobs[start..start + size];
            }
            start += size;
        }
        &[]
    }
}

/// What would be asked for, or where in the program something is that can never be had.
pub fn plan(program: &Program, target: &Target) -> Result<Plan, Vec<Diagnostic>> {
    let mut jobs: BTreeMap<VarId, Vec<TaskId>> = BTreeMap::new();
    for task in job_tasks(program) {
        if let TaskKind::Variable(id) | TaskKind::Chunk { variable: id, .. } = program.graph.kind(task) {
            jobs.entry(id).or_default().push(task);
        }
    }
    let (mut statements, mut faults) = (Vec::new(), Vec::new());
    for (id, jobs) in jobs {
        let Some(request) = &program.model.variables[id.index()].request else { continue };
        match statement(id, jobs, &request.node, target) {
            Ok(statement) => statements.push(statement),
            Err(fault) => faults.push(fault.at(request.span)),
        }
    }
    if !faults.is_empty() {
        faults.sort_by_key(Diagnostic::span);
        return Err(faults);
    }
    statements.sort_by_key(|statement| program.model.variables[statement.variable.index()].span);
    let limits: BTreeMap<TaskId, Duration> =
        statements.iter().flat_map(|statement| statement.jobs.iter().map(|job| (*job, statement.limit.unwrap_or_default()))).collect();
    let (longest, chain) = program.graph.longest_chain(|task| limits.get(&task).copied().unwrap_or_default());
    Ok(Plan { statements, longest, chain: chain.into_iter().filter(|task| limits.contains_key(task)).collect() })
}

fn statement(variable: VarId, jobs: Vec<TaskId>, request: &Request, target: &Target) -> Result<Statement, Fault> {
    let asked = request.duration();
    let (lowered, limit, usual, most) = match target {
        Target::Slurm(cluster) => {
            let queue = cluster.choose(request)?;
            let lowered = Lowered::new(request, cluster, queue);
            let minutes = lowered.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
            (Some(lowered), minutes, queue.usual.or(queue.longest), cluster.largest_array as usize)
        }
        Target::Local(check) => {
            check(request)?;
            (None, asked, None, 1)
        }
    };
    let arrays = jobs.chunks(most.max(1)).map(<[TaskId]>::len).collect();
    let usual_limit = limit.is_none() && usual.is_some();
    Ok(Statement { variable, jobs, arrays, request: request.clone(), lowered, limit: limit.or(usual), usual_limit })
}

/// The keys of jobs of a statement, which are known without computing anything where all that they read is written in the program.
pub fn keys(program: &Program, statement: &Statement, jobs: &[TaskId]) -> Vec<Option<Digest>> {
    let variables = &program.model.variables;
    let is_written = |id: &VarId| variables[id.index()].request.is_none() && is_literal(&variables[id.index()].expr);
    let variable = &variables[statement.variable.index()];
    let inputs = graph::uses_of(&variable.expr, &program.model.functions);
    // the data of chunks are divided here, and of some statements only a branch becomes a job
    let chunked = variable.chunks.and_then(|_| graph::chunked(&program.model, variable.name.clone(), &variable.expr));
    let is_plain = |data: &Expr| matches!(data.kind, ExprKind::Variable(_)) || is_literal(data);
    let is_prepared = chunked.is_none_or(|chunked| chunked.data.iter().all(is_plain));
    let decides = variable.non_strict && matches!(variable.expr.kind, ExprKind::If(..));
    if !inputs.iter().all(is_written) || !is_prepared || decides {
        return vec![None; jobs.len()];
    }
    let performer = Performer::new(program.clone());
    for task in inputs.iter().map(|id| program.graph.of_variable(*id)) {
        if let Done::Value(value) = performer.perform(task) {
            performer.results.set(task, Some(value));
        }
    }
    jobs.iter().map(|job| key(&performer, *job)).collect()
}

fn key(performer: &Performer, job: TaskId) -> Option<Digest> {
    let prepared = performer.prepare(job).ok()?;
    job::key(&prepared.task, &prepared.digests, prepared.files.as_deref().unwrap_or_default()).ok()
}

/// Whether an expression is written out, so that nothing is computed.
fn is_literal(expr: &Expr) -> bool {
    let mut literal = true;
    expr.visit(&mut |expr| {
        literal &= matches!(
            expr.kind,
            ExprKind::Literal(_)
                | ExprKind::Negate(_)
                | ExprKind::Plus(_)
                | ExprKind::Tuple(_)
                | ExprKind::Dict(_)
                | ExprKind::Series { .. }
                | ExprKind::Table(_)
        );
    });
    literal
}
