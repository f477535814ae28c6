//! `scl results`: what a run gave, without running anything.

use std::process::ExitCode;

use serde_json::json;

use super::records::{Answer, Place, Refusal, Which, named, title, warn};
use super::{FAILED, WRONG};
use crate::diagnostic::Fault;
use crate::job::Outcome;
use crate::ops;
use crate::store::{Run, RunState, Task};
use crate::value::Value;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Variables with resources, or parts of them as in `rates 1/2`; without any, what the run printed
    names: Vec<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    arguments.place.answer(results(arguments))
}

fn results(arguments: &Arguments) -> Result<Answer, Refusal> {
    let records = arguments.place.records(&arguments.place.store()?)?;
    let run = arguments.place.run(&records, &arguments.which)?;
    if arguments.names.is_empty() {
        let lines = records.lines(&run)?;
        if run.state != RunState::Done {
            warn(&arguments.place.reporting, not_all(&run));
        }
        let text = lines.iter().map(|line| format!("{line}\n")).collect();
        return Ok(Answer::new(text, json!({ "run": run, "lines": lines })));
    }
    let tasks = records.tasks(&run)?;
    let mut text = String::new();
    let mut values = Vec::new();
    for name in &arguments.names {
        let printed = value(name, &named(&tasks, name)?)?.to_string();
        text.push_str(&format!("{printed}\n"));
        values.push(json!({ "name": name, "text": printed }));
    }
    Ok(Answer::new(text, json!({ "run": run, "values": values })))
}

/// What it printed may be the beginning only, or nothing.
fn not_all(run: &Run) -> Fault {
    Fault::new("W0725", format!("{}: {}, so that lines may be missing", title(run), run.state.name()))
        .help("`scl status` shows how its jobs stand; running the program again prints all that can be computed")
}

/// The value of a variable or of one of its parts.
fn value(name: &str, tasks: &[&Task]) -> Result<Value, Refusal> {
    let values = tasks.iter().map(|task| kept(task)).collect::<Result<Vec<_>, _>>()?;
    let whole = tasks.iter().all(|task| task.joins && task.parts == Some(tasks.len() as u32));
    match (values.as_slice(), tasks) {
        ([value], [task]) if task.part.is_none() || task.name == name => Ok(value.clone()),
        (values, _) if whole => ops::concat(values).map_err(|fault| Refusal { fault, status: FAILED }),
        _ => {
            let fault = Fault::new("E0726", format!("`{name}` was computed in parts, and the whole is not kept"));
            let first = tasks.first().map_or(name, |task| &task.name);
            Err(Refusal { fault: fault.help(format!("ask for its parts: `{first}`, …")), status: WRONG })
        }
    }
}

/// The value that a job left, if it is there as it was written.
fn kept(task: &Task) -> Result<Value, Refusal> {
    let failed = |fault: Fault| Refusal { fault, status: FAILED };
    let Some(attempt) = task.attempt().filter(|_| task.state.has_result()) else {
        let cause = task.cause.as_ref().map_or_else(String::new, |cause| format!(", {cause}"));
        return Err(failed(Fault::new("E0728", format!("`{}` has no value: {}{cause}", task.name, task.state.name()))));
    };
    let manifest = attempt.manifest().map_err(|error| failed(error.into()))?;
    match manifest.map(|manifest| manifest.outcome) {
        Some(Outcome::Success { result }) => attempt.result(&result).map_err(|error| failed(error.into())),
        Some(Outcome::Failure { .. }) | None => {
            let message = format!("the result of `{}` is not there any more: {:?}", task.name, attempt.path());
            Err(failed(Fault::new("E0729", message).help("running the program again computes it anew")))
        }
    }
}
