//! `scl why`: what a run would take, and what it would compute, and because of which change.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use super::driver::{model_name, store_of, unusable};
use super::records::{Answer, Refusal, answer, no_such_task, records};
use super::{Checked, Input, extent, finish};
use crate::graph::{Options, TaskGraph};
use crate::io::Files;
use crate::model::Model;
use crate::run::{self, Looked, Program};
use crate::store::{Entry, Records, State, Store, Task};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Only this variable, or one of its parts, as in `rates 1/2`
    task: Option<String>,
    /// Where jobs and their results are kept [default: .scl beside the program]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Also what nothing needs
    #[arg(long)]
    all: bool,
}

/// What is said of a job.
struct Line {
    name: String,
    state: &'static str,
    reason: Option<String>,
    changes: Vec<String>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let input = &arguments.input;
    let mut checked = Checked::load(input, extent(arguments.all));
    if !checked.is_sound() {
        return finish(input, &checked);
    }
    let program = program(&checked.model, &checked, arguments.all);
    let explained = explain(arguments, &program, &mut checked);
    if !checked.diagnostics.is_empty() {
        input.reporting.report(&checked.diagnostics, &checked.sources);
    }
    answer(&input.reporting, explained)
}

fn program(model: &Arc<Model>, checked: &Checked, all: bool) -> Program {
    let graph = Arc::new(TaskGraph::build(model, Options { chunks: true, batch: true, all }));
    let files = Arc::new(Files { base: PathBuf::new() });
    Program { model: model.clone(), graph, sources: checked.sources.clone(), world: files.clone(), exporter: files }
}

/// What went wrong on the way is added to what the checker found.
fn explain(arguments: &Arguments, program: &Program, checked: &mut Checked) -> Result<Answer, Refusal> {
    let root = store_of(arguments.store.as_deref(), Some(&arguments.input.file));
    let store = Store::find(&root).map_err(|error| unusable(&error))?;
    let records = store.as_ref().map(|store| records(store, &arguments.input.reporting)).transpose()?;
    let jobs = store.as_ref().map_or_else(|| root.join("jobs"), |store| store.jobs().to_owned());
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let (looked, diagnostics) = run::look(program, threads, &jobs);
    checked.diagnostics.extend(diagnostics);
    let looked: Vec<Looked> = match &arguments.task {
        None => looked,
        Some(task) => {
            let names: Vec<&str> = looked.iter().flat_map(|looked| [&*looked.name, &*looked.variable]).collect();
            if !names.contains(&task.as_str()) {
                return Err(no_such_task(task, names.into_iter(), "the program").into());
            }
            looked.into_iter().filter(|looked| looked.name == *task || *looked.variable == **task).collect()
        }
    };
    let model = model_name(&arguments.input.file);
    let lines = looked.into_iter().map(|looked| line(looked, records.as_ref(), &model)).collect::<Result<Vec<_>, _>>()?;
    let text = match lines.as_slice() {
        [] => "the program has no jobs\n".to_owned(),
        lines => lines.iter().map(text).collect(),
    };
    Ok(Answer::new(text, json!({ "model": model, "tasks": lines.iter().map(object).collect::<Vec<_>>() })))
}

fn line(looked: Looked, records: Option<&Records>, model: &str) -> Result<Line, Refusal> {
    let Looked { name, known, after, .. } = looked;
    let Some((entry, state)) = known else {
        let reason = match after.as_slice() {
            [] => "its inputs have no values".to_owned(),
            after => format!("after {}", quoted(after)),
        };
        return Ok(Line { name, state: "to be computed", reason: Some(reason), changes: Vec::new() });
    };
    let last = records.map(|records| records.last(model, &name)).transpose()?.flatten();
    Ok(match state {
        State::Kept { .. } => Line { name, state: "kept", reason: None, changes: Vec::new() },
        State::Lacking { running: true } => Line { name, state: "running", reason: None, changes: Vec::new() },
        _ => {
            let (reason, changes) = difference(&entry, last.as_ref());
            Line { name, state: "to be computed", reason: Some(reason), changes }
        }
    })
}

/// Why there is no result under a key, as far as the last run tells.
fn difference(entry: &Entry, last: Option<&Task>) -> (String, Vec<String>) {
    let Some(last) = last else { return ("no run has computed it yet".to_owned(), Vec::new()) };
    if last.key == entry.key {
        let reason = match (last.state.has_result(), &last.cause) {
            (true, _) if !entry.knows_files => "it reads a file whose name only evaluation tells".to_owned(),
            (true, _) => "its result was removed or damaged since".to_owned(),
            (false, Some(cause)) => format!("the last run has no result: {cause}"),
            (false, None) => format!("the last run has no result: {}", last.state.name()),
        };
        return (reason, Vec::new());
    }
    let changes = entry.parts.as_ref().zip(last.made_of.as_ref()).map(|(now, before)| now.changes(before)).unwrap_or_default();
    let reason = if changes.is_empty() { "it differs from the last run".to_owned() } else { format!("changed: {}", changes.join(", ")) };
    (reason, changes)
}

fn quoted(names: &[Arc<str>]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn text(line: &Line) -> String {
    let reason = line.reason.as_ref().map_or_else(String::new, |reason| format!("; {reason}"));
    format!("{}: {}{reason}\n", line.name, line.state)
}

fn object(line: &Line) -> Value {
    json!({ "name": line.name, "state": line.state, "reason": line.reason, "changes": line.changes })
}
