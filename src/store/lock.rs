//! The lock of a store: one driver at a time, known by name to those who wait for it.
//!
//! The system's lock on an open file is the evidence: it is gone when its process is, however that ended. Where a filesystem knows
//! no such locks, the file says whose it was, and a process of this machine can be seen to live; one of another machine cannot, and
//! then only a person can tell.

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::FORMAT;
use crate::job::{FileError, Holder, Life, Timestamp, files};

/// The right to be the only run that uses a store, until it is dropped or its process is over, however that ended.
#[derive(Debug)]
pub struct Lock(File);

/// Who has a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The process.
    pub holder: Holder,
    /// Since when.
    pub since: Timestamp,
}

/// What came of asking for a lock.
#[derive(Debug)]
pub enum Access {
    /// It is taken.
    Mine(Lock),
    /// Someone else has it, who may not have said who it is.
    Taken(Option<Owner>),
    /// A process of another machine had it, the filesystem knows no locks, and nobody here can see whether that process lives.
    Unclear(Owner),
    /// The store can be read only.
    ReadOnly,
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process {} on {}", self.holder.pid, self.holder.host)
    }
}

/// Asks for the lock of a file; a stale one is taken over.
pub(super) fn take(path: &Path) -> Result<Access, FileError> {
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = match open {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => return Ok(Access::ReadOnly),
        Err(error) => return Err(FileError::io("open", path)(error)),
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(Access::Taken(owner(path))),
        Ok(()) => {}
        // no locks: the word of the file counts
        Err(TryLockError::Error(_)) => match owner(path) {
            Some(owner) if owner.holder.life() == Life::Here => return Ok(Access::Taken(Some(owner))),
            Some(owner) if owner.holder.life() == Life::Elsewhere => return Ok(Access::Unclear(owner)),
            Some(_) | None => {}
        },
    }
    sign(file, path).map(Access::Mine)
}

/// Who has the lock, as far as its file says; nothing when nobody has it.
pub(super) fn owner(path: &Path) -> Option<Owner> {
    let bytes = files::read_if_there(path).ok()??;
    files::from_json::<Owner>(path, &bytes, FORMAT, files::Writer::Any).ok()
}

/// Writes in place: another file would not be locked. It is short, so that it is there as a whole for those who read.
fn sign(mut file: File, path: &Path) -> Result<Lock, FileError> {
    let owner = Owner { holder: Holder::this_process(Vec::new()), since: Timestamp::now() };
    let text = files::to_json(path, FORMAT, &owner)?;
    // a full disk keeps nobody from using what is kept: the lock holds without a name
    let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&text));
    Ok(Lock(file))
}

impl Drop for Lock {
    fn drop(&mut self) {
        // who had it no longer matters; if this fails, the lock is free all the same
        let _ = self.0.set_len(0);
    }
}
