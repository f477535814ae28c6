//! Keys: what a task computes, and from what. Two tasks with one key have one result.
//!
//! The names of the task, of its inputs and of its functions are for messages only and do not matter; neither do places, resources,
//! or into how many chunks a map was cut.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::canonical;
use super::digest::Digest;
use super::files::FileError;
use crate::eval::Input;
use crate::model::{Expr, Function, Task};
use crate::value::codec;

/// The version of the rules by which keys are made and of what expressions mean; a change makes every kept result unfindable.
const SCHEME: &str = "scl task 1";

/// The content of an input, for the key of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InputDigest {
    /// Of a value.
    Value(Digest),
    /// There is no value.
    Failed,
}

impl InputDigest {
    /// Of an input.
    pub fn of(input: &Input) -> Self {
        match input {
            Input::Value(value) => InputDigest::Value(Digest(codec::digest(value))),
            Input::Failed => InputDigest::Failed,
        }
    }
}

/// What a key was made of, part by part, so that it can be said which part is another one than before. Equal parts may have other
/// names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// The version of the rules.
    pub scheme: Arc<str>,
    /// Of the expression.
    pub expression: Digest,
    /// The functions that it calls, directly or not.
    pub functions: Vec<(Arc<str>, Digest)>,
    /// The values that it reads.
    pub inputs: Vec<(Arc<str>, InputDigest)>,
    /// The files that it reads.
    pub files: Vec<FileDigest>,
}

/// The content of a file that a task reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// As the program calls it.
    pub path: Arc<str>,
    /// Of its bytes.
    pub sha256: Digest,
}

impl Parts {
    /// Of a task with these inputs and files.
    pub fn of(task: &Task, inputs: &[InputDigest], files: &[FileDigest]) -> Result<Parts, FileError> {
        let digest = |content: (usize, &Expr)| canonical::digest(&content).map_err(|error| unserializable(task, &error));
        let functions = task.functions.iter().map(|each| Ok((each.name.clone(), digest(function(each))?)));
        Ok(Parts {
            scheme: SCHEME.into(),
            expression: digest((task.inputs.len(), &task.expr))?,
            functions: functions.collect::<Result<_, FileError>>()?,
            inputs: task.inputs.iter().cloned().zip(inputs.iter().copied()).collect(),
            files: files.to_vec(),
        })
    }

    /// Whether an input has no value.
    pub fn lacks_inputs(&self) -> bool {
        self.inputs.iter().any(|(_, digest)| *digest == InputDigest::Failed)
    }

    /// What is another content than it was, in words for people; nothing when all is the same.
    pub fn changes(&self, before: &Parts) -> Vec<String> {
        let mut changes = Vec::new();
        if self.scheme != before.scheme {
            changes.push("the version of the language".to_owned());
        }
        if self.expression != before.expression {
            changes.push("the expression".to_owned());
        }
        changes.extend(named("function", &self.functions, &before.functions));
        changes.extend(named("input", &self.inputs, &before.inputs));
        let files = |parts: &Parts| parts.files.iter().map(|file| (file.path.clone(), file.sha256)).collect::<Vec<_>>();
        changes.extend(named("file", &files(self), &files(before)));
        changes
    }
}

/// The key of a task with these inputs and files. Of a file only the content counts: its name, if it matters, is in the expression.
pub fn key(task: &Task, inputs: &[InputDigest], files: &[FileDigest]) -> Result<Digest, FileError> {
    let functions: Vec<_> = task.functions.iter().map(function).collect();
    let content = (SCHEME, &task.expr, functions, inputs);
    let digest = if files.is_empty() {
        canonical::digest(&content)
    } else {
        canonical::digest(&(content, files.iter().map(|file| file.sha256).collect::<Vec<_>>()))
    };
    digest.map_err(|error| unserializable(task, &error))
}

/// The names of what is another content than before. What has the same content in the same places is the same under any name.
fn named<T: PartialEq>(kind: &str, now: &[(Arc<str>, T)], before: &[(Arc<str>, T)]) -> Vec<String> {
    if now.iter().map(|(_, content)| content).eq(before.iter().map(|(_, content)| content)) {
        return Vec::new();
    }
    let changed = now.iter().filter(|new| !before.contains(new)).map(|(name, _)| format!("{kind} `{name}`"));
    let gone = before.iter().filter(|(name, _)| now.iter().all(|(other, _)| other != name));
    let mut changes: Vec<String> = changed.chain(gone.map(|(name, _)| format!("{kind} `{name}`, which is not used any more"))).collect();
    if changes.is_empty() {
        changes.push(format!("the order of its {kind}s"));
    }
    changes
}

fn function(function: &Function) -> (usize, &Expr) {
    (function.parameters.len(), &function.body)
}

fn unserializable(task: &Task, error: &canonical::Unserializable) -> FileError {
    FileError::Unserializable { name: task.name.to_string(), message: error.to_string() }
}
