//! What the commands have in common that look at past and present runs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::driver::{model_name, newer_index, store_of, unusable};
use super::{FAILED, Format, Reporting, WRONG, print, unwritable};
use crate::diagnostic::{Diagnostic, Fault, Severity, nearest};
use crate::job::{Digest, Timestamp};
use crate::source::{FileId, SourceMap, Span};
use crate::store::{Found, IndexError, Records, Run, RunState, Store, Task};

/// The version of what these commands print as JSON.
const VERSION: u32 = 1;

/// Which store is meant.
#[derive(Debug, clap::Args)]
pub(super) struct Place {
    /// Look at the runs of this program only
    #[arg(long, short, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Where jobs and their results are kept [default: .scl beside the program, or in the current directory]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(flatten)]
    pub reporting: Reporting,
}

/// Which run is meant.
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// The number of the run, as in `scl status --runs` [default: the last one]
    #[arg(long, value_name = "N")]
    run: Option<i64>,
}

/// Why a command has nothing to say.
pub(super) struct Refusal {
    /// What is wrong.
    pub fault: Fault,
    /// The exit status.
    pub status: u8,
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal { fault, status: WRONG }
    }
}

impl From<IndexError> for Refusal {
    fn from(error: IndexError) -> Self {
        let fault = match &error {
            IndexError::Newer { .. } => newer_index(&error),
            IndexError::Sqlite { .. } | IndexError::File(_) => Fault::new("E0727", format!("the index of runs cannot be read: {error}"))
                .help("the next run repairs it; results are not kept in it"),
        };
        Refusal { fault, status: FAILED }
    }
}

/// What is known of the runs of a store; where the index could not be read, that is said.
pub(super) fn records(store: &Store, reporting: &Reporting) -> Result<Records, Refusal> {
    let (records, found) = Records::open(store)?;
    match found {
        Found::Index | Found::Directories => {}
        Found::DirectoriesInstead(reason) => warn(reporting, unreadable_index(&reason)),
    }
    Ok(records)
}

impl Place {
    /// The store, which is there already.
    pub fn store(&self) -> Result<Store, Refusal> {
        let root = store_of(self.store.as_deref(), self.program.as_deref());
        Store::find(&root).map_err(|error| unusable(&error))?.ok_or_else(|| no_store(&root).into())
    }

    /// What is known of its runs.
    pub fn records(&self, store: &Store) -> Result<Records, Refusal> {
        records(store, &self.reporting)
    }

    /// The program to which runs are restricted.
    pub fn model(&self) -> Option<String> {
        self.program.as_deref().map(model_name)
    }

    /// The run that is meant.
    pub fn run(&self, records: &Records, which: &Which) -> Result<Run, Refusal> {
        let found = match which.run {
            Some(number) => records.run(number)?,
            None => records.runs(self.model().as_deref(), 1)?.pop(),
        };
        found.ok_or_else(|| no_run(which.run, self.model().as_deref()).into())
    }

    /// The keys of the jobs of the run, or else of the program, that someone named; nothing if all jobs of the store are meant.
    pub fn keys(&self, records: &Records, which: &Which) -> Result<Option<HashSet<Digest>>, Refusal> {
        if which.run.is_none() && self.program.is_none() {
            return Ok(None);
        }
        let run = self.run(records, which)?;
        Ok(Some(records.keys(&run, which.run.is_none())?.into_iter().collect()))
    }

    /// Prints what came of a command, and gives the exit status.
    pub fn answer(&self, answer: Result<Answer, Refusal>) -> ExitCode {
        self::answer(&self.reporting, answer)
    }
}

/// Says on stderr what is no reason to stop.
pub(super) fn warn(reporting: &Reporting, fault: Fault) {
    say(reporting, Diagnostic { severity: Severity::Warning, ..fault.at(NOWHERE) });
}

fn say(reporting: &Reporting, diagnostic: Diagnostic) {
    reporting.report(&[diagnostic], &SourceMap::new());
}

/// Prints what came of a command, and gives the exit status: text for people, or fields of an object for tools.
pub(super) fn answer(reporting: &Reporting, answer: Result<Answer, Refusal>) -> ExitCode {
    let Answer { text, object, status } = match answer {
        Ok(answer) => answer,
        Err(Refusal { fault, status }) => {
            say(reporting, fault.at(NOWHERE));
            return ExitCode::from(status);
        }
    };
    let text = if reporting.format == Format::Json { versioned(object) } else { text };
    ExitCode::from(print(&text).map_or_else(|error| unwritable(&error), |()| status))
}

/// What a command prints.
pub(super) struct Answer {
    /// For people.
    pub text: String,
    /// An object, for tools.
    pub object: Value,
    /// The exit status.
    pub status: u8,
}

impl Answer {
    /// Of a command that went well.
    pub fn new(text: String, object: Value) -> Self {
        Answer { text, object, status: 0 }
    }
}

/// The fields of an object behind their version.
fn versioned(fields: Value) -> String {
    let mut object = json!({ "version": VERSION });
    if let (Some(all), Value::Object(fields)) = (object.as_object_mut(), fields) {
        all.extend(fields);
    }
    format!("{object:#}\n")
}

pub(super) const NOWHERE: Span = Span { file: FileId::NOWHERE, start: 0, end: 0 };

/// The tasks that are called this.
pub(super) fn named<'t>(tasks: &'t [Task], name: &str) -> Result<Vec<&'t Task>, Refusal> {
    let found: Vec<&Task> = tasks.iter().filter(|task| task.is_called(name)).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    Err(no_such_task(name, tasks.iter().flat_map(|task| [&*task.name, &*task.variable]), "the run").into())
}

/// A name that none of these is.
pub(super) fn no_such_task<'t>(name: &str, names: impl Iterator<Item = &'t str>, whose: &str) -> Fault {
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`scl status --all` lists them; what has no resources is computed in process and has none".to_owned(),
    };
    Fault::new("E0725", format!("{whose} has no job of `{name}`")).help(help)
}

/// Of which program a run is, for people.
pub(super) fn title(run: &Run) -> String {
    match run.state {
        RunState::Found => "jobs that were found, of runs that are forgotten".to_owned(),
        _ => format!("run {} of {}", run.run, run.model),
    }
}

/// A span of time in whole seconds, for people.
pub(super) fn seconds(milliseconds: u64) -> String {
    match Duration::from_millis(milliseconds) {
        short if milliseconds < 10_000 => format!("{:.1}s", short.as_secs_f64()),
        long => humantime::format_duration(Duration::from_secs(long.as_secs())).to_string(),
    }
}

/// How long ago a time was, for people.
pub(super) fn ago(milliseconds: u64) -> String {
    format!("{} ago", seconds(Timestamp::now().0.saturating_sub(milliseconds)))
}

fn no_store(root: &Path) -> Fault {
    let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    Fault::new("E0723", format!("there is no store in {root:?}"))
        .help("say which program is meant with `--program FILE`, or which store with `--store DIR`; the first run with jobs makes one")
}

fn no_run(number: Option<i64>, model: Option<&str>) -> Fault {
    let message = match (number, model) {
        (Some(number), _) => format!("the store has no run {number}"),
        (None, Some(model)) => format!("the store has no run of {model}"),
        (None, None) => "the store has no run".to_owned(),
    };
    Fault::new("E0724", message).help("`scl status --runs` lists them")
}

pub(super) fn unreadable_index(reason: &str) -> Fault {
    Fault::new("W0724", format!("the index of runs cannot be read: {reason}"))
        .help("what follows was found in the directories of jobs; the next run makes the index anew")
}
