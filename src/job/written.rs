//! Values that are on the disk already, so that a value which many jobs read, or that one job leaves and another one reads, is not
//! written for each of them.
//!
//! Files of jobs are never changed, so one file may have several names (hard links). Where a filesystem has no links, or not as many,
//! the value is written once more.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::digest::Digest;
use super::key::InputDigest;

/// The files of values of this run.
#[derive(Debug, Default)]
pub struct Written {
    /// Inputs, by the digests of their values.
    inputs: HashMap<InputDigest, File>,
    /// Results, by the digests of their bytes.
    results: HashMap<Digest, PathBuf>,
}

/// A file with a value.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    /// Of its bytes.
    pub(super) sha256: Digest,
}

impl Written {
    /// Notes the file of a result.
    pub fn note_result(&mut self, sha256: Digest, path: PathBuf) {
        self.results.insert(sha256, path);
    }

    pub(super) fn note_input(&mut self, digest: InputDigest, file: File) {
        self.inputs.insert(digest, file);
    }

    pub(super) fn input(&self, digest: InputDigest) -> Option<&File> {
        self.inputs.get(&digest)
    }

    /// Gives the file of a result with these bytes another name; whether it did.
    pub(super) fn link_result(&self, sha256: Digest, path: &Path) -> bool {
        self.results.get(&sha256).is_some_and(|result| link(result, path))
    }
}

/// Gives a file another name; whether it did.
pub(super) fn link(file: &Path, path: &Path) -> bool {
    fs::hard_link(file, path).is_ok()
}
