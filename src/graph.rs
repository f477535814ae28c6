//! The task graph: what is computed, and what must be there before.
//!
//! One variable is one task; `in K chunks` makes K tasks and a merge. An edge says whether the value is certainly needed or only
//! perhaps (the branch not taken): the scheduler computes the former ahead and the latter when evaluation asks. Crate petgraph
//! stays in here; others see [`TaskId`]s.

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::model::{ExprKind, Model, VarId};

pub use close::{ChunkedTask, chunked, close};
pub use export::{dot, json, name};
pub use uses::{Uses, uses_of};

mod chain;
mod close;
mod export;
mod uses;

/// A task of a [`TaskGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u32);

impl TaskId {
    /// As an index into lists of all tasks.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Computes a variable.
    Variable(VarId),
    /// Computes one of the parts of a variable.
    Chunk {
        /// Of which variable.
        variable: VarId,
        /// From 0.
        index: u32,
        /// How many there are.
        of: u32,
    },
    /// Joins the parts of a variable.
    Merge(VarId),
    /// Prints, draws or exports: a position in [`Model::outputs`].
    Output(usize),
}

/// Whether a value is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// In any case.
    Certain,
    /// Depending on other values.
    Perhaps,
}

/// How a graph is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether `in K chunks` makes K tasks.
    pub chunks: bool,
    /// Whether annotated variables are batch tasks, whose inputs are all awaited.
    pub batch: bool,
    /// Whether variables that nothing needs are computed too.
    pub all: bool,
}

/// Tasks and their dependencies.
#[derive(Clone, Debug)]
pub struct TaskGraph {
    graph: DiGraph<TaskKind, Need>,
    of_variable: Vec<TaskId>,
    outputs: Vec<TaskId>,
    roots: Vec<TaskId>,
}

impl TaskGraph {
    /// The tasks of a model.
    pub fn build(model: &Model, options: Options) -> TaskGraph {
        let mut graph = TaskGraph {
            graph: DiGraph::with_capacity(model.variables.len() + model.outputs.len(), model.variables.len()),
            of_variable: Vec::with_capacity(model.variables.len()),
            outputs: Vec::with_capacity(model.outputs.len()),
            roots: Vec::new(),
        };
        for (index, variable) in model.variables.iter().enumerate() {
            let id = VarId(index as u32);
            let kind = if options.chunks && variable.chunks.is_some() { TaskKind::Merge(id) } else { TaskKind::Variable(id) };
            let task = graph.add(kind);
            graph.of_variable.push(task);
        }
        graph.connect(model, options);
        graph
    }

    /// The same graph, of which only outputs are done for their own sake.
    pub fn of_outputs(mut self) -> TaskGraph {
        self.roots.clone_from(&self.outputs);
        self
    }

    fn connect(&mut self, model: &Model, options: Options) {
        let mut uses = Uses::new(&model.functions);
        for (index, variable) in model.variables.iter().enumerate() {
            let id = VarId(index as u32);
            let task = self.of_variable[index];
            let batch = options.batch && variable.request.is_some();
            let needs = uses.of(&variable.expr);
            match variable.chunks.filter(|_| options.chunks) {
                None => {
                    let wait_for_all = batch && !(variable.non_strict && matches!(variable.expr.kind, ExprKind::If(..)));
                    self.depend(task, &needs, wait_for_all);
                }
                Some(chunks) => {
                    for index in 0..chunks.node {
                        let chunk = self.add(TaskKind::Chunk { variable: id, index, of: chunks.node });
                        self.depend(chunk, &needs, true);
                        self.edge(chunk, task, Need::Certain);
                    }
                }
            }
            if options.all || batch {
                self.roots.push(task);
            }
        }
        for (index, output) in model.outputs.iter().enumerate() {
            let task = self.add(TaskKind::Output(index));
            self.depend(task, &uses.of_output(output), false);
            self.outputs.push(task);
            self.roots.push(task);
        }
    }

    fn add(&mut self, kind: TaskKind) -> TaskId {
        TaskId(self.graph.add_node(kind).index() as u32)
    }

    fn edge(&mut self, from: TaskId, to: TaskId, need: Need) {
        self.graph.add_edge(NodeIndex::new(from.index()), NodeIndex::new(to.index()), need);
    }

    fn depend(&mut self, task: TaskId, needs: &[(VarId, Need)], all: bool) {
        for (variable, need) in needs {
            let need = if all { Need::Certain } else { *need };
            self.edge(self.of_variable[variable.index()], task, need);
        }
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..self.len() as u32).map(TaskId)
    }

    /// What a task does.
    pub fn kind(&self, task: TaskId) -> TaskKind {
        self.graph[NodeIndex::new(task.index())]
    }

    /// The task that gives a variable its value.
    pub fn of_variable(&self, id: VarId) -> TaskId {
        self.of_variable[id.index()]
    }

    /// Tasks of prints, views and exports, in the order of the text.
    pub fn outputs(&self) -> &[TaskId] {
        &self.outputs
    }

    /// Tasks that are done for their own sake: outputs, batch tasks, or all.
    pub fn roots(&self) -> &[TaskId] {
        &self.roots
    }

    /// What a task depends on; in no particular order.
    pub fn dependencies(&self, task: TaskId) -> impl Iterator<Item = (TaskId, Need)> + '_ {
        let edges = self.graph.edges_directed(NodeIndex::new(task.index()), petgraph::Direction::Incoming);
        edges.map(|edge| (TaskId(edge.source().index() as u32), *edge.weight()))
    }

    /// Which tasks the roots may need, by [`TaskId::index`].
    pub fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut stack = self.roots.clone();
        while let Some(task) = stack.pop() {
            if !std::mem::replace(&mut reached[task.index()], true) {
                stack.extend(self.dependencies(task).map(|(dependency, _)| dependency));
            }
        }
        reached
    }
}
