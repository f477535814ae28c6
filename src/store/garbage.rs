//! What a store can do without.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::params;
use serde::Serialize;

use super::index::{self, IndexError};
use super::read::FORGETTABLE;
use super::{Lock, Records, Store};
use crate::job::{self, Digest, FileError, Job, Kept, Life, Submission, Timestamp, files};

/// What is to be removed. What nobody can use, such as files that a process which was killed left half written, always is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// What no run has used for longer than this.
    pub age: Option<Duration>,
    /// Of the others, those that were used the longest ago, until all jobs together take no more bytes than this.
    pub size: Option<u64>,
    /// What no run of its program has used since the last one that was done.
    pub unreachable: bool,
}

/// What was removed, and what is left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// Jobs that were removed.
    pub removed: usize,
    /// The bytes that this gave back: a file that others have too is none of them.
    pub removed_bytes: u64,
    /// Jobs that are left.
    pub left: usize,
    /// What they take on the disk, in bytes; a file that several of them have counts once.
    pub left_bytes: u64,
    /// Of these, jobs that are running, or may be on another machine, and would have been removed.
    pub in_use: usize,
    /// Runs that are forgotten.
    pub runs: usize,
    /// Files and directories that nobody could use.
    pub leftovers: usize,
    /// What was wrong with the index and is not any more.
    #[serde(skip)]
    pub repaired: Option<String>,
}

struct Candidate {
    job: Job,
    files: Vec<File>,
    /// In milliseconds since 1970.
    used: u64,
}

/// A name of a file or directory.
#[derive(Clone, Copy)]
struct File {
    /// By what the system knows it, whatever it is called: device and number.
    node: (u64, u64),
    /// What it takes on the disk.
    bytes: u64,
}

/// Removes what is over the limits, or only says what that is. The lock keeps runs out.
pub fn sweep(store: &Store, lock: &Lock, limits: Limits, only_say: bool) -> Result<Swept, IndexError> {
    let records = Records::open(store)?.0;
    let superseded: HashSet<PathBuf> = Job::all(store.jobs())?.iter().flat_map(superseded).collect();
    let candidates = candidates(store, &records, &superseded)?;
    let mut sweep = Sweep { space: Space::of(&candidates), swept: Swept::default(), only_say };
    if !only_say {
        superseded.iter().try_for_each(|path| remove(path))?;
    }
    let (condemned, mut others) = divide(candidates, limits, &records)?;
    condemned.iter().try_for_each(|candidate| sweep.remove(candidate))?;
    others.sort_by_key(|candidate| candidate.used);
    for candidate in &others {
        match limits.size {
            Some(most) if sweep.space.bytes > most => sweep.remove(candidate)?,
            Some(_) | None => sweep.swept.left += 1,
        }
    }
    let Sweep { space, mut swept, .. } = sweep;
    swept.left_bytes = space.bytes;
    swept.leftovers = superseded.len() + leftovers(store, &superseded, only_say)?;
    match limits.age {
        None => {}
        // to say it, nothing is written, and so nothing is repaired
        Some(age) if only_say => swept.runs = records.forgettable(i64::try_from(oldest(age)).unwrap_or(i64::MAX))?,
        Some(age) => (swept.runs, swept.repaired) = forget(store, lock, &records, age)?,
    }
    Ok(swept)
}

/// What was removed so far, and what is still there.
struct Sweep {
    space: Space,
    swept: Swept,
    only_say: bool,
}

impl Sweep {
    /// Removes a job, unless something runs that needs it.
    fn remove(&mut self, candidate: &Candidate) -> Result<(), FileError> {
        if is_in_use(&candidate.job) {
            self.swept.in_use += 1;
            self.swept.left += 1;
            return Ok(());
        }
        if !self.only_say {
            remove(candidate.job.path())?;
        }
        self.swept.removed += 1;
        self.swept.removed_bytes += self.space.free(&candidate.files);
        Ok(())
    }
}

/// The files that are there. One that has several names takes its bytes once, until the last name is gone.
#[derive(Default)]
struct Space {
    names: HashMap<(u64, u64), usize>,
    bytes: u64,
}

impl Space {
    fn of(candidates: &[Candidate]) -> Self {
        let mut space = Space::default();
        for file in candidates.iter().flat_map(|candidate| &candidate.files) {
            let names = space.names.entry(file.node).or_default();
            *names += 1;
            if *names == 1 {
                space.bytes += file.bytes;
            }
        }
        space
    }

    /// Forgets names, and gives the bytes that are free then.
    fn free(&mut self, files: &[File]) -> u64 {
        let mut freed = 0;
        for file in files {
            let names = self.names.entry(file.node).or_insert(1);
            *names -= 1;
            if *names == 0 {
                self.names.remove(&file.node);
                freed += file.bytes;
            }
        }
        self.bytes -= freed;
        freed
    }
}

fn candidates(store: &Store, records: &Records, without: &HashSet<PathBuf>) -> Result<Vec<Candidate>, IndexError> {
    let uses: HashMap<Digest, u64> = records.last_uses()?.into_iter().collect();
    let candidate = |job: Job| {
        let (files, written) = measure(job.path(), without);
        let used = uses.get(&job.key()).copied().unwrap_or(0).max(written);
        Candidate { job, files, used }
    };
    Ok(Job::all(store.jobs())?.into_iter().map(candidate).collect())
}

/// What goes because of its age, or because nothing reaches it, and what stays.
fn divide(candidates: Vec<Candidate>, limits: Limits, records: &Records) -> Result<(Vec<Candidate>, Vec<Candidate>), IndexError> {
    let reachable: Option<HashSet<Digest>> = if limits.unreachable { Some(records.reachable()?.into_iter().collect()) } else { None };
    let oldest = limits.age.map(oldest);
    let goes = |candidate: &Candidate| {
        oldest.is_some_and(|oldest| candidate.used < oldest) || reachable.as_ref().is_some_and(|keys| !keys.contains(&candidate.job.key()))
    };
    Ok(candidates.into_iter().partition(goes))
}

/// The time before which something is too old, in milliseconds since 1970.
fn oldest(age: Duration) -> u64 {
    Timestamp::now().0.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
}

/// Whether a process may still write to it, or a batch system may begin one that does.
fn is_in_use(job: &Job) -> bool {
    job.attempts().unwrap_or_default().iter().any(|attempt| {
        let over = attempt.manifest().is_ok_and(|manifest| manifest.is_some());
        attempt.is_submitted() || !over && attempt.life().is_some_and(|life| life != Life::Over)
    })
}

/// The attempts of a job that nothing needs: neither the last one, nor the one whose result is kept. Of a job that runs there are none,
/// nor of one whose only results are damaged, for those may be mended.
fn superseded(job: &Job) -> Vec<PathBuf> {
    let mut attempts = job.attempts().unwrap_or_default();
    if attempts.pop().is_none() || attempts.is_empty() || is_in_use(job) {
        return Vec::new();
    }
    match job.kept() {
        Ok(Kept { found, damaged }) if found.is_some() || damaged.is_empty() => {
            attempts.retain(|attempt| found.as_ref().is_none_or(|(kept, _)| kept != attempt));
            attempts.into_iter().map(|attempt| attempt.path().to_owned()).collect()
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// All names in a directory, its own one included, and when the last file was written; `without` some.
fn measure(path: &Path, without: &HashSet<PathBuf>) -> (Vec<File>, u64) {
    let Ok(file) = fs::symlink_metadata(path) else { return (Vec::new(), 0) };
    if without.contains(path) {
        return (Vec::new(), 0);
    }
    // a block of this count has this size whatever the filesystem
    let mut files = vec![File { node: (file.dev(), file.ino()), bytes: file.blocks() * 512 }];
    let mut last = file.modified().map_or(0, |time| Timestamp::of(time).0);
    if file.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let (more, written) = measure(&entry.path(), without);
            files.extend(more);
            last = last.max(written);
        }
    }
    (files, last)
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
fn leftovers(store: &Store, without: &HashSet<PathBuf>, only_say: bool) -> Result<usize, FileError> {
    let mut count = 0;
    let outlines = Job::all(store.jobs())?.into_iter().flat_map(|job| job.attempts().unwrap_or_default());
    let used: HashSet<Digest> = outlines.filter_map(|attempt| attempt.outline().ok()).flat_map(|outline| outline.texts).collect();
    for path in job::texts::others(store.jobs(), &used) {
        count += 1;
        if !only_say {
            fs::remove_file(&path).map_err(FileError::io("remove", &path))?;
        }
    }
    for path in half_written(store, without)? {
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

/// What processes that were killed did not write to the end, in the store itself and in what no process writes to any more.
fn half_written(store: &Store, without: &HashSet<PathBuf>) -> Result<Vec<PathBuf>, FileError> {
    let mut directories = vec![store.root().to_owned(), store.root().join("wishes")];
    for job in Job::all(store.jobs())?.iter().filter(|job| !is_in_use(job)) {
        directories.extend(
            fs::read_dir(job.path())
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.is_dir() && !without.contains(path)),
        );
        directories.push(job.path().to_owned());
    }
    let entries = directories.iter().flat_map(|path| fs::read_dir(path).into_iter().flatten().flatten());
    let is_left = |entry: &DirEntry| files::is_beside(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file());
    Ok(entries.filter(is_left).map(|entry| entry.path()).collect())
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

/// Removes runs from the index that began longer ago, but never the last one of a program, nor the last one that was done; the text says
/// what was wrong with the index and is not any more.
fn forget(store: &Store, lock: &Lock, records: &Records, age: Duration) -> Result<(usize, Option<String>), IndexError> {
    let path = store.index_path();
    let oldest = i64::try_from(oldest(age)).unwrap_or(i64::MAX);
    let count = if path.exists() { records.forgettable(oldest)? } else { 0 };
    if count == 0 {
        return Ok((0, None));
    }
    let failed = IndexError::sqlite(&path);
    let (mut connection, repaired) = index::open(store, lock)?;
    let transaction = connection.transaction().map_err(&failed)?;
    for table in ["task", "line"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE run IN ({FORGETTABLE})"), params![oldest]).map_err(&failed)?;
    }
    transaction.execute(&format!("DELETE FROM run WHERE id IN ({FORGETTABLE})"), params![oldest]).map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    // it frees space; where there is none to do it in, the file keeps its size
    let _ = connection.execute_batch("VACUUM");
    Ok((count, repaired))
}
