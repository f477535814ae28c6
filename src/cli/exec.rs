//! `scl exec DIR`: the worker.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::diagnostic::Diagnostic;
use crate::eval::{self, World};
use crate::io::Files;
use crate::source::Span;
use crate::worker;

/// Runs the attempt of a job directory.
pub fn exec(directory: &Path) -> ExitCode {
    let files = Files { base: PathBuf::new() };
    let exit = worker::exec(directory, move |description, inputs| {
        let task = &description.task;
        let value = eval::run(task, inputs, &files).map_err(|fault| vec![*fault])?;
        // the result is kept under what the files held when the key was made
        let mut read = description.files.iter();
        match read.find(|file| files.digest(&file.path) != Some(file.sha256.0)) {
            None => Ok(value),
            Some(file) => Err(vec![changed(&file.path, task.expr.span)]),
        }
    });
    ExitCode::from(exit.code())
}

fn changed(path: &str, span: Span) -> Diagnostic {
    Diagnostic::error("E0705", format!("the file {path:?} changed while it was being used"), span).help("run the program again")
}
