//! The recorder of a driver: a thread of its own writes the index, several times a second, in transactions.
//!
//! The scheduler never waits for it: notes go through a channel, and a transaction that cannot be made because someone reads is
//! made later. What the index is missing after a driver was killed, the directories of the jobs tell.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Transaction, params};

use super::index::{self, IndexError};
use super::standing::{RunState, TaskState};
use super::{End, Entry, Event, Lock, Recorder, State, Store, Wishes, wishes};
use crate::job::{Cause, Digest, FileError, Holder, Timestamp, VERSION, host};

/// The pause between two transactions, and between two looks at what is wished.
const PAUSE: Duration = Duration::from_millis(200);

/// What is told in less time than this goes to the thread together: waking it takes longer than to tell.
const BATCH: Duration = Duration::from_millis(20);

/// How long a transaction waits for those who read, and how long the last one does.
const PATIENCE: Duration = Duration::from_millis(50);
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// Of lines that are longer only so many bytes are kept.
const LONGEST_LINE: usize = 16 << 20;

/// What a run is.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The path of the program.
    pub model: String,
    /// Of its texts.
    pub digest: Digest,
    /// `workflow`, …
    pub mode: &'static str,
    /// The names of the batch tasks that it may have.
    pub planned: Vec<String>,
}

enum Message {
    Events(Vec<Event>),
    End(RunState),
}

/// The record of a run that goes on.
#[derive(Debug)]
pub struct Recording {
    root: PathBuf,
    run: i64,
    sender: Sender<Message>,
    writer: Option<JoinHandle<Result<(), IndexError>>>,
    looked: Option<Instant>,
    /// What the thread was not told yet, and when it was told the last time.
    untold: Vec<Event>,
    told: Instant,
}

impl Recording {
    /// Begins the record of a run; the text says what was wrong with the index and is not any more.
    pub fn begin(store: &Store, lock: &Lock, info: &RunInfo) -> Result<(Self, Option<String>), IndexError> {
        let (mut connection, said) = index::open(store, lock)?;
        let path = store.index_path();
        // before the run can be seen, for then it may be asked
        wishes::clear(store.root());
        let run = begin(&mut connection, info).map_err(IndexError::sqlite(&path))?;
        let (sender, receiver) = mpsc::channel();
        let writer = Writer { connection, run, path, lines: 0 };
        let thread = thread::Builder::new().name("scl-index".to_owned()).spawn(move || writer.write(&receiver));
        let writer = thread.map_err(FileError::io("write", &store.index_path()))?;
        Ok((
            Recording {
                root: store.root().to_owned(),
                run,
                sender,
                writer: Some(writer),
                looked: None,
                untold: Vec::new(),
                told: Instant::now(),
            },
            said,
        ))
    }

    /// Ends the record; the fault says that it is not complete.
    pub fn end(mut self, outcome: RunState) -> Result<(), IndexError> {
        self.tell();
        // a thread that is gone has left its fault
        let _ = self.sender.send(Message::End(outcome));
        self.writer.take().map_or(Ok(()), |writer| writer.join().unwrap_or(Ok(())))
    }
}

impl Recording {
    fn tell(&mut self) {
        self.told = Instant::now();
        if !self.untold.is_empty() {
            // a writer that had to give up says so at the end
            let _ = self.sender.send(Message::Events(std::mem::take(&mut self.untold)));
        }
    }
}

impl Recorder for Recording {
    fn note(&mut self, event: Event) {
        self.untold.push(event);
        if self.told.elapsed() >= BATCH {
            self.tell();
        }
    }

    fn wishes(&mut self) -> Wishes {
        if self.told.elapsed() >= BATCH {
            self.tell();
        }
        if self.looked.is_some_and(|looked| looked.elapsed() < PAUSE) {
            return Wishes::default();
        }
        self.looked = Some(Instant::now());
        wishes::take(&self.root, self.run)
    }
}

/// A run begins; those that have not ended were killed, for this process has the lock.
fn begin(connection: &mut Connection, info: &RunInfo) -> rusqlite::Result<i64> {
    let transaction = connection.transaction()?;
    let now = milliseconds(Timestamp::now());
    // when that was nobody knows
    transaction.execute("UPDATE run SET outcome = ?1 WHERE outcome IS NULL", params![RunState::Killed.name()])?;
    let jobs = serde_json::to_string(&info.planned).ok();
    let driver = serde_json::to_string(&Holder::this_process(Vec::new())).unwrap_or_else(|_| host());
    transaction.execute(
        "INSERT INTO run (model, digest, mode, scl, driver, planned, started, jobs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![info.model, info.digest.to_string(), info.mode, VERSION, driver, signed(info.planned.len() as u64), now, jobs],
    )?;
    let run = transaction.last_insert_rowid();
    transaction.commit()?;
    Ok(run)
}

struct Writer {
    connection: Connection,
    run: i64,
    path: PathBuf,
    lines: i64,
}

impl Writer {
    fn write(mut self, messages: &Receiver<Message>) -> Result<(), IndexError> {
        self.run_to_end(messages).map_err(IndexError::sqlite(&self.path))
    }

    fn run_to_end(&mut self, messages: &Receiver<Message>) -> rusqlite::Result<()> {
        self.connection.busy_timeout(PATIENCE)?;
        let mut pending = Vec::new();
        loop {
            match self.collect(messages, &mut pending) {
                None => self.commit(&mut pending, None)?,
                Some(outcome) => {
                    self.connection.busy_timeout(LAST_PATIENCE)?;
                    return self.commit(&mut pending, Some(outcome)).and_then(|()| if pending.is_empty() { Ok(()) } else { Err(busy()) });
                }
            }
        }
    }

    /// Waits for something to write, and then for a pause; the outcome when that was the end.
    fn collect(&self, messages: &Receiver<Message>, pending: &mut Vec<Event>) -> Option<RunState> {
        if pending.is_empty() {
            match messages.recv() {
                Ok(Message::Events(events)) => pending.extend(events),
                Ok(Message::End(outcome)) => return Some(outcome),
                Err(mpsc::RecvError) => return Some(RunState::Failed),
            }
        }
        let end = Instant::now() + PAUSE;
        loop {
            match messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Message::Events(events)) => pending.extend(events),
                Ok(Message::End(outcome)) => return Some(outcome),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(RunState::Failed),
            }
        }
    }

    /// All or nothing; what cannot be written because someone reads, or because the disk is full, stays for later.
    fn commit(&mut self, pending: &mut Vec<Event>, outcome: Option<RunState>) -> rusqlite::Result<()> {
        let lines = self.lines;
        match self.try_commit(pending, outcome) {
            Ok(()) => {
                pending.clear();
                Ok(())
            }
            Err(error) if may_pass(&error) && outcome.is_none() => {
                self.lines = lines;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn try_commit(&mut self, pending: &[Event], outcome: Option<RunState>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for event in pending {
            match event {
                Event::Task(entry) => insert(&transaction, self.run, entry)?,
                Event::State { task, state } => change(&transaction, self.run, *task, state)?,
                Event::Line(text) => {
                    let text = shortened(text, LONGEST_LINE);
                    let mut statement = transaction.prepare_cached("INSERT INTO line (run, number, text) VALUES (?1, ?2, ?3)")?;
                    statement.execute(params![self.run, self.lines, text])?;
                    self.lines += 1;
                }
            }
        }
        if let Some(outcome) = outcome {
            let ended = milliseconds(Timestamp::now());
            transaction.execute("UPDATE run SET ended = ?1, outcome = ?2 WHERE id = ?3", params![ended, outcome.name(), self.run])?;
        }
        transaction.commit()
    }
}

/// A line, or the beginning of one that is too long to be kept, which says so.
fn shortened(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}… (cut here, for the line has {} bytes)", &text[..text.floor_char_boundary(longest)], text.len()))
}

/// Whether it may be possible later.
fn may_pass(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DiskFull))
}

fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

/// A task of a run.
pub(super) fn insert(transaction: &Transaction, run: i64, entry: &Entry) -> rusqlite::Result<()> {
    const INSERT: &str = "INSERT OR REPLACE INTO task
        (run, number, name, variable, part, parts, joins, key, made_of, cores, memory, walltime_ms, state)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'waiting')";
    let Entry { task, name, variable, part, joins, key, parts, request, knows_files: _ } = entry;
    let walltime = request.duration().map(|time| signed(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)));
    transaction.prepare_cached(INSERT)?.execute(params![
        run,
        task,
        name,
        variable,
        part.map(|(index, _)| index),
        part.map(|(_, of)| of),
        joins,
        key.to_string(),
        parts.as_ref().and_then(|parts| serde_json::to_string(parts).ok()),
        request.cores().get(),
        request.memory_bytes().map(signed),
        walltime,
    ])?;
    Ok(())
}

/// What became of a task.
pub(super) fn change(transaction: &Transaction, run: i64, task: u32, state: &State) -> rusqlite::Result<()> {
    let set = |columns: &str, values: &[&dyn rusqlite::ToSql]| -> rusqlite::Result<()> {
        let mut statement = transaction.prepare_cached(&format!("UPDATE task SET {columns} WHERE run = ?1 AND number = ?2"))?;
        let keys: [&dyn rusqlite::ToSql; 2] = [&run, &task];
        statement.execute(keys.iter().chain(values).copied().collect::<Vec<_>>().as_slice()).map(|_| ())
    };
    match state {
        State::Kept { attempt } => set("state = ?3, attempt = ?4", &[&TaskState::Kept.name(), attempt]),
        State::Shared { attempt } => set("state = ?3, attempt = ?4", &[&TaskState::Shared.name(), attempt]),
        State::Waiting { attempt, job } => set("state = ?3, attempt = ?4, job = ?5", &[&TaskState::Waiting.name(), attempt, job]),
        State::Pausing { attempt } => set("state = ?3, attempt = ?4", &[&TaskState::Waiting.name(), attempt]),
        State::Running => set("state = ?3", &[&TaskState::Running.name()]),
        State::Lacking { .. } => Ok(()),
        State::Ended(end @ End { cause, times, usage }) => {
            let name = end.state().name();
            let (started, ended) = times.map(|(started, ended)| (milliseconds(started), milliseconds(ended))).unzip();
            let (peak, cpu) = usage.map(|usage| (signed(usage.peak_rss), signed(usage.user_us + usage.system_us))).unzip();
            let cause = cause.as_ref().map(Cause::to_string);
            set(
                "state = ?3, cause = ?4, started = ?5, ended = ?6, peak_rss = ?7, cpu_us = ?8",
                &[&name, &cause, &started, &ended, &peak, &cpu],
            )
        }
    }
}

/// SQLite knows no unsigned numbers.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn milliseconds(time: Timestamp) -> i64 {
    signed(time.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_disk_does_not_take_is_written_later() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(directory.path()).expect("writable");
        let connection = index::in_memory(&store).expect("memory");
        let limit = |connection: &Connection, pages: u32| {
            connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).expect("SQL");
        };
        limit(&connection, 1);
        let mut writer = Writer { connection, run: 1, path: store.index_path(), lines: 0 };
        let mut pending = vec![Event::Line("x".repeat(1 << 20).into())];
        writer.commit(&mut pending, None).expect("no reason to give up");
        assert_eq!((pending.len(), writer.lines), (1, 0));
        limit(&writer.connection, 100_000);
        writer.commit(&mut pending, None).expect("there is room");
        assert_eq!((pending.len(), writer.lines), (0, 1));
    }

    #[test]
    fn a_line_that_is_cut_says_so() {
        assert_eq!(shortened("äöü", 6), "äöü");
        assert_eq!(shortened("äöü", 5), "äö… (cut here, for the line has 6 bytes)");
    }
}
