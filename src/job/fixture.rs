//! Jobs for tests.

use std::path::Path;

use super::{Attempt, Description, InputDigest, Job, Written, key, texts};
use crate::eval::Input;
use crate::model::{Expr, ExprKind, Task};
use crate::resources::Request;
use crate::source::{FileId, SourceMap, Span};
use crate::value::Value;

/// An attempt at a task that is the constant `text`, with these inputs.
pub(crate) fn attempt(jobs: &Path, text: &str, inputs: &[Input], request: Request) -> (Job, Attempt) {
    let span = Span::new(FileId(0), 4, 5);
    let expr = Expr { span, kind: ExprKind::Literal(Value::Str(text.into())) };
    let names = (0..inputs.len()).map(|index| format!("input{index}").into()).collect();
    let task = Task { name: "t".into(), expr, functions: Vec::new(), inputs: names };
    let digests: Vec<_> = inputs.iter().map(InputDigest::of).collect();
    let key = key(&task, &digests, &[]).expect("a plain task");
    let inputs: Vec<_> = inputs.iter().cloned().zip(digests).collect();
    let job = Job::create(jobs, key, &task, &inputs, &mut Written::default()).expect("writable");
    let mut sources = SourceMap::new();
    sources.add("m.scl", format!("t = {text}\n"));
    let sources = texts::keep(jobs, &sources).expect("writable");
    let attempt = job.begin(&Description { key, task, request, files: Vec::new(), sources }, text).expect("writable");
    (job, attempt)
}

/// The text of a task that [`attempt`] made.
pub(crate) fn text(task: &Task) -> &str {
    match &task.expr.kind {
        ExprKind::Literal(Value::Str(text)) => text,
        kind => panic!("not a task of a test: {kind:?}"),
    }
}
