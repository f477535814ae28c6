//! Cycles among variables and functions, and the order in which they depend on each other.
//!
//! A walk with a stack of its own, so that a chain of any length is fine. What a function refers to counts for whoever calls it.

use crate::check::{Extent, faults};
use crate::diagnostic::Diagnostic;
use crate::model::{Callee, Expr, ExprKind, FunctionId, Model, Output, VarId};
use crate::source::Span;

/// A variable or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A variable.
    Variable(VarId),
    /// A function.
    Function(FunctionId),
}

/// How deep calls and expressions may nest in each other; each level costs stack.
const MAX_DEPTH: u32 = 1500;

/// Cycles that are reported; each may be as long as the program.
const MOST_CYCLES: usize = 20;

/// Variables and functions, each after all that it refers to; `None` when there is a cycle.
pub fn order(model: &Model) -> (Option<Vec<Node>>, Vec<Diagnostic>) {
    let mut walk =
        Walk { model, states: vec![State::New; model.variables.len() + model.functions.len()], order: Vec::new(), faults: Vec::new() };
    let variables = (0..model.variables.len()).map(|index| Node::Variable(VarId(index as u32)));
    let functions = (0..model.functions.len()).map(|index| Node::Function(FunctionId(index as u32)));
    for node in variables.chain(functions) {
        walk.visit(node);
    }
    if walk.faults.is_empty() {
        walk.faults.extend(too_deep(model, &walk.order));
    }
    let sound = walk.faults.is_empty();
    (sound.then_some(walk.order), walk.faults)
}

/// The variables and functions that are computed, or that what is computed needs, directly or not.
pub fn needed(model: &Model, extent: Extent) -> Needed {
    let outputs = model.outputs.iter().flat_map(Output::exprs);
    let mut stack: Vec<Node> = outputs.flat_map(references).map(|(node, _)| node).collect();
    let is_computed = |span: Span| match extent {
        Extent::Outputs => false,
        Extent::Text(file) => span.file == file,
        Extent::All => true,
    };
    let variables = model.variables.iter().enumerate().filter(|(_, variable)| is_computed(variable.span));
    stack.extend(variables.map(|(index, _)| Node::Variable(VarId(index as u32))));
    let mut needed = Needed { variables: vec![false; model.variables.len()], functions: vec![false; model.functions.len()] };
    while let Some(node) = stack.pop() {
        if !std::mem::replace(needed.at(node), true) {
            stack.extend(references(expr(model, node)).into_iter().map(|(node, _)| node));
        }
    }
    needed
}

/// A set of variables and functions.
pub struct Needed {
    variables: Vec<bool>,
    functions: Vec<bool>,
}

impl Needed {
    /// Whether a node is one of them.
    pub fn contains(&self, node: Node) -> bool {
        match node {
            Node::Variable(id) => self.variables[id.index()],
            Node::Function(id) => self.functions[id.index()],
        }
    }

    fn at(&mut self, node: Node) -> &mut bool {
        match node {
            Node::Variable(id) => &mut self.variables[id.index()],
            Node::Function(id) => &mut self.functions[id.index()],
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

struct Walk<'a> {
    model: &'a Model,
    states: Vec<State>,
    order: Vec<Node>,
    faults: Vec<Diagnostic>,
}

impl Walk<'_> {
    /// Depth first; a reference to a node that is still open closes a cycle.
    fn visit(&mut self, root: Node) {
        if self.states[self.slot(root)] != State::New {
            return;
        }
        let mut stack = vec![self.open(root)];
        while let Some((node, references, next)) = stack.last_mut() {
            let Some((target, span)) = references.get(*next).copied() else {
                let node = *node;
                let slot = self.slot(node);
                self.states[slot] = State::Done;
                self.order.push(node);
                stack.pop();
                continue;
            };
            *next += 1;
            match self.states[self.slot(target)] {
                State::Done => {}
                State::New => {
                    let frame = self.open(target);
                    stack.push(frame);
                }
                State::Open if self.faults.len() == MOST_CYCLES => {}
                State::Open => {
                    let path: Vec<Node> = stack.iter().map(|(node, ..)| *node).skip_while(|node| *node != target).collect();
                    self.faults.push(self.cycle(&path, span));
                }
            }
        }
    }

    fn open(&mut self, node: Node) -> (Node, Vec<(Node, Span)>, usize) {
        let slot = self.slot(node);
        self.states[slot] = State::Open;
        (node, references(expr(self.model, node)), 0)
    }

    fn slot(&self, node: Node) -> usize {
        match node {
            Node::Variable(id) => id.index(),
            Node::Function(id) => self.model.variables.len() + id.index(),
        }
    }

    fn cycle(&self, path: &[Node], closing: Span) -> Diagnostic {
        let named: Vec<(&str, Span)> = path.iter().map(|node| self.name(*node)).collect();
        faults::cycle(&named, closing)
    }

    fn name(&self, node: Node) -> (&str, Span) {
        match node {
            Node::Variable(id) => {
                let variable = &self.model.variables[id.index()];
                (&variable.name, variable.name_span)
            }
            Node::Function(id) => {
                let function = &self.model.functions[id.index()];
                (&function.name, function.name_span)
            }
        }
    }
}

fn expr(model: &Model, node: Node) -> &Expr {
    match node {
        Node::Variable(id) => &model.variables[id.index()].expr,
        Node::Function(id) => &model.functions[id.index()].body,
    }
}

fn references(expr: &Expr) -> Vec<(Node, Span)> {
    let mut found = Vec::new();
    let mut callees = Vec::new();
    expr.visit(&mut |expr| match &expr.kind {
        ExprKind::Variable(id) => found.push((Node::Variable(*id), expr.span)),
        ExprKind::Call(id, _) => found.push((Node::Function(*id), expr.span)),
        ExprKind::Map { function, .. } | ExprKind::Filter { function, .. } | ExprKind::Reduce { function, .. } => {
            if let Callee::Function(id, span) = **function {
                callees.push((Node::Function(id), span));
            }
        }
        _ => {}
    });
    found.append(&mut callees);
    found
}

/// A chain of functions, each calling the one before, must not need more stack than there is.
fn too_deep(model: &Model, order: &[Node]) -> Option<Diagnostic> {
    let mut depths = vec![0_u32; model.functions.len()];
    for node in order {
        let Node::Function(id) = *node else { continue };
        let function = &model.functions[id.index()];
        let calls = references(&function.body).into_iter().filter_map(|(node, span)| match node {
            Node::Function(callee) => Some((depths[callee.index()], span)),
            Node::Variable(_) => None,
        });
        let (deepest, span) = calls.max_by_key(|(depth, _)| *depth).unwrap_or((0, function.name_span));
        depths[id.index()] = deepest + function.body.depth();
        if depths[id.index()] > MAX_DEPTH {
            return Some(faults::calls_too_deep(&function.name, function.name_span, span));
        }
    }
    None
}
