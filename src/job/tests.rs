use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;
use crate::eval::Input;
use crate::model::{Callee, Expr, ExprKind, Function, NativeName, Task, VarId};
use crate::resources::Request;
use crate::source::{FileId, SourceMap, Span};
use crate::units::Unit;
use crate::value::{Column, Series, Value};

fn expr(start: usize, kind: ExprKind) -> Expr {
    Expr { span: Span::new(FileId(0), start, start + 1), kind }
}

/// `map((x: f(x)), s)`, as a task that stands at `start`.
fn task(start: usize, name: &str, text: &str) -> Task {
    let local = expr(start, ExprKind::Local { depth: 0, index: 0 });
    let lambda = Callee::Lambda { span: Span::new(FileId(0), start, start + 9), parameters: vec!["x".into()], body: Box::new(local) };
    let literal = expr(start, ExprKind::Literal(Value::Str(text.into())));
    let map =
        ExprKind::Map { name: "r".into(), function: Box::new(lambda), inputs: vec![expr(start, ExprKind::Variable(VarId(0))), literal] };
    let body = expr(start, ExprKind::Native(NativeName { module: "math".into(), name: "exp".into() }, Vec::new()));
    let function = Function { name: name.into(), name_span: Span::new(FileId(1), start, start), parameters: vec![name.into()], body };
    Task { name: name.into(), expr: expr(start, map), functions: vec![function], inputs: vec![name.into()] }
}

fn value(text: &str) -> Input {
    Input::Value(Value::Str(text.into()))
}

fn description(task: Task, inputs: &[Input], sources: Vec<Text>) -> Description {
    let digests: Vec<_> = inputs.iter().map(InputDigest::of).collect();
    let key = key(&task, &digests, &[]).expect("a plain task");
    Description { key, task, request: Request::ONE_CORE, files: Vec::new(), sources }
}

fn digested(inputs: &[Input]) -> Vec<(Input, InputDigest)> {
    inputs.iter().map(|input| (input.clone(), InputDigest::of(input))).collect()
}

fn begin(jobs: &Path, inputs: &[Input]) -> (Job, Attempt) {
    let mut sources = SourceMap::new();
    sources.add("m.scl", "r = 1\n");
    files::make_dir(jobs).expect("writable");
    let description = description(task(0, "x/y z", "t"), inputs, texts::keep(jobs, &sources).expect("writable"));
    let job = Job::create(jobs, description.key, &description.task, &digested(inputs), &mut Written::default()).expect("writable");
    let attempt = job.begin(&description, "r = 1 on 1 core").expect("writable");
    (job, attempt)
}

fn manifest(key: Digest, outcome: Outcome) -> Manifest {
    Manifest { key, outcome, started: Timestamp(1), ended: Timestamp(2), host: "h".to_owned(), pid: 3, usage: Usage::default() }
}

fn succeed(job: &Job, attempt: &Attempt) -> ResultFile {
    let result = attempt.write_result(&Value::Bool(true), Keeping::Durable).expect("writable");
    attempt.conclude(&manifest(job.key(), Outcome::Success { result: result.clone() }), Keeping::Durable).expect("writable");
    result
}

#[test]
fn a_key_is_what_is_computed() {
    let one = [InputDigest::of(&value("a"))];
    let of = |task: &Task, inputs: &[InputDigest]| key(task, inputs, &[]).expect("a plain task");
    let first = of(&task(0, "x", "t"), &one);
    assert_eq!(first, of(&task(70, "other", "t"), &one), "places and names of variables are no content");
    assert_ne!(first, of(&task(0, "x", "u"), &one));
    assert_ne!(first, of(&task(0, "x", "t"), &[InputDigest::of(&value("b"))]));
    assert_ne!(first, of(&task(0, "x", "t"), &[InputDigest::Failed]));
    assert_ne!(first, of(&task(0, "x", "t"), &[]));
    let mut renamed = task(0, "x", "t");
    if let ExprKind::Map { name, .. } = &mut renamed.expr.kind {
        *name = "q".into();
    }
    assert_ne!(first, of(&renamed, &one), "the name of a series is part of it");
}

#[test]
fn a_large_result_is_mapped_and_damage_is_seen() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = begin(directory.path(), &[]);
    let series = |len: usize| Value::from(Series::new("s", Column::from(vec![1.5; len]), Unit::NONE));
    let result = attempt.write_result(&series(100_000), Keeping::Cheap).expect("writable");
    let path = attempt.path().join(&result.file);
    assert_eq!(fs::metadata(&path).expect("there").len(), result.size);
    assert!(matches!(files::hold_checked(&path, result.sha256), Ok(files::Held::Mapped(_))));
    let read = attempt.result(&result).expect("as it was written");
    let bytes = fs::read(&path).expect("readable");
    fs::remove_file(&path).expect("removable");
    assert!(read.same(&series(100_000)), "a name that is gone does no harm");
    let mut altered = bytes.clone();
    altered[400_000] ^= 1;
    for damaged in [&altered, &bytes[..400_000], &bytes[..100], &[]] {
        fs::write(&path, damaged).expect("writable");
        assert!(matches!(attempt.result(&result), Err(FileError::Checksum { .. })));
    }
    fs::remove_file(&path).expect("removable");
    assert!(matches!(attempt.result(&result), Err(FileError::Io { action: "read", .. })));
}

#[test]
fn what_is_given_is_read_back() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let inputs = [value("a")];
    let (job, attempt) = begin(directory.path(), &inputs);
    let attempt = Attempt::open(attempt.path()).expect("an attempt");
    let read = attempt.description().expect("as written");
    assert_eq!((read.key, &*read.task.name, &read.request), (job.key(), "x/y z", &Request::ONE_CORE));
    assert_eq!(attempt.sources(&read).text(Span::new(FileId(0), 0, 1)), "r");
    let digests: Vec<_> = attempt.inputs(&read.task).expect("as written").iter().map(InputDigest::of).collect();
    assert_eq!(digests, [InputDigest::of(&inputs[0])]);
    assert_eq!(key(&read.task, &digests, &[]).expect("a plain task"), job.key(), "a key can be checked from the directory alone");
    assert_eq!(fs::read_to_string(attempt.path().join("task.txt")).expect("text"), "r = 1 on 1 core\n");
}

#[test]
fn a_failed_input_keeps_its_name() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = begin(directory.path(), &[Input::Failed]);
    let read = attempt.inputs(&attempt.description().expect("as written").task).expect("as written");
    assert!(matches!(&read[..], [Input::Failed]));
}

#[test]
fn attempts_are_numbered_and_kept() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, first) = begin(directory.path(), &[value("a")]);
    let (same, second) = begin(directory.path(), &[value("a")]);
    assert_eq!((&same, first.number(), second.number()), (&job, 1, 2));
    fs::create_dir(job.path().join("attempt-10")).expect("writable");
    fs::create_dir(job.path().join("attempt-010")).expect("writable");
    let (_, eleventh) = begin(directory.path(), &[value("a")]);
    assert_eq!(eleventh.number(), 11);
    let numbers: Vec<_> = job.attempts().expect("readable").iter().map(Attempt::number).collect();
    assert_eq!(numbers, [1, 2, 10, 11]);
    assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 2, "the job and the texts, and nothing temporary");
}

#[test]
fn a_result_counts_when_its_manifest_is_there() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, attempt) = begin(directory.path(), &[value("a")]);
    attempt.write_result(&Value::Bool(true), Keeping::Durable).expect("writable");
    assert!(job.success().expect("readable").is_none());
    let result = succeed(&job, &attempt);
    let (_, found) = job.success().expect("readable").expect("a success");
    assert_eq!(found.outcome, Outcome::Success { result: result.clone() });
    assert!(matches!(attempt.result(&result), Ok(Value::Bool(true))));
    let again = Attempt::new(job.path(), 2);
    fs::create_dir(again.path()).expect("writable");
    let failure = Outcome::Failure { cause: Cause::Cancelled, diagnostics: Vec::new() };
    again.conclude(&manifest(job.key(), failure), Keeping::Cheap).expect("writable");
    assert_eq!(job.success().expect("readable").map(|(attempt, _)| attempt.number()), Some(1), "a later failure hides no success");
}

#[test]
fn a_truncated_manifest_is_no_success() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, attempt) = begin(directory.path(), &[value("a")]);
    succeed(&job, &attempt);
    let path = attempt.path().join("manifest.json");
    let whole = fs::read(&path).expect("readable");
    for length in [0, 1, whole.len() / 2, whole.len() - 3] {
        fs::write(&path, &whole[..length]).expect("writable");
        let error = attempt.manifest().expect_err("it is cut");
        assert!(matches!(error, FileError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("manifest.json"), "{error}");
        assert!(job.success().expect("readable").is_none());
    }
}

#[test]
fn the_manifest_of_another_job_is_no_success() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, attempt) = begin(directory.path(), &[value("a")]);
    let result = succeed(&job, &attempt);
    let (other, copy) = begin(directory.path(), &[value("b")]);
    for file in ["manifest.json", &result.file] {
        fs::copy(attempt.path().join(file), copy.path().join(file)).expect("writable");
    }
    assert!(matches!(copy.manifest(), Err(FileError::Damaged { .. })));
    assert!(other.success().expect("readable").is_none());
    let kept = other.kept().expect("readable");
    assert!(kept.found.is_none() && matches!(kept.damaged.as_slice(), [FileError::Damaged { .. }]), "{kept:?}");
}

#[test]
fn an_altered_file_is_found_out() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, attempt) = begin(directory.path(), &[value("a")]);
    let result = succeed(&job, &attempt);
    fs::write(attempt.path().join(&result.file), "false").expect("writable");
    assert!(matches!(attempt.result(&result), Err(FileError::Checksum { .. })));
    let outside = ResultFile { file: "../../x".to_owned(), ..result };
    assert!(matches!(attempt.result(&outside), Err(FileError::Damaged { .. })));
    let input = fs::read_dir(job.path().join("inputs")).expect("readable").map(|entry| entry.expect("readable").path());
    let input = input.into_iter().find(|path| path.file_name().is_some_and(|name| name != "index.json")).expect("one input");
    assert!(input.to_string_lossy().contains("000-x-y-z."), "{input:?}");
    fs::write(&input, "null").expect("writable");
    let task = attempt.description().expect("as written").task;
    assert!(matches!(attempt.inputs(&task), Err(FileError::Checksum { .. })));
    let (_, next) = begin(directory.path(), &[value("a")]);
    assert!(next.inputs(&task).is_ok(), "the next attempt has sound inputs");
    fs::remove_file(job.path().join("inputs/index.json")).expect("removable");
    let (_, next) = begin(directory.path(), &[value("a")]);
    assert!(next.inputs(&task).is_ok());
}

#[test]
fn another_version_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = begin(directory.path(), &[value("a")]);
    let path = attempt.path().join("task.json");
    let text = fs::read_to_string(&path).expect("readable");
    fs::write(&path, text.replacen(VERSION, "99.0.0", 1)).expect("writable");
    assert!(matches!(attempt.description(), Err(FileError::Version { .. })));
    fs::write(&path, text.replacen("\"format\": 2", "\"format\": 3", 1)).expect("writable");
    assert!(matches!(attempt.description(), Err(FileError::Format { found: 3, .. })));
}

#[test]
fn directories_are_private() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, attempt) = begin(directory.path(), &[value("a")]);
    for path in [job.path(), &job.path().join("inputs"), attempt.path()] {
        let mode = fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{path:?}");
    }
    let mode = fs::metadata(attempt.path().join("task.json")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn any_path_will_do() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let jobs = directory.path().join(OsStr::from_bytes(b"a 'b' \"c\" $d;\n\xff\xfe"));
    let (job, attempt) = begin(&jobs, &[value("a")]);
    let result = succeed(&job, &attempt);
    assert!(attempt.result(&result).is_ok());
    attempt.record_command(&quote([attempt.path().as_os_str(), OsStr::new("--x=1"), OsStr::new("")])).expect("writable");
    let command = fs::read(attempt.path().join("command")).expect("readable");
    assert!(command.ends_with(b"--x=1 ''\n"));
}

#[test]
fn a_command_can_be_pasted_into_a_shell() {
    use std::ffi::OsStr;
    let words = ["plain-1.2/x", "a b", "it's", "$HOME;`x`", "new\nline", ""];
    let line = quote(words.iter().map(OsStr::new));
    let script = format!("printf '%s|' {}", String::from_utf8(line).expect("text"));
    let output = std::process::Command::new("/bin/sh").arg("-c").arg(script).output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), words.map(|word| format!("{word}|")).concat());
}

#[test]
fn an_unwritable_store_is_named() {
    let description = description(task(0, "x", "t"), &[value("a")], Vec::new());
    let jobs = Path::new("/proc/no such store");
    let created = Job::create(jobs, description.key, &description.task, &digested(&[value("a")]), &mut Written::default());
    let error = created.expect_err("not writable").to_string();
    assert!(error.starts_with("cannot create \"/proc/no such store"), "{error}");
}

#[test]
fn equal_values_are_one_file() {
    use std::os::unix::fs::MetadataExt;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let jobs = directory.path();
    let mut written = Written::default();
    let inputs = digested(&[value("a"), Input::Value(Value::Bool(true))]);
    let (_, earlier) = begin(jobs, &[value("b")]);
    let result = earlier.write_result(&Value::Bool(true), Keeping::Cheap).expect("writable");
    written.note_result(result.sha256, earlier.path().join(&result.file));
    let mut made = |text: &str| {
        let task = task(0, "x", text);
        let digests: Vec<_> = inputs.iter().map(|(_, digest)| *digest).collect();
        let job = Job::create(jobs, key(&task, &digests, &[]).expect("plain"), &task, &inputs, &mut written).expect("writable");
        let node = |name: &str| fs::metadata(job.path().join("inputs").join(name)).expect("there").ino();
        (node("000-x.json"), node("001-.json"))
    };
    let (first, second) = (made("one"), made("two"));
    assert_eq!(first, second);
    assert_eq!(fs::metadata(earlier.path().join(&result.file)).expect("there").ino(), first.1, "what a job left is what another one reads");
    fs::remove_dir_all(jobs.join(fs::read_dir(jobs).expect("readable").flatten().next().expect("a job").file_name())).expect("removable");
    assert!(made("three").0 > 0, "what is gone is written again");
}
