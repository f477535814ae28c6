//! One attempt at a task: what it is given, and what it leaves behind.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::files::{self, FileError, Writer};
use super::holder::Holder;
use super::texts::{self, Text};
use super::{FileDigest, Manifest, ResultFile, Timestamp};
use crate::eval::Input;
use crate::model::Task;
use crate::resources::Request;
use crate::source::SourceMap;
use crate::value::Value;
use crate::value::codec::{self, Encoded};

/// The version of the layout and of every JSON file in it but the description.
pub(super) const FORMAT: u32 = 1;

/// The version of the description; the first one held the texts of the program.
const DESCRIPTION_FORMAT: u32 = 2;

/// The directory of the inputs, beside the attempts.
pub(super) const INPUTS: &str = "inputs";

/// The list of the inputs.
pub(super) const INDEX: &str = "index.json";

/// What an attempt's directory is called, before its number.
const ATTEMPT: &str = "attempt-";

/// What a process is given to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Description {
    /// Of the task.
    pub key: Digest,
    /// What to evaluate.
    pub task: Task,
    /// What to keep to.
    pub request: Request,
    /// The files that it reads, with the content that the key was made of.
    #[serde(default)]
    pub files: Vec<FileDigest>,
    /// The texts that spans point into, in the order of their ids.
    pub sources: Vec<Text>,
}

/// How a result is kept. A process that dies loses nothing either way; this is about a machine that loses its power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Forced to the disk before it counts.
    Durable,
    /// Left to the system, which may lose it, or leave it damaged, which its readers find out: for what is computed again in less time
    /// than forcing it takes.
    Cheap,
}

/// What people want to know of a description, of whatever version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Of the task.
    pub name: Arc<str>,
    /// What it asked for.
    pub request: Request,
    /// The texts that it stands in and that are kept for it.
    pub texts: Vec<Digest>,
}

/// As [`Description`], with what is needed of it.
#[derive(Deserialize)]
struct Sketch {
    task: Named,
    request: Request,
    sources: Vec<Reference>,
}

#[derive(Deserialize)]
struct Reference {
    sha256: Option<Digest>,
}

#[derive(Deserialize)]
struct Named {
    name: Arc<str>,
}

/// An input in the list of inputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum InputFile {
    /// A value in a file.
    Value {
        /// Its name in the directory of the inputs.
        file: String,
        /// Of its bytes.
        sha256: Digest,
    },
    /// It has no value.
    Failed,
}

/// The directory of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    path: PathBuf,
    number: u32,
}

impl Attempt {
    pub(super) fn new(job: &Path, number: u32) -> Self {
        Attempt { path: job.join(format!("{ATTEMPT}{number}")), number }
    }

    /// The attempt whose directory this is.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        match path.file_name().and_then(number) {
            Some(number) => Ok(Attempt { path: path.to_owned(), number }),
            None => Err(FileError::damaged(path, "it is not the directory of an attempt")),
        }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key of its task, in whose directory it is.
    pub fn key(&self) -> Option<Digest> {
        self.path.parent()?.file_name()?.to_str()?.parse().ok()
    }

    /// From 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Where the process's output goes.
    pub fn stdout(&self) -> PathBuf {
        self.path.join("stdout")
    }

    /// Where the process's complaints go.
    pub fn stderr(&self) -> PathBuf {
        self.path.join("stderr")
    }

    /// A new file for one of the process's streams, after what an earlier one may have written.
    pub fn stream(path: &Path) -> Result<File, FileError> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(FileError::io("write", path))
    }

    pub(super) fn describe(&self, description: &Description, statement: &str) -> Result<(), FileError> {
        files::fill(&self.path.join("task.txt"), format!("{}\n", statement.trim_end()).as_bytes())?;
        let path = self.task_path();
        files::write(&path, &files::to_json(&path, DESCRIPTION_FORMAT, description)?)
    }

    /// What to run; only what this version of the program wrote is taken.
    pub fn description(&self) -> Result<Description, FileError> {
        let path = self.task_path();
        files::from_json(&path, &files::read(&path)?, DESCRIPTION_FORMAT, Writer::ThisVersion)
    }

    /// What was to be run, whichever version of the program wrote it.
    pub fn outline(&self) -> Result<Outline, FileError> {
        let path = self.task_path();
        let (_, sketch) = files::from_json_up_to::<Sketch>(&path, &files::read(&path)?, DESCRIPTION_FORMAT)?;
        let texts = sketch.sources.into_iter().filter_map(|reference| reference.sha256).collect();
        Ok(Outline { name: sketch.task.name, request: sketch.request, texts })
    }

    /// When it was described, by a driver that was about to have it run.
    pub fn described(&self) -> Result<Option<Timestamp>, FileError> {
        files::written(&self.task_path())
    }

    /// The texts of the program, with the ids that they had, as far as they are still there.
    pub fn sources(&self, description: &Description) -> SourceMap {
        texts::read(&self.path.join("../.."), &description.sources)
    }

    /// The statement, as it was written.
    pub fn statement(&self) -> Result<String, FileError> {
        let bytes = files::read(&self.path.join("task.txt"))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The inputs of a task, each with its checksum verified.
    pub fn inputs(&self, task: &Task) -> Result<Vec<Input>, FileError> {
        let directory = self.path.join("..").join(INPUTS);
        let index = read_index(&directory)?;
        if index.len() != task.inputs.len() {
            return Err(FileError::damaged(&directory.join(INDEX), format!("it lists {} inputs, not {}", index.len(), task.inputs.len())));
        }
        index.iter().map(|file| read_input(&directory, file)).collect()
    }

    /// Takes the attempt for a process, or for nobody; `false` when it is taken already. It is taken once: whoever comes later, be it a
    /// process that was slow to begin or a driver that gave it up, knows by this.
    pub fn take(&self, holder: &Holder) -> Result<bool, FileError> {
        let path = self.holder_path();
        files::claim(&path, &files::to_json(&path, FORMAT, holder)?)
    }

    /// The process that runs it, or ran it; nothing if none has begun to.
    pub fn holder(&self) -> Result<Option<Holder>, FileError> {
        files::json_if_there(&self.holder_path(), FORMAT)
    }

    /// When that process took it; nothing if none has.
    pub fn begun(&self) -> Result<Option<Timestamp>, FileError> {
        files::written(&self.holder_path())
    }

    /// Notes what was run, or submitted.
    pub fn record_command(&self, command: &[u8]) -> Result<(), FileError> {
        let mut line = command.to_vec();
        line.push(b'\n');
        files::fill(&self.path.join("command"), &line)
    }

    /// Writes a result; it counts once the manifest names it.
    pub fn write_result(&self, value: &Value, keeping: Keeping) -> Result<ResultFile, FileError> {
        let encoded = Encoded::of(value);
        let file = format!("result.{}", encoded.suffix());
        let path = self.path.join(&file);
        match keeping {
            Keeping::Durable => files::fill_synced(&path, &encoded)?,
            Keeping::Cheap => files::fill(&path, &encoded)?,
        }
        Ok(ResultFile { file, sha256: Digest(encoded.sha256()), size: encoded.size() as u64 })
    }

    /// Ends the attempt. The caller sees to it that this happens once.
    pub fn conclude(&self, manifest: &Manifest, keeping: Keeping) -> Result<(), FileError> {
        let path = self.manifest_path();
        let bytes = files::to_json(&path, FORMAT, manifest)?;
        match keeping {
            Keeping::Durable => files::write_durably(&path, &bytes),
            Keeping::Cheap => files::write(&path, &bytes),
        }
    }

    /// How it ended; nothing when it is not over, or died. The manifest of another job says nothing of this one, however well its
    /// checksums fit.
    pub fn manifest(&self) -> Result<Option<Manifest>, FileError> {
        let path = self.manifest_path();
        let manifest: Option<Manifest> = files::json_if_there(&path, FORMAT)?;
        match (self.key(), &manifest) {
            (Some(key), Some(found)) if key != found.key => Err(FileError::damaged(&path, format!("it is of the job {}", found.key))),
            _ => Ok(manifest),
        }
    }

    /// The result that a manifest names, with its checksum verified.
    pub fn result(&self, result: &ResultFile) -> Result<Value, FileError> {
        read_value(&self.path, &result.file, result.sha256)
    }

    fn task_path(&self) -> PathBuf {
        self.path.join("task.json")
    }

    fn holder_path(&self) -> PathBuf {
        self.path.join("process.json")
    }

    fn manifest_path(&self) -> PathBuf {
        self.path.join("manifest.json")
    }
}

/// The number in the name of an attempt's directory.
pub(super) fn number(name: &OsStr) -> Option<u32> {
    let digits = name.to_str()?.strip_prefix(ATTEMPT)?;
    digits.parse().ok().filter(|number: &u32| number.to_string() == digits)
}

/// The list of the inputs in their directory.
pub(super) fn read_index(directory: &Path) -> Result<Vec<InputFile>, FileError> {
    let path = directory.join(INDEX);
    files::from_json(&path, &files::read(&path)?, FORMAT, Writer::Any)
}

fn read_input(directory: &Path, input: &InputFile) -> Result<Input, FileError> {
    match input {
        InputFile::Value { file, sha256 } => read_value(directory, file, *sha256).map(Input::Value),
        InputFile::Failed => Ok(Input::Failed),
    }
}

/// A file of the directory; a name with a path in it is not one that was written here.
fn read_value(directory: &Path, file: &str, sha256: Digest) -> Result<Value, FileError> {
    let path = directory.join(file);
    if file.contains('/') || file == ".." {
        return Err(FileError::damaged(&path, "it is outside of its directory"));
    }
    let bytes = files::hold_checked(&path, sha256)?;
    codec::decode_verified(bytes).map_err(|fault| FileError::Value { path, fault })
}
