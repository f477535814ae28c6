//! `scl exec DIR`: the worker; and `scl serve`, from which many of them come.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::diagnostic::Diagnostic;
use crate::eval::{self, Input, World};
use crate::io::Files;
use crate::job::{Description, Digest};
use crate::source::Span;
use crate::units::Unit;
use crate::value::Value;
use crate::worker;

/// Runs the attempt of a job directory.
pub fn exec(directory: &Path) -> ExitCode {
    ExitCode::from(worker::exec(directory, evaluate).code())
}

/// Makes processes that run attempts.
pub fn serve() -> ExitCode {
    // what is found out when it is needed for the first time, which would be in each job: units, and how this machine hashes
    let _ = (Unit::parse("m"), Digest::of(b""));
    ExitCode::from(worker::serve(evaluate).code())
}

fn evaluate(description: &Description, inputs: &[Input]) -> Result<Value, Vec<Diagnostic>> {
    let files = Files { base: PathBuf::new() };
    let task = &description.task;
    let value = eval::run(task, inputs, &files).map_err(|fault| vec![*fault])?;
    // the result is kept under what the files held when the key was made
    let mut read = description.files.iter();
    match read.find(|file| files.digest(&file.path) != Some(file.sha256.0)) {
        None => Ok(value),
        Some(file) => Err(vec![changed(&file.path, task.expr.span)]),
    }
}

fn changed(path: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0705", format!("the file {path:?} changed while it was being used"), span).help("run the program again")
}
