//! The directory of a task and the numbering of its attempts.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::attempt::{self, Attempt, Description, FORMAT, INDEX, INPUTS, InputFile};
use super::digest::Digest;
use super::files::{self, FileError, Filling};
use super::holder::{Holder, Life};
use super::key::InputDigest;
use super::written::{self, Written};
use super::{Manifest, Outcome};
use crate::eval::Input;
use crate::model::Task;
use crate::value::Value;
use crate::value::codec::Encoded;

/// The directory of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    path: PathBuf,
    key: Digest,
}

/// What is kept of a task.
#[derive(Debug)]
pub struct Kept {
    /// The value, and the attempt that it is of.
    pub found: Option<(Attempt, Value)>,
    /// What is wrong with later attempts that succeeded, or may have.
    pub damaged: Vec<FileError>,
}

impl Job {
    /// Where a task of this key is, or would be.
    pub fn at(jobs: &Path, key: Digest) -> Self {
        Job { path: jobs.join(key.to_string()), key }
    }

    /// The directory of this task with its inputs in it, whose digests are given too. One that is there is taken, for equal keys have
    /// equal inputs; what is damaged in it is written again. Values that were written before are not written again.
    pub fn create(
        jobs: &Path,
        key: Digest,
        task: &Task,
        inputs: &[(Input, InputDigest)],
        written: &mut Written,
    ) -> Result<Self, FileError> {
        let job = Job::at(jobs, key);
        let directory = job.path.join(INPUTS);
        if job.path.is_dir() {
            if !is_intact(&directory, inputs.len()) {
                write_inputs(&directory, &task.inputs, inputs, &Written::default(), Place::InUse)?;
            }
            return Ok(job);
        }
        let prepared = files::beside(&job.path);
        let files = write_inputs(&prepared.join(INPUTS), &task.inputs, inputs, written, Place::Prepared);
        let made = files.and_then(|files| Ok((files::put_dir(&prepared, &job.path)?, files)));
        if !matches!(made, Ok((true, _))) {
            // Someone else was faster, or it failed and that fault is reported; what remains does no harm.
            let _ = fs::remove_dir_all(&prepared);
        }
        let (_, files) = made?;
        for (file, (_, digest)) in files.into_iter().zip(inputs) {
            if let InputFile::Value { file, sha256 } = file {
                written.note_input(*digest, written::File { path: directory.join(file), sha256 });
            }
        }
        Ok(job)
    }

    /// All that there are, in the order of their keys.
    pub fn all(jobs: &Path) -> Result<Vec<Self>, FileError> {
        let mut keys = Vec::new();
        for entry in fs::read_dir(jobs).map_err(FileError::io("read", jobs))? {
            let name = entry.map_err(FileError::io("read", jobs))?.file_name();
            keys.extend(name.to_str().and_then(|name| name.parse::<Digest>().ok()));
        }
        keys.sort_unstable();
        Ok(keys.into_iter().map(|key| Job::at(jobs, key)).collect())
    }

    /// The attempt of this number, whether or not there is one.
    pub fn attempt(&self, number: u32) -> Attempt {
        Attempt::new(&self.path, number)
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key of its task.
    pub fn key(&self) -> Digest {
        self.key
    }

    /// All attempts, the first one first.
    pub fn attempts(&self) -> Result<Vec<Attempt>, FileError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(FileError::io("read", &self.path)(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let entry = entry.map_err(FileError::io("read", &self.path))?;
            numbers.extend(attempt::number(&entry.file_name()));
        }
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|number| Attempt::new(&self.path, number)).collect())
    }

    /// The latest attempt that succeeded. A damaged manifest is no evidence of success and is passed over.
    pub fn success(&self) -> Result<Option<(Attempt, Manifest)>, FileError> {
        for attempt in self.attempts()?.into_iter().rev() {
            match attempt.manifest() {
                Ok(Some(manifest)) if matches!(manifest.outcome, Outcome::Success { .. }) => return Ok(Some((attempt, manifest))),
                Ok(_) | Err(FileError::Damaged { .. } | FileError::Format { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The value of the latest attempt whose result is there as it was written.
    pub fn kept(&self) -> Result<Kept, FileError> {
        let mut damaged = Vec::new();
        for attempt in self.attempts()?.into_iter().rev() {
            let value = match attempt.manifest() {
                Ok(Some(Manifest { outcome: Outcome::Success { result }, .. })) => attempt.result(&result),
                Ok(Some(Manifest { outcome: Outcome::Failure { .. }, .. }) | None) => continue,
                Err(error) => Err(error),
            };
            match value {
                Ok(value) => return Ok(Kept { found: Some((attempt, value)), damaged }),
                Err(error) => damaged.push(error),
            }
        }
        Ok(Kept { found: None, damaged })
    }

    /// Begins the next attempt: its directory with the task and the statement in it.
    pub fn begin(&self, description: &Description, statement: &str) -> Result<Attempt, FileError> {
        let last = self.attempts()?.last().map_or(0, Attempt::number);
        for number in last + 1.. {
            let attempt = Attempt::new(&self.path, number);
            if files::make_new_dir(attempt.path())? {
                attempt.describe(description, statement)?;
                return Ok(attempt);
            }
        }
        Err(FileError::Damaged { path: self.path.clone(), message: "there are too many attempts".to_owned() })
    }
}

impl Attempt {
    /// What can be said of the process that runs it, or ran it; nothing if none has begun to. Where the file that names it cannot be read,
    /// which is so after a disk was full, a process of this machine is known by its command line.
    pub fn life(&self) -> Option<Life> {
        match self.holder() {
            Ok(holder) => holder.map(|holder| holder.life()),
            Err(_) if runs_here(self) => Some(Life::Here),
            Err(_) => Some(Life::Over),
        }
    }
}

fn runs_here(attempt: &Attempt) -> bool {
    let Ok(path) = fs::canonicalize(attempt.path()) else { return false };
    let Some(jobs) = path.parent().and_then(Path::parent) else { return false };
    running(jobs).iter().any(|(other, _)| fs::canonicalize(other.path()).is_ok_and(|other| other == path))
}

/// The attempts in a directory of jobs that processes of this machine run, found by the command lines of all processes; without those that
/// a batch system runs here.
pub fn running(jobs: &Path) -> Vec<(Attempt, Holder)> {
    let Ok(jobs) = fs::canonicalize(jobs) else { return Vec::new() };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let command_lines =
        entries.filter_map(|entry| Some((process_number(&entry.file_name())?, fs::read(entry.path().join("cmdline")).ok()?)));
    let runs = |(pid, command_line): (u32, Vec<u8>)| {
        let attempt = command_line.split(|byte| *byte == 0).find_map(|word| attempt_in(&jobs, word))?;
        // what a job has started may be called with its directory too, and is no other job
        let holder = match attempt.holder() {
            Ok(holder) => holder.filter(|holder| holder.pid == pid)?,
            Err(_) => Holder::leader(pid)?,
        };
        let is_ours = matches!(attempt.ticket(), Ok(None));
        (holder.life() == Life::Here && is_ours).then_some((attempt, holder))
    };
    command_lines.filter_map(runs).collect()
}

fn process_number(name: &OsStr) -> Option<u32> {
    name.to_str()?.parse().ok()
}

/// The attempt whose directory a word is, in a directory of jobs that is spelled without links.
fn attempt_in(jobs: &Path, word: &[u8]) -> Option<Attempt> {
    let path = Path::new(OsStr::from_bytes(word));
    let attempt = Attempt::open(path).ok()?;
    let within = fs::canonicalize(path.parent()?.parent()?).ok()?;
    (within == jobs).then_some(attempt)
}

/// Words of a command as one would type them in a shell, for people to copy.
pub fn quote<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> Vec<u8> {
    let quoted: Vec<_> = words.into_iter().map(|word| quote_word(word.as_bytes())).collect();
    quoted.join(&b' ')
}

fn quote_word(word: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(byte);
    if !word.is_empty() && word.iter().all(plain) {
        return word.to_vec();
    }
    let mut quoted = vec![b'\''];
    for byte in word {
        if *byte == b'\'' { quoted.extend_from_slice(b"'\\''") } else { quoted.push(*byte) }
    }
    quoted.push(b'\'');
    quoted
}

/// Whether a directory is still to get the name under which others look into it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Prepared,
    InUse,
}

impl Place {
    fn write(self, path: &Path, content: &(impl Filling + ?Sized)) -> Result<(), FileError> {
        match self {
            Place::Prepared => files::fill(path, content),
            Place::InUse => files::write(path, content),
        }
    }
}

fn write_inputs(
    directory: &Path,
    names: &[Arc<str>],
    inputs: &[(Input, InputDigest)],
    written: &Written,
    place: Place,
) -> Result<Vec<InputFile>, FileError> {
    files::make_dir(directory)?;
    let names = names.iter().map(|name| &**name).chain(std::iter::repeat(""));
    let named = names.zip(inputs).enumerate();
    let list =
        named.map(|(index, (name, input))| write_input(directory, index, name, input, written, place)).collect::<Result<Vec<_>, _>>()?;
    let index = directory.join(INDEX);
    place.write(&index, &files::to_json(&index, FORMAT, &list)?)?;
    Ok(list)
}

/// Whether all inputs are there as they were written.
fn is_intact(directory: &Path, count: usize) -> bool {
    let intact = |input: &InputFile| match input {
        InputFile::Value { file, sha256 } => files::hold_checked(&directory.join(file), *sha256).is_ok(),
        InputFile::Failed => true,
    };
    attempt::read_index(directory).is_ok_and(|index| index.len() == count && index.iter().all(intact))
}

fn write_input(
    directory: &Path,
    index: usize,
    name: &str,
    (input, digest): &(Input, InputDigest),
    written: &Written,
    place: Place,
) -> Result<InputFile, FileError> {
    let Input::Value(value) = input else { return Ok(InputFile::Failed) };
    let file_name = |extension: &str| format!("{index:03}-{}.{extension}", file_name(name));
    if let Some(known) = written.input(*digest) {
        let file = file_name(known.path.extension().and_then(OsStr::to_str).unwrap_or_default());
        if written::link(&known.path, &directory.join(&file)) {
            return Ok(InputFile::Value { file, sha256: known.sha256 });
        }
    }
    let encoded = Encoded::of(value);
    let (file, sha256) = (file_name(encoded.suffix()), Digest(encoded.sha256()));
    let path = directory.join(&file);
    // a file is only linked to where there is none
    if !written.link_result(sha256, &path) {
        place.write(&path, &encoded)?;
    }
    Ok(InputFile::Value { file, sha256 })
}

/// A name without what has a meaning in paths or shells, and not too long for a file.
fn file_name(name: &str) -> String {
    let harmless = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    name.chars().take(40).map(harmless).collect()
}
