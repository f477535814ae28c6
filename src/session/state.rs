//! The core of a session: the accepted statements, the values that are known, and what an input makes of them.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use super::input::{self, Input};
use super::magic::{self, Magic};
use super::vocabulary::Vocabulary;
use super::{Answer, Computation, Engine, Refused, Screen, Verdict, description, faults};
use crate::check::{self, Extent, Mode};
use crate::diagnostic::{Diagnostic, Severity, has_errors};
use crate::graph::{Options, TaskGraph, Uses};
use crate::model::{ExprKind, Model, Type, VarId};
use crate::source::{FileId, SourceMap, Span, Spanned};
use crate::syntax;
use crate::syntax::ast::{Ast, Binding, Parameter, Statement, StatementKind};
use crate::value::Value;

/// A model that grows by inputs.
#[derive(Debug)]
pub struct Session {
    mode: Mode,
    /// All inputs, also those that were refused: diagnostics point into them.
    sources: Arc<SourceMap>,
    inputs: usize,
    /// The definitions as they are now. Prints, views and exports are over once they are done.
    model: Ast,
    /// What is known of each variable without its value.
    types: Vec<(Arc<str>, Type)>,
    /// Values of variables; one is dropped when it is redefined, or something that it depends on.
    values: HashMap<Arc<str>, Value>,
    /// The accepted statements in the order of acceptance.
    history: Vec<String>,
}

impl Session {
    /// An empty model, whose programs are going to be evaluated in a mode.
    pub fn new(mode: Mode) -> Self {
        Session {
            mode,
            sources: Arc::default(),
            inputs: 0,
            model: Ast::default(),
            types: Vec::new(),
            values: HashMap::new(),
            history: Vec::new(),
        }
    }

    /// All inputs so far, named `input 1` and so on, and the programs that were loaded.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The value of a variable, if it is known.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The accepted statements, each as a line or more of a program.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// What can be named.
    pub fn vocabulary(&self) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for statement in &self.model.statements {
            match &statement.kind {
                StatementKind::Function { name, .. } => vocabulary.add(&name.node),
                StatementKind::Import { names, .. } => names.iter().for_each(|name| vocabulary.add(&name.node)),
                StatementKind::Variable(_)
                | StatementKind::Update(_)
                | StatementKind::Print(_)
                | StatementKind::View { .. }
                | StatementKind::Export { .. }
                | StatementKind::Vary(_)
                | StatementKind::Tag(_) => {}
            }
        }
        for (name, ty) in &self.types {
            vocabulary.add_variable(name, ty, self.values.get(name));
        }
        vocabulary
    }

    /// Takes a whole input. One with a fault changes nothing; otherwise what it defines is part of the model from now on, and what it
    /// prints, draws or exports is computed.
    pub fn take(&mut self, text: &str, engine: &mut dyn Engine, screen: &mut dyn Screen) -> Answer {
        self.inputs += 1;
        let file = Arc::make_mut(&mut self.sources).add(format!("input {}", self.inputs), text);
        let verdict = match input::read(file, text) {
            Input::Nothing => {
                screen.report(&[], &self.sources);
                Verdict::Well
            }
            Input::Magic => return self.magic(file, text, engine, screen),
            Input::Program(program) => self.accept(file, program, engine, screen),
            Input::Faulty(faults) => self.refuse(&faults, screen),
        };
        Answer::Done(verdict)
    }

    fn refuse(&self, faults: &[Diagnostic], screen: &mut dyn Screen) -> Verdict {
        screen.report(faults, &self.sources);
        Verdict::Wrong
    }

    fn magic(&mut self, file: FileId, text: &str, engine: &mut dyn Engine, screen: &mut dyn Screen) -> Answer {
        let magic = match magic::read(file, text) {
            Ok(magic) => magic,
            Err(fault) => return Answer::Done(self.refuse(&[fault], screen)),
        };
        match magic {
            Magic::Leave => return Answer::Leave,
            Magic::Load(path) => return Answer::Done(self.load(&path, engine, screen)),
            Magic::Type(expression) => return Answer::Done(self.tell_type(file, &expression, screen)),
            Magic::New => {
                *self = Session { sources: self.sources.clone(), inputs: self.inputs, ..Session::new(self.mode) };
            }
            Magic::Help(text) => screen.answer(&text),
            Magic::History => screen.answer(&self.history.iter().flat_map(|statement| [statement, "\n"]).collect::<String>()),
            Magic::Version => screen.answer(concat!("scl ", env!("CARGO_PKG_VERSION"), "\n")),
        }
        screen.report(&[], &self.sources);
        Answer::Done(Verdict::Well)
    }

    fn load(&mut self, path: &str, engine: &mut dyn Engine, screen: &mut dyn Screen) -> Verdict {
        let (file, text) = match engine.read(Path::new(path), Arc::make_mut(&mut self.sources)) {
            Ok(program) => program,
            Err(fault) => return self.refuse(&[*fault], screen),
        };
        let (program, faults) = syntax::parse(file, &text);
        if has_errors(&faults) {
            return self.refuse(&faults, screen);
        }
        self.accept(file, program, engine, screen)
    }

    /// Makes the statements of a file part of the model, or says what is wrong with them.
    fn accept(&mut self, file: FileId, program: Ast, engine: &mut dyn Engine, screen: &mut dyn Screen) -> Verdict {
        let accepted = self.model.statements.len();
        self.model.statements.extend(program.statements);
        // those of earlier inputs are about warnings that were said, or not, then
        self.model.allowances = program.allowances;
        let (model, diagnostics) = self.check(file);
        if has_errors(&diagnostics) {
            let refused = self.model.statements.split_off(accepted);
            return self.refuse(&self.with_advice(diagnostics, &refused), screen);
        }
        let updated = self.settle(accepted);
        self.forget(&model, &updated);
        self.types = model.variables.iter().map(|variable| (variable.name.clone(), variable.ty.clone())).collect();
        self.compute(model, diagnostics, engine, screen)
    }

    /// Checks all statements. Of warnings only those count that have to do with a file: the others were said before.
    fn check(&self, file: FileId) -> (Model, Vec<Diagnostic>) {
        let (model, mut diagnostics) = catch_unwind(AssertUnwindSafe(|| check::check(&self.model, self.mode, Extent::Text(file))))
            .unwrap_or_else(|_| (Model::default(), vec![faults::broken_check(Span::new(file, 0, 0))]));
        diagnostics
            .retain(|diagnostic| diagnostic.severity == Severity::Error || diagnostic.labels.iter().any(|label| label.span.file == file));
        (model, diagnostics)
    }

    /// Who defines a variable again means to redefine it, for which a session has `:=`.
    fn with_advice(&self, diagnostics: Vec<Diagnostic>, refused: &[Statement]) -> Vec<Diagnostic> {
        let is_again = |statement: &&Statement| defined(statement).is_some_and(|name| self.types.iter().any(|(known, _)| **known == *name));
        let again: Vec<&Statement> = refused.iter().filter(is_again).collect();
        let advice = |fault: Diagnostic| match again.iter().find(|statement| statement.span.start == fault.span().start) {
            Some(statement) => {
                let name = defined(statement).unwrap_or_default();
                fault.note(format!("`{name} := …` redefines it, in terms of the same variables"))
            }
            None => fault,
        };
        diagnostics.into_iter().map(advice).collect()
    }

    /// Enters statements that were accepted: an update takes the place of the definition, which a later input may update again;
    /// outputs are not part of the model. Gives the names of the updated variables.
    fn settle(&mut self, accepted: usize) -> HashSet<Arc<str>> {
        let mut updated = HashSet::new();
        for statement in self.model.statements.split_off(accepted) {
            self.history.push(self.text(&statement));
            match statement.kind {
                StatementKind::Update(binding) => {
                    updated.insert(binding.name.node.clone());
                    self.redefine(Statement { span: statement.span, kind: StatementKind::Variable(binding) });
                }
                StatementKind::Variable(_) | StatementKind::Function { .. } | StatementKind::Import { .. } | StatementKind::Vary(_) => {
                    self.model.statements.push(statement);
                }
                StatementKind::Print(_) | StatementKind::View { .. } | StatementKind::Export { .. } | StatementKind::Tag(_) => {}
            }
        }
        updated
    }

    /// Puts a definition in the place of the one of the same name.
    fn redefine(&mut self, definition: Statement) {
        let same = |statement: &&mut Statement| matches!((defined(statement), defined(&definition)), (Some(old), Some(new)) if old == new);
        if let Some(place) = self.model.statements.iter_mut().find(same) {
            *place = definition;
        }
    }

    /// A statement as a program has it; a bare expression is a print there.
    fn text(&self, statement: &Statement) -> String {
        let text = self.sources.text(statement.span);
        match &statement.kind {
            StatementKind::Print(parameters) if parameters.first().is_some_and(|first| first.value.span.start == statement.span.start) => {
                format!("print({text})")
            }
            _ => text.to_owned(),
        }
    }

    /// Drops the values of updated variables and of all that depend on them.
    fn forget(&mut self, model: &Model, updated: &HashSet<Arc<str>>) {
        if updated.is_empty() {
            return;
        }
        let mut uses = Uses::new(&model.functions);
        let mut dependents = vec![Vec::new(); model.variables.len()];
        for (index, variable) in model.variables.iter().enumerate() {
            uses.of(&variable.expr).into_iter().for_each(|(id, _)| dependents[id.index()].push(VarId(index as u32)));
        }
        let mut stale: Vec<VarId> = Vec::new();
        let is_updated = |id: &VarId| updated.contains(&model.variables[id.index()].name);
        let mut stack: Vec<VarId> = (0..model.variables.len() as u32).map(VarId).filter(is_updated).collect();
        let mut seen = vec![false; model.variables.len()];
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut seen[id.index()], true) {
                stale.push(id);
                stack.extend(&dependents[id.index()]);
            }
        }
        for id in stale {
            self.values.remove(&model.variables[id.index()].name);
        }
    }

    /// Computes the outputs of a model, which are those of the last input, and keeps the values that come of it.
    fn compute(&mut self, mut model: Model, mut diagnostics: Vec<Diagnostic>, engine: &mut dyn Engine, screen: &mut dyn Screen) -> Verdict {
        if model.outputs.is_empty() {
            screen.report(&diagnostics, &self.sources);
            return Verdict::Well;
        }
        self.insert_values(&mut model);
        let workflow = self.mode == Mode::Workflow;
        let graph = TaskGraph::build(&model, Options { chunks: workflow, batch: workflow, all: false }).of_outputs();
        let model = Arc::new(model);
        let computation = Computation { model: model.clone(), graph: Arc::new(graph), sources: self.sources.clone() };
        let verdict = match engine.run(computation, &mut |line| screen.result(line)) {
            Ok(summary) => {
                let named = summary.values.into_iter().map(|(id, value)| (model.variables[id.index()].name.clone(), value));
                self.values.extend(named);
                diagnostics.extend(summary.diagnostics);
                if summary.failed || summary.interrupted { Verdict::Failed } else { Verdict::Well }
            }
            Err(Refused { verdict, diagnostics: faults }) => {
                diagnostics.extend(faults);
                verdict
            }
        };
        screen.report(&diagnostics, &self.sources);
        verdict
    }

    /// Variables whose values are known become literals: they need nothing, and ask for no resources.
    fn insert_values(&self, model: &mut Model) {
        for variable in &mut model.variables {
            if let Some(value) = self.values.get(&variable.name) {
                variable.expr.kind = ExprKind::Literal(value.clone());
                variable.chunks = None;
                variable.request = None;
            }
        }
    }

    /// Says what is known of an expression before it is computed. To the checker it is the value of one more variable.
    fn tell_type(&mut self, file: FileId, expression: &str, screen: &mut dyn Screen) -> Verdict {
        let parameter = match syntax::parse_parameter(file, expression) {
            (Some(parameter), _) => parameter,
            (None, faults) => return self.refuse(&faults, screen),
        };
        let accepted = self.model.statements.len();
        self.model.statements.push(nameless(parameter));
        let (model, diagnostics) = self.check(file);
        self.model.statements.truncate(accepted);
        if has_errors(&diagnostics) {
            return self.refuse(&diagnostics, screen);
        }
        if let Some(variable) = model.variables.last() {
            screen.answer(&format!("{}\n", description::of(&variable.ty)));
        }
        screen.report(&diagnostics, &self.sources);
        Verdict::Well
    }
}

/// The variable that a statement defines.
fn defined(statement: &Statement) -> Option<&str> {
    match &statement.kind {
        StatementKind::Variable(binding) => Some(&binding.name.node),
        StatementKind::Update(_)
        | StatementKind::Function { .. }
        | StatementKind::Import { .. }
        | StatementKind::Print(_)
        | StatementKind::View { .. }
        | StatementKind::Export { .. }
        | StatementKind::Vary(_)
        | StatementKind::Tag(_) => None,
    }
}

/// A definition with a name that no program can have.
fn nameless(parameter: Parameter) -> Statement {
    let span = parameter.value.span;
    let name = Spanned::new(Arc::from("%type"), span);
    let binding = Binding { name, value: parameter.value, non_strict: None, resources: None };
    Statement { span, kind: StatementKind::Variable(binding) }
}
