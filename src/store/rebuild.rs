//! An index from the directories of jobs: one run that stands for all that were forgotten.

use rusqlite::{Connection, params};

use super::recording::{change, insert};
use super::standing::RunState;
use super::{End, Entry, State, Store};
use crate::job::{Attempt, Digest, FileError, Job, Life, Manifest, Timestamp, VERSION};

/// Enters the jobs of a store in an empty index. What cannot be read is passed over: it is no evidence of anything.
pub(super) fn rebuild(connection: &mut Connection, store: &Store) -> rusqlite::Result<()> {
    let jobs = Job::all(store.jobs()).unwrap_or_default();
    if jobs.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    let now = i64::try_from(Timestamp::now().0).unwrap_or(i64::MAX);
    transaction.execute(
        "INSERT INTO run (model, digest, mode, scl, driver, planned, started, ended, outcome) VALUES ('', '', ?1, ?2, '', ?3, ?4, ?4, ?1)",
        params![RunState::Found.name(), VERSION, u32::try_from(jobs.len()).unwrap_or(u32::MAX), now],
    )?;
    let run = transaction.last_insert_rowid();
    for (job, number) in jobs.iter().zip(0..) {
        if let Ok(Some((attempt, manifest))) = telling(job)
            && let Ok(entry) = entry(job.key(), &attempt, number)
        {
            insert(&transaction, run, &entry)?;
            let name = attempt.path().display().to_string().into();
            change(&transaction, run, number, &State::Waiting { attempt: attempt.number(), job: name })?;
            if let Some(state) = state(&attempt, manifest) {
                change(&transaction, run, number, &state)?;
            }
        }
    }
    transaction.commit()
}

/// The attempt that succeeded, or else the last one.
fn telling(job: &Job) -> Result<Option<(Attempt, Option<Manifest>)>, FileError> {
    if let Some((attempt, manifest)) = job.success()? {
        return Ok(Some((attempt, Some(manifest))));
    }
    Ok(job.attempts()?.pop().map(|attempt| {
        let manifest = attempt.manifest().ok().flatten();
        (attempt, manifest)
    }))
}

fn entry(key: Digest, attempt: &Attempt, number: u32) -> Result<Entry, FileError> {
    let outline = attempt.outline()?;
    let variable = match outline.name.split_once(' ') {
        Some((variable, _)) => variable.into(),
        None => outline.name.clone(),
    };
    Ok(Entry {
        task: number,
        name: outline.name,
        variable,
        part: None,
        joins: false,
        key,
        parts: None,
        knows_files: true,
        request: outline.request,
    })
}

fn state(attempt: &Attempt, manifest: Option<Manifest>) -> Option<State> {
    if let Ok(Some(cause)) = attempt.verdict() {
        return Some(State::Ended(End { cause: Some(cause), times: None, usage: None }));
    }
    match manifest {
        Some(manifest) => Some(State::Ended(End::of(&manifest))),
        None if attempt.life() == Some(Life::Here) => Some(State::Running),
        None => None,
    }
}
