//! The store while a run uses it: its lock, its index, and what the user should know of either.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::diagnostic::{Diagnostic, Fault, Severity};
use crate::job::{Digest, FileError};
use crate::run::{Program, Summary};
use crate::source::Span;
use crate::store::{Access, IndexError, Lock, Owner, Recorder, Recording, RunInfo, RunState, Store};

/// The pause between two looks at a lock that another run holds.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The right to drive the jobs of a store, and the record of what they do.
pub(super) struct Driver {
    /// Where jobs are kept.
    pub store: Store,
    recording: Option<Recording>,
    nobody: (),
    warnings: Vec<Fault>,
    lock: Option<Lock>,
}

impl Driver {
    /// Waits until no other run uses the store in a directory; nothing when the user does not want to wait. A store that can only be
    /// read is used for what is in it, and what goes wrong with the index keeps nobody from running.
    pub fn enter(root: &Path, info: &RunInfo, interrupted: &AtomicBool, quiet: bool) -> Result<Option<Self>, Fault> {
        let store = Store::open(root).map_err(|error| unusable(&error))?;
        let mut driver = Driver { store, recording: None, nobody: (), warnings: Vec::new(), lock: None };
        let mut said = quiet;
        while !interrupted.load(Ordering::Relaxed) {
            match driver.store.lock().map_err(|error| unusable(&error))? {
                Access::Mine(lock) => {
                    driver.begin(lock, info)?;
                    return Ok(Some(driver));
                }
                Access::ReadOnly => {
                    driver.warnings.push(read_only(&driver.store));
                    return Ok(Some(driver));
                }
                Access::Unclear(owner) => return Err(unclear(&owner, &driver.store)),
                Access::Taken(owner) => {
                    if !std::mem::replace(&mut said, true) {
                        let who = owner.map_or_else(|| "another process".to_owned(), |owner| owner.to_string());
                        complain!("waiting for {who}, which uses the same store");
                    }
                    thread::sleep(LOCK_PAUSE);
                }
            }
        }
        Ok(None)
    }

    fn begin(&mut self, lock: Lock, info: &RunInfo) -> Result<(), Fault> {
        self.store.upgrade(&lock).map_err(|error| unusable(&error))?;
        match Recording::begin(&self.store, &lock, info) {
            Ok((recording, repaired)) => {
                self.recording = Some(recording);
                self.warnings.extend(repaired.map(self::repaired));
            }
            Err(error @ IndexError::Newer { .. }) => return Err(newer_index(&error)),
            Err(error) => self.warnings.push(unrecorded(&error)),
        }
        self.lock = Some(lock);
        Ok(())
    }

    /// Whether nothing can be written.
    pub fn is_read_only(&self) -> bool {
        self.lock.is_none()
    }

    /// Who is told of jobs.
    pub fn recorder(&mut self) -> &mut dyn Recorder {
        match &mut self.recording {
            Some(recording) => recording,
            None => &mut self.nobody,
        }
    }

    /// Ends the record, and gives the store to others; `place` is where the program asks for it.
    pub fn leave(mut self, summary: &mut Summary, place: Span) {
        let state = match (summary.interrupted, summary.failed) {
            (true, _) => RunState::Interrupted,
            (false, true) => RunState::Failed,
            (false, false) => RunState::Done,
        };
        let ended = self.recording.take().map_or(Ok(()), |recording| recording.end(state));
        self.warnings.extend(ended.err().map(|error| unrecorded(&error)));
        let warning = |fault: Fault| Diagnostic { severity: Severity::Warning, ..fault.at(place) };
        summary.diagnostics.extend(self.warnings.into_iter().map(warning));
    }
}

/// What a store remembers a run by.
pub(super) fn info(program: &Program, path: &Path) -> RunInfo {
    let texts: Vec<u8> = program.sources.files().flat_map(|(_, file)| file.text.bytes()).collect();
    RunInfo { model: model_name(path), digest: Digest::of(&texts), mode: "workflow", planned: crate::run::job_names(program) }
}

/// What the runs of a program are found by.
pub(super) fn model_name(path: &Path) -> String {
    match path.to_str() {
        Some("") => "<session>".to_owned(),
        Some("-") => "<stdin>".to_owned(),
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string(),
    }
}

/// The directory of the store of a program, or of a session.
pub(super) fn store_of(store: Option<&Path>, program: Option<&Path>) -> PathBuf {
    let beside = || program.and_then(Path::parent).unwrap_or(Path::new("")).join(".scl");
    store.map_or_else(beside, Path::to_owned)
}

/// A store cannot be opened, whatever for.
pub(super) fn unusable(error: &FileError) -> Fault {
    match error {
        FileError::Format { found, expected, path } if found > expected => {
            let message = format!("the store is of a newer version: {path:?} has format {found}, and this is scl with format {expected}");
            Fault::new("E0720", message).help("use the newer scl, or another directory with `--store`")
        }
        error => {
            let help = match error {
                FileError::Damaged { .. } => "remove this file: it is made anew, and what jobs have computed is not in it",
                _ => "choose a directory that can be written with `--store`",
            };
            Fault::new("E0703", format!("the store cannot be used: {error}")).help(help)
        }
    }
}

/// An index of a newer version: what this program would write into it could be wrong.
pub(super) fn newer_index(error: &IndexError) -> Fault {
    Fault::new("E0721", format!("the index of the store is of a newer version: {error}"))
        .help("use the newer scl, or remove the index: what jobs have computed is not in it")
}

/// What was wrong with the index and is not any more.
pub(super) fn repaired(text: String) -> Fault {
    Fault::new("W0721", text)
}

fn read_only(store: &Store) -> Fault {
    Fault::new("W0722", format!("the store {:?} can only be read: what is kept is used, and nothing new can be computed", store.root()))
        .help("choose a directory that can be written with `--store`")
}

fn unrecorded(error: &IndexError) -> Fault {
    Fault::new("W0723", format!("the index of runs could not be written: {error}"))
        .help("results are kept nevertheless; only `scl status`, `scl why` and `scl results` know less")
}

fn unclear(owner: &Owner, store: &Store) -> Fault {
    let lock = store.root().join("lock");
    Fault::new("E0722", format!("the store was last used by {owner}, and nothing here can tell whether that still runs"))
        .help(format!("if it does not, remove {lock:?}"))
}

/// Lines about the jobs of a run, for people; nothing when there were none.
pub(super) fn jobs(summary: &Summary) -> String {
    let Summary { jobs_done, jobs_failed, jobs_cancelled, jobs_kept, totals, .. } = summary;
    if jobs_done + jobs_failed + jobs_cancelled + jobs_kept == 0 {
        return String::new();
    }
    let cancelled = if *jobs_cancelled > 0 { format!(", {jobs_cancelled} cancelled") } else { String::new() };
    let used = if totals.is_empty() { String::new() } else { format!("{totals}\n") };
    format!("jobs: {jobs_done} done, {jobs_failed} failed, {jobs_kept} kept{cancelled}\n{used}")
}
