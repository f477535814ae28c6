//! What a store can do without.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::params;
use serde::Serialize;

use super::index::{self, IndexError};
use super::{Lock, Records, Store};
use crate::job::{self, Digest, FileError, Job, Life, Submission, Timestamp, files};

/// What is to be removed. What nobody can use, such as files that a process which was killed left half written, always is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// What no run has used for longer than this.
    pub age: Option<Duration>,
    /// Of the others, those that were used the longest ago, until all jobs together take no more bytes than this.
    pub size: Option<u64>,
    /// What the last run of each program has not used.
    pub unreachable: bool,
}

/// What was removed, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Jobs that were removed.
    pub removed: usize,
    /// Their size in bytes.
    pub removed_bytes: u64,
    /// Jobs that are left.
    pub left: usize,
    /// Their size in bytes.
    pub left_bytes: u64,
    /// Of these, jobs that are running, or may be on another machine, and would have been removed.
    pub in_use: usize,
    /// Runs that are forgotten.
    pub runs: usize,
    /// Files and directories that nobody could use.
    pub leftovers: usize,
}

struct Candidate {
    job: Job,
    bytes: u64,
    /// In milliseconds since 1970.
    used: u64,
}

/// Removes what is over the limits, or only says what that is. The lock keeps runs out.
pub fn sweep(store: &Store, lock: &Lock, limits: Limits, only_say: bool) -> Result<Swept, IndexError> {
    let records = Records::open(store)?.0;
    let (condemned, left) = divide(candidates(store, &records)?, limits, &records)?;
    let mut swept = Swept::default();
    for candidate in condemned {
        if is_in_use(&candidate.job) {
            swept.in_use += 1;
            swept.left += 1;
            swept.left_bytes += candidate.bytes;
            continue;
        }
        if !only_say {
            remove(candidate.job.path())?;
        }
        swept.removed += 1;
        swept.removed_bytes += candidate.bytes;
    }
    swept.left += left.len();
    swept.left_bytes += left.iter().map(|candidate| candidate.bytes).sum::<u64>();
    swept.leftovers = leftovers(store, only_say)?;
    swept.runs = limits.age.map_or(Ok(0), |age| forget(store, lock, age, only_say))?;
    Ok(swept)
}

fn candidates(store: &Store, records: &Records) -> Result<Vec<Candidate>, IndexError> {
    let uses: HashMap<Digest, u64> = records.last_uses()?.into_iter().collect();
    let candidate = |job: Job| {
        let (bytes, written) = measure(job.path());
        let used = uses.get(&job.key()).copied().unwrap_or(0).max(written);
        Candidate { job, bytes, used }
    };
    Ok(Job::all(store.jobs())?.into_iter().map(candidate).collect())
}

/// What goes, and what stays.
fn divide(candidates: Vec<Candidate>, limits: Limits, records: &Records) -> Result<(Vec<Candidate>, Vec<Candidate>), IndexError> {
    let reachable: Option<HashSet<Digest>> = if limits.unreachable { Some(records.reachable()?.into_iter().collect()) } else { None };
    let oldest = limits.age.map(oldest);
    let goes = |candidate: &Candidate| {
        oldest.is_some_and(|oldest| candidate.used < oldest) || reachable.as_ref().is_some_and(|keys| !keys.contains(&candidate.job.key()))
    };
    let (mut condemned, mut left): (Vec<_>, Vec<_>) = candidates.into_iter().partition(goes);
    if let Some(most) = limits.size {
        left.sort_by_key(|candidate| candidate.used);
        let mut bytes: u64 = left.iter().map(|candidate| candidate.bytes).sum();
        let too_many = left.iter().take_while(|candidate| {
            let over = bytes > most;
            bytes = bytes.saturating_sub(candidate.bytes);
            over
        });
        let count = too_many.count();
        condemned.extend(left.drain(..count));
    }
    Ok((condemned, left))
}

/// The time before which something is too old, in milliseconds since 1970.
fn oldest(age: Duration) -> u64 {
    Timestamp::now().0.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

/// Whether a process may still write to it, or a batch system may begin one that does.
fn is_in_use(job: &Job) -> bool {
    job.attempts().unwrap_or_default().iter().any(|attempt| {
        let over = attempt.manifest().is_ok_and(|manifest| manifest.is_some());
        attempt.is_submitted() || !over && attempt.holder().ok().flatten().is_some_and(|holder| holder.life() != Life::Over)
    })
}

/// The bytes of all files in a directory, and when the last one was written.
fn measure(path: &Path) -> (u64, u64) {
    let Ok(file) = fs::symlink_metadata(path) else { return (0, 0) };
    let written = file.modified().map_or(0, |time| Timestamp::of(time).0);
    if !file.is_dir() {
        return (file.len(), written);
    }
    let inside = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| measure(&entry.path()));
    inside.fold((0, written), |(bytes, last), (more, written)| (bytes + more, last.max(written)))
}

/// Out of the way first, so that nobody ever finds half of it.
fn remove(path: &Path) -> Result<(), FileError> {
    let aside = files::beside(path);
    match fs::rename(path, &aside) {
        Ok(()) => fs::remove_dir_all(&aside).map_err(FileError::io("remove", &aside)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(FileError::io("remove", path)(error)),
    }
}

/// Texts of programs of which no job is left, and what a driver that was killed prepared and never put in place: only drivers do that
/// here, and there is none now.
fn leftovers(store: &Store, only_say: bool) -> Result<usize, FileError> {
    let mut count = 0;
    let outlines = Job::all(store.jobs())?.into_iter().flat_map(|job| job.attempts().unwrap_or_default());
    let used: HashSet<Digest> = outlines.filter_map(|attempt| attempt.outline().ok()).flat_map(|outline| outline.texts).collect();
    for path in job::texts::others(store.jobs(), &used) {
        count += 1;
        if !only_say {
            fs::remove_file(&path).map_err(FileError::io("remove", &path))?;
        }
    }
    for submission in unused_submissions(store)? {
        count += 1;
        if !only_say {
            remove(submission.path())?;
        }
    }
    for entry in fs::read_dir(store.jobs()).map_err(FileError::io("read", store.jobs()))?.flatten() {
        if !entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        count += 1;
        let path = entry.path();
        if !only_say {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(FileError::io("remove", &path))?;
        }
    }
    Ok(count)
}

/// Submissions of which no job is left.
fn unused_submissions(store: &Store) -> Result<Vec<Submission>, FileError> {
    let attempts = Job::all(store.jobs())?.into_iter().flat_map(|job| job.attempts().unwrap_or_default());
    let used: HashSet<PathBuf> = attempts
        .filter_map(|attempt| attempt.ticket().ok()?)
        .map(|ticket| Submission::at(store.jobs(), &ticket.tag).path().to_owned())
        .collect();
    Ok(Submission::all(store.jobs()).into_iter().filter(|submission| !used.contains(submission.path())).collect())
}

/// Removes runs from the index that began longer ago, but never the last one of a program.
fn forget(store: &Store, lock: &Lock, age: Duration, only_say: bool) -> Result<usize, IndexError> {
    const OLD: &str = "SELECT id FROM run WHERE started < ?1 AND (model = '' OR id NOT IN (SELECT max(id) FROM run GROUP BY model))";
    let path = store.index_path();
    if !path.exists() {
        return Ok(0);
    }
    let failed = IndexError::sqlite(&path);
    let (mut connection, _) = index::open(store, lock)?;
    let oldest = i64::try_from(oldest(age)).unwrap_or(i64::MAX);
    let transaction = connection.transaction().map_err(&failed)?;
    let count = transaction.query_row(&format!("SELECT count(*) FROM ({OLD})"), params![oldest], |row| row.get::<_, u32>(0));
    for table in ["task", "line"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run IN ({OLD})"), params![oldest]).map_err(&failed)?;
    }
    transaction.execute(&format!("DELETE FROM run WHERE id IN ({OLD})"), params![oldest]).map_err(&failed)?;
    let count = count.map_err(&failed)? as usize;
    if only_say || count == 0 {
        return Ok(count);
    }
    transaction.commit().map_err(&failed)?;
    // it frees space; where there is none to do it in, the file keeps its size
    let _ = connection.execute_batch("VACUUM");
    Ok(count)
}
