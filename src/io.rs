//! Values from and to files: in the schema of the reference implementation (JSON and YAML), and tables as CSV; each plain or
//! compressed.
//!
//! A file of the schema becomes a tree of plain data ([`node`]), and the tree a value; and back. So both formats share one schema (`decode`,
//! `encode`), and a fault in the schema reads the same in both. What the tree cannot say (order of a dict, kinds of numbers, NaN) is
//! kept; the correlation between uncertain numbers is not, because the schema has no place for it.
//!
//! A file is never overwritten. [`save`] writes under another name in the same directory and moves the whole file into place only if
//! the name is still free, so nobody ever sees half a file; a name that is taken by the same content counts as done, so that running
//! a program twice is no fault.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::diagnostic::{Fault, nearest};
use crate::eval::{Exporter, World};
use crate::model::LoadKind;
use crate::value::Value;

use format::Format;

mod decode;
mod encode;
mod fault;
mod format;
mod json;
mod node;
mod place;
mod separated;
mod yaml;

#[cfg(test)]
mod tests;

/// How much of a file is held at a time to make its digest, in bytes.
const PIECE: usize = 1 << 16;

/// The files of a model: relative paths start at `base`.
#[derive(Clone, Debug)]
pub struct Files {
    /// The directory where relative paths start.
    pub base: PathBuf,
}

/// What became of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The file is new.
    Written,
    /// The file was there and held the same content.
    AlreadyThere,
}

impl Files {
    /// As [`save`], the path starting at the base.
    pub fn save(&self, value: &Value, path: &str) -> Result<Saved, Fault> {
        save_as(value, &self.base.join(path), path)
    }
}

impl Exporter for Files {
    fn save(&self, value: &Value, path: &str) -> Result<(), Fault> {
        Files::save(self, value, path).map(|_| ())
    }
}

impl World for Files {
    fn load(&self, kind: LoadKind, path: &str) -> Result<Value, Fault> {
        load_as(kind, &self.base.join(path), path)
    }

    fn digest(&self, path: &str) -> Option<[u8; 32]> {
        let path = self.base.join(path);
        // as for reading: a pipe would give its content only once
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut hash = Sha256::new();
        let mut file = fs::File::open(&path).ok()?;
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece).ok()? {
                0 => return Some(hash.finalize().into()),
                count => hash.update(&piece[..count]),
            }
        }
    }
}

/// Reads a value of a kind.
///
/// Faults `E0601` to `E0614`: no such file, no file that can be read, not the format that the suffix says, not the schema, or another
/// type. `null` goes with every kind.
pub fn load(kind: LoadKind, path: &Path) -> Result<Value, Fault> {
    load_as(kind, path, &path.to_string_lossy())
}

/// Writes a value to a new file.
///
/// A file that is there and holds the same content is left alone and counts as done; any other is a fault, as is a directory that is
/// missing (`E0615` to `E0619`). Whatever fails, nothing is left behind.
pub fn save(value: &Value, path: &Path) -> Result<Saved, Fault> {
    save_as(value, path, &path.to_string_lossy())
}

/// `shown` is the path as the user wrote it.
fn load_as(kind: LoadKind, path: &Path, shown: &str) -> Result<Value, Fault> {
    if shown.is_empty() {
        return Err(fault::empty_name());
    }
    let format = Format::of(path).ok_or_else(|| fault::format_unsupported(path, shown))?;
    let bytes = read(path, shown)?;
    format.load(&bytes, kind).map_err(|flaw| fault::in_file(flaw, shown))
}

fn save_as(value: &Value, path: &Path, shown: &str) -> Result<Saved, Fault> {
    if shown.is_empty() {
        return Err(fault::empty_name());
    }
    let format = Format::of(path).ok_or_else(|| fault::format_unsupported(path, shown))?;
    let bytes = format.save(value)?;
    if fs::symlink_metadata(path).is_err() && place::new_file(path, shown, &bytes)? {
        return Ok(Saved::Written);
    }
    // Also when the file came into being while this one was written.
    match holds(path, format, &bytes) {
        true => Ok(Saved::AlreadyThere),
        false if path.is_file() => Err(fault::file_exists(shown)),
        false => Err(fault::not_a_file(shown)),
    }
}

/// Whether a file has this content: these bytes, or a value that is written as these bytes.
fn holds(path: &Path, format: Format, bytes: &[u8]) -> bool {
    let Ok(found) = read(path, "") else { return false };
    found == bytes || format.document(&found).and_then(|value| format.save(&value)).is_ok_and(|again| again == bytes)
}

fn read(path: &Path, shown: &str) -> Result<Vec<u8>, Fault> {
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(path, shown),
        _ => fault::unreadable(shown, &error),
    };
    // A pipe or a device could block for ever, so it is not even opened.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(fault::not_a_file(shown));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).map_err(unreadable)?;
    Ok(bytes)
}

/// There is no such file; perhaps one of nearly the same name.
fn missing(path: &Path, shown: &str) -> Fault {
    let directory = place::directory(path);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    fault::no_such_file(shown, nearest(&name, names.iter().map(String::as_str)), directory.is_dir())
}
