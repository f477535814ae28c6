//! What a driver that was killed could not note any more.

use std::collections::HashSet;

use super::{Run, Task};
use crate::batch::slurm::CLUSTER;
use crate::job::{Attempt, Digest, Job};
use crate::store::{RunState, Store, TaskState};

/// Jobs that were begun for the program of a run since it began, and are not among its tasks. Only a run that was killed may have such.
pub fn unnoted(store: &Store, run: &Run, noted: &[Task]) -> Vec<Task> {
    if run.state != RunState::Killed || noted.len() >= run.planned as usize {
        return Vec::new();
    }
    let noted: HashSet<Digest> = noted.iter().map(|task| task.key).collect();
    let jobs = Job::all(store.jobs()).unwrap_or_default().into_iter().filter(|job| !noted.contains(&job.key()));
    let mut tasks: Vec<Task> = jobs.filter_map(|job| task(&job.attempts().ok()?.pop()?, job.key(), run)).collect();
    tasks.sort_by(|left, right| left.name.cmp(&right.name));
    tasks
}

/// The attempt as a task of the run, if it is of the same text and not older.
fn task(attempt: &Attempt, key: Digest, run: &Run) -> Option<Task> {
    let begun = attempt.described().ok()??.0;
    let outline = attempt.outline().ok()?;
    let is_of_run = begun >= run.started && outline.texts.iter().any(|text| text.to_string() == run.digest);
    is_of_run.then(|| Task {
        variable: outline.name.split(' ').next().unwrap_or_default().to_owned(),
        name: outline.name.to_string(),
        part: None,
        parts: None,
        joins: false,
        key,
        made_of: None,
        cores: outline.request.cores().get(),
        memory: outline.request.memory_bytes(),
        walltime_ms: outline.request.duration().map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        state: TaskState::Waiting,
        attempt: Some(attempt.path().to_owned()),
        // as what it was submitted stands in its directory, if it was
        job: matches!(attempt.ticket(), Ok(Some(_))).then(|| CLUSTER.to_owned()),
        cause: None,
        started: None,
        ended: None,
        peak_rss: None,
        cpu_us: None,
    })
}
