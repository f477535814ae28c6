//! `scl run FILE`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use super::execute::{Executor, Settings};
use super::{Checked, FAILED, Input, WRONG, extent, finish, print, status_of, unwritable};
use crate::check::Mode;
use crate::graph::{Options, TaskGraph};
use crate::io::Files;
use crate::run::Program;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    settings: Settings,
    /// Compute also what nothing needs
    #[arg(long)]
    all: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let input = &arguments.input;
    let checked = Checked::load(input, extent(arguments.all));
    if !checked.is_sound() {
        return finish(input, &checked);
    }
    let mode = Mode::from(input.mode);
    let workflow = mode == Mode::Workflow;
    let graph = Arc::new(TaskGraph::build(&checked.model, Options { chunks: workflow, batch: workflow, all: arguments.all }));
    let files = Arc::new(Files { base: PathBuf::new() });
    let (model, sources) = (checked.model.clone(), checked.sources.clone());
    let program = Program { model, graph, sources, world: files.clone(), exporter: files };
    let Some(executor) = Executor::new(&arguments.settings, &input.reporting, mode, &input.file) else { return ExitCode::from(WRONG) };
    let mut written = Ok(());
    let summary = executor.run(&program, None, &mut |line| {
        if written.is_ok() {
            written = print(&format!("{line}\n"));
        }
    });
    let mut diagnostics = checked.diagnostics.clone();
    let mut status = match summary {
        Ok(summary) => {
            diagnostics.extend(summary.diagnostics);
            if summary.failed || summary.interrupted { FAILED } else { 0 }
        }
        Err(refused) => {
            diagnostics.extend(refused.diagnostics);
            status_of(refused.verdict)
        }
    };
    if let Err(error) = written {
        status = unwritable(&error);
    }
    input.reporting.report(&diagnostics, &checked.sources);
    ExitCode::from(status)
}
