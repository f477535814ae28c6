//! The store: what survives a run, in one directory (`.scl` beside the model).
//!
//! ```text
//! .scl/
//!     .gitignore      so that no version control takes it in
//!     store.json      the version of this layout
//!     lock            held by the run that uses the store, and whose it is, for those who wait for it
//!     jobs/<key>/     one directory for each batch task, see [`job`](crate::job)
//!     index.sqlite    runs, and what became of their tasks ([`Records`])
//!     wishes/         what a running driver is asked to end
//! ```
//!
//! The directory is the truth: a result is found under the key of what it is the result of, and a store can be copied, and parts
//! of it removed, with the tools of the system. The index holds what a directory does not tell; it is made anew when it is damaged.
//! Only the driver, which has the lock, writes it; others read it at the same time.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::job::{FileError, Life, files};

pub use garbage::{Limits, Swept, sweep};
pub use index::IndexError;
pub use lock::{Access, Lock, Owner};
pub use read::{Found, Records, Run, Task};
pub use record::{End, Entry, Event, Recorder, State, Wishes};
pub use recording::{Recording, RunInfo};
pub use standing::{RunState, TaskState};
pub use wishes::{ask, is_pending};

mod garbage;
mod index;
mod lock;
mod read;
mod rebuild;
mod record;
mod recording;
mod standing;
mod wishes;

/// The version of the layout. Version 1 had no index, and each attempt had copies of the program's texts.
const FORMAT: u32 = 2;

/// An open store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
    jobs: PathBuf,
}

/// What the file of the version says, besides the version.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    purpose: String,
}

impl Store {
    /// Opens the store in a directory, which is made if it is missing. One of a newer layout is refused ([`FileError::Format`]);
    /// one of an older layout can be read, and is brought up to date by [`Store::upgrade`].
    pub fn open(root: &Path) -> Result<Self, FileError> {
        let store = Store::at(root)?;
        files::make_dir(&store.jobs)?;
        if store.format()?.is_none() {
            files::write(&store.root.join(".gitignore"), b"*\n")?;
            store.mark()?;
        }
        Ok(store)
    }

    /// Opens a store that is there; nothing if there is none.
    pub fn find(root: &Path) -> Result<Option<Self>, FileError> {
        let store = Store::at(root)?;
        Ok(store.format()?.is_some().then_some(store))
    }

    fn at(root: &Path) -> Result<Self, FileError> {
        let root = std::path::absolute(root).map_err(FileError::io("find", root))?;
        Ok(Store { jobs: root.join("jobs"), root })
    }

    /// The directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of all jobs.
    pub fn jobs(&self) -> &Path {
        &self.jobs
    }

    /// Asks for the store for one run. Two runs at once would give the same cores away twice.
    pub fn lock(&self) -> Result<Access, FileError> {
        lock::take(&self.lock_path())
    }

    /// Who has the store, as far as its lock says; nothing when nobody has it, also when its last user was killed and could not say
    /// that it left.
    pub fn owner(&self) -> Option<Owner> {
        lock::owner(&self.lock_path()).filter(|owner| owner.holder.life() != Life::Over)
    }

    /// Brings a store of an older layout up to date. Its results stay where they are; what is broken off is begun anew.
    pub fn upgrade(&self, _: &Lock) -> Result<(), FileError> {
        match self.format()? {
            Some(format) if format < FORMAT => self.mark(),
            Some(_) | None => Ok(()),
        }
    }

    /// The version of its layout; nothing if it is not there.
    fn format(&self) -> Result<Option<u32>, FileError> {
        let path = self.mark_path();
        // a machine that lost its power may leave the name without the bytes
        let Some(bytes) = files::read_if_there(&path)?.filter(|bytes| !bytes.is_empty()) else { return Ok(None) };
        files::from_json_up_to::<Mark>(&path, &bytes, FORMAT).map(|(format, _)| Some(format))
    }

    fn mark(&self) -> Result<(), FileError> {
        let (path, purpose) = (self.mark_path(), "results of scl, by what they are results of".to_owned());
        files::write_durably(&path, &files::to_json(&path, FORMAT, &Mark { purpose })?)
    }

    fn mark_path(&self) -> PathBuf {
        self.root.join("store.json")
    }

    fn lock_path(&self) -> PathBuf {
        self.root.join("lock")
    }

    fn index_path(&self) -> PathBuf {
        self.root.join("index.sqlite")
    }
}

#[cfg(test)]
mod tests;
