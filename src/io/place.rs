//! New files that are there as a whole or not at all, and that never take the place of another.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::fault;
use crate::diagnostic::Fault;

/// Names to try before giving up, when others of the kind were left by processes that were killed.
const ATTEMPTS: u64 = 1000;

/// Makes a file of these bytes; false when the name was taken.
pub fn new_file(path: &Path, shown: &str, bytes: &[u8]) -> Result<bool, Fault> {
    let directory = directory(path);
    if !directory.is_dir() {
        return Err(fault::no_directory(shown, directory));
    }
    create(path, directory, bytes).map_err(|error| fault::unwritable(shown, &error))
}

/// The directory in which a file is.
pub fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn create(path: &Path, directory: &Path, bytes: &[u8]) -> Result<bool, Error> {
    let (mut file, draft) = draft(directory)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    let created = publish(&draft.0, path)?;
    if created {
        // Without this a crash of the machine could still undo the name.
        File::open(directory)?.sync_all()?;
    }
    Ok(created)
}

/// Gives a finished file its name, unless the name is taken.
fn publish(draft: &Path, path: &Path) -> Result<bool, Error> {
    match fs::hard_link(draft, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        // A file system without hard links.
        Err(_) => reserve_and_rename(draft, path),
    }
}

/// Takes the name with an empty file first, which only one can, and then replaces this own file.
fn reserve_and_rename(draft: &Path, path: &Path) -> Result<bool, Error> {
    match File::create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        created => created?,
    };
    fs::rename(draft, path).inspect_err(|_| {
        // The reason why renaming failed says more than the reason why removing failed.
        let _ = fs::remove_file(path);
    })?;
    Ok(true)
}

/// A file under a name of no meaning, which goes when the guard goes.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // It is not there any more if it was renamed.
        let _ = fs::remove_file(&self.0);
    }
}

fn draft(directory: &Path) -> Result<(File, Draft), Error> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut taken = Error::from(ErrorKind::AlreadyExists);
    for _ in 0..ATTEMPTS {
        let name = format!(".scl-export-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = directory.join(name);
        match File::create_new(&path) {
            Ok(file) => return Ok((file, Draft(path))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_hard_links_the_name_is_reserved() {
        let directory = tempfile::tempdir().unwrap();
        let (draft, path) = (directory.path().join("draft"), directory.path().join("file"));
        fs::write(&draft, "new").unwrap();
        assert!(reserve_and_rename(&draft, &path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::write(&draft, "newer").unwrap();
        assert!(!reserve_and_rename(&draft, &path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_rename_that_fails_frees_the_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        assert!(reserve_and_rename(&directory.path().join("nothing"), &path).is_err());
        assert!(!path.exists());
    }
}
