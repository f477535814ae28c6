//! The core of a session, without a terminal and with an engine that writes down what it is asked.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::check::Mode;
use crate::diagnostic::Fault;
use crate::eval::{Exporter, World};
use crate::model::{ExprKind, LoadKind, VarId};
use crate::run::{self, Program};
use crate::source::Span;
use crate::value::Value;

/// Computes in this thread, and remembers what.
#[derive(Default)]
struct Recorder {
    asked: Vec<Computation>,
    /// Says so instead of computing.
    refuses: Option<Verdict>,
}

struct Nowhere;

impl World for Nowhere {
    fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
        Err(Fault::new("E0000", path))
    }
}

impl Exporter for Nowhere {
    fn save(&self, _: &Value, path: &str) -> Result<(), Fault> {
        Err(Fault::new("E0000", path))
    }
}

impl Engine for Recorder {
    /// The path is the text.
    fn read(&mut self, path: &Path, sources: &mut SourceMap) -> Result<(FileId, Arc<str>), Box<Diagnostic>> {
        let text: Arc<str> = path.to_string_lossy().into();
        if &*text == "missing" {
            return Err(Box::new(Diagnostic::error("E0000", "missing", Span::default())));
        }
        Ok((sources.add("loaded", text.clone()), text))
    }

    fn run(&mut self, computation: Computation, line: &mut dyn FnMut(&str)) -> Result<Summary, Refused> {
        self.asked.push(computation.clone());
        if let Some(verdict) = self.refuses {
            return Err(Refused { verdict, diagnostics: vec![Diagnostic::error("E0000", "refused", Span::default())] });
        }
        let Computation { model, graph, sources } = computation;
        Ok(run::run(&Program { model, graph, sources, world: Arc::new(Nowhere), exporter: Arc::new(Nowhere) }, 1, None, line))
    }
}

impl Recorder {
    /// Whether the last computation takes a variable as known, and whether it may need it.
    fn last(&self, name: &str) -> (bool, bool) {
        let Computation { model, graph, .. } = self.asked.last().expect("something was asked");
        let index = model.variables.iter().position(|variable| &*variable.name == name).expect("the variable is there");
        let known = matches!(model.variables[index].expr.kind, ExprKind::Literal(_)) && model.variables[index].request.is_none();
        (known, graph.reachable()[graph.of_variable(VarId(index as u32)).index()])
    }
}

#[derive(Default)]
struct Paper {
    lines: Vec<String>,
    faults: Vec<String>,
}

impl Screen for Paper {
    fn result(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn answer(&mut self, text: &str) {
        self.lines.extend(text.lines().map(str::to_owned));
    }

    fn report(&mut self, diagnostics: &[Diagnostic], _: &SourceMap) {
        self.faults.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.clone()));
    }
}

/// A session with all that it takes.
struct Table {
    session: Session,
    engine: Recorder,
    paper: Paper,
}

impl Table {
    fn new() -> Table {
        Table { session: Session::new(Mode::Workflow), engine: Recorder::default(), paper: Paper::default() }
    }

    fn take(&mut self, text: &str) -> Verdict {
        match self.session.take(text, &mut self.engine, &mut self.paper) {
            Answer::Done(verdict) => verdict,
            Answer::Leave => panic!("{text} leaves"),
        }
    }

    fn knows(&self, name: &str) -> bool {
        self.session.value(name).is_some()
    }
}

#[test]
fn nothing_is_computed_that_nothing_asks_for() {
    let mut table = Table::new();
    assert_eq!(table.take("a = 1 + 0; b = a + 1 on 1 core; c = a + 2"), Verdict::Well);
    assert!(table.engine.asked.is_empty());
    assert_eq!(table.take("c"), Verdict::Well);
    assert_eq!(table.paper.lines, ["3"]);
    assert_eq!([table.engine.last("a"), table.engine.last("b"), table.engine.last("c")], [(false, true), (false, false), (false, true)]);
    assert!(table.knows("a") && table.knows("c") && !table.knows("b"));
}

#[test]
fn what_is_known_is_not_computed_again() {
    let mut table = Table::new();
    table.take("a = 1 + 0; r = range(0, 4, 1); b = map((x: x + a), r) in 2 chunks on 1 core; print(b)");
    assert_eq!(table.engine.last("b"), (false, true));
    assert_eq!(table.take("sum(b) + a"), Verdict::Well);
    assert_eq!(table.paper.lines, ["(b: 1, 2, 3, 4)", "11"]);
    assert_eq!([table.engine.last("a"), table.engine.last("b")], [(true, true), (true, true)]);
}

#[test]
fn a_redefinition_drops_what_depends_on_it_also_through_functions() {
    let mut table = Table::new();
    table.take("a = 1 + 0; f(x) = x + a; b = f(1); c = b * 2; d = 5 + 0; print(c, d)");
    assert!(["a", "b", "c", "d"].iter().all(|name| table.knows(name)));
    table.take("a := 2");
    assert_eq!(["a", "b", "c", "d"].map(|name| table.knows(name)), [false, false, false, true]);
    table.take("print(c, d)");
    assert_eq!(table.paper.lines, ["4 5", "6 5"]);
    assert_eq!(table.session.history().last().map(String::as_str), Some("print(c, d)"));
}

#[test]
fn a_fault_changes_nothing() {
    let mut table = Table::new();
    table.take("a = 1; print(a)");
    table.take("print(a)");
    let (history, vocabulary) = (table.session.history().to_vec(), table.session.vocabulary());
    for faulty in
        ["b = 2; c = nope", "b = 2; a = 3", "a := nope", "b = ", "%load 'b = 2; c = nope'", "%load 'b = '", "%load missing", "%what"]
    {
        assert_eq!(table.take(faulty), Verdict::Wrong, "{faulty}");
    }
    assert_eq!((table.session.history(), table.session.vocabulary()), (&history[..], vocabulary));
    assert!(table.knows("a"));
    assert_eq!(table.take("b = a; print(b)"), Verdict::Well, "{:?}", table.paper.faults);
}

#[test]
fn what_fails_stays_defined() {
    let mut table = Table::new();
    assert_eq!(table.take("a = 1 / 0; b = 2; print(a); print(b)"), Verdict::Failed);
    assert_eq!((table.paper.lines.as_slice(), table.paper.faults.as_slice()), (&["2".to_owned()][..], &["E0420".to_owned()][..]));
    assert!(!table.knows("a") && table.knows("b"));
    assert_eq!(table.take("a := 3; print(a)"), Verdict::Well);
}

#[test]
fn what_the_engine_refuses_stays_defined() {
    let mut table = Table::new();
    for verdict in [Verdict::Wrong, Verdict::Failed] {
        table.engine.refuses = Some(verdict);
        assert_eq!(table.take("1 + 1"), verdict);
    }
    assert_eq!(table.paper.faults, ["E0000", "E0000"]);
    assert!(table.paper.lines.is_empty());
}

#[test]
fn a_loaded_program_is_an_input() {
    let mut table = Table::new();
    assert_eq!(table.take("%load 'a = 1; b = a + 1; print(b)'"), Verdict::Well);
    assert_eq!(table.take("%load \"c = b\""), Verdict::Well);
    assert_eq!(table.take("c"), Verdict::Well);
    assert_eq!(table.paper.lines, ["2", "2"]);
}

#[test]
fn a_new_model_knows_nothing() {
    let mut table = Table::new();
    table.take("a = 1; print(a)");
    assert_eq!(table.take("%new"), Verdict::Well);
    assert!(!table.knows("a") && table.session.history().is_empty() && table.session.vocabulary() == Vocabulary::default());
    assert_eq!(table.take("a = 'other'; print(a)"), Verdict::Well);
    assert_eq!(table.paper.lines, ["1", "'other'"]);
}

#[test]
fn every_way_to_leave_leaves() {
    for text in ["%exit", "%quit", "%close", " %bye \n"] {
        let mut table = Table::new();
        assert_eq!(table.session.take(text, &mut table.engine, &mut table.paper), Answer::Leave, "{text}");
    }
}

#[test]
fn columns_are_known_by_types_or_else_by_values() {
    let mut table = Table::new();
    table.take("t = ((a: 1, 2), (b: 3, 4)); u = if(1 > 0, t, t); f(x) = x; use exp from math");
    let members = |table: &Table, name: &str| table.session.vocabulary().members(name).join(" ");
    assert_eq!(members(&table, "t"), "a b");
    table.take("u");
    assert_eq!(members(&table, "u"), "a b");
    let names = table.session.vocabulary().names;
    assert_eq!(names.keys().map(AsRef::as_ref).collect::<Vec<_>>(), ["exp", "f", "t", "u"]);
}

#[test]
fn deep_texts_break_nothing() {
    let mut table = Table::new();
    let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(table.take(&deep), Verdict::Wrong);
    assert_eq!(table.take("1"), Verdict::Well);
}

#[test]
fn lines_go_on_where_they_belong() {
    for (text, next) in [
        ("x = (1,", Some(8 + 5)),
        ("x = (1,\n             [2,", Some(14)),
        ("x = 1 +", Some(8 + 4)),
        ("use exp from", Some(8)),
        ("x = 'open", Some(0)),
        ("x = 'open\nmore", Some(0)),
        ("x = 'open\n\n", None),
        ("\"\"\" open\n\n", Some(0)),
        ("x = (1,\n  ", None),
        ("x = 1", None),
        ("x = )", None),
        ("%load 'open", None),
        ("", None),
    ] {
        assert_eq!(input::next_line(text, 8), next, "{text}");
    }
}
