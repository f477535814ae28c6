//! `scl cancel`: ends a run, some of its jobs, or what a driver that is gone left running.

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::driver::unusable;
use super::records::{Answer, Place, Refusal, Which, named};
use super::{FAILED, WRONG};
use crate::batch::slurm;
use crate::diagnostic::Fault;
use crate::job::{self, Attempt, Holder, Job};
use crate::store::{self, Access, Lock, Owner, RunState, Store, Task, TaskState, Wishes};
use crate::worker::orphans;

/// How long a driver may take to see a request, and then to end what it was asked to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Variables, or parts of them as in `rates 1/2`; without any, the whole run
    tasks: Vec<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    which: Which,
}

/// A job that was ended, or could not be.
struct Ended {
    name: String,
    /// Where it is still running.
    survives: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    arguments.place.answer(cancel(arguments))
}

fn cancel(arguments: &Arguments) -> Result<Answer, Refusal> {
    let store = arguments.place.store()?;
    let ended = match store.lock().map_err(|error| unusable(&error))? {
        Access::Mine(lock) => end_orphans(arguments, &store, &lock)?,
        Access::Taken(owner) => ask_driver(arguments, &store, owner.as_ref())?,
        // should it run, it will see the request; should it not, nothing is lost
        Access::Unclear(owner) => ask_driver(arguments, &store, Some(&owner))?,
        Access::ReadOnly => return Err(Fault::new("E0730", "the store can only be read, and so can nothing be asked of its driver").into()),
    };
    let line = |ended: &Ended| match &ended.survives {
        None => format!("ended: {}\n", ended.name),
        Some(place) => format!("still running: {}, {place}\n", ended.name),
    };
    let text = if ended.is_empty() { "nothing runs\n".to_owned() } else { ended.iter().map(line).collect() };
    let object = |ended: &Ended| json!({ "name": ended.name, "survives": ended.survives });
    let status = if ended.iter().any(|ended| ended.survives.is_some()) { FAILED } else { 0 };
    Ok(Answer { text, object: json!({ "tasks": ended.iter().map(object).collect::<Vec<_>>() }), status })
}

/// Tells the driver, and waits until it has done it. The whole run is over when its driver is.
fn ask_driver(arguments: &Arguments, store: &Store, owner: Option<&Owner>) -> Result<Vec<Ended>, Refusal> {
    let records = arguments.place.records(store)?;
    let run = arguments.place.run(&records, &arguments.which)?;
    let open = |task: &Task| matches!(task.state, TaskState::Waiting | TaskState::Running);
    let tasks = records.tasks(&run)?;
    let mut meant: Vec<String> = Vec::new();
    for name in &arguments.tasks {
        meant.extend(named(&tasks, name)?.into_iter().filter(|task| open(task)).map(|task| task.name.clone()));
    }
    let all = arguments.tasks.is_empty();
    if all {
        meant = tasks.iter().filter(|task| open(task)).map(|task| task.name.clone()).collect();
    } else if meant.is_empty() {
        return Ok(Vec::new());
    }
    let request = store::ask(store, &Wishes { all, tasks: arguments.tasks.clone() }).map_err(|error| unusable(&error))?;
    let end = Instant::now() + PATIENCE;
    loop {
        let run = arguments.place.run(&records, &arguments.which)?;
        let tasks = records.tasks(&run)?;
        let left: Vec<&str> = tasks.iter().filter(|task| open(task) && meant.contains(&task.name)).map(|task| &*task.name).collect();
        let driver_is_over = run.state != RunState::Running || store.owner().as_ref() != owner;
        let done = if all { driver_is_over } else { !store::is_pending(&request) && left.is_empty() };
        if done || driver_is_over || Instant::now() >= end {
            let who = owner.map_or_else(|| "another process".to_owned(), ToString::to_string);
            let survives = |name: &str| left.contains(&name).then(|| format!("driven by {who}"));
            let mut ended: Vec<Ended> = meant.into_iter().map(|name| Ended { survives: survives(&name), name }).collect();
            if all && !driver_is_over {
                ended.push(Ended { name: format!("run {}", run.run), survives: Some(format!("driven by {who}")) });
            } else if all {
                ended.push(Ended { name: format!("run {}", run.run), survives: None });
            }
            return Ok(ended);
        }
        thread::sleep(PAUSE);
    }
}

/// Ends what runs without a driver, for this process has the store. What runs on another machine can only be named.
fn end_orphans(arguments: &Arguments, store: &Store, _: &Lock) -> Result<Vec<Ended>, Refusal> {
    let name =
        |attempt: &Attempt| attempt.outline().map_or_else(|_| attempt.path().display().to_string(), |outline| outline.name.to_string());
    let is_meant = |name: &str| {
        let variable = name.split(' ').next().unwrap_or_default();
        arguments.tasks.is_empty() || arguments.tasks.iter().any(|task| task == name || task == variable)
    };
    let running: Vec<(String, Holder)> = job::running(store.jobs()).into_iter().map(|(attempt, holder)| (name(&attempt), holder)).collect();
    let (names, holders): (Vec<String>, Vec<Holder>) = running.into_iter().filter(|(name, _)| is_meant(name)).unzip();
    let survivors = orphans::end(&holders);
    let survives = |pids: Vec<i32>| {
        let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
        (!pids.is_empty()).then(|| format!("processes {} of this machine", pids.join(", ")))
    };
    let mut ended: Vec<Ended> = names.into_iter().zip(survivors).map(|(name, pids)| Ended { name, survives: survives(pids) }).collect();
    ended.extend(elsewhere(arguments, store)?.into_iter().filter(|ended| is_meant(&ended.name)));
    ended.extend(end_submitted(store, &name, &is_meant)?);
    let missing =
        arguments.tasks.iter().find(|task| !ended.iter().any(|ended| ended.name == **task || ended.name.split(' ').next() == Some(task)));
    match missing {
        Some(task) => {
            let fault = Fault::new("E0731", format!("no job of `{task}` runs")).help("`scl status` shows what does");
            Err(Refusal { fault, status: WRONG })
        }
        None => Ok(ended),
    }
}

/// Ends what a batch system has, or may have.
fn end_submitted(store: &Store, name: &dyn Fn(&Attempt) -> String, is_meant: &dyn Fn(&str) -> bool) -> Result<Vec<Ended>, Refusal> {
    let jobs = Job::all(store.jobs()).map_err(|error| unusable(&error))?;
    let attempts = jobs.iter().flat_map(|job| job.attempts().unwrap_or_default()).filter(Attempt::is_submitted);
    let (names, attempts): (Vec<String>, Vec<Attempt>) =
        attempts.map(|attempt| (name(&attempt), attempt)).filter(|(name, _)| is_meant(name)).unzip();
    let survivors = slurm::end(store.jobs(), &attempts);
    let survives = |survivor: slurm::Survivor| format!("{}; `scancel {}` asks for its end again", survivor.reason, survivor.id);
    Ok(names.into_iter().zip(survivors).map(|(name, survivor)| Ended { name, survives: survivor.map(survives) }).collect())
}

/// The jobs of the last run that other machines run, as far as is known.
fn elsewhere(arguments: &Arguments, store: &Store) -> Result<Vec<Ended>, Refusal> {
    let records = arguments.place.records(store)?;
    let Some(run) = records.runs(arguments.place.model().as_deref(), 1)?.pop() else { return Ok(Vec::new()) };
    let running = records.tasks(&run)?.into_iter().filter(|task| task.state == TaskState::Running);
    let ended = running.filter_map(|task| {
        let attempt = task.attempt().filter(|attempt| !attempt.is_submitted())?;
        let holder = attempt.holder().ok()??;
        let place = (holder.host != job::host()).then(|| format!("process {} on {}; cancel it there", holder.pid, holder.host))?;
        Some(Ended { name: task.name, survives: Some(place) })
    });
    Ok(ended.collect())
}
