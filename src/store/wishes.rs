//! What a running driver is asked to end: one small file for each request, which the driver takes away when it has read it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{FORMAT, Store, Wishes};
use crate::job::{FileError, files};

/// Asks the driver of a store; gives the file of the request.
pub fn ask(store: &Store, wishes: &Wishes) -> Result<PathBuf, FileError> {
    let directory = directory(store.root());
    files::make_dir(&directory)?;
    // the name under which a file of this process would be prepared is unique already
    let name = files::beside(&directory.join("wish"));
    let path = directory.join(name.file_name().unwrap_or_default().to_string_lossy().trim_start_matches('.'));
    files::write(&path, &files::to_json(&path, FORMAT, wishes)?)?;
    Ok(path)
}

/// Whether a request has not been read.
pub fn is_pending(request: &Path) -> bool {
    request.exists()
}

/// Takes all requests away, and gives them together.
pub(super) fn take(root: &Path) -> Wishes {
    let mut all = Wishes::default();
    // no such directory: nobody ever asked
    for entry in fs::read_dir(directory(root)).into_iter().flatten().flatten() {
        let path = entry.path();
        // one that is just being written
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let wishes = files::read(&path).and_then(|bytes| files::from_json::<Wishes>(&path, &bytes, FORMAT, files::Writer::Any));
        let _ = fs::remove_file(&path);
        if let Ok(wishes) = wishes {
            all.all |= wishes.all;
            all.tasks.extend(wishes.tasks);
        }
    }
    all
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
        assert_eq!(take(store.root()), Wishes::default());
        let one = ask(&store, &Wishes { all: false, tasks: vec!["a".to_owned()] }).expect("writable");
        let two = ask(&store, &Wishes { all: true, tasks: Vec::new() }).expect("writable");
        assert!(is_pending(&one) && is_pending(&two) && one != two);
        assert_eq!(take(store.root()), Wishes { all: true, tasks: vec!["a".to_owned()] });
        assert!(!is_pending(&one) && !is_pending(&two));
        assert_eq!(take(store.root()), Wishes::default());
    }
}
