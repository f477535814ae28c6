//! `scl status`: how runs and their tasks stand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use serde_json::json;

use super::records::{Answer, Place, Refusal, Which, ago, seconds, title};
use crate::batch::slurm;
use crate::job::{Attempt, Timestamp};
use crate::store::{Run, RunState, Store, Task, TaskState};

/// How many tasks are listed for people.
const SHOWN: usize = 50;

/// How many runs are listed.
const RUNS: u32 = 1000;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    which: Which,
    /// List all tasks, also those of which there is nothing to say
    #[arg(long)]
    all: bool,
    /// List runs instead of tasks
    #[arg(long)]
    runs: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    arguments.place.answer(if arguments.runs { runs(&arguments.place) } else { status(arguments) })
}

fn runs(place: &Place) -> Result<Answer, Refusal> {
    let records = place.records(&place.store()?)?;
    let runs = records.runs(place.model().as_deref(), RUNS)?;
    let line = |run: &Run| {
        let took = run.ended.map_or_else(String::new, |ended| format!(", took {}", seconds(ended.saturating_sub(run.started))));
        format!("{:>5}  {:<11}  {}{took}  {}\n", run.run, run.state.name(), ago(run.started), run.model)
    };
    Ok(Answer::new(runs.iter().map(line).collect(), json!({ "runs": runs })))
}

fn status(arguments: &Arguments) -> Result<Answer, Refusal> {
    let place = &arguments.place;
    let store = place.store()?;
    let records = place.records(&store)?;
    let run = place.run(&records, &arguments.which)?;
    let tasks = records.tasks(&run)?;
    let cluster = Cluster::ask(&tasks);
    let object = json!({ "run": run, "tasks": tasks, "store": store.root(), "driver": store.owner(), "slurm": cluster.said, "silent": cluster.silent });
    Ok(Answer::new(text(&run, &tasks, &store, arguments.all, &cluster), object))
}

/// What the cluster says just now.
#[derive(Default)]
struct Cluster {
    /// Of jobs, by the names of their tasks.
    said: BTreeMap<String, String>,
    /// Why it says nothing.
    silent: Option<String>,
}

impl Cluster {
    /// Asks, if there is something to ask for.
    fn ask(tasks: &[Task]) -> Self {
        let open = |task: &&Task| matches!(task.state, TaskState::Waiting | TaskState::Running);
        let submitted = |task: &Task| Some((task.name.clone(), task.attempt().filter(Attempt::is_submitted)?));
        let (names, attempts): (Vec<String>, Vec<Attempt>) = tasks.iter().filter(open).filter_map(submitted).unzip();
        if attempts.is_empty() {
            return Cluster::default();
        }
        match slurm::standing(&attempts) {
            Ok(said) => {
                Cluster { said: names.into_iter().zip(said).filter_map(|(name, said)| Some((name, said?))).collect(), silent: None }
            }
            Err(complaint) => Cluster { silent: Some(complaint), ..Cluster::default() },
        }
    }
}

fn text(run: &Run, tasks: &[Task], store: &Store, all: bool, cluster: &Cluster) -> String {
    let mut text = format!("{}: {}, begun {}", title(run), run.state.name(), ago(run.started));
    if let Some(ended) = run.ended.filter(|_| run.state != RunState::Found) {
        let _ = write!(text, ", took {}", seconds(ended.saturating_sub(run.started)));
    }
    text.push('\n');
    if let Some(owner) = store.owner() {
        let _ = writeln!(text, "the store is used by {owner}, since {}", seconds(Timestamp::now().0.saturating_sub(owner.since.0)));
    }
    let _ = writeln!(text, "jobs: {}", counts(run, tasks));
    let mut listed: Vec<&Task> = tasks.iter().filter(|task| all || !task.state.has_result()).collect();
    listed.sort_by_key(|task| task.state);
    let most = if all { listed.len() } else { SHOWN };
    if let Some(complaint) = &cluster.silent {
        let _ = writeln!(text, "Slurm does not say how jobs stand: {complaint}");
    }
    listed.iter().take(most).for_each(|task| text.push_str(&line(task, cluster.said.get(&task.name))));
    if listed.len() > most {
        let _ = writeln!(text, "and {} more; `--all` lists all", listed.len() - most);
    }
    text
}

fn counts(run: &Run, tasks: &[Task]) -> String {
    let count = |state: TaskState| tasks.iter().filter(|task| task.state == state).count();
    let mut counts: Vec<String> =
        TaskState::ALL.into_iter().filter(|state| count(*state) > 0).map(|state| format!("{} {}", count(state), state.name())).collect();
    match (run.planned as usize).saturating_sub(tasks.len()) {
        0 => {}
        rest if run.state == RunState::Running => counts.push(format!("{rest} wait for inputs")),
        rest => counts.push(format!("{rest} never had their inputs, or were not needed")),
    }
    if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
}

/// State, name, how long it took or takes, of what it asked for, and why it failed.
fn line(task: &Task, said: Option<&String>) -> String {
    let since = match task.state {
        TaskState::Running => begun(task).map(|begun| Timestamp::now().0.saturating_sub(begun)),
        _ => task.started.zip(task.ended).map(|(started, ended)| ended.saturating_sub(started)),
    };
    let mut line = format!("  {:<9}  {}", task.state.name(), task.name);
    if let Some(since) = since {
        let _ = write!(line, "  {}", seconds(since));
        task.walltime_ms.iter().for_each(|limit| line.push_str(&format!(" of {}", seconds(*limit))));
    }
    task.cause.iter().chain(said).for_each(|text| line.push_str(&format!("  {text}")));
    line.push('\n');
    line
}

/// When a process took it, in milliseconds since 1970.
fn begun(task: &Task) -> Option<u64> {
    task.attempt()?.begun().ok()?.map(|time| time.0)
}
