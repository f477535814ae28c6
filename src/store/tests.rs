//! Records of runs: written by a thread, read beside it, damaged and made anew.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;

use super::*;
use crate::job::{Cause, Digest, Keeping, Manifest, Outcome, Parts, Timestamp, Usage, fixture, host};
use crate::resources::Request;
use crate::value::Value;

fn info(model: &str) -> RunInfo {
    RunInfo { model: model.to_owned(), digest: Digest::of(b"text"), mode: "workflow", planned: vec!["a".to_owned(), "b 1/2".to_owned()] }
}

fn entry(task: u32, name: &str) -> Entry {
    let key = Digest::of(name.as_bytes());
    let parts = Parts { scheme: "1".into(), expression: key, functions: Vec::new(), inputs: Vec::new(), files: Vec::new() };
    let variable = name.split(' ').next().unwrap_or_default().into();
    Entry {
        task,
        name: name.into(),
        variable,
        part: None,
        joins: false,
        key,
        parts: Some(parts),
        knows_files: true,
        request: Request::ONE_CORE,
    }
}

fn state(task: u32, state: State) -> Event {
    Event::State { task, state: Box::new(state) }
}

fn locked(store: &Store) -> Lock {
    match store.lock().expect("writable") {
        Access::Mine(lock) => lock,
        access => panic!("{access:?}"),
    }
}

fn end(cause: Option<Cause>) -> State {
    let usage = Usage { peak_rss: 5, user_us: 6, system_us: 7 };
    State::Ended(End { cause, times: Some((Timestamp(1), Timestamp(2))), usage: Some(usage) })
}

/// A run of two tasks, one of which fails.
fn record(store: &Store, model: &str) -> Option<String> {
    let lock = locked(store);
    let (mut recording, said) = Recording::begin(store, &lock, &info(model)).expect("writable");
    recording.note(Event::Task(Box::new(entry(0, "a"))));
    recording.note(Event::Task(Box::new(entry(1, "b 1/2"))));
    recording.note(state(0, State::Waiting { attempt: 1, job: "j".into() }));
    recording.note(state(1, State::Kept { attempt: 3 }));
    recording.note(Event::Line("printed".into()));
    recording.note(state(0, end(Some(Cause::ExitCode { code: 3 }))));
    recording.end(RunState::Failed).expect("writable");
    said
}

fn read(store: &Store) -> (Records, Found) {
    Records::open(store).expect("readable")
}

#[test]
fn a_store_is_made_once_and_opened_again() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let root = directory.path().join("a model's/.scl");
    let store = Store::open(&root).expect("writable");
    assert_eq!(fs::read_to_string(root.join(".gitignore")).expect("text"), "*\n");
    assert_eq!(fs::metadata(&root).expect("there").permissions().mode() & 0o777, 0o700);
    fs::write(root.join(".gitignore"), "# mine\n").expect("writable");
    assert_eq!(Store::open(&root).expect("readable"), store);
    assert_eq!(fs::read_to_string(root.join(".gitignore")).expect("text"), "# mine\n", "what is there is left alone");
    assert!(store.jobs().starts_with(&root));
}

#[test]
fn one_run_at_a_time() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path()).expect("writable");
    let lock = locked(&store);
    match store.lock().expect("writable") {
        Access::Taken(Some(owner)) => assert_eq!(owner.to_string(), format!("process {} on {}", std::process::id(), host())),
        access => panic!("{access:?}"),
    }
    drop(lock);
    assert_eq!(store.owner(), None);
    drop(locked(&store));
}

#[test]
fn what_a_killed_process_left_in_the_lock_is_no_lock() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path()).expect("writable");
    for left in ["", "process 1 on somewhere\n", "{\"format\": 99"] {
        fs::write(directory.path().join("lock"), left).expect("writable");
        let lock = locked(&store);
        assert_eq!(store.owner().map(|owner| owner.holder.pid), Some(std::process::id()));
        drop(lock);
    }
}

#[test]
fn another_layout_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path()).expect("writable");
    let mark = directory.path().join("store.json");
    let text = fs::read_to_string(&mark).expect("text");
    fs::write(&mark, text.replace("\"format\": 2", "\"format\": 3")).expect("writable");
    assert!(matches!(Store::open(directory.path()), Err(FileError::Format { found: 3, expected: 2, .. })));
    fs::write(&mark, text.replace("\"format\": 2", "\"format\": 1")).expect("writable");
    let lock = locked(&store);
    store.upgrade(&lock).expect("writable");
    assert_eq!(fs::read_to_string(&mark).expect("text"), text, "an older one is brought up to date");
    fs::write(&mark, &text[..text.len() / 2]).expect("writable");
    assert!(matches!(Store::open(directory.path()), Err(FileError::Damaged { .. })));
}

#[test]
fn what_cannot_be_written_is_named() {
    let error = Store::open(Path::new("/proc/no store")).expect_err("not writable").to_string();
    assert!(error.contains("/proc/no store"), "{error}");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("file");
    fs::write(&file, "").expect("writable");
    let error = Store::open(&file).expect_err("a file is no store").to_string();
    assert!(error.contains("file"), "{error}");
}

#[test]
fn what_was_noted_is_read() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path()).expect("writable");
    assert_eq!(record(&store, "/m.scl"), None);
    assert_eq!(fs::metadata(store.index_path()).expect("there").permissions().mode() & 0o777, 0o600);
    let (records, found) = read(&store);
    assert_eq!(found, Found::Index);
    let runs = records.runs(Some("/m.scl"), 9).expect("readable");
    assert_eq!((runs.len(), runs[0].state, runs[0].planned), (1, RunState::Failed, 2));
    assert!(runs[0].ended >= Some(runs[0].started));
    assert!(records.runs(Some("/other.scl"), 9).expect("readable").is_empty());
    let tasks = records.tasks(&runs[0]).expect("readable");
    assert_eq!((tasks[0].state, tasks[0].cause.as_deref()), (TaskState::Failed, Some("exit status 3")));
    assert_eq!((tasks[0].started, tasks[0].ended, tasks[0].peak_rss, tasks[0].cpu_us), (Some(1), Some(2), Some(5), Some(13)));
    assert!(tasks[1].is_called("b") && tasks[1].is_called("b 1/2") && !tasks[1].is_called("b 1"));
    let attempt = tasks[1].attempt().expect("an attempt");
    assert!(attempt.path().ends_with(format!("{}/attempt-3", Digest::of(b"b 1/2"))), "{attempt:?}");
    assert_eq!(records.lines(&runs[0]).expect("readable"), ["printed"]);
    assert_eq!(records.last("/m.scl", "a").expect("readable").and_then(|task| task.made_of), entry(0, "a").parts);
    assert_eq!(records.planned(&runs[0]).expect("readable"), ["a", "b 1/2"]);
    assert_eq!(records.reachable().expect("readable").len(), 2);
}

#[test]
fn a_reader_that_does_not_end_keeps_the_driver_from_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path()).expect("writable");
    let lock = locked(&store);
    let (mut recording, _) = Recording::begin(&store, &lock, &info("m")).expect("writable");
    let reader = Connection::open(store.index_path()).expect("readable");
    reader.execute_batch("BEGIN; SELECT count(*) FROM run;").expect("readable");
    recording.note(Event::Task(Box::new(entry(0, "a"))));
    std::thread::sleep(std::time::Duration::from_millis(600));
    let count = |connection: &Connection| connection.query_row("SELECT count(*) FROM task", (), |row| row.get::<_, u32>(0));
    assert_eq!(count(&reader), Ok(0), "nothing could be written so far");
    recording.note(Event::Task(Box::new(entry(1, "b"))));
    reader.execute_batch("COMMIT").expect("readable");
    recording.end(RunState::Done).expect("writable");
    assert_eq!(count(&reader), Ok(2), "what could not be written was kept");
}

#[test]
fn a_driver_that_was_killed_is_known_to_be() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = Store::open(directory.path()).expect("writable");
    record(&store, "m");
    let connection = Connection::open(store.index_path()).expect("readable");
    connection.execute("UPDATE run SET ended = NULL, outcome = NULL", ()).expect("writable");
    assert_eq!(read(&store).0.runs(None, 1).expect("readable")[0].state, RunState::Running, "this process lives");
    connection.execute("UPDATE run SET driver = replace(driver, '\"birth\":', '\"birth\":9')", ()).expect("writable");
    assert_eq!(read(&store).0.runs(None, 1).expect("readable")[0].state, RunState::Killed);
    connection.execute("UPDATE task SET state = 'running'", ()).expect("writable");
    let (records, _) = read(&store);
    let tasks = records.tasks(&records.runs(None, 1).expect("readable")[0]).expect("readable");
    assert!(tasks.iter().all(|task| task.state == TaskState::Lost), "their directories are not there");
    connection
        .execute("UPDATE task SET state = 'shared', key = (SELECT key FROM task WHERE number = 0) WHERE number = 1", ())
        .expect("SQL");
    let tasks = records.tasks(&records.runs(None, 1).expect("readable")[0]).expect("readable");
    assert_eq!(tasks[1].state, TaskState::Lost, "what waits for the job of another is lost with it");
    record(&store, "m");
    let killed = read(&store).0.runs(None, 2).expect("readable").remove(1);
    assert_eq!((killed.state, killed.ended), (RunState::Killed, None), "the next driver says so, but not when");
}

/// A store with one job that is over, and an index of it.
fn with_job(directory: &Path) -> Store {
    let store = Store::open(directory).expect("writable");
    let (job, attempt) = fixture::attempt(store.jobs(), "x", &[], Request::ONE_CORE);
    let result = attempt.write_result(&Value::Bool(true), Keeping::Cheap).expect("writable");
    let (started, ended, usage) = (Timestamp(1), Timestamp(2), Usage::default());
    let manifest = Manifest { key: job.key(), outcome: Outcome::Success { result }, started, ended, host: host(), pid: 1, usage };
    attempt.conclude(&manifest, Keeping::Cheap).expect("writable");
    record(&store, "m");
    store
}

fn finds_the_job(store: &Store, wanted: &Found) {
    let (records, found) = read(store);
    assert_eq!(std::mem::discriminant(&found), std::mem::discriminant(wanted), "{found:?}");
    let run = records.runs(None, 99).expect("readable").pop().expect("a run");
    let tasks = records.tasks(&run).expect("readable");
    assert_eq!((run.state, tasks.len(), &*tasks[0].name, tasks[0].state), (RunState::Found, 1, "t", TaskState::Done));
}

fn is_aside(name: &str) -> bool {
    name.starts_with("index.damaged") && name.ends_with(".sqlite")
}

type Damage = fn(&Path);

#[test]
fn an_index_that_is_missing_or_damaged_is_made_anew() {
    let damages: [(Damage, bool); 5] = [
        (|path| fs::remove_file(path).expect("there"), false),
        (|path| fs::write(path, "no database, but long enough to be read as the head of one ".repeat(9)).expect("writable"), true),
        (|path| fs::write(path, &fs::read(path).expect("there")[..5000]).expect("writable"), true),
        (
            |path| {
                let mut bytes = fs::read(path).expect("there");
                bytes[4096..].fill(0x5a);
                fs::write(path, bytes).expect("writable");
            },
            true,
        ),
        (|path| Connection::open(path).and_then(|index| index.execute_batch("DROP TABLE run")).expect("writable"), true),
    ];
    for (number, (damage, said)) in damages.into_iter().enumerate() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = with_job(directory.path());
        damage(&store.index_path());
        let wanted = if said { Found::DirectoriesInstead(String::new()) } else { Found::Directories };
        finds_the_job(&store, &wanted);
        assert_eq!(record(&store, "m").is_some(), said, "damage {number}");
        finds_the_job(&store, &Found::Index);
        assert_eq!(read(&store).0.runs(None, 9).expect("readable").len(), 2);
        let aside = fs::read_dir(store.root()).expect("readable").flatten();
        let aside = aside.filter(|entry| is_aside(&entry.file_name().to_string_lossy())).count();
        assert_eq!(aside, usize::from(said), "damage {number}");
        assert_eq!(record(&store, "m"), None, "it is said once");
    }
}
