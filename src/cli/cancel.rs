//! `scl cancel`: ends a run, some of its jobs, or what a driver that is gone left running.

use std::collections::{BTreeSet, HashSet};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::driver::unusable;
use super::records::{Answer, Place, Refusal, Which, no_such_task};
use super::{FAILED, WRONG};
use crate::batch::slurm;
use crate::diagnostic::Fault;
use crate::job::{self, Attempt, Digest, Holder, Job};
use crate::store::{self, Access, Lock, Owner, Records, Run, RunState, Store, Task, TaskState, Wishes};
use crate::worker::orphans;

/// How long a driver may take to see a request, and then to end what it was asked to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a process that has taken the store may take to enter its run in the index.
const ENTERING: Duration = Duration::from_secs(5);

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
    /// Whether it ever began.
    begun: bool,
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
        // should one of another machine run, it will see the request; should it not, nothing is lost
        Access::Taken(_) | Access::Unclear(_) => ask_driver(arguments, &store)?,
        Access::ReadOnly => return Err(Fault::new("E0730", "the store can only be read, and so can nothing be asked of its driver").into()),
    };
    let line = |ended: &Ended| match &ended.survives {
        None if !ended.begun => format!("will not begin: {}\n", ended.name),
        None => format!("ended: {}\n", ended.name),
        Some(place) => format!("still running: {}, {place}\n", ended.name),
    };
    let text = if ended.is_empty() { "nothing runs\n".to_owned() } else { ended.iter().map(line).collect() };
    let object = |ended: &Ended| json!({ "name": ended.name, "begun": ended.begun, "survives": ended.survives });
    let status = if ended.iter().any(|ended| ended.survives.is_some()) { FAILED } else { 0 };
    Ok(Answer { text, object: json!({ "tasks": ended.iter().map(object).collect::<Vec<_>>() }), status })
}

/// Tells the driver, and waits until it has done it. The whole run is over when its driver is.
fn ask_driver(arguments: &Arguments, store: &Store) -> Result<Vec<Ended>, Refusal> {
    let records = arguments.place.records(store)?;
    let Some(run) = driven(arguments, store, &records)? else { return Ok(Vec::new()) };
    let all = arguments.tasks.is_empty();
    let meant = if all { open(&records.tasks(&run)?) } else { meant(&records, &run, &arguments.tasks)? };
    if !all && meant.is_empty() {
        return Ok(Vec::new());
    }
    let wishes = Wishes { all, tasks: arguments.tasks.clone() };
    let request = store::ask(store, run.run, wishes).map_err(|error| unusable(&error))?;
    let end = Instant::now() + PATIENCE;
    loop {
        let now = records.run(run.run)?;
        let tasks = records.tasks(&run)?;
        let mut left = open(&tasks);
        left.retain(|name| meant.contains(name));
        let is_over = now.is_none_or(|now| now.state != RunState::Running) || !is_driver(store.owner().as_ref(), &run);
        let is_pending = store::is_pending(&request);
        if !all && !is_pending && left.is_empty() || is_over || Instant::now() >= end {
            let who = who(&run);
            let survives = |survives: bool| survives.then(|| format!("driven by {who}"));
            let begun: HashSet<&str> = tasks.iter().filter(|task| task.attempt.is_some()).map(|task| &*task.name).collect();
            let is_left = |name: &String| if begun.contains(&**name) { left.contains(name) } else { is_pending && !is_over };
            let ended = |name: String| Ended { begun: begun.contains(&*name), survives: survives(is_left(&name)), name };
            let whole = all.then(|| Ended { name: format!("run {}", run.run), begun: true, survives: survives(!is_over) });
            return Ok(meant.into_iter().map(ended).chain(whole).collect());
        }
        thread::sleep(PAUSE);
    }
}

/// Who drives a run, for people.
fn who(run: &Run) -> String {
    run.driver.as_ref().map_or_else(|| "another process".to_owned(), |driver| format!("process {} on {}", driver.pid, driver.host))
}

/// The jobs of these names that have not ended, with all tasks that wait for the same ones, and those that have not even begun because
/// their inputs are not there.
fn meant(records: &Records, run: &Run, names: &[String]) -> Result<BTreeSet<String>, Refusal> {
    let tasks = records.tasks(run)?;
    let known: HashSet<&str> = tasks.iter().map(|task| &*task.name).collect();
    let mut later = records.planned(run)?;
    later.retain(|job| !known.contains(&**job));
    let variables = tasks.iter().map(|task| &*task.variable).chain(later.iter().filter_map(|job| job.split(' ').next()));
    let all: Vec<&str> = known.iter().copied().chain(later.iter().map(String::as_str)).chain(variables).collect();
    if let Some(name) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(no_such_task(name, all.into_iter(), "the run").into());
    }
    let is_named = |job: &str| names.iter().any(|name| is_called(job, name));
    let keys: HashSet<Digest> = tasks.iter().filter(|task| is_named(&task.name)).map(|task| task.key).collect();
    let mut meant = open(&tasks);
    let together: HashSet<&str> = tasks.iter().filter(|task| keys.contains(&task.key)).map(|task| &*task.name).collect();
    meant.retain(|name| together.contains(&**name));
    meant.extend(later.into_iter().filter(|job| is_named(job)));
    Ok(meant)
}

/// The tasks whose jobs have not ended.
fn open(tasks: &[Task]) -> BTreeSet<String> {
    let is_open = |task: &&Task| matches!(task.state, TaskState::Waiting | TaskState::Running);
    let keys: HashSet<Digest> = tasks.iter().filter(is_open).map(|task| task.key).collect();
    let waits = |task: &&Task| is_open(task) || task.state == TaskState::Shared && keys.contains(&task.key);
    tasks.iter().filter(waits).map(|task| task.name.clone()).collect()
}

/// The run that is meant, if the process that has the store drives it: whatever that process were asked to end of another run, it would
/// be the wrong thing. A process that has just taken the store is given time to say what it runs. Nothing when it is gone.
fn driven(arguments: &Arguments, store: &Store, records: &Records) -> Result<Option<Run>, Refusal> {
    let end = Instant::now() + ENTERING;
    loop {
        let owner = store.owner();
        let meant = arguments.place.run(records, &arguments.which);
        if let Ok(run) = &meant
            && run.state == RunState::Running
            && is_driver(owner.as_ref(), run)
        {
            return Ok(Some(run.clone()));
        }
        let last = records.runs(None, 1)?.pop();
        let has_entered = owner.is_some() && last.is_some_and(|last| last.state == RunState::Running && is_driver(owner.as_ref(), &last));
        if has_entered || Instant::now() >= end {
            return meant.and_then(|run| Err(over(&run, owner.as_ref())));
        }
        if matches!(store.lock(), Ok(Access::Mine(_))) {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// Whether a run is of the process that has the store, which may not have said who it is.
fn is_driver(owner: Option<&Owner>, run: &Run) -> bool {
    owner.is_none_or(|owner| run.driver.as_ref().is_some_and(|driver| driver.is_same(&owner.holder)))
}

fn over(run: &Run, owner: Option<&Owner>) -> Refusal {
    let who = owner.map_or_else(|| "another process".to_owned(), ToString::to_string);
    let message = format!("run {} of {} is over; the store is used by {who}", run.run, run.model);
    let fault = Fault::new("E0734", message).help("`scl status --runs` lists what runs");
    Refusal { fault, status: WRONG }
}

/// Ends what runs without a driver, for this process has the store. What runs on another machine can only be named.
fn end_orphans(arguments: &Arguments, store: &Store, _: &Lock) -> Result<Vec<Ended>, Refusal> {
    let records = arguments.place.records(store)?;
    let keys = arguments.place.keys(&records, &arguments.which)?;
    let is_meant = |orphan: &Orphan| {
        let is_of_run = keys.as_ref().is_none_or(|keys| orphan.attempt.key().is_some_and(|key| keys.contains(&key)));
        is_of_run && (arguments.tasks.is_empty() || arguments.tasks.iter().any(|task| is_called(&orphan.name, task)))
    };
    let running = job::running(store.jobs()).into_iter().map(|(attempt, holder)| (Orphan::of(attempt), holder));
    let (orphans, holders): (Vec<Orphan>, Vec<Holder>) = running.filter(|(orphan, _)| is_meant(orphan)).unzip();
    let survivors = orphans::end(&holders);
    for (orphan, _) in orphans.iter().zip(&survivors).filter(|(_, pids)| pids.is_empty()) {
        // it is over all the same, only that nobody knows why
        let _ = orphan.attempt.note_cancelled();
    }
    let survives = |pids: Vec<i32>| {
        let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
        (!pids.is_empty()).then(|| format!("processes {} of this machine", pids.join(", ")))
    };
    let ended = orphans.into_iter().zip(survivors).map(|(orphan, pids)| Ended { name: orphan.name, begun: true, survives: survives(pids) });
    let mut ended: Vec<Ended> = ended.collect();
    ended.extend(elsewhere(arguments, &records, &is_meant)?);
    ended.extend(end_submitted(store, &is_meant)?);
    let missing = arguments.tasks.iter().find(|task| !ended.iter().any(|ended| is_called(&ended.name, task)));
    match missing {
        Some(task) => {
            let fault = Fault::new("E0731", format!("no job of `{task}` runs")).help("`scl status` shows what does");
            Err(Refusal { fault, status: WRONG })
        }
        None => Ok(ended),
    }
}

/// An attempt without a driver.
struct Orphan {
    name: String,
    attempt: Attempt,
}

impl Orphan {
    fn of(attempt: Attempt) -> Self {
        let name = attempt.outline().map_or_else(|_| attempt.path().display().to_string(), |outline| outline.name.to_string());
        Orphan { name, attempt }
    }
}

/// Whether a job is called this, or is a part of the variable that is.
fn is_called(job: &str, name: &str) -> bool {
    job == name || job.split(' ').next() == Some(name)
}

/// Ends what a batch system has, or may have.
fn end_submitted(store: &Store, is_meant: &dyn Fn(&Orphan) -> bool) -> Result<Vec<Ended>, Refusal> {
    let jobs = Job::all(store.jobs()).map_err(|error| unusable(&error))?;
    let attempts = jobs.iter().flat_map(|job| job.attempts().unwrap_or_default()).filter(Attempt::may_be_out);
    let orphans = attempts.map(Orphan::of).filter(|orphan| is_meant(orphan));
    let (names, attempts): (Vec<String>, Vec<Attempt>) = orphans.map(|orphan| (orphan.name, orphan.attempt)).unzip();
    let survivors = slurm::end(store.jobs(), &attempts);
    let survives = |survivor: slurm::Survivor| format!("{}; `scancel {}` asks for its end again", survivor.reason, survivor.id);
    Ok(names.into_iter().zip(survivors).map(|(name, survivor)| Ended { name, begun: true, survives: survivor.map(survives) }).collect())
}

/// The jobs of the run that other machines run, as far as is known.
fn elsewhere(arguments: &Arguments, records: &Records, is_meant: &dyn Fn(&Orphan) -> bool) -> Result<Vec<Ended>, Refusal> {
    // a store without any run has none of them
    let Ok(run) = arguments.place.run(records, &arguments.which) else { return Ok(Vec::new()) };
    let running = records.tasks(&run)?.into_iter().filter(|task| task.state == TaskState::Running);
    let ended = running.filter_map(|task| {
        let attempt = task.attempt().filter(|attempt| !attempt.is_submitted())?;
        let holder = attempt.holder().ok()??;
        let place = (holder.host != job::host()).then(|| format!("process {} on {}; cancel it there", holder.pid, holder.host))?;
        let orphan = Orphan { name: task.name, attempt };
        is_meant(&orphan).then_some(Ended { name: orphan.name, begun: true, survives: Some(place) })
    });
    Ok(ended.collect())
}
