//! `scl exec DIR`: the worker.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::diagnostic::Diagnostic;
use crate::eval;
use crate::io::Files;
use crate::job;
use crate::model::Task;
use crate::value::Value;
use crate::worker;

/// Runs the attempt of a job directory.
pub fn exec(directory: &Path) -> ExitCode {
    ExitCode::from(worker::exec(directory, evaluate).code())
}

fn evaluate(task: &Task, inputs: &[job::Input]) -> Result<Value, Vec<Diagnostic>> {
    let inputs: Vec<eval::Input> = inputs.iter().map(input).collect();
    eval::run(task, &inputs, &Files { base: PathBuf::new() }).map_err(|fault| vec![*fault])
}

fn input(input: &job::Input) -> eval::Input {
    match input {
        job::Input::Value(value) => eval::Input::Value(value.clone()),
        job::Input::Failed(_) => eval::Input::Failed,
    }
}
