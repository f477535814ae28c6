//! `scl repl`.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use super::execute::{self, Executor, Settings};
use super::{FAILED, Format, ModeName, Reporting, WRONG, print, read, status_of, unwritable};
use crate::diagnostic::{Diagnostic, Fault};
use crate::eval::World;
use crate::io::Files;
use crate::model::LoadKind;
use crate::run::{Program, Summary};
use crate::session::{self, Computation, Engine, Lines, Plain, Refused, Screen, Session, Terminal};
use crate::source::{FileId, SourceMap, Span};
use crate::value::Value;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// How inputs are evaluated
    #[arg(long, value_enum, default_value = "workflow")]
    mode: ModeName,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    reporting: Reporting,
}

/// A session on a terminal ends well whatever was said in it; what comes out of a pipe has the status of its worst input.
pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let executor = Executor::new(&arguments.settings, &arguments.reporting, arguments.mode.into(), Path::new(""));
    let Some(executor) = executor else { return ExitCode::from(WRONG) };
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut session = Session::new(arguments.mode.into());
    let mut console = Console { reporting: &arguments.reporting, is_terminal, failed: false };
    let signals = match Signals::watch(is_terminal) {
        Ok(signals) => signals,
        Err(fault) => return console.give_up(&fault.at(Span { file: FileId::NOWHERE, start: 0, end: 0 })),
    };
    let lines: Result<Box<dyn Lines>, _> = if is_terminal {
        let history = session::history_file(|name| std::env::var_os(name));
        let colour = arguments.reporting.colour(true);
        Terminal::open(history, colour).map(|terminal| Box::new(terminal) as Box<dyn Lines>)
    } else {
        Ok(Box::new(Plain::new(io::stdin().lock())))
    };
    let mut lines = match lines {
        Ok(lines) => lines,
        Err(fault) => return console.give_up(&fault),
    };
    if is_terminal && arguments.reporting.format == Format::Text {
        complain!("scl {}: %help explains, Tab completes, Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    }
    let verdict = session::run(&mut session, &mut *lines, &mut Here { executor, signals }, &mut console);
    let status = if is_terminal { 0 } else { status_of(verdict) };
    ExitCode::from(if console.failed { FAILED } else { status })
}

/// Stdout and stderr.
struct Console<'a> {
    reporting: &'a Reporting,
    is_terminal: bool,
    /// Stdout could not be written.
    failed: bool,
}

impl Console<'_> {
    fn give_up(&mut self, fault: &Diagnostic) -> ExitCode {
        self.report(std::slice::from_ref(fault), &SourceMap::new());
        ExitCode::from(FAILED)
    }

    fn print(&mut self, text: &str) {
        if !self.failed
            && let Err(error) = print(text)
        {
            unwritable(&error);
            self.failed = true;
        }
    }
}

impl Screen for Console<'_> {
    fn result(&mut self, line: &str) {
        let prompt = if self.is_terminal { "Output > " } else { "" };
        self.print(&format!("{prompt}{line}\n"));
    }

    fn answer(&mut self, text: &str) {
        self.print(text);
    }

    fn report(&mut self, diagnostics: &[Diagnostic], sources: &SourceMap) {
        self.reporting.report_with(diagnostics, sources, "%help");
    }
}

/// Computes in this process, and by jobs of this machine.
struct Here<'a> {
    executor: Executor<'a>,
    signals: Signals,
}

impl Engine for Here<'_> {
    fn read(&mut self, path: &Path, sources: &mut SourceMap) -> Result<(FileId, Arc<str>), Box<Diagnostic>> {
        read::program(path, sources)
    }

    fn run(&mut self, computation: Computation, line: &mut dyn FnMut(&str)) -> Result<Summary, Refused> {
        let Computation { model, graph, sources } = computation;
        let files = Files { base: PathBuf::new() };
        let world = Arc::new(Watched { files: files.clone(), interrupted: self.signals.interrupted.clone(), stopped: false.into() });
        let program = Program { model, graph, sources, world: world.clone(), exporter: Arc::new(files) };
        self.signals.begin();
        let summary = self.executor.run(&program, Some(&self.signals.interrupted), line);
        // a thread that was left behind must not go on when the next input has begun
        world.is_interrupted();
        self.signals.end();
        summary
    }
}

/// Files, and the wish of the user to end the computation that they were made for.
struct Watched {
    files: Files,
    /// Of the computation that goes on now.
    interrupted: Arc<AtomicBool>,
    /// Of this one.
    stopped: AtomicBool,
}

impl World for Watched {
    fn load(&self, kind: LoadKind, path: &str) -> Result<Value, Fault> {
        self.files.load(kind, path)
    }

    fn digest(&self, path: &str) -> Option<[u8; 32]> {
        self.files.digest(path)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) && {
            self.stopped.store(true, Ordering::Relaxed);
            true
        } || self.stopped.load(Ordering::Relaxed)
    }
}

/// What users do to end things.
struct Signals {
    /// The computation is to end.
    interrupted: Arc<AtomicBool>,
    /// Nothing is being computed.
    idle: Arc<AtomicBool>,
    /// The signal, if any, that ends this process once the computation is over.
    ending: Arc<AtomicUsize>,
}

impl Signals {
    /// An interrupt on a terminal ends a computation and not the session. Every other signal, and an interrupt of what comes out of a
    /// pipe, ends the process: at once, or after the jobs of the computation were ended.
    fn watch(is_terminal: bool) -> Result<Signals, Fault> {
        let signals = Signals { interrupted: Arc::default(), idle: Arc::new(true.into()), ending: Arc::default() };
        for signal in execute::heeded() {
            if !(is_terminal && signal == SIGINT) {
                flag::register_conditional_default(signal, signals.idle.clone()).map_err(execute::unwatchable)?;
                flag::register_usize(signal, signals.ending.clone(), signal.unsigned_abs() as usize).map_err(execute::unwatchable)?;
            }
            flag::register(signal, signals.interrupted.clone()).map_err(execute::unwatchable)?;
        }
        Ok(signals)
    }

    fn begin(&self) {
        self.interrupted.store(false, Ordering::Relaxed);
        self.idle.store(false, Ordering::Relaxed);
    }

    fn end(&self) {
        self.idle.store(true, Ordering::Relaxed);
        if let Some(signal) = i32::try_from(self.ending.load(Ordering::Relaxed)).ok().filter(|signal| *signal != 0) {
            // it ends the process, and where it cannot, the session goes on
            let _ = emulate_default_handler(signal);
        }
    }
}
