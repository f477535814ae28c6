//! What fuzzing does with an input, with and without a fuzzer: everything that `scl` does with text and bytes from outside, and
//! the promises that hold for any of them. A broken promise is a panic.

use std::collections::HashMap;
use std::fs;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use scl::check::{Extent, Mode, check_and_lint};
use scl::diagnostic::{Diagnostic, Fault, has_errors};
use scl::eval::{Exporter, STACK_SIZE, World};
use scl::graph::{self, Options, TaskGraph};
use scl::io;
use scl::job::Attempt;
use scl::model::{Child, Expr, ExprKind, Function, FunctionId, LoadKind, Model, Output};
use scl::report::{self, Style};
use scl::run::{self, Program};
use scl::session;
use scl::source::{FileId, SourceMap};
use scl::syntax;
use scl::units::Unit;
use scl::value::{Value, codec};

/// Programs that are longer are only parsed and checked: the longer, the more time evaluation may rightly take.
const LONGEST_RUN: usize = 2000;

/// Steps that a program may take at most to be evaluated here, as [`Cost`] estimates them.
const STEPS: u64 = 20_000;

/// Elements that a series is taken to have.
const ELEMENTS: u64 = 20;

/// Calls something with the stack that `scl` has.
pub fn deep(exercise: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, exercise).expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    });
}

/// Parses, checks in two modes, builds graphs and renders all that comes of it.
pub fn program(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for mode in [Mode::Deferred, Mode::Workflow] {
        let checked = Checked::new(&text, mode);
        let again = Checked::new(&text, mode);
        assert_eq!(checked.diagnostics, again.diagnostics, "checking is not deterministic");
        let style = Style { color: false, unicode: true };
        let _ = report::text(&checked.diagnostics, &checked.sources, style);
        let _ = report::json(&checked.diagnostics, &checked.sources);
        if let Some(graph) = checked.graph() {
            let json = graph::json(&graph, &checked.model, &checked.sources);
            let anew = again.graph().map(|graph| graph::json(&graph, &again.model, &again.sources));
            assert_eq!(Some(json), anew, "the graph is not deterministic");
            let _ = graph::dot(&graph, &checked.model, &checked.sources);
        }
    }
    let _ = syntax::completeness(&text);
    coloured(&text);
    let _ = syntax::parse_parameter(FileId::default(), &text);
}

/// Runs a sound program that cannot take long: no internal error, the same result each time, on any number of threads, and, where
/// nothing is divided into chunks, in each mode.
pub fn evaluate(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.len() > LONGEST_RUN || has_large_number(&text) {
        return;
    }
    let Some(deferred) = Run::new(&text, Mode::Deferred, 1) else { return };
    assert_eq!(Some(&deferred), Run::new(&text, Mode::Deferred, 2).as_ref(), "threads make a difference");
    let Some(workflow) = Run::new(&text, Mode::Workflow, 1) else { return };
    assert_eq!(Some(&workflow), Run::new(&text, Mode::Workflow, 2).as_ref(), "threads make a difference");
    if !workflow.chunks {
        assert_eq!(deferred, workflow, "the mode makes a difference");
    }
}

/// Reads bytes as a value, a file of a kind, a part of a job directory or a unit, as the first byte says.
pub fn decode(data: &[u8]) {
    let Some((selector, rest)) = data.split_first() else { return };
    match selector % 9 {
        0 => drop(codec::decode(rest).map(|value| survives(&value))),
        1 => document(rest, "json"),
        2 => document(rest, "yaml"),
        3 => document(rest, "json.zz"),
        4 => document(rest, "yaml.zz"),
        5 => attempt(rest, "task.json", |attempt| drop(attempt.description())),
        6 => attempt(rest, "manifest.json", |attempt| drop(attempt.manifest())),
        7 => document(rest, "csv"),
        _ => drop(Unit::parse(&String::from_utf8_lossy(rest)).map(unit)),
    }
}

/// A program as far as the checker.
struct Checked {
    sources: SourceMap,
    model: Model,
    diagnostics: Vec<Diagnostic>,
    mode: Mode,
}

impl Checked {
    fn new(text: &str, mode: Mode) -> Checked {
        let mut sources = SourceMap::new();
        let file = sources.add("fuzzed.scl", text);
        let (ast, faults) = syntax::parse(file, text);
        let (model, mut diagnostics) = check_and_lint(&ast, mode, Extent::All);
        if has_errors(&faults) {
            diagnostics = faults;
        }
        Checked { sources, model, diagnostics, mode }
    }

    /// Of a sound program.
    fn graph(&self) -> Option<TaskGraph> {
        let chunks = self.mode == Mode::Workflow;
        let options = Options { chunks, batch: false, all: true };
        (!has_errors(&self.diagnostics)).then(|| TaskGraph::build(&self.model, options))
    }
}

/// What a program prints and what it says.
#[derive(Debug, PartialEq)]
struct Run {
    lines: Vec<String>,
    diagnostics: Vec<String>,
    failed: bool,
    chunks: bool,
}

impl Run {
    /// `None` when the program is not sound, or may take long.
    fn new(text: &str, mode: Mode, threads: usize) -> Option<Run> {
        let checked = Checked::new(text, mode);
        let graph = checked.graph()?;
        if Cost::of(&checked.model) > STEPS {
            return None;
        }
        let chunks = checked.model.variables.iter().any(|variable| variable.chunks.is_some()) && mode == Mode::Workflow;
        let (model, sources) = (Arc::new(checked.model), Arc::new(checked.sources));
        let (world, exporter) = (Arc::new(Nowhere), Arc::new(Nowhere));
        let program = Program { model, graph: Arc::new(graph), sources: sources.clone(), world, exporter };
        let mut lines = Vec::new();
        let summary = run::run(&program, threads, None, &mut |line| lines.push(line.to_owned()));
        let faults = &summary.diagnostics;
        assert!(faults.iter().all(|fault| fault.code != "E0901"), "an internal error: {faults:?}");
        let style = Style { color: false, unicode: false };
        let _ = report::text(faults, &sources, style);
        let diagnostics = faults.iter().map(|fault| format!("{fault:?}")).collect();
        Some(Run { lines, diagnostics, failed: summary.failed, chunks })
    }
}

/// A world without files.
struct Nowhere;

impl World for Nowhere {
    fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
        Err(Fault::new("E0601", format!("there is no file {path}")))
    }
}

impl Exporter for Nowhere {
    fn save(&self, value: &Value, path: &str) -> Result<(), Fault> {
        survives(value);
        Err(Fault::new("E0615", format!("there is no place for {path}")))
    }
}

/// Whether a range or power of a number in the text may be long.
fn has_large_number(text: &str) -> bool {
    let digits = |word: &str| word.bytes().filter(u8::is_ascii_digit).count();
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '.';
    text.split(|char| !is_word(char)).any(|word| digits(word) > 3 || (digits(word) > 0 && word.contains(['e', 'E'])))
}

/// An estimate of how many expressions are evaluated.
struct Cost<'m> {
    functions: &'m [Function],
    known: HashMap<FunctionId, u64>,
}

impl<'m> Cost<'m> {
    fn of(model: &'m Model) -> u64 {
        let mut cost = Cost { functions: &model.functions, known: HashMap::new() };
        let variables = model.variables.iter().map(|variable| (&variable.expr, variable.chunks.as_ref().map_or(1, |chunks| chunks.node)));
        let variables = variables.fold(0, |sum: u64, (expr, chunks)| sum.saturating_add(cost.expr(expr).saturating_mul(chunks.into())));
        model.outputs.iter().fold(variables, |sum, output| match output {
            Output::Print { parameters, .. } | Output::View { parameters, .. } => {
                parameters.iter().fold(sum, |sum, parameter| sum.saturating_add(cost.expr(&parameter.expr)))
            }
            Output::Export { place, .. } => sum.saturating_add(cost.expr(place)),
        })
    }

    fn expr(&mut self, expr: &'m Expr) -> u64 {
        let mut sum = match expr.kind {
            ExprKind::Call(id, _) => self.function(id),
            ExprKind::Range { .. } => 1000,
            _ => 1,
        };
        expr.children(&mut |child| {
            sum = sum.saturating_add(match child {
                Child::Expr(part) => self.expr(part),
                Child::Lambda(body) => self.expr(body).saturating_mul(ELEMENTS),
                Child::Function(id, _) => self.function(id).saturating_mul(ELEMENTS),
                Child::Native(_) => ELEMENTS,
            });
        });
        sum
    }

    fn function(&mut self, id: FunctionId) -> u64 {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let functions = self.functions;
        let cost = self.expr(&functions[id.index()].body);
        self.known.insert(id, cost);
        cost
    }
}

/// Encoding and decoding leave a value as it is; damage is seen.
fn survives(value: &Value) {
    let mut bytes = codec::encode(value);
    let back = codec::decode(&bytes).unwrap_or_else(|fault| panic!("{value} is encoded as what cannot be decoded: {fault:?}"));
    assert_eq!(value.to_string(), back.to_string(), "a value changes when it is encoded and decoded");
    assert_eq!(codec::digest(value), codec::digest(&back), "a digest changes when a value is encoded and decoded");
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
        let _ = codec::decode(&bytes);
    }
}

/// Reads a file as each kind of value.
fn document(data: &[u8], suffix: &str) {
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let path = directory.path().join(format!("fuzzed.{suffix}"));
    fs::write(&path, data).expect("a temporary file can be written");
    for kind in KINDS {
        let Ok(value) = io::load(kind, &path) else { continue };
        survives(&value);
        for name in ["copy.yaml", "copy.csv"] {
            let copy = directory.path().join(name);
            if io::save(&value, &copy).is_ok() {
                let back = io::load(kind, &copy).unwrap_or_else(|fault| panic!("{value} is written as what cannot be read: {fault:?}"));
                assert_eq!(value.to_string(), back.to_string(), "a value changes when it is written and read");
                fs::remove_file(&copy).expect("what was written can be removed");
            }
        }
    }
}

const KINDS: [LoadKind; 11] = [
    LoadKind::Quantity,
    LoadKind::Bool,
    LoadKind::String,
    LoadKind::Series,
    LoadKind::Table,
    LoadKind::BoolArray,
    LoadKind::StrArray,
    LoadKind::IntArray,
    LoadKind::FloatArray,
    LoadKind::ComplexArray,
    LoadKind::Structure,
];

/// Puts a file into an attempt's directory and reads it.
fn attempt(data: &[u8], file: &str, read: fn(&Attempt)) {
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    let path = directory.path().join("attempt-1");
    fs::create_dir(&path).expect("a temporary directory can be made");
    fs::write(path.join(file), data).expect("a temporary file can be written");
    read(&Attempt::open(&path).expect("the name is that of an attempt"));
}

/// A unit prints as what reads as the same unit, and can be reduced in every way.
fn unit(unit: Unit) {
    let again = Unit::parse(&unit.to_string());
    assert!(unit.has_affine() || again.is_ok(), "{unit} cannot be read again");
    for other in [unit.base(), unit.root(), unit.reduced(), unit.compact(1234.5)] {
        let _ = unit.conversion(other);
    }
    let _ = (unit.root_factor(), unit.dimension(), unit.multiply(unit), unit.divide(unit), unit.power(0.5));
}

/// Colours change nothing of a text, wherever the cursor stands.
fn coloured(text: &str) {
    if text.contains('\x1b') {
        return;
    }
    let coloured = session::highlight(text, text.len() / 2);
    let parts = coloured
        .split('\x1b')
        .enumerate()
        .map(|(index, part)| if index == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) });
    assert_eq!(parts.collect::<String>(), text, "colours change the text");
}
