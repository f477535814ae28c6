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
}

impl Parts {
    /// Of a task with these inputs.
    pub fn of(task: &Task, inputs: &[InputDigest]) -> Result<Parts, FileError> {
        let digest = |content: (usize, &Expr)| canonical::digest(&content).map_err(|error| unserializable(task, &error));
        let functions = task.functions.iter().map(|each| Ok((each.name.clone(), digest(function(each))?)));
        Ok(Parts {
            scheme: SCHEME.into(),
            expression: digest((task.inputs.len(), &task.expr))?,
            functions: functions.collect::<Result<_, FileError>>()?,
            inputs: task.inputs.iter().cloned().zip(inputs.iter().copied()).collect(),
        })
    }
}

/// The key of a task with these inputs.
pub fn key(task: &Task, inputs: &[InputDigest]) -> Result<Digest, FileError> {
    let functions: Vec<_> = task.functions.iter().map(function).collect();
    let content = (SCHEME, &task.expr, functions, inputs);
    canonical::digest(&content).map_err(|error| unserializable(task, &error))
}

fn function(function: &Function) -> (usize, &Expr) {
    (function.parameters.len(), &function.body)
}

fn unserializable(task: &Task, error: &canonical::Unserializable) -> FileError {
    FileError::Unserializable { name: task.name.to_string(), message: error.to_string() }
}
