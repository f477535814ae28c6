//! `scl log TASK`: what a job was given, and what it said.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::records::{Answer, Place, Refusal, Which, named, title};
use crate::store::Task;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A variable, or one of its parts, as in `rates 1/2`
    task: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    which: Which,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    arguments.place.answer(log(arguments))
}

fn log(arguments: &Arguments) -> Result<Answer, Refusal> {
    let records = arguments.place.records(&arguments.place.store()?)?;
    let run = arguments.place.run(&records, &arguments.which)?;
    let tasks = records.tasks(&run)?;
    let logs: Vec<Log> = named(&tasks, &arguments.task)?.into_iter().map(Log::read).collect();
    let text = logs.iter().map(Log::text).collect::<Vec<_>>().join("\n");
    let object = json!({ "run": run, "logs": logs.iter().map(Log::json).collect::<Vec<_>>() });
    Ok(Answer::new(format!("{}\n{text}", title(&run)), object))
}

struct Log<'t> {
    task: &'t Task,
    statement: Option<String>,
    stdout: String,
    stderr: String,
}

impl<'t> Log<'t> {
    /// What there is of it: a directory may have been removed since.
    fn read(task: &'t Task) -> Self {
        let attempt = task.attempt();
        let stream = |path: Option<&Path>| path.and_then(|path| std::fs::read(path).ok());
        let text = |bytes: Option<Vec<u8>>| String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        Log {
            task,
            statement: attempt.as_ref().and_then(|attempt| attempt.statement().ok()),
            stdout: text(stream(attempt.as_ref().map(|attempt| attempt.stdout()).as_deref())),
            stderr: text(stream(attempt.as_ref().map(|attempt| attempt.stderr()).as_deref())),
        }
    }

    fn text(&self) -> String {
        let cause = self.task.cause.as_ref().map_or_else(String::new, |cause| format!(", {cause}"));
        let place = match &self.task.attempt {
            Some(attempt) if attempt.is_dir() => attempt.display().to_string(),
            Some(attempt) => format!("{}, which is not there any more", attempt.display()),
            None => "none".to_owned(),
        };
        let statement = self.statement.as_ref().map_or_else(String::new, |text| format!("  statement: {}\n", text.trim_end()));
        let stream = |name: &str, text: &str| match text {
            "" => format!("  {name}: empty\n"),
            text => format!("  {name}:\n{}\n", text.trim_end_matches('\n')),
        };
        let Task { name, state, .. } = self.task;
        let head = format!("{name}: {}{cause}\n{statement}  directory: {place}\n", state.name());
        head + &stream("stdout", &self.stdout) + &stream("stderr", &self.stderr)
    }

    fn json(&self) -> Value {
        json!({ "task": self.task, "statement": self.statement, "stdout": self.stdout, "stderr": self.stderr })
    }
}
