//! The command line: arguments, exit statuses, wiring.
//!
//! Results go to stdout, all else to stderr. Exit status 0: all well; 1: something failed while running; 2: the program or the
//! arguments are wrong.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use clap::{Parser, Subcommand, ValueEnum};

use crate::check::{self, Extent, Mode};
use crate::diagnostic::{Diagnostic, Severity, has_errors};
use crate::eval::{self, STACK_SIZE};
use crate::graph::{self, TaskGraph};
use crate::model::Model;
use crate::report::{self, Style};
use crate::session::Verdict;
use crate::source::SourceMap;
use crate::syntax;

mod cancel;
mod destination;
mod driver;
mod exec;
mod execute;
mod explain;
mod format;
mod gc;
mod log;
mod plan;
mod read;
mod records;
mod repl;
mod results;
mod run;
mod site;
mod status;
mod why;

/// Compiler, interpreter and scheduler front of SCL, a small declarative workflow language with physical units.
#[derive(Debug, Parser)]
#[command(name = "scl", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a program
    Run(run::Arguments),
    /// Say what is wrong with a program, without running anything
    Check {
        #[command(flatten)]
        input: Input,
        /// Also say which map, filter and reduce are computed row by row, and why
        #[arg(long)]
        columns: bool,
    },
    /// Print the task graph of a program
    Graph {
        #[command(flatten)]
        input: Input,
        /// Form of the graph
        #[arg(long, value_enum, default_value = "dot")]
        output: GraphForm,
        /// Also what nothing needs
        #[arg(long)]
        all: bool,
    },
    /// Type statements and expressions, one at a time
    ///
    /// On a terminal with editing, completion (Tab) and a history; from a pipe as plain lines. `%help` in a session explains it.
    Repl(repl::Arguments),
    /// Say how a run and its jobs stand, also while it goes on
    Status(status::Arguments),
    /// Say what a run would compute, and which change makes it necessary, without running any job
    Why(why::Arguments),
    /// Say what a run would ask the batch system for, and what it can cost, without running anything
    Plan(plan::Arguments),
    /// Show what a job of a run was given, and what it said
    Log(log::Arguments),
    /// Show what a run gave, without running anything
    Results(results::Arguments),
    /// End a run or some of its jobs, or what a run that was killed left running
    Cancel(cancel::Arguments),
    /// Remove from a store what is old, too much, or not used any more
    Gc(gc::Arguments),
    /// Describe the batch system of this site: find it out, show or check what is known of it
    Site(site::Arguments),
    /// Write programs in the usual form
    Fmt(format::Arguments),
    /// Say what a code means, with a wrong program and a right one
    Explain {
        /// As in `error[E0305]`; without it all codes are listed
        code: Option<String>,
    },
    /// Run the attempt of a job directory; batch systems call this
    #[command(hide = true)]
    Exec {
        /// The attempt's directory
        directory: PathBuf,
    },
    /// Make processes for attempts that someone orders on stdin; a run of a program calls this
    #[command(hide = true)]
    Serve {
        /// Room for the names of these processes
        room: String,
    },
}

/// What every command that reads a program takes.
#[derive(Debug, clap::Args)]
struct Input {
    /// The program, `-` for standard input
    file: PathBuf,
    /// How the program is evaluated
    #[arg(long, value_enum, default_value = "workflow")]
    mode: ModeName,
    #[command(flatten)]
    reporting: Reporting,
}

/// How diagnostics are given.
#[derive(Debug, clap::Args)]
struct Reporting {
    /// Form of diagnostics
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Colours in diagnostics
    #[arg(long, value_enum, default_value = "auto")]
    color: When,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeName {
    /// In this process, without tasks of its own for chunks and annotations (they are checked all the same)
    Deferred,
    /// The same as deferred; kept because the reference tells them apart
    Instant,
    /// As a graph of tasks, annotated ones as jobs
    Workflow,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Instant => Mode::Instant,
            ModeName::Deferred => Mode::Deferred,
            ModeName::Workflow => Mode::Workflow,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For tools: versioned objects, each in a line; the last one holds the diagnostics
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GraphForm {
    /// The language of Graphviz
    Dot,
    /// One versioned object
    Json,
}

/// How many diagnostics are shown to people.
const SHOWN: usize = 100;

/// Exit status when something failed while running.
const FAILED: u8 = 1;

/// Exit status when the program or the arguments are wrong.
const WRONG: u8 = 2;

/// Runs the command that the process was called with.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // a job is evaluated on a thread of its own, and what it is copied from has no other thread
    if matches!(arguments.command, Command::Exec { .. } | Command::Serve { .. }) {
        return dispatch(arguments);
    }
    // parsing and checking recurse over trees, whose depth is bounded for this stack
    let worker = thread::Builder::new().name("scl".to_owned()).stack_size(STACK_SIZE);
    match worker.spawn(move || dispatch(arguments)).map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => {
            complain!("error[E0902]: internal error; this is a fault of scl, please report it with the program");
            ExitCode::from(FAILED)
        }
        Err(error) => {
            complain!("error[E0903]: no thread with {} MiB of stack can be started: {error}", STACK_SIZE >> 20);
            ExitCode::from(FAILED)
        }
    }
}

fn dispatch(arguments: Arguments) -> ExitCode {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check { input, columns } => check(&input, columns),
        Command::Graph { input, output, all } => draw(&input, output, all),
        Command::Repl(arguments) => repl::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Why(arguments) => why::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Log(arguments) => log::run(&arguments),
        Command::Results(arguments) => results::run(&arguments),
        Command::Cancel(arguments) => cancel::run(&arguments),
        Command::Gc(arguments) => gc::run(&arguments),
        Command::Site(arguments) => site::run(&arguments),
        Command::Fmt(arguments) => format::run(&arguments),
        Command::Explain { code } => explain::run(code.as_deref()),
        Command::Exec { directory } => exec::exec(&directory),
        Command::Serve { room: _ } => exec::serve(),
    }
}

/// A program as far as the checker.
struct Checked {
    sources: Arc<SourceMap>,
    model: Arc<Model>,
    diagnostics: Vec<Diagnostic>,
}

impl Checked {
    fn load(input: &Input, extent: Extent) -> Checked {
        let mut sources = SourceMap::new();
        let mode = input.mode.into();
        let (model, diagnostics) = match read::program(&input.file, &mut sources) {
            Ok((file, text)) => check_text(file, &text, mode, extent),
            Err(fault) => (Model::default(), vec![*fault]),
        };
        Checked { sources: Arc::new(sources), model: Arc::new(model), diagnostics }
    }

    fn is_sound(&self) -> bool {
        !has_errors(&self.diagnostics)
    }

    fn status(&self) -> u8 {
        if self.is_sound() { 0 } else { WRONG }
    }
}

/// Statements that do not parse are missing, which would make names unknown that are not: then nothing more is checked.
fn check_text(file: crate::source::FileId, text: &str, mode: Mode, extent: Extent) -> (Model, Vec<Diagnostic>) {
    let (ast, diagnostics) = syntax::parse(file, text);
    if has_errors(&diagnostics) {
        return (Model::default(), diagnostics);
    }
    check::check_and_lint(&ast, mode, extent)
}

/// What is computed, for someone who may have asked for everything.
fn extent(all: bool) -> Extent {
    if all { Extent::All } else { Extent::Outputs }
}

/// What the checker found is the result of this command, so JSON goes to stdout.
fn check(input: &Input, columns: bool) -> ExitCode {
    let mut checked = Checked::load(input, Extent::Outputs);
    if columns {
        checked.diagnostics.extend(eval::obstacles(&checked.model));
    }
    if input.reporting.format == Format::Json {
        let written = print(&format!("{}\n", report::json(&checked.diagnostics, &checked.sources)));
        return ExitCode::from(written.map_or_else(|error| unwritable(&error), |()| checked.status()));
    }
    finish(input, &checked)
}

/// Reports what the checker found; the exit status says whether it was an error.
fn finish(input: &Input, checked: &Checked) -> ExitCode {
    input.reporting.report(&checked.diagnostics, &checked.sources);
    ExitCode::from(checked.status())
}

fn draw(input: &Input, form: GraphForm, all: bool) -> ExitCode {
    let checked = Checked::load(input, extent(all));
    if !checked.is_sound() {
        return finish(input, &checked);
    }
    let workflow = Mode::from(input.mode) == Mode::Workflow;
    let graph = TaskGraph::build(&checked.model, graph::Options { chunks: workflow, batch: workflow, all });
    let text = match form {
        GraphForm::Dot => graph::dot(&graph, &checked.model, &checked.sources),
        GraphForm::Json => format!("{:#}\n", graph::json(&graph, &checked.model, &checked.sources)),
    };
    match print(&text) {
        Ok(()) => finish(input, &checked),
        Err(error) => ExitCode::from(unwritable(&error)),
    }
}

/// How often one kind of warning is shown: whoever has read it a few times knows it.
const SHOWN_OF_A_WARNING: usize = 3;

/// As many as are shown, in their order; of too many, warnings are left out before errors.
fn most_important(diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let (mut errors, mut warnings) = (errors.min(SHOWN), SHOWN - errors.min(SHOWN));
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut shown = Vec::new();
    for diagnostic in diagnostics {
        let left = match diagnostic.severity {
            Severity::Error => &mut errors,
            Severity::Warning => {
                let seen = seen.entry(&diagnostic.code).or_default();
                *seen += 1;
                if *seen > SHOWN_OF_A_WARNING {
                    continue;
                }
                &mut warnings
            }
        };
        if *left > 0 {
            *left -= 1;
            shown.push(diagnostic.clone());
        }
    }
    shown
}

impl Reporting {
    /// Diagnostics go to stderr, for people no more than they read; JSON always is there, also when there is nothing to say.
    fn report(&self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        self.report_with(diagnostics, sources, "scl explain");
    }

    /// The same where something else explains codes.
    fn report_with(&self, diagnostics: &[Diagnostic], sources: &SourceMap, explains: &str) {
        if self.format == Format::Json {
            complain!("{}", report::json(diagnostics, sources));
        } else if !diagnostics.is_empty() {
            let shown = most_important(diagnostics);
            complain_as_is!(report::text(&shown, sources, self.style()));
            match diagnostics.len() - shown.len() {
                0 => {}
                rest => complain!("\nand {rest} more; `--format json` gives all"),
            }
            // only someone who sits there can follow it
            if io::stderr().is_terminal()
                && let Some(first) = shown.iter().min_by_key(|diagnostic| diagnostic.severity)
            {
                complain!("\n`{explains} {}` says more", first.code);
            }
        }
    }

    fn style(&self) -> Style {
        let terminal = io::stderr().is_terminal();
        Style { color: self.colour(terminal), unicode: terminal }
    }

    /// Whether to use colours, on a terminal or elsewhere.
    fn colour(&self, terminal: bool) -> bool {
        match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => terminal && std::env::var_os("NO_COLOR").is_none(),
        }
    }
}

/// The exit status of what went like this.
fn status_of(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Well => 0,
        Verdict::Failed => FAILED,
        Verdict::Wrong => WRONG,
    }
}

/// Writes to stdout; a reader that went away is no fault of anyone.
fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Says that results are lost, and gives the exit status for that.
fn unwritable(error: &io::Error) -> u8 {
    complain!("error[E0905]: standard output cannot be written: {error}");
    FAILED
}
