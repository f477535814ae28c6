//! What a running driver is asked to end: one small file for each request, which the driver takes away when it has read it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{FORMAT, Store, Wishes};
use crate::job::{FileError, files};

/// What is in such a file. The run is named, for the driver that reads it may be another one than was meant.
#[derive(Serialize, Deserialize)]
struct Request {
    #[serde(default)]
    run: i64,
    #[serde(flatten)]
    wishes: Wishes,
}

/// Asks the driver of a run; gives the file of the request.
pub fn ask(store: &Store, run: i64, wishes: Wishes) -> Result<PathBuf, FileError> {
    let directory = directory(store.root());
    files::make_dir(&directory)?;
    // the name under which a file of this process would be prepared is unique already
    let name = files::beside(&directory.join("wish"));
    let path = directory.join(name.file_name().unwrap_or_default().to_string_lossy().trim_start_matches('.'));
    files::write(&path, &files::to_json(&path, FORMAT, &Request { run, wishes })?)?;
    Ok(path)
}

/// Whether a request has not been read.
pub fn is_pending(request: &Path) -> bool {
    request.exists()
}

/// Takes all requests away, and gives those to a run together.
pub(super) fn take(root: &Path, run: i64) -> Wishes {
    let mut all = Wishes::default();
    for request in requests(root).into_iter().filter(|request| request.run == run) {
        all.all |= request.wishes.all;
        all.tasks.extend(request.wishes.tasks);
    }
    all
}

/// Takes all requests away: they were meant for drivers that are gone.
pub(super) fn clear(root: &Path) {
    requests(root);
}

fn requests(root: &Path) -> Vec<Request> {
    let mut requests = Vec::new();
    // no such directory: nobody ever asked
    for entry in fs::read_dir(directory(root)).into_iter().flatten().flatten() {
        let path = entry.path();
        // one that is just being written
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let request = files::read(&path).and_then(|bytes| files::from_json::<Request>(&path, &bytes, FORMAT, files::Writer::Any));
        let _ = fs::remove_file(&path);
        requests.extend(request);
    }
    requests
}

fn directory(root: &Path) -> PathBuf {
    root.join("wishes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_taken_once() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(directory.path()).expect("writable");
        assert_eq!(take(store.root(), 3), Wishes::default());
        let one = ask(&store, 3, Wishes { all: false, tasks: vec!["a".to_owned()] }).expect("writable");
        let two = ask(&store, 3, Wishes { all: true, tasks: Vec::new() }).expect("writable");
        assert!(is_pending(&one) && is_pending(&two) && one != two);
        assert_eq!(take(store.root(), 3), Wishes { all: true, tasks: vec!["a".to_owned()] });
        assert!(!is_pending(&one) && !is_pending(&two));
        assert_eq!(take(store.root(), 3), Wishes::default());
    }

    #[test]
    fn a_request_to_another_run_ends_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(directory.path()).expect("writable");
        let request = ask(&store, 3, Wishes { all: true, tasks: Vec::new() }).expect("writable");
        assert_eq!(take(store.root(), 4), Wishes::default());
        assert!(!is_pending(&request), "nobody else will read it");
    }
}
