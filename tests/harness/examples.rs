//! The programs of `examples/` print what lies beside them, whichever way they are evaluated.

use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::{Failed, Trial};

use crate::golden;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let mut trials = golden::cases("examples/workflow", "examples", workflow);
    trials.extend(golden::cases("examples/deferred", "examples", deferred));
    trials.push(Trial::test("examples: there is nothing to warn of", nothing_to_say));
    trials.push(Trial::test("examples: jobs that are done are taken from the store", kept));
    trials
}

fn workflow(path: &Path, _: &str) -> String {
    tempfile::tempdir().map_or_else(|error| error.to_string(), |store| shown(run(path, "workflow", store.path())))
}

fn deferred(path: &Path, _: &str) -> String {
    tempfile::tempdir().map_or_else(|error| error.to_string(), |store| shown(run(path, "deferred", store.path())))
}

fn run(program: &Path, mode: &str, store: &Path) -> std::io::Result<Output> {
    let directory = program.parent().unwrap_or(program);
    Command::new(env!("CARGO_BIN_EXE_scl")).args(["run", "--mode", mode, "--store"]).arg(store).arg(program).current_dir(directory).output()
}

/// What was printed; of a run that failed also why.
fn shown(output: std::io::Result<Output>) -> String {
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => format!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr)),
        Err(error) => error.to_string(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn nothing_to_say() -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let programs: Vec<_> = names.iter().filter(|path| path.extension().is_some_and(|extension| extension == "scl")).collect();
    let said: Vec<String> = programs.iter().map(|program| Ok(text(&check(program)?.stderr))).collect::<std::io::Result<_>>()?;
    if !programs.is_empty() && said.iter().all(String::is_empty) { Ok(()) } else { Err(said.concat().into()) }
}

fn check(program: &Path) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_scl")).arg("check").arg(program).output()
}

fn kept() -> Result<(), Failed> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/parameter_study.scl");
    let store = tempfile::tempdir()?;
    let [first, second] = [(); 2].map(|()| run(&program, "workflow", store.path()));
    let (first, second) = (first?, second?);
    if first.stdout.is_empty() || first.stdout != second.stdout {
        return Err(format!(
            "printed first\n{}{}then\n{}{}",
            text(&first.stdout),
            text(&first.stderr),
            text(&second.stdout),
            text(&second.stderr)
        )
        .into());
    }
    // what happened to each job stands before, and what they took behind
    let said = (text(&first.stderr), text(&second.stderr));
    match (said.0.lines().any(|line| line == "jobs: 4 done, 0 failed, 0 kept"), said.1.trim()) {
        (true, "jobs: 0 done, 0 failed, 4 kept") => Ok(()),
        _ => Err(format!("{said:?}").into()),
    }
}
