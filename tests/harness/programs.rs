//! Golden tests of everything behind the parser: what the checker says, what programs print, which graphs they make.
//!
//! Where two modes differ, the expected text has a part for each; otherwise it has one part and tests both.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use libtest_mimic::Trial;
use scl::check::{self, Extent, Mode};
use scl::diagnostic::{Diagnostic, has_errors};
use scl::eval::STACK_SIZE;
use scl::graph::{self, Options, TaskGraph};
use scl::io::Files;
use scl::model::Model;
use scl::run::{self, Program};
use scl::source::SourceMap;
use scl::syntax;
use scl::syntax::ast::Ast;

use crate::golden;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let mut trials = golden::folder("check", checked);
    trials.extend(golden::folder("lint", linted));
    trials.extend(golden::folder("run", printed));
    trials.extend(golden::folder("runs-here", printed));
    trials.extend(golden::folder("graph", drawn));
    trials
}

// Renderers of the goldens

/// The diagnostics of the checker.
fn checked(path: &Path, text: &str) -> String {
    on_deep_stack(|| by_mode(|mode| Compiled::new(path, text, mode).said()))
}

/// What a whole program is warned of; it has no errors.
fn linted(path: &Path, text: &str) -> String {
    on_deep_stack(|| Compiled::with(path, text, |ast| check::check_and_lint(ast, Mode::Workflow, Extent::Outputs)).said())
}

/// The lines that a program prints, then what it complains about; with one thread or many.
fn printed(path: &Path, text: &str) -> String {
    on_deep_stack(|| {
        by_mode(|mode| {
            let program = Compiled::new(path, text, mode);
            let alone = program.run(mode, 1);
            let together = program.run(mode, 4);
            if alone == together { alone } else { format!("--- with one thread\n{alone}--- with four threads\n{together}") }
        })
    })
}

/// The graph of a program in workflow mode, in the language of Graphviz and as an object; where they differ, also with all that
/// nothing needs, and as run locally.
fn drawn(path: &Path, text: &str) -> String {
    on_deep_stack(|| {
        let program = Compiled::new(path, text, Mode::Workflow);
        let (model, sources) = (&program.model, &program.sources);
        let options = Options { chunks: true, batch: true, all: false };
        let needed = TaskGraph::build(model, options);
        let all = TaskGraph::build(model, Options { all: true, ..options });
        let local = TaskGraph::build(model, Options { chunks: false, batch: false, all: false });
        let needed_text = graph::dot(&needed, model, sources);
        let mut out = program.render(&program.diagnostics);
        let _ = write!(out, "--- needed\n{needed_text}");
        for (what, other) in [("all", &all), ("local", &local)] {
            let text = graph::dot(other, model, sources);
            if text != needed_text {
                let _ = write!(out, "--- {what}\n{text}");
            }
        }
        let _ = writeln!(out, "--- needed, for tools\n{:#}", graph::json(&needed, model, sources));
        out
    })
}

/// A program as far as the checker.
struct Compiled {
    sources: Arc<SourceMap>,
    model: Arc<Model>,
    diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    fn new(path: &Path, text: &str, mode: Mode) -> Compiled {
        Compiled::with(path, text, |ast| check::check(ast, mode, Extent::Outputs))
    }

    fn with(path: &Path, text: &str, check: impl Fn(&Ast) -> (Model, Vec<Diagnostic>)) -> Compiled {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        let (ast, diagnostics) = syntax::parse(file, text);
        if has_errors(&diagnostics) {
            return Compiled { sources: Arc::new(sources), model: Arc::default(), diagnostics };
        }
        let (model, diagnostics) = check(&ast);
        Compiled { sources: Arc::new(sources), model: Arc::new(model), diagnostics }
    }

    fn run(&self, mode: Mode, threads: usize) -> String {
        if has_errors(&self.diagnostics) {
            return self.render(&self.diagnostics);
        }
        let files = Arc::new(Files { base: std::path::PathBuf::new() });
        let graph = Arc::new(TaskGraph::build(&self.model, Options { chunks: mode == Mode::Workflow, batch: false, all: false }));
        let (model, sources) = (self.model.clone(), self.sources.clone());
        let program = Program { model, graph, sources, world: files.clone(), exporter: files };
        let mut out = String::new();
        let summary = run::run(&program, threads, None, &mut |line| out.push_str(&format!("{line}\n")));
        assert_eq!(summary.failed, has_errors(&summary.diagnostics), "what failed has a reason, and nothing else has");
        out + &self.render(&self.diagnostics) + &self.render(&summary.diagnostics)
    }

    /// All diagnostics of the checker.
    fn said(&self) -> String {
        if self.diagnostics.is_empty() { "nothing to say\n".to_owned() } else { self.render(&self.diagnostics) }
    }

    fn render(&self, diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().map(|diagnostic| golden::diagnostic_text(&self.sources, diagnostic)).collect()
    }
}

fn by_mode(render: impl Fn(Mode) -> String) -> String {
    let (workflow, deferred) = (render(Mode::Workflow), render(Mode::Deferred));
    if workflow == deferred { workflow } else { format!("--- workflow\n{workflow}--- deferred\n{deferred}") }
}

/// Phases recurse over trees, whose depth is bounded for this stack.
fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work).expect("a thread");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
