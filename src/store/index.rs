//! The index: an SQLite file that needs no shared memory (no WAL), is written by the driver alone, and can be made anew.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Lock, Store, read, rebuild};
use crate::job::{FileError, Timestamp};

/// Step n brings an index of version n to version n + 1; a new file has version 0.
const STEPS: &[&str] = &[include_str!("index/1.sql"), include_str!("index/2.sql")];

/// How long a reader waits for a driver that is writing, which takes milliseconds.
const READER_PATIENCE: Duration = Duration::from_secs(10);

/// Up to this size an index is looked through before it is trusted; a larger one shows damage where it is used.
const CHECKED_SIZE: u64 = 64 << 20;

/// What can be wrong with an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A newer program made it.
    #[error("{path:?} has version {found}, but this program knows versions up to {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// SQLite refuses.
    #[error("{path:?}: {source}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Its word.
        source: rusqlite::Error,
    },
    /// The file around it.
    #[error(transparent)]
    File(#[from] FileError),
}

impl IndexError {
    pub(super) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |source| IndexError::Sqlite { path: path.clone(), source }
    }

    /// Whether the file itself is bad, and not only what one wanted to do with it.
    fn is_damage(&self) -> bool {
        match self {
            IndexError::Sqlite { source, .. } => match source.sqlite_error_code() {
                Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) || is_foreign(source),
                // values of other types than were written
                None => true,
            },
            IndexError::Newer { .. } | IndexError::File(_) => false,
        }
    }
}

/// Whether tables or columns are missing: it is a database, but not this one.
fn is_foreign(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::Unknown)
}

/// Opens the index for writing, brings it up to date, and makes it anew from the directories of jobs when it is missing or damaged;
/// then it says so. The lock makes this process the only one that writes.
pub(super) fn open(store: &Store, _: &Lock) -> Result<(Connection, Option<String>), IndexError> {
    let path = store.index_path();
    if path.exists() {
        match try_open(&path).and_then(|connection| check(&connection, &path).map(|()| connection)) {
            Ok(connection) => return Ok((connection, None)),
            Err(error) if error.is_damage() => {
                let aside = set_aside(&path)?;
                let connection = fresh(store, &path)?;
                let said = format!(
                    "the index of runs is damaged ({error}); it was set aside as {aside:?} and made anew from the directories of jobs"
                );
                return Ok((connection, Some(said)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((fresh(store, &path)?, None))
}

/// Opens the index for reading; nothing if there is none.
pub(super) fn open_to_read(store: &Store) -> Result<Option<Connection>, IndexError> {
    let path = store.index_path();
    if !path.exists() {
        return Ok(None);
    }
    let failed = IndexError::sqlite(&path);
    // to undo what a killed driver left half done, a reader must be able to write; where it cannot, SQLite opens it to read only
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX);
    let connection = connection.map_err(&failed)?;
    connection.busy_timeout(READER_PATIENCE).map_err(&failed)?;
    let version = version(&connection, &path)?;
    // a driver has made the file and not yet filled it, or it is to be brought up to date by the next driver
    if (version as usize) < STEPS.len() {
        return Ok(None);
    }
    Ok(Some(connection))
}

/// An index in memory, from the directories of jobs.
pub(super) fn in_memory(store: &Store) -> Result<Connection, IndexError> {
    let path = store.index_path();
    let mut connection = Connection::open_in_memory().map_err(IndexError::sqlite(&path))?;
    migrate(&mut connection, &path)?;
    rebuild::rebuild(&mut connection, store).map_err(IndexError::sqlite(&path))?;
    Ok(connection)
}

fn fresh(store: &Store, path: &Path) -> Result<Connection, IndexError> {
    let mut connection = try_open(path)?;
    rebuild::rebuild(&mut connection, store).map_err(IndexError::sqlite(path))?;
    Ok(connection)
}

fn try_open(path: &Path) -> Result<Connection, IndexError> {
    // SQLite would make it readable for others; its journal gets the mode of the file
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map_err(FileError::io("write", path))?;
    let failed = IndexError::sqlite(path);
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(&failed)?;
    connection.busy_timeout(READER_PATIENCE).map_err(&failed)?;
    // a journal that is emptied costs less than one that is removed and made again
    connection.pragma_update_and_check(None, "journal_mode", "truncate", |_| Ok(())).map_err(&failed)?;
    connection.pragma_update(None, "synchronous", "normal").map_err(&failed)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), IndexError> {
    let failed = IndexError::sqlite(path);
    let version = version(connection, path)?;
    for (number, step) in STEPS.iter().enumerate().skip(version as usize) {
        let transaction = connection.transaction().map_err(&failed)?;
        transaction.execute_batch(step).map_err(&failed)?;
        transaction.pragma_update(None, "user_version", number as u32 + 1).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
    }
    Ok(())
}

fn version(connection: &Connection, path: &Path) -> Result<u32, IndexError> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(IndexError::sqlite(path))?;
    let known = STEPS.len() as u32;
    if found > known { Err(IndexError::Newer { path: path.to_owned(), found, known }) } else { Ok(found) }
}

/// Whether all tables and columns are there, and, unless that takes too long, every page.
fn check(connection: &Connection, path: &Path) -> Result<(), IndexError> {
    for table in read::TABLES {
        connection.prepare(table).map_err(IndexError::sqlite(path))?;
    }
    if fs::metadata(path).is_ok_and(|file| file.len() > CHECKED_SIZE) {
        return Ok(());
    }
    let failed = IndexError::sqlite(path);
    let said: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0)).map_err(&failed)?;
    if said == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(failed(rusqlite::Error::SqliteFailure(code, Some(said))))
}

/// Renames the index and its journal, so that nothing is lost that someone could still read.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, FileError> {
    let stamp = Timestamp::now().0;
    let aside = path.with_file_name(format!("index.damaged-{stamp}.sqlite"));
    let journal = path.with_file_name("index.sqlite-journal");
    if journal.exists() {
        let aside = path.with_file_name(format!("index.damaged-{stamp}.sqlite-journal"));
        fs::rename(&journal, &aside).map_err(FileError::io("rename", &journal))?;
    }
    fs::rename(path, &aside).map_err(FileError::io("rename", path))?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_earlier_version_is_brought_up_to_date() {
        for version in 0..STEPS.len() {
            let mut connection = Connection::open_in_memory().expect("memory");
            STEPS[..version].iter().for_each(|step| connection.execute_batch(step).expect("SQL"));
            connection.pragma_update(None, "user_version", version as u32).expect("SQL");
            migrate(&mut connection, Path::new("x")).expect("a migration");
            let now: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a number");
            assert_eq!(now as usize, STEPS.len());
            connection.execute("DELETE FROM task", ()).expect("the table is there");
        }
    }

    #[test]
    fn a_newer_version_is_refused() {
        let mut connection = Connection::open_in_memory().expect("memory");
        connection.pragma_update(None, "user_version", 99).expect("SQL");
        let error = migrate(&mut connection, Path::new("x")).expect_err("newer");
        assert!(matches!(error, IndexError::Newer { found: 99, .. }) && !error.is_damage(), "{error}");
    }
}
