//! What one task computes.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Program, reads};
use crate::diagnostic::{At, Diagnostic};
use crate::eval::{self, Context, Input, Lookup, Stop, Variables};
use crate::graph::{self, ChunkedTask, TaskGraph, TaskId, TaskKind};
use crate::job::{FileDigest, InputDigest};
use crate::model::{Expr, ExprKind, Output, Task, VarId};
use crate::ops;
use crate::source::{Span, Spanned};
use crate::value::Value;

/// What came of a task.
#[derive(Debug)]
pub enum Done {
    /// Its value; of a print the line.
    Value(Value),
    /// It has none. No diagnostics when the reason was said elsewhere.
    Failed(Vec<Diagnostic>),
    /// It must be done again when this variable is settled.
    Needs(VarId),
}

/// A batch task with the values of its inputs.
#[derive(Debug)]
pub struct Prepared {
    /// What to evaluate.
    pub task: Task,
    /// In the order of the task.
    pub inputs: Vec<Input>,
    /// Of the inputs.
    pub digests: Vec<InputDigest>,
    /// The files that it reads; nothing when they cannot be known before it is evaluated.
    pub files: Option<Vec<FileDigest>>,
    /// The variable.
    pub variable: VarId,
}

/// Values of all settled tasks; `None` for failed ones.
#[derive(Debug)]
pub struct Results {
    graph: Arc<TaskGraph>,
    slots: Vec<OnceLock<Option<Value>>>,
    /// Of the values that jobs were given, for it takes long to digest a large one for each of many jobs.
    digests: Mutex<HashMap<VarId, InputDigest>>,
}

impl Results {
    /// The value of a settled task, `Some(None)` when it failed, `None` before.
    pub fn get(&self, task: TaskId) -> Option<&Option<Value>> {
        self.slots[task.index()].get()
    }

    /// Settles a task, once.
    pub fn set(&self, task: TaskId, value: Option<Value>) {
        let _ = self.slots[task.index()].set(value);
    }

    /// The digest of what a variable is as an input.
    fn digest(&self, id: VarId, input: &Input) -> InputDigest {
        let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        *digests.entry(id).or_insert_with(|| InputDigest::of(input))
    }
}

/// A batch task, its inputs, and for each of these the variable that it is, if it is the whole of one.
type Parts = (VarId, Task, Vec<Input>, Vec<Option<VarId>>);

impl Variables for Results {
    fn get(&self, id: VarId) -> Lookup {
        match self.slots[self.graph.of_variable(id).index()].get() {
            Some(Some(value)) => Lookup::Ready(value.clone()),
            Some(None) => Lookup::Failed,
            None => Lookup::Pending,
        }
    }
}

/// Performs the tasks of a program.
pub struct Performer {
    program: Program,
    chunked: HashMap<VarId, ChunkedTask>,
    /// What is known so far.
    pub results: Results,
}

impl Performer {
    /// Nothing performed yet.
    pub fn new(program: Program) -> Self {
        let chunked = program.model.variables.iter().enumerate().filter(|(_, variable)| variable.chunks.is_some());
        let chunked = chunked.filter_map(|(index, variable)| {
            let task = graph::chunked(&program.model, variable.name.clone(), &variable.expr)?;
            Some((VarId(index as u32), task))
        });
        let chunked = chunked.collect();
        let slots = program.graph.tasks().map(|_| OnceLock::new()).collect();
        Performer { chunked, results: Results { graph: program.graph.clone(), slots, digests: Mutex::default() }, program }
    }

    /// Whether the user wants evaluation to end.
    pub fn is_interrupted(&self) -> bool {
        self.program.world.is_interrupted()
    }

    /// Performs an interactive task; a panic becomes a fault of the task.
    pub fn perform(&self, task: TaskId) -> Done {
        let attempt = catch_unwind(AssertUnwindSafe(|| self.attempt(task)));
        attempt.unwrap_or_else(|_| Done::Failed(vec![internal(self.span(task))]))
    }

    fn attempt(&self, task: TaskId) -> Done {
        match self.program.graph.kind(task) {
            TaskKind::Variable(id) => done(eval::evaluate(&self.program.model.variables[id.index()].expr, self.context())),
            TaskKind::Output(index) => self.output(&self.program.model.outputs[index]),
            TaskKind::Merge(id) => self.merge(task, id),
            TaskKind::Chunk { variable, index, of } => match self.chunk_inputs(variable, index, of) {
                Ok(inputs) => self.run(&self.chunked[&variable].task, &inputs),
                Err(done) => done,
            },
        }
    }

    fn run(&self, task: &Task, inputs: &[Input]) -> Done {
        match eval::run(task, inputs, &*self.program.world) {
            // the user knows
            Err(_) if self.is_interrupted() => Done::Failed(Vec::new()),
            result => done(result.map_err(Stop::from)),
        }
    }

    fn context(&self) -> Context<'_> {
        Context { functions: &self.program.model.functions, variables: &self.results, world: &*self.program.world }
    }

    fn span(&self, task: TaskId) -> Span {
        let model = &self.program.model;
        match self.program.graph.kind(task) {
            TaskKind::Variable(id) | TaskKind::Merge(id) | TaskKind::Chunk { variable: id, .. } => model.variables[id.index()].span,
            TaskKind::Output(index) => model.outputs[index].span(),
        }
    }

    fn output(&self, output: &Output) -> Done {
        match output {
            Output::Print { parameters, .. } => done(eval::line(parameters, self.context()).map(|line| Value::Str(line.into()))),
            Output::Export { place, path, .. } => done(eval::evaluate(place, self.context()).and_then(|value| {
                self.program.exporter.save(&value, &path.node).at(path.span)?;
                Ok(Value::Null)
            })),
            Output::View { parameters, .. } => {
                for parameter in parameters {
                    if let Err(stop) = eval::parameter_value(parameter, self.context()) {
                        return done(Err(stop));
                    }
                }
                Done::Value(Value::Null)
            }
        }
    }

    /// A task with the values of its inputs, for a process of its own; a panic becomes a fault of the task.
    pub fn prepare(&self, task: TaskId) -> Result<Prepared, Done> {
        let prepared = catch_unwind(AssertUnwindSafe(|| self.try_prepare(task)));
        prepared.unwrap_or_else(|_| Err(Done::Failed(vec![internal(self.span(task))])))
    }

    fn try_prepare(&self, task: TaskId) -> Result<Prepared, Done> {
        let (variable, task, inputs, sources) = match self.program.graph.kind(task) {
            TaskKind::Chunk { variable, index, of } => self.prepare_chunk(variable, index, of)?,
            TaskKind::Variable(variable) => self.prepare_whole(variable)?,
            TaskKind::Merge(_) | TaskKind::Output(_) => return Err(Done::Failed(vec![internal(self.span(task))])),
        };
        let files = reads::files(&task, &inputs, &*self.program.world);
        let digest = |(input, source): (&Input, Option<VarId>)| match source {
            Some(id) => self.results.digest(id, input),
            None => InputDigest::of(input),
        };
        let digests = inputs.iter().zip(sources).map(digest).collect();
        Ok(Prepared { task, inputs, digests, files, variable })
    }

    /// Of a non-strict `if` only the branch that is taken becomes a job; its condition is evaluated here.
    fn prepare_whole(&self, id: VarId) -> Result<Parts, Done> {
        let variable = &self.program.model.variables[id.index()];
        let mut expr = &variable.expr;
        while let (true, ExprKind::If(condition, then, otherwise)) = (variable.non_strict, &expr.kind) {
            expr = match eval::evaluate(condition, self.context()) {
                Ok(Value::Bool(true)) => then,
                Ok(Value::Bool(false)) => otherwise,
                Ok(Value::Null) => return Err(Done::Value(Value::Null)),
                Ok(_) => break,
                Err(stop) => return Err(done(Err(stop))),
            };
        }
        let (task, inputs) = graph::close(&self.program.model, variable.name.clone(), expr);
        let sources = inputs.iter().copied().map(Some).collect();
        let inputs = inputs.into_iter().map(|id| self.input(id)).collect::<Result<_, Done>>()?;
        Ok((id, task, inputs, sources))
    }

    fn input(&self, id: VarId) -> Result<Input, Done> {
        match Variables::get(&self.results, id) {
            Lookup::Ready(value) => Ok(Input::Value(value)),
            Lookup::Failed => Ok(Input::Failed),
            Lookup::Pending => Err(Done::Needs(id)),
        }
    }

    fn prepare_chunk(&self, id: VarId, index: u32, of: u32) -> Result<Parts, Done> {
        let inputs = self.chunk_inputs(id, index, of)?;
        let chunked = &self.chunked[&id];
        let mut task = chunked.task.clone();
        task.name = format!("{} {}/{of}", task.name, index + 1).into();
        let sources = chunked.data.iter().map(|_| None).chain(chunked.captured.iter().copied().map(Some)).collect();
        Ok((id, task, inputs, sources))
    }

    fn chunk_inputs(&self, id: VarId, index: u32, of: u32) -> Result<Vec<Input>, Done> {
        let chunked = &self.chunked[&id];
        let parts = chunked.data.iter().map(|data| self.part(data, id, index, of).map(Input::Value));
        parts.chain(chunked.captured.iter().map(|captured| self.input(*captured))).collect()
    }

    /// One part of the data: parts differ in size by at most one element, the larger ones come first.
    fn part(&self, data: &Expr, id: VarId, index: u32, of: u32) -> Result<Value, Done> {
        let value = eval::evaluate(data, self.context()).map_err(|stop| done(Err(stop)))?;
        let len = match &value {
            Value::Series(series) => series.len(),
            Value::Table(table) => table.len(),
            _ => return Err(Done::Failed(vec![not_divisible(data.span, &value)])),
        };
        let (index, of) = (index as usize, of as usize);
        if of > len {
            let chunks = self.program.model.variables[id.index()].chunks;
            let span = chunks.as_ref().map_or(data.span, |chunks: &Spanned<u32>| chunks.span);
            return Err(Done::Failed(vec![too_many_chunks(span, data.span, of, len)]));
        }
        let (size, larger) = (len / of, len % of);
        let start = index * size + index.min(larger);
        let stop = start + size + usize::from(index < larger);
        let sliced = ops::slice(&value, Some(start as i64), Some(stop as i64), None).at(data.span);
        sliced.map_err(|fault| Done::Failed(vec![*fault]))
    }

    /// Joins the parts of a variable, or folds them once more.
    fn merge(&self, task: TaskId, id: VarId) -> Done {
        let mut chunks: Vec<TaskId> = self.program.graph.dependencies(task).map(|(chunk, _)| chunk).collect();
        chunks.sort_unstable();
        let parts: Option<Vec<Value>> = chunks.into_iter().map(|chunk| self.results.get(chunk)?.clone()).collect();
        let Some(parts) = parts else { return Done::Failed(Vec::new()) };
        let chunked = &self.chunked[&id];
        let span = chunked.task.expr.span;
        if !chunked.folds {
            return done(ops::concat(&parts).at(span).map_err(Stop::from));
        }
        let joined = match parts.first() {
            Some(Value::Table(_)) => ops::concat(&parts),
            _ => ops::gather("reduce", parts),
        };
        let joined = match joined.at(span) {
            Ok(joined) => joined,
            Err(fault) => return Done::Failed(vec![*fault]),
        };
        let captured = chunked.captured.iter().map(|id| self.input(*id));
        let inputs = std::iter::once(Ok(Input::Value(joined))).chain(captured).collect::<Result<Vec<_>, Done>>();
        match inputs {
            Ok(inputs) => self.run(&chunked.task, &inputs),
            Err(done) => done,
        }
    }
}

fn done(result: Result<Value, Stop>) -> Done {
    match result {
        Ok(value) => Done::Value(value),
        Err(Stop::Fault(fault)) => Done::Failed(vec![*fault]),
        Err(Stop::Failed(..) | Stop::Interrupted(_)) => Done::Failed(Vec::new()),
        Err(Stop::Needs(id)) => Done::Needs(id),
    }
}

fn internal(span: Span) -> Diagnostic {
    Diagnostic::error("E0901", "internal error: evaluation broke off", span)
        .help("this is a fault of scl, not of the program; please report it with the program")
}

fn too_many_chunks(chunks: Span, data: Span, count: usize, len: usize) -> Diagnostic {
    Diagnostic::error("E0540", format!("{count} chunks are more than there are elements"), chunks)
        .label(data, format!("{len} elements"))
        .help(format!("write `in {} chunks` or less", len.max(1)))
}

fn not_divisible(span: Span, value: &Value) -> Diagnostic {
    Diagnostic::error("E0541", "only series and tables can be divided into chunks", span)
        .here(format!("this is of type {}", value.type_name()))
}
