//! `scl run FILE`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{Checked, FAILED, Format, Input, WRONG, finish, print, unwritable};
use crate::batch::BatchSystem;
use crate::batch::local::{Launcher, Local, Machine};
use crate::check::Mode;
use crate::diagnostic::{Diagnostic, Fault};
use crate::eval;
use crate::graph::{Options, TaskGraph};
use crate::io::Files;
use crate::job::FileError;
use crate::model::Model;
use crate::run::{self, Batch, JobSettings, Program, Summary};
use crate::store::{Lock, Store};

/// The pause between two looks at a lock that another run holds.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Where jobs and their results are kept [default: .scl beside the program]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Compute anew what is kept from earlier runs
    #[arg(long)]
    fresh: bool,
    /// Compute also what nothing needs
    #[arg(long)]
    all: bool,
    /// Threads for tasks, and for large columns, of this process [default: one for each core that the process may use]
    #[arg(long, short = 'j', value_name = "N")]
    threads: Option<std::num::NonZeroUsize>,
    /// Say nothing of jobs that end well
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let checked = Checked::load(&arguments.input);
    if !checked.is_sound() {
        return finish(&arguments.input, &checked);
    }
    let workflow = Mode::from(arguments.input.mode) == Mode::Workflow;
    let graph = Arc::new(TaskGraph::build(&checked.model, Options { chunks: workflow, batch: workflow, all: arguments.all }));
    let jobs = workflow && checked.model.variables.iter().any(|variable| variable.request.is_some());
    let summary = if jobs { with_jobs(arguments, &checked, graph) } else { Ok(execute(arguments, &checked, graph, None)) };
    let mut diagnostics = checked.diagnostics.clone();
    let status = match summary {
        Ok(summary) => {
            let status = if summary.failed || summary.interrupted { FAILED } else { 0 };
            arguments.say(&summary);
            diagnostics.extend(summary.diagnostics);
            status
        }
        Err(refused) => {
            diagnostics.extend(refused.diagnostics);
            refused.status
        }
    };
    arguments.input.reporting.report(&diagnostics, &checked.sources);
    ExitCode::from(status)
}

fn execute(arguments: &Arguments, checked: &Checked, graph: Arc<TaskGraph>, batch: Option<Batch>) -> Summary {
    let files = Arc::new(Files { base: PathBuf::new() });
    let (model, sources) = (checked.model.clone(), checked.sources.clone());
    let program = Program { model, graph, sources, world: files.clone(), exporter: files };
    arguments.threads.into_iter().for_each(eval::limit_threads);
    let threads = arguments.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, std::num::NonZeroUsize::get);
    let mut written = Ok(());
    let mut summary = run::run(&program, threads, batch, &mut |line| {
        if written.is_ok() {
            written = print(&format!("{line}\n"));
        }
    });
    if let Err(error) = written {
        unwritable(&error);
        summary.failed = true;
    }
    summary
}

/// Why nothing was run.
struct Refused {
    status: u8,
    diagnostics: Vec<Diagnostic>,
}

/// Requests that this machine can never satisfy are refused before anything runs, and so is a store that cannot be used.
fn with_jobs(arguments: &Arguments, checked: &Checked, graph: Arc<TaskGraph>) -> Result<Summary, Refused> {
    let requests = checked.model.variables.iter().filter_map(|variable| variable.request.as_ref());
    let first = requests.map(|request| request.span).next().unwrap_or_default();
    let unable = |fault: Fault| Refused { status: FAILED, diagnostics: vec![fault.at(first)] };
    let mut system = Local::new(Launcher::this_program().map_err(unable)?, Machine::detect());
    let too_large = too_large(&checked.model, &system);
    if !too_large.is_empty() {
        return Err(Refused { status: WRONG, diagnostics: too_large });
    }
    let interrupted = signals().map_err(unable)?;
    let store = Store::open(&arguments.store()).map_err(|error| unable(unusable_store(&error)))?;
    let lock = arguments.lock(&store, &interrupted).map_err(|error| unable(unusable_store(&error)))?;
    let Some(_lock) = lock else { return Ok(Summary { interrupted: true, ..Summary::default() }) };
    let settings = JobSettings { jobs: store.jobs().to_owned(), fresh: arguments.fresh };
    let batch = Batch { system: &mut system, settings, interrupted: &interrupted };
    Ok(execute(arguments, checked, graph, Some(batch)))
}

/// A flag that is set when the user wants the run to end. What was ignored before this program began (by `nohup`, or for a process in
/// the background) stays ignored.
fn signals() -> Result<Arc<AtomicBool>, Fault> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok()).unwrap_or(0);
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
        let registered = signal_hook::flag::register(signal, interrupted.clone());
        registered.map_err(|error| Fault::new("E0904", format!("signals cannot be handled: {error}")))?;
    }
    Ok(interrupted)
}

fn unusable_store(error: &FileError) -> Fault {
    Fault::new("E0703", format!("the store cannot be used: {error}")).help("choose a directory that can be written with `--store`")
}

fn too_large(model: &Model, system: &dyn BatchSystem) -> Vec<Diagnostic> {
    let requests = model.variables.iter().filter_map(|variable| variable.request.as_ref());
    let faults = requests.filter_map(|request| Some(system.check(&request.node).err()?.at(request.span)));
    faults.collect()
}

impl Arguments {
    fn store(&self) -> PathBuf {
        let beside = || self.input.file.parent().unwrap_or(Path::new("")).join(".scl");
        let store = self.store.clone().unwrap_or_else(beside);
        std::path::absolute(&store).unwrap_or(store)
    }

    /// Waits until no other run uses the store; nothing when the user does not want to wait.
    fn lock(&self, store: &Store, interrupted: &AtomicBool) -> Result<Option<Lock>, FileError> {
        let mut said = self.input.reporting.format == Format::Json;
        while !interrupted.load(Ordering::Relaxed) {
            match store.lock()? {
                Ok(lock) => return Ok(Some(lock)),
                Err(owner) if !std::mem::replace(&mut said, true) => eprintln!("waiting for {owner}, which uses the same store"),
                Err(_) => thread::sleep(LOCK_PAUSE),
            }
        }
        Ok(None)
    }

    /// One line about the jobs of a run, for people.
    fn say(&self, summary: &Summary) {
        let Summary { jobs_done, jobs_failed, jobs_kept, .. } = summary;
        if self.input.reporting.format == Format::Json {
            return;
        }
        if !self.quiet && jobs_done + jobs_failed + jobs_kept > 0 {
            eprintln!("jobs: {jobs_done} done, {jobs_failed} failed, {jobs_kept} kept");
        }
        if summary.interrupted {
            eprintln!("interrupted: no job goes on; what was finished is kept in {}", self.store().display());
        }
    }
}
