//! The files that a task reads, known before it is evaluated.

use std::sync::Arc;

use crate::eval::{self, Input, World};
use crate::job::{Digest, FileDigest};
use crate::model::{Expr, ExprKind, Task};
use crate::value::Value;

/// What the files hold that a task can read, in the order in which its expressions name them; more than it does read, where a branch
/// is not taken. Nothing when a name depends on the parameter of a function or lambda, or a file cannot be read: then nothing is known
/// before the task is evaluated.
pub fn files(task: &Task, inputs: &[Input], world: &dyn World) -> Option<Vec<FileDigest>> {
    let mut names = Vec::new();
    let bodies = task.functions.iter().map(|function| &function.body);
    for expr in bodies.chain([&task.expr]) {
        expr.visit(&mut |expr| {
            if let ExprKind::Source { path, .. } = &expr.kind {
                names.push(name(path, task, inputs, world));
            }
        });
    }
    let mut files: Vec<FileDigest> = Vec::with_capacity(names.len());
    for name in names {
        let path = name?;
        if files.iter().all(|file| file.path != path) {
            let sha256 = Digest(world.digest(&path)?);
            files.push(FileDigest { path, sha256 });
        }
    }
    Some(files)
}

/// The name of a file, if the inputs suffice for it.
fn name(path: &Expr, task: &Task, inputs: &[Input], world: &dyn World) -> Option<Arc<str>> {
    let mut parameters = false;
    path.visit(&mut |expr| parameters |= matches!(expr.kind, ExprKind::Local { .. }));
    if parameters {
        return None;
    }
    let whole = Task { name: task.name.clone(), expr: path.clone(), functions: task.functions.clone(), inputs: task.inputs.clone() };
    match eval::run(&whole, inputs, world).ok()? {
        Value::Str(name) => Some(name),
        _ => None,
    }
}
