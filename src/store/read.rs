//! Reading the index, also while a driver writes it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use super::index::{self, IndexError};
use super::standing::{RunState, TaskState};
use super::{End, Store};
use crate::batch::slurm::CLUSTER;
use crate::job::{Attempt, Digest, Holder, Job, Life, Parts, Timestamp};

mod unnoted;

/// What is known of the runs of a store.
#[derive(Debug)]
pub struct Records {
    connection: Connection,
    store: Store,
}

/// Where that comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// From the index.
    Index,
    /// There is no index yet: from the directories of jobs.
    Directories,
    /// The index cannot be used, for this reason: from the directories of jobs.
    DirectoriesInstead(String),
}

/// A run of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Its number in this store.
    pub run: i64,
    /// The path of the program; empty for the run that stands for all that were forgotten.
    pub model: String,
    /// Of the program's texts.
    pub digest: String,
    /// `workflow`, …, or `found`.
    pub mode: String,
    /// How many batch tasks it has; there are as many [`Task`]s as have had their inputs.
    pub planned: u32,
    /// In milliseconds since 1970.
    pub started: u64,
    /// In milliseconds since 1970.
    pub ended: Option<u64>,
    /// How it stands.
    pub state: RunState,
    /// The process that drives it, or drove it, as far as that is known.
    #[serde(skip)]
    pub driver: Option<Holder>,
}

/// A batch task of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// `rates 1/2`
    pub name: String,
    /// `rates`
    pub variable: String,
    /// Which part, from 0.
    pub part: Option<u32>,
    /// Of how many.
    pub parts: Option<u32>,
    /// Whether the parts, put one behind the other, are the value of the variable.
    pub joins: bool,
    /// Where its result is kept.
    pub key: Digest,
    /// What the key was made of, if that is known.
    pub made_of: Option<Parts>,
    /// How many it asks for.
    pub cores: u32,
    /// In bytes, for all cores.
    pub memory: Option<u64>,
    /// In milliseconds.
    pub walltime_ms: Option<u64>,
    /// How it stands.
    pub state: TaskState,
    /// The directory of its attempt.
    pub attempt: Option<PathBuf>,
    /// What the batch system calls it.
    pub job: Option<String>,
    /// Why it failed.
    pub cause: Option<String>,
    /// In milliseconds since 1970.
    pub started: Option<u64>,
    /// In milliseconds since 1970.
    pub ended: Option<u64>,
    /// The most memory of all its processes, in bytes.
    pub peak_rss: Option<u64>,
    /// Processor time, in microseconds.
    pub cpu_us: Option<u64>,
}

/// From the latest task of this name on, until one is of the program: there is an index of the names.
fn last() -> String {
    format!(
        "SELECT {TASK} FROM task WHERE name = ?2 AND made_of IS NOT NULL \
         AND EXISTS (SELECT 1 FROM run WHERE run.id = task.run AND run.model = ?1) ORDER BY task.run DESC LIMIT 1"
    )
}

/// Everything that is ever read, for who wants to know whether it is there.
pub(super) const TABLES: [&str; 3] = [
    "SELECT id, model, digest, mode, planned, started, ended, outcome, driver, jobs FROM run",
    "SELECT run, number, name, variable, part, parts, joins, key, made_of, cores, memory, walltime_ms, state, attempt, job, cause, \
     started, ended, peak_rss, cpu_us FROM task",
    "SELECT run, number, text FROM line",
];

/// Runs that began before a time, without the last one of each program, and the last one that was done.
pub(super) const FORGETTABLE: &str = "SELECT id FROM run WHERE started < ?1 \
    AND (model = '' OR id NOT IN (SELECT max(id) FROM run GROUP BY model)) \
    AND id NOT IN (SELECT max(id) FROM run WHERE outcome = 'done' GROUP BY model)";

const RUN: &str = "id, model, digest, mode, planned, started, ended, outcome, driver";
const TASK: &str = "name, variable, part, parts, joins, key, made_of, cores, memory, walltime_ms, state, attempt, job, cause, started, \
                    ended, peak_rss, cpu_us";

impl Records {
    /// Reads what there is; when the index cannot be used, from the directories of jobs.
    pub fn open(store: &Store) -> Result<(Self, Found), IndexError> {
        let (connection, found) = match index::open_to_read(store) {
            Ok(Some(connection)) => (connection, Found::Index),
            Ok(None) => (index::in_memory(store)?, Found::Directories),
            Err(error @ IndexError::Newer { .. }) => return Err(error),
            Err(error) => (index::in_memory(store)?, Found::DirectoriesInstead(error.to_string())),
        };
        let records = Records { connection, store: store.clone() };
        // damage shows in the pages that are used
        match (&found, records.runs(None, 1)) {
            (Found::Index, Err(error)) => {
                let connection = index::in_memory(store)?;
                Ok((Records { connection, store: store.clone() }, Found::DirectoriesInstead(error.to_string())))
            }
            _ => Ok((records, found)),
        }
    }

    /// The last runs, of one program or of all, the latest first.
    pub fn runs(&self, model: Option<&str>, most: u32) -> Result<Vec<Run>, IndexError> {
        let sql = format!("SELECT {RUN} FROM run WHERE ?1 IS NULL OR model = ?1 ORDER BY id DESC LIMIT ?2");
        self.all(&sql, params![model, most], run)
    }

    /// The run of this number.
    pub fn run(&self, number: i64) -> Result<Option<Run>, IndexError> {
        let sql = format!("SELECT {RUN} FROM run WHERE id = ?1");
        Ok(self.all(&sql, params![number], run)?.pop())
    }

    /// The tasks of a run whose keys are known, in the order of the program. Of a run without a driver those that were not over are
    /// looked up in their directories.
    pub fn tasks(&self, run: &Run) -> Result<Vec<Task>, IndexError> {
        let sql = format!("SELECT {TASK} FROM task WHERE run = ?1 ORDER BY number");
        let mut tasks = self.all(&sql, params![run.run], |row| self.task(row))?;
        tasks.extend(unnoted::unnoted(&self.store, run, &tasks));
        tasks.iter_mut().for_each(|task| call_by_id(task, self.store.jobs()));
        if run.state != RunState::Running {
            tasks.iter_mut().for_each(settle);
        }
        share(&mut tasks);
        Ok(tasks)
    }

    /// The names of the batch tasks that a run may have, if it has told them.
    pub fn planned(&self, run: &Run) -> Result<Vec<String>, IndexError> {
        let text = self.all("SELECT jobs FROM run WHERE id = ?1", params![run.run], |row| row.get::<_, Option<String>>(0))?.pop().flatten();
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// The keys of all tasks of a run, or of all runs of its program.
    pub fn keys(&self, run: &Run, all_runs: bool) -> Result<Vec<Digest>, IndexError> {
        let sql = "SELECT DISTINCT key FROM task WHERE run = ?1 OR ?2 AND run IN (SELECT id FROM run WHERE model = ?3)";
        let mut keys = self.all(sql, params![run.run, all_runs, run.model], |row| digest(row, 0))?;
        keys.extend(unnoted::unnoted(&self.store, run, &[]).into_iter().map(|task| task.key));
        Ok(keys)
    }

    /// What a run printed.
    pub fn lines(&self, run: &Run) -> Result<Vec<String>, IndexError> {
        self.all("SELECT text FROM line WHERE run = ?1 ORDER BY number", params![run.run], |row| row.get(0))
    }

    /// When each key was used last, in milliseconds since 1970, for those that were used at all.
    pub fn last_uses(&self) -> Result<Vec<(Digest, u64)>, IndexError> {
        let sql = "SELECT task.key, max(run.started) FROM task JOIN run ON run.id = task.run WHERE run.model != '' GROUP BY task.key";
        self.all(sql, (), |row| Ok((digest(row, 0)?, unsigned(row, 1)?.unwrap_or(0))))
    }

    /// The keys of what the next run of any program may take: all that its runs used since the last one that was done, for those after
    /// that one did not come to all of it. Of a program of which no run was done, all.
    pub fn reachable(&self) -> Result<Vec<Digest>, IndexError> {
        let sql = "SELECT DISTINCT task.key FROM task JOIN run ON run.id = task.run WHERE run.id >= \
                   coalesce((SELECT max(done.id) FROM run AS done WHERE done.model = run.model AND done.outcome = 'done'), 0)";
        self.all(sql, (), |row| digest(row, 0))
    }

    /// How many runs began before a time, in milliseconds since 1970, and nothing needs them.
    pub(super) fn forgettable(&self, oldest: i64) -> Result<usize, IndexError> {
        Ok(self.all(FORGETTABLE, params![oldest], |row| row.get::<_, i64>(0))?.len())
    }

    /// The last time that a task of this name in this program had a key, if it ever had.
    pub fn last(&self, model: &str, name: &str) -> Result<Option<Task>, IndexError> {
        Ok(self.all(&last(), params![model, name], |row| self.task(row))?.pop())
    }

    fn all<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, IndexError> {
        let rows = || self.connection.prepare_cached(sql)?.query_map(parameters, read)?.collect::<rusqlite::Result<Vec<T>>>();
        rows().map_err(IndexError::sqlite(&self.store.index_path()))
    }

    fn task(&self, row: &Row) -> rusqlite::Result<Task> {
        let key = digest(row, 5)?;
        let attempt: Option<u32> = row.get(11)?;
        let made_of: Option<String> = row.get(6)?;
        Ok(Task {
            name: row.get(0)?,
            variable: row.get(1)?,
            part: row.get(2)?,
            parts: row.get(3)?,
            joins: row.get(4)?,
            key,
            made_of: made_of.and_then(|parts| serde_json::from_str(&parts).ok()),
            cores: row.get(7)?,
            memory: unsigned(row, 8)?,
            walltime_ms: unsigned(row, 9)?,
            state: TaskState::of(&row.get::<_, String>(10)?).ok_or_else(|| unknown(10))?,
            attempt: attempt.map(|number| Job::at(self.store.jobs(), key).attempt(number).path().to_owned()),
            job: row.get(12)?,
            cause: row.get(13)?,
            started: unsigned(row, 14)?,
            ended: unsigned(row, 15)?,
            peak_rss: unsigned(row, 16)?,
            cpu_us: unsigned(row, 17)?,
        })
    }
}

impl Task {
    /// Its attempt, if it had one.
    pub fn attempt(&self) -> Option<Attempt> {
        Attempt::open(self.attempt.as_deref()?).ok()
    }

    /// Whether it is called this, or is a part of the variable that is.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.variable == name
    }
}

fn run(row: &Row) -> rusqlite::Result<Run> {
    let driver = serde_json::from_str::<Holder>(&row.get::<_, String>(8)?).ok();
    let outcome: Option<String> = row.get(7)?;
    let goes_on = || match driver.as_ref().map(Holder::life) {
        // of another machine nothing can be seen, and it has not said that it ended
        Some(Life::Here | Life::Elsewhere) => RunState::Running,
        Some(Life::Over) | None => RunState::Killed,
    };
    Ok(Run {
        run: row.get(0)?,
        model: row.get(1)?,
        digest: row.get(2)?,
        mode: row.get(3)?,
        planned: row.get(4)?,
        started: unsigned(row, 5)?.unwrap_or(0),
        ended: unsigned(row, 6)?,
        state: outcome.map_or_else(|| Some(goes_on()), |name| RunState::of(&name)).ok_or_else(|| unknown(7))?,
        driver,
    })
}

/// A job of a cluster is called as the cluster calls it, which its driver learns later.
fn call_by_id(task: &mut Task, jobs: &Path) {
    if task.job.as_deref().is_some_and(|job| job.starts_with(CLUSTER)) {
        let ticket = task.attempt().and_then(|attempt| attempt.ticket().ok()?);
        task.job = ticket.and_then(|ticket| ticket.job(jobs)).or(task.job.take());
    }
}

/// What waits for the job of another task stands as that one does, once it is known to have no result, and has the attempt that came last.
fn share(tasks: &mut [Task]) {
    let owners = tasks.iter().filter(|task| task.state != TaskState::Shared);
    let owners: HashMap<Digest, Task> = owners.map(|task| (task.key, task.clone())).collect();
    for task in tasks.iter_mut().filter(|task| task.state == TaskState::Shared) {
        let Some(owner) = owners.get(&task.key) else { continue };
        task.attempt.clone_from(&owner.attempt);
        if matches!(owner.state, TaskState::Failed | TaskState::Lost | TaskState::Cancelled) {
            task.state = owner.state;
            task.cause.clone_from(&owner.cause);
        }
    }
}

/// What the directory of a task says that its driver could not note any more.
fn settle(task: &mut Task) {
    if !matches!(task.state, TaskState::Waiting | TaskState::Running) {
        return;
    }
    let attempt = task.attempt();
    // of a signal the batch system knows more
    if let Some(cause) = attempt.as_ref().and_then(|attempt| attempt.verdict().ok()?) {
        task.state = End { cause: Some(cause.clone()), times: None, usage: None }.state();
        task.cause = Some(cause.to_string());
        return;
    }
    let manifest = attempt.as_ref().and_then(|attempt| attempt.manifest().ok().flatten());
    if let Some(manifest) = manifest {
        let end = End::of(&manifest);
        task.state = end.state();
        (task.started, task.ended) = end.times.map(|(Timestamp(started), Timestamp(ended))| (started, ended)).unzip();
        (task.peak_rss, task.cpu_us) = end.usage.map(|usage| (usage.peak_rss, usage.user_us + usage.system_us)).unzip();
        task.cause = end.cause.map(|cause| cause.to_string());
        return;
    }
    let submitted = attempt.as_ref().is_some_and(Attempt::is_submitted);
    task.state = match attempt.and_then(|attempt| attempt.life()) {
        // the batch system has not said that it is over
        Some(_) if submitted => TaskState::Running,
        None if submitted => TaskState::Waiting,
        Some(Life::Here | Life::Elsewhere) => TaskState::Running,
        Some(Life::Over) | None => TaskState::Lost,
    };
}

fn unknown(column: usize) -> rusqlite::Error {
    let error = "a word that this program does not know".into();
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error)
}

fn digest(row: &Row, column: usize) -> rusqlite::Result<Digest> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error)))
}

fn unsigned(row: &Row, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.map(|number| u64::try_from(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_task_of_a_name_is_found_without_looking_at_all() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = Store::open(directory.path()).expect("writable");
        let index = index::in_memory(&store).expect("memory");
        let mut plan = index.prepare(&format!("EXPLAIN QUERY PLAN {}", last())).expect("SQL");
        let steps = plan.query_map(params!["m", "a"], |row| row.get::<_, String>(3)).expect("a plan");
        let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().expect("text");
        assert!(steps[0].contains("task_of_name") && !steps.iter().any(|step| step.contains("TEMP B-TREE")), "{steps:?}");
    }
}
