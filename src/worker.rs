//! What a job does: it evaluates the task of a job directory, keeps itself to its limits, and leaves a manifest.
//!
//! It needs nobody: the limits hold, and the manifest appears, also when the process that started it is gone. One thread evaluates, the
//! other one watches walltime and memory; when a limit is passed it writes the manifest and then ends the process with all that it
//! started.

use std::any::Any;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use nix::unistd::{Pid, getpgrp, setpgid};

use crate::batch::local::{Group, affinity};
use crate::batch::{CPUS, GROUP, REFUSED, UNWRITTEN};
use crate::diagnostic::{Diagnostic, Severity};
use crate::eval::{Input, STACK_SIZE};
use crate::job::{Attempt, Cause, Description, Digest, FileError, Holder, Keeping, Life, Manifest, Outcome, Timestamp, Usage, host};
use crate::model::Task;
use crate::source::{SourceMap, Span};
use crate::value::Value;
use watchdog::Watchdog;

pub use serve::serve;

pub mod orphans;
mod processes;
mod serve;
mod title;
mod watchdog;

/// Forcing a result to the disk takes milliseconds, on a network more.
const CHEAP: Duration = Duration::from_millis(50);

/// How a job's process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// There is a result.
    Done,
    /// There is none, and a manifest that says why.
    Failed,
    /// How it ended cannot be written.
    Unwritten,
    /// It was not begun, for its directory is not one that this program can run.
    Refused,
}

impl Exit {
    /// The status for the system.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Unwritten => UNWRITTEN,
            Exit::Refused => REFUSED,
        }
    }
}

/// Runs an attempt in this process, which becomes the leader of a process group; what goes wrong is also said on stderr.
///
/// The whole process is given to the job: CPUs, process group and its life, which ends with the attempt. Only when that cannot begin
/// does this give something back.
pub fn exec<F>(directory: &Path, evaluate: F) -> Exit
where
    F: FnOnce(&Description, &[Input]) -> Result<Value, Vec<Diagnostic>> + Send + 'static,
{
    let began = Instant::now();
    let (attempt, description) = match open(directory) {
        Ok(opened) => opened,
        Err(message) => {
            complain!("scl exec: {message}");
            return Exit::Refused;
        }
    };
    let group = settle_in();
    let taken = attempt.take(&Holder { group: group.as_ref().map(|group| group.path().to_owned()), ..Holder::this_process(affinity()) });
    if let Some(message) = match taken {
        Ok(true) => None,
        Ok(false) => Some(format!("{directory:?} was begun already, or given up; every attempt is run once")),
        Err(error) => Some(error.to_string()),
    } {
        complain!("scl exec: {message}");
        return Exit::Refused;
    }
    let run = Arc::new(Run::new(attempt, description.key, began, group));
    let watchdog = Watchdog::new(&run, &description.request, began);
    let running = run.clone();
    let work = move || finish(&running, outcome(&running, &description, evaluate));
    match thread::Builder::new().name("scl".to_owned()).stack_size(STACK_SIZE).spawn(work) {
        Ok(_) => watchdog.watch(),
        Err(error) => finish(&run, failed(Cause::NeverStarted { reason: format!("no thread can be started: {error}") })),
    }
}

/// Ends the attempt and this process, unless someone else does already.
fn finish(run: &Run, outcome: Outcome) -> ! {
    let exit = match run.conclude(outcome) {
        Ok(Some(Outcome::Success { .. })) => Exit::Done,
        Ok(Some(Outcome::Failure { .. })) => Exit::Failed,
        // the watchdog is ending the process, with all that it has started
        Ok(None) => loop {
            thread::park();
        },
        Err(error) => {
            complain!("scl exec: {error}");
            Exit::Unwritten
        }
    };
    std::process::exit(exit.code().into())
}

fn open(directory: &Path) -> Result<(Attempt, Description), String> {
    let attempt = Attempt::open(directory).map_err(|error| error.to_string())?;
    let description = attempt.description().map_err(|error| error.to_string())?;
    if attempt.manifest().map_err(|error| error.to_string())?.is_some() {
        return Err(format!("{directory:?} was run already; every attempt is run once"));
    }
    match attempt.holder().map_err(|error| error.to_string())? {
        Some(holder) if holder.life() == Life::Here => Err(format!("{directory:?} is being run by process {}", holder.pid)),
        Some(_) | None => Ok((attempt, description)),
    }
}

/// Takes the CPUs that were assigned, and answers for all processes that will come of this one. Gives the control group that it joined.
fn settle_in() -> Option<Group> {
    if getpgrp() != Pid::this() {
        // Without a group of its own it can still end itself and its children one by one.
        let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
    }
    // Orphans of children then stay in sight of the watchdog; where this is refused, only those are not counted.
    let _ = prctl::set_child_subreaper(true);
    if let Some(list) = std::env::var_os(CPUS) {
        let set = list.to_str().and_then(cpu_set).ok_or_else(|| "it is no list of CPUs".to_owned());
        let done = set.and_then(|set| sched_setaffinity(Pid::from_raw(0), &set).map_err(|error| error.to_string()));
        if let Err(error) = done {
            complain!("scl exec: cannot keep to the CPUs {list:?}: {error}");
        }
    }
    let group = Group::at(Path::new(&std::env::var_os(GROUP)?));
    let joined = group.admit(std::process::id());
    joined.inspect_err(|error| complain!("scl exec: cannot join the control group {:?}: {error}", group.path())).ok().map(|()| group)
}

fn cpu_set(list: &str) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for cpu in list.split(',') {
        set.set(cpu.parse().ok()?).ok()?;
    }
    Some(set)
}

fn outcome(
    run: &Run,
    description: &Description,
    evaluate: impl FnOnce(&Description, &[Input]) -> Result<Value, Vec<Diagnostic>>,
) -> Outcome {
    let inputs = match run.attempt.inputs(&description.task) {
        Ok(inputs) => inputs,
        Err(error) => return failed(Cause::NeverStarted { reason: error.to_string() }),
    };
    let task = &description.task;
    let value =
        catch_unwind(AssertUnwindSafe(|| evaluate(description, &inputs))).unwrap_or_else(|panic| Err(vec![internal(task, &*panic)]));
    match value.map(|value| run.attempt.write_result(&value, run.keeping())) {
        Ok(Ok(result)) => Outcome::Success { result },
        Ok(Err(error)) => failed(Cause::Unknown { reason: error.to_string() }),
        Err(diagnostics) => {
            complain_as_is!(plain(&diagnostics, &run.attempt.sources(description)));
            Outcome::Failure { cause: Cause::Evaluation, diagnostics }
        }
    }
}

fn failed(cause: Cause) -> Outcome {
    complain!("scl exec: {cause}");
    Outcome::Failure { cause, diagnostics: Vec::new() }
}

/// A panic is a defect of this program, never of the model.
fn internal(task: &Task, panic: &(dyn Any + Send)) -> Diagnostic {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let message = format!("internal error in task '{}': {}", task.name, text.unwrap_or("no message"));
    Diagnostic::error("E0899", message, task.expr.span).help("this is a defect of scl; please report it with the model")
}

/// Diagnostics for a log file: a line for each place, fact and advice.
fn plain(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = place(diagnostic.span(), sources);
        let labels = diagnostic.labels.iter().filter(|label| !label.message.is_empty());
        let labels = labels.map(|label| format!("{}: {}", self::place(label.span, sources), label.message));
        let notes = diagnostic.notes.iter().map(|note| format!("note: {note}"));
        let help = diagnostic.help.iter().map(|help| format!("help: {help}"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{place}: {severity}[{}]: {}", diagnostic.code, diagnostic.message);
        for line in labels.chain(notes).chain(help) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn place(span: Span, sources: &SourceMap) -> String {
    match sources.get(span.file) {
        Some(file) => {
            let (line, column) = file.position(span.start);
            format!("{}:{line}:{column}", file.name)
        }
        None => "?".to_owned(),
    }
}

/// The attempt that this process runs; it is concluded once, by whoever comes first.
struct Run {
    attempt: Attempt,
    key: Digest,
    /// All of the job, whatever it starts.
    group: Option<Group>,
    began: Instant,
    keeping: OnceLock<Keeping>,
    started: Timestamp,
    /// The most memory that the watchdog has seen, in bytes.
    peak: AtomicU64,
    concluded: Mutex<bool>,
}

impl Run {
    fn new(attempt: Attempt, key: Digest, began: Instant, group: Option<Group>) -> Self {
        Run {
            attempt,
            key,
            group,
            began,
            keeping: OnceLock::new(),
            started: Timestamp::now(),
            peak: AtomicU64::new(0),
            concluded: Mutex::new(false),
        }
    }

    /// Decided once, so that a manifest is never kept better than the result that it names.
    fn keeping(&self) -> Keeping {
        *self.keeping.get_or_init(|| if self.began.elapsed() < CHEAP { Keeping::Cheap } else { Keeping::Durable })
    }

    /// Writes the manifest and gives the outcome back; nothing if there is a manifest already.
    fn conclude(&self, outcome: Outcome) -> Result<Option<Outcome>, FileError> {
        let mut concluded = self.concluded.lock().unwrap_or_else(PoisonError::into_inner);
        if *concluded {
            return Ok(None);
        }
        let manifest = Manifest {
            key: self.key,
            outcome,
            started: self.started,
            ended: Timestamp::now(),
            host: host(),
            pid: std::process::id(),
            usage: usage(self.peak.load(Ordering::Relaxed)),
        };
        self.attempt.conclude(&manifest, self.keeping())?;
        *concluded = true;
        Ok(Some(manifest.outcome))
    }
}

/// What this process and its children took; `seen` is the most that all of them had at one time, as far as it was seen.
fn usage(seen: u64) -> Usage {
    let all: Vec<_> = [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN].into_iter().filter_map(|who| getrusage(who).ok()).collect();
    // Linux gives kibibytes.
    let largest = all.iter().filter_map(|usage| u64::try_from(usage.max_rss()).ok()).max().unwrap_or(0).saturating_mul(1024);
    Usage {
        peak_rss: seen.max(largest),
        user_us: all.iter().map(|usage| microseconds(usage.user_time())).sum(),
        system_us: all.iter().map(|usage| microseconds(usage.system_time())).sum(),
    }
}

fn microseconds(time: TimeVal) -> u64 {
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec()) * 1_000_000 + part(time.tv_usec())
}

#[cfg(test)]
mod tests;
