//! Which name means what: variables, functions and imports share one namespace, in which order does not matter.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::builtin::{self, Import};
use crate::check::{Mode, faults};
use crate::diagnostic::{Diagnostic, nearest};
use crate::hash::Map;
use crate::model::{FunctionId, NativeName, VarId};
use crate::source::Span;
use crate::syntax::ast::{Ast, Binding, ExprKind, Name, StatementKind};
use crate::value::Value;

/// What a name of the program stands for.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A variable.
    Variable(VarId),
    /// A user's function.
    Function(FunctionId),
    /// An imported function.
    Native(Box<NativeName>),
    /// An imported constant.
    Constant(Box<Value>),
    /// A column of a `vary` statement.
    Varied,
    /// An import that failed; said already.
    Unknown,
}

/// A definition: what and where.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What the name stands for.
    pub meaning: Meaning,
    /// Where it is defined.
    pub span: Span,
}

/// All names of a program.
#[derive(Debug, Default)]
pub struct Names {
    /// By name.
    pub definitions: Map<Arc<str>, Definition>,
    /// Positions in [`Ast::statements`] of the definitions of variables, by [`VarId`]; an update takes the definition's place.
    pub variables: Vec<usize>,
    /// Positions of the functions, by [`FunctionId`].
    pub functions: Vec<usize>,
    /// How many names were compared to find those that were meant.
    compared: Cell<usize>,
}

/// So many names are compared at most; who has that many unknown names in a large program is not helped by suggestions.
const MOST_COMPARED: usize = 500_000;

impl Names {
    /// What a name stands for.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.definitions.get(name)
    }

    /// Whether so many more names may be compared.
    pub fn spend(&self, count: usize) -> bool {
        self.compared.set(self.compared.get().saturating_add(count));
        self.compared.get() <= MOST_COMPARED
    }

    /// The defined name that was most likely meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        if !self.spend(self.definitions.len()) {
            return None;
        }
        let mut known: Vec<&str> = self.definitions.keys().map(AsRef::as_ref).collect();
        known.sort_unstable();
        nearest(name, known)
    }
}

/// Collects all definitions of a program.
pub fn collect(ast: &Ast, mode: Mode) -> (Names, Vec<Diagnostic>) {
    let mut collector = Collector { names: Names::default(), diagnostics: Vec::new() };
    for (position, statement) in ast.statements.iter().enumerate() {
        collector.statement(position, &statement.kind);
    }
    collector.updates(ast, mode);
    (collector.names, collector.diagnostics)
}

struct Collector {
    names: Names,
    diagnostics: Vec<Diagnostic>,
}

impl Collector {
    fn statement(&mut self, position: usize, kind: &StatementKind) {
        match kind {
            StatementKind::Variable(binding) => {
                let id = VarId(self.names.variables.len() as u32);
                if self.define(&binding.name, Meaning::Variable(id)) {
                    self.names.variables.push(position);
                }
            }
            StatementKind::Function { name, .. } => {
                let id = FunctionId(self.names.functions.len() as u32);
                if self.define(name, Meaning::Function(id)) {
                    self.names.functions.push(position);
                }
            }
            StatementKind::Import { names, module } => self.import(names, module),
            StatementKind::Vary(table) => self.vary(table),
            StatementKind::Update(_)
            | StatementKind::Print(_)
            | StatementKind::View { .. }
            | StatementKind::Export { .. }
            | StatementKind::Tag(_) => {}
        }
    }

    /// Adds a name; a second definition is refused and leaves the first.
    fn define(&mut self, name: &Name, meaning: Meaning) -> bool {
        match self.names.definitions.entry(name.node.clone()) {
            Entry::Vacant(place) => {
                place.insert(Definition { meaning, span: name.span });
                true
            }
            Entry::Occupied(first) => {
                self.diagnostics.push(faults::repeated_definition(name, first.get().span));
                false
            }
        }
    }

    fn import(&mut self, names: &[Name], module: &[Name]) {
        let path = module.iter().map(|part| part.node.as_ref()).collect::<Vec<_>>().join(".");
        let is_known = builtin::names(&path).next().is_some();
        if let Some(first) = names.first().filter(|_| !is_known) {
            self.diagnostics.push(faults::unknown_import(first, &path));
        }
        for name in names {
            let meaning = match builtin::import(&path, &name.node) {
                Some(Import::Function(_)) => {
                    Meaning::Native(Box::new(NativeName { module: path.as_str().into(), name: name.node.clone() }))
                }
                Some(Import::Constant(value)) => Meaning::Constant(Box::new(value)),
                None => {
                    if is_known {
                        self.diagnostics.push(faults::unknown_import(name, &path));
                    }
                    Meaning::Unknown
                }
            };
            self.define(name, meaning);
        }
    }

    fn vary(&mut self, table: &crate::syntax::ast::Expr) {
        let ExprKind::Table(columns) = &table.kind else { return };
        for column in columns {
            if let ExprKind::Series { name, .. } = &column.kind {
                self.names.definitions.entry(name.node.clone()).or_insert(Definition { meaning: Meaning::Varied, span: name.span });
            }
        }
    }

    /// An update takes the place of the definition that it updates, at most once.
    fn updates(&mut self, ast: &Ast, mode: Mode) {
        let mut updated: HashMap<&str, Span> = HashMap::new();
        for (position, statement) in ast.statements.iter().enumerate() {
            let StatementKind::Update(binding) = &statement.kind else { continue };
            if mode != Mode::Workflow {
                self.diagnostics.push(faults::update_outside_workflow(statement.span));
                continue;
            }
            if let Some(first) = updated.insert(&binding.name.node, binding.name.span) {
                self.diagnostics.push(faults::repeated_update(&binding.name, first));
                continue;
            }
            self.update(ast, position, binding);
        }
    }

    fn update(&mut self, ast: &Ast, position: usize, binding: &Binding) {
        let Some(Definition { meaning: Meaning::Variable(id), .. }) = self.names.definitions.get(&binding.name.node) else {
            let suggestion = self.names.nearest(&binding.name.node);
            self.diagnostics.push(faults::update_of_unknown(&binding.name, suggestion));
            return;
        };
        let slot = &mut self.names.variables[id.index()];
        if let Some(StatementKind::Variable(old)) = ast.statements.get(*slot).map(|statement| &statement.kind)
            && old.non_strict.is_some()
        {
            self.diagnostics.push(faults::update_of_non_strict(&binding.name, old.name.span));
            return;
        }
        *slot = position;
    }
}
