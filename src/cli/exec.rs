//! `scl exec DIR`: the worker.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::eval;
use crate::io::Files;
use crate::worker;

/// Runs the attempt of a job directory.
pub fn exec(directory: &Path) -> ExitCode {
    let files = Files { base: PathBuf::new() };
    ExitCode::from(worker::exec(directory, |task, inputs| eval::run(task, inputs, &files).map_err(|fault| vec![*fault])).code())
}
