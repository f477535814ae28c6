//! The store: what survives a run, in one directory (`.scl` beside the model).
//!
//! ```text
//! .scl/
//!     .gitignore      so that no version control takes it in
//!     store.json      the version of this layout
//!     lock            held by the run that uses the store, and whose it is, for those who wait for it
//!     jobs/<key>/     one directory for each batch task, see [`job`](crate::job)
//! ```
//!
//! The directory is the truth: a result is found under the key of what it is the result of, and a store can be copied, and parts
//! of it removed, with the tools of the system.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::job::{FileError, files, host};

/// The version of the layout.
const FORMAT: u32 = 1;

/// An open store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
    jobs: PathBuf,
}

/// The right to be the only run that uses a store, until it is dropped or its process is over, however that ended.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "an open file is a held lock")] File);

/// What the file of the version says, besides the version.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    purpose: String,
}

impl Store {
    /// Opens the store in a directory, which is made if it is missing, and refuses one of another layout.
    pub fn open(root: &Path) -> Result<Self, FileError> {
        let root = std::path::absolute(root).map_err(FileError::io("find", root))?;
        let jobs = root.join("jobs");
        files::make_dir(&jobs)?;
        let mark = root.join("store.json");
        match files::read_if_there(&mark)? {
            Some(bytes) => {
                files::from_json::<Mark>(&mark, &bytes, FORMAT, files::Writer::Any)?;
            }
            None => {
                files::write(&root.join(".gitignore"), b"*\n")?;
                let purpose = "results of scl, by what they are results of".to_owned();
                files::write(&mark, &files::to_json(&mark, FORMAT, &Mark { purpose })?)?;
            }
        }
        Ok(Store { root, jobs })
    }

    /// The directory of all jobs.
    pub fn jobs(&self) -> &Path {
        &self.jobs
    }

    /// Takes the store for one run, or says who has it. Two runs at once would give the same cores away twice; where the filesystem
    /// knows no locks they can, and do no other harm: attempts have directories of their own, and files appear as a whole.
    pub fn lock(&self) -> Result<Result<Lock, String>, FileError> {
        let path = self.root.join("lock");
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = open.map_err(FileError::io("open", &path))?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            let mut owner = String::new();
            // who it is serves only the message
            let _ = file.read_to_string(&mut owner);
            return Ok(Err(owner.trim().to_owned()));
        }
        let owner = format!("process {} on {}\n", std::process::id(), host());
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(owner.as_bytes()));
        Ok(Ok(Lock(file)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_store_is_made_once_and_opened_again() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("a model's/.scl");
        let store = Store::open(&root).expect("writable");
        assert_eq!(fs::read_to_string(root.join(".gitignore")).expect("text"), "*\n");
        assert_eq!(fs::metadata(&root).expect("there").permissions().mode() & 0o777, 0o700);
        fs::write(root.join(".gitignore"), "# mine\n").expect("writable");
        assert_eq!(Store::open(&root).expect("readable"), store);
        assert_eq!(fs::read_to_string(root.join(".gitignore")).expect("text"), "# mine\n", "what is there is left alone");
        assert!(store.jobs().starts_with(&root));
    }

    #[test]
    fn one_run_at_a_time() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(directory.path()).expect("writable");
        let lock = store.lock().expect("writable").expect("nobody has it");
        let owner = store.lock().expect("writable").expect_err("it is taken");
        assert_eq!(owner, format!("process {} on {}", std::process::id(), host()));
        drop(lock);
        assert!(store.lock().expect("writable").is_ok());
    }

    #[test]
    fn another_layout_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Store::open(directory.path()).expect("writable");
        let mark = directory.path().join("store.json");
        let text = fs::read_to_string(&mark).expect("text");
        fs::write(&mark, text.replace("\"format\": 1", "\"format\": 2")).expect("writable");
        assert!(matches!(Store::open(directory.path()), Err(FileError::Format { found: 2, expected: 1, .. })));
        fs::write(&mark, &text[..text.len() / 2]).expect("writable");
        assert!(matches!(Store::open(directory.path()), Err(FileError::Damaged { .. })));
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let error = Store::open(Path::new("/proc/no store")).expect_err("not writable").to_string();
        assert!(error.contains("/proc/no store"), "{error}");
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("file");
        fs::write(&file, "").expect("writable");
        let error = Store::open(&file).expect_err("a file is no store").to_string();
        assert!(error.contains("file"), "{error}");
    }
}
