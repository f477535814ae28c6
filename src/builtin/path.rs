//! Module `os.path`: functions of path names that do not look at the disk.

use super::{Native, ResultKind, fault};
use crate::diagnostic::Fault;
use crate::value::Value;

const MODULE: &str = "os.path";

/// Functions of the module.
pub(super) fn functions() -> Vec<Native> {
    let part = |name, doc, function| Native::whole(MODULE, name, &["path"], ResultKind::String, doc, function);
    let parts = |name, doc, function| Native::whole(MODULE, name, &["path"], ResultKind::Tuple, doc, function);
    vec![
        Native::whole(
            MODULE,
            "join",
            &["path", "*paths"],
            ResultKind::String,
            "Paths joined by slashes; an absolute one starts anew",
            join,
        ),
        part("basename", "What follows the last slash", |args| Ok(string(split(text(&args[0])?).1))),
        part("dirname", "What precedes the last slash", |args| Ok(string(split(text(&args[0])?).0))),
        parts("split", "What precedes and what follows the last slash", |args| Ok(pair(split(text(&args[0])?)))),
        parts("splitext", "The path without its extension, and the extension", |args| Ok(pair(split_extension(text(&args[0])?)))),
        Native::whole(MODULE, "isabs", &["path"], ResultKind::Boolean, "Whether the path starts with a slash", |args| {
            Ok(Value::Bool(text(&args[0])?.starts_with('/')))
        }),
    ]
}

fn join(args: &[Value]) -> Result<Value, Fault> {
    let mut path = String::new();
    for (index, part) in args.iter().enumerate() {
        let part = text(part)?;
        if part.starts_with('/') {
            path.clear();
        } else if index > 0 && !path.is_empty() && !path.ends_with('/') {
            path.push('/');
        }
        path.push_str(part);
    }
    Ok(string(&path))
}

fn split(path: &str) -> (&str, &str) {
    let (head, tail) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
    let trimmed = head.trim_end_matches('/');
    (if trimmed.is_empty() { head } else { trimmed }, tail)
}

fn split_extension(path: &str) -> (&str, &str) {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    // Dots at the beginning of a name hide a file and start no extension.
    let visible = name + (path.len() - name - path[name..].trim_start_matches('.').len());
    path.split_at(path[visible..].rfind('.').map_or(path.len(), |dot| visible + dot))
}

fn text(value: &Value) -> Result<&str, Fault> {
    match value {
        Value::Str(text) => Ok(text),
        other => Err(fault::wrong_type("a string", other.type_name())),
    }
}

fn string(text: &str) -> Value {
    Value::Str(text.into())
}

fn pair((left, right): (&str, &str)) -> Value {
    Value::Tuple([string(left), string(right)].into())
}
