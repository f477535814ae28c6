//! The texts of programs: each is kept once for all jobs that stand in it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::files::{self, FileError};
use crate::source::SourceMap;

/// The directory of the texts, among those of the jobs, whose names are all digests.
const TEXTS: &str = "texts";

/// A text of a program, by its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// As shown in diagnostics.
    pub name: Arc<str>,
    /// Of its bytes.
    pub sha256: Digest,
}

/// Keeps all texts in a directory of jobs, those that are not there yet or are damaged.
pub fn keep(jobs: &Path, sources: &SourceMap) -> Result<Vec<Text>, FileError> {
    let directory = jobs.join(TEXTS);
    files::make_dir(&directory)?;
    let keep = |name: &Arc<str>, text: &str| {
        let sha256 = Digest::of(text.as_bytes());
        let path = place(jobs, sha256);
        if files::read_checked(&path, sha256).is_err() {
            files::write(&path, text.as_bytes())?;
        }
        Ok(Text { name: name.clone(), sha256 })
    };
    sources.files().map(|(_, file)| keep(&file.name, &file.text)).collect()
}

/// The texts, in their order. One that is missing or damaged is empty: diagnostics then do without its lines.
pub fn read(jobs: &Path, texts: &[Text]) -> SourceMap {
    let mut map = SourceMap::new();
    for text in texts {
        let bytes = files::read_checked(&place(jobs, text.sha256), text.sha256).unwrap_or_default();
        map.add(text.name.clone(), String::from_utf8(bytes).unwrap_or_default());
    }
    map
}

/// The files of texts that are none of these; none when there are no texts at all.
pub fn others(jobs: &Path, used: &HashSet<Digest>) -> Vec<PathBuf> {
    let entries = fs::read_dir(jobs.join(TEXTS)).into_iter().flatten().flatten();
    let is_used =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse().ok()).is_some_and(|digest| used.contains(&digest));
    entries.map(|entry| entry.path()).filter(|path| !is_used(path)).collect()
}

fn place(jobs: &Path, sha256: Digest) -> PathBuf {
    jobs.join(TEXTS).join(sha256.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once_and_mended() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut sources = SourceMap::new();
        let first = sources.add("m.scl", "a = 1\n");
        sources.add("other name.scl", "a = 1\n");
        let texts = keep(directory.path(), &sources).expect("writable");
        assert_eq!(texts.len(), 2);
        let path = place(directory.path(), texts[0].sha256);
        assert_eq!(fs::read_dir(directory.path().join(TEXTS)).expect("readable").count(), 1);
        fs::write(&path, "a = 2\n").expect("writable");
        let damaged = read(directory.path(), &texts);
        let names: Vec<_> = damaged.files().map(|(_, file)| (&*file.name, &*file.text)).collect();
        assert_eq!(names, [("m.scl", ""), ("other name.scl", "")]);
        keep(directory.path(), &sources).expect("writable");
        assert_eq!(read(directory.path(), &texts).get(first).map(|file| &*file.text), Some("a = 1\n"));
        assert_eq!(others(directory.path(), &HashSet::from([texts[0].sha256])), Vec::<PathBuf>::new());
        assert_eq!(others(directory.path(), &HashSet::new()), [path]);
    }
}
