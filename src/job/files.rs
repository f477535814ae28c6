//! Files that are whole or not there.
//!
//! A file of a job is written under a temporary name and renamed, so a reader, on this machine or another, never sees half of one; but
//! not what nobody reads before something else is in place: files of a directory that is prepared, and a result, which counts once a
//! manifest names it. Only results and manifests are forced to the disk: what a task is given is verified before it is used, and can be written
//! again, and forcing every file would make a job cost many times as much. Directories are for the user alone. Every fault says the path.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use super::digest::Digest;
use super::mapped;
use super::points::point;
use crate::diagnostic::Fault;
use crate::value::codec::Encoded;

/// What can be wrong with a file or directory of the store.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refuses.
    #[error("cannot {action} {path:?}: {source}")]
    Io {
        /// `read`, `write`, …
        action: &'static str,
        /// Of what.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// It is not what this program writes.
    #[error("{path:?} is damaged: {message}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where it ends to make sense.
        message: String,
    },
    /// Another layout of the file.
    #[error("{path:?} has format {found}, but this program reads format {expected}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u32,
        /// What it would have to say.
        expected: u32,
    },
    /// Another version of the program wrote it.
    #[error("{path:?} was written by scl {found}, but this is scl {expected}")]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
        /// This program.
        expected: &'static str,
    },
    /// Not the bytes that were written.
    #[error("{path:?} was changed after it was written: its SHA-256 is {found}, not {expected}")]
    Checksum {
        /// The file.
        path: PathBuf,
        /// Of what is there.
        found: Digest,
        /// Of what was written.
        expected: Digest,
    },
    /// A file whose bytes are right, but are no value.
    #[error("{path:?} holds no value: {}", fault.message)]
    Value {
        /// The file.
        path: PathBuf,
        /// Why not.
        fault: Fault,
    },
    /// A task that has no written form.
    #[error("task {name} cannot be written: {message}")]
    Unserializable {
        /// The task.
        name: String,
        /// Why not.
        message: String,
    },
}

impl FileError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| FileError::Io { action, path, source }
    }

    pub(super) fn damaged(path: &Path, message: impl ToString) -> Self {
        FileError::Damaged { path: path.to_owned(), message: message.to_string() }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        let (code, help) = match &error {
            FileError::Io { .. } => ("E0801", None),
            FileError::Damaged { .. } => ("E0802", Some("run again with `--fresh` to compute it anew")),
            FileError::Format { .. } | FileError::Version { .. } => ("E0803", Some("run the whole model with one version of scl")),
            FileError::Checksum { .. } => ("E0804", Some("run again with `--fresh` to compute it anew")),
            FileError::Value { .. } | FileError::Unserializable { .. } => ("E0805", None),
        };
        let fault = Fault::new(code, error.to_string());
        match help {
            Some(help) => fault.help(help),
            None => fault,
        }
    }
}

/// Makes a directory, private to the user; fine if it is there.
pub fn make_dir(path: &Path) -> Result<(), FileError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(FileError::io("create", path))
}

/// Makes a directory, private to the user; `false` if something of that name is there.
pub fn make_new_dir(path: &Path) -> Result<bool, FileError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => {
            point();
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(FileError::io("create", path)(error)),
    }
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    fs::read(path).map_err(FileError::io("read", path))
}

/// The bytes of a file, if there is one.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::io("read", path)(error)),
    }
}

/// From this size on a file is mapped.
const LARGE: u64 = 64 << 10;

/// The bytes of a file, in memory or mapped.
#[derive(Debug)]
pub enum Held {
    /// In memory.
    Bytes(Vec<u8>),
    /// Mapped.
    Mapped(Mmap),
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        match self {
            Held::Bytes(bytes) => bytes,
            Held::Mapped(map) => map,
        }
    }
}

fn hold(path: &Path) -> io::Result<Held> {
    if fs::metadata(path)?.len() < LARGE { fs::read(path).map(Held::Bytes) } else { mapped::map(path).map(Held::Mapped) }
}

/// What a file is filled with.
pub trait Filling {
    /// Writes all of it.
    fn write_to(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl<T: AsRef<[u8]> + ?Sized> Filling for T {
    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.as_ref())
    }
}

impl Filling for Encoded {
    fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut buffered = BufWriter::new(out);
        Encoded::write_to(self, &mut buffered)?;
        buffered.flush()
    }
}

/// When a file was written, if there is one.
pub fn written(path: &Path) -> Result<Option<Timestamp>, FileError> {
    match fs::metadata(path).and_then(|file| file.modified()) {
        Ok(time) => Ok(Some(Timestamp::of(time))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::io("read", path)(error)),
    }
}

/// The bytes of a file, if they are those that were written.
pub fn read_checked(path: &Path, expected: Digest) -> Result<Vec<u8>, FileError> {
    check(path, read(path)?, expected)
}

/// The same of a file of a value, which is mapped when it is large.
pub fn hold_checked(path: &Path, expected: Digest) -> Result<Held, FileError> {
    check(path, hold(path).map_err(FileError::io("read", path))?, expected)
}

fn check<B: AsRef<[u8]>>(path: &Path, bytes: B, expected: Digest) -> Result<B, FileError> {
    let found = Digest::of(bytes.as_ref());
    if found == expected { Ok(bytes) } else { Err(FileError::Checksum { path: path.to_owned(), found, expected }) }
}

/// Puts a file in place, all of it or nothing. After a crash of the machine it may be damaged, which its readers find out.
pub fn write(path: &Path, bytes: &(impl Filling + ?Sized)) -> Result<(), FileError> {
    replace(path, bytes, false).map_err(FileError::io("write", path))
}

/// Writes a file that nobody reads before a later one is in place; what was there is lost.
pub fn fill(path: &Path, bytes: &(impl Filling + ?Sized)) -> Result<(), FileError> {
    write_plainly(path, bytes, false).map_err(FileError::io("write", path))
}

/// The same with its bytes on the disk before it returns; its name is there once a later file of the same directory was written
/// durably.
pub fn fill_synced(path: &Path, bytes: &(impl Filling + ?Sized)) -> Result<(), FileError> {
    write_plainly(path, bytes, true).map_err(FileError::io("write", path))
}

/// Puts a file in place, all of it or nothing, and on the disk before it returns, with all that stands beside it.
pub fn write_durably(path: &Path, bytes: &(impl Filling + ?Sized)) -> Result<(), FileError> {
    replace(path, bytes, true).and_then(|()| sync_parent(path)).map_err(FileError::io("write", path))
}

/// Puts a file in place, all of it or nothing, if nothing of that name is there; of several who try, one succeeds.
pub fn claim(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    let temporary = beside(path);
    let written = write_new(&temporary, bytes, false);
    point();
    if written.is_ok() && renameat2(AT_FDCWD, &temporary, AT_FDCWD, path, RenameFlags::RENAME_NOREPLACE) == Ok(()) {
        point();
        return Ok(true);
    }
    // someone has the name, or the filesystem cannot do this at once
    let linked = written.map(|()| fs::hard_link(&temporary, path));
    // over a network the reply may be lost, and the question be repeated
    let is_ours = fs::metadata(&temporary).is_ok_and(|file| file.nlink() > 1);
    point();
    let _ = fs::remove_file(&temporary);
    let claimed = match linked {
        Ok(_) if is_ours => Ok(()),
        // a filesystem without links: the name is taken at once, its content follows
        Ok(Err(error)) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => {
            write_new(path, bytes, false)
        }
        Ok(linked) => linked,
        Err(error) => Err(error),
    };
    match claimed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(FileError::io("write", path)(error)),
    }
}

/// Puts a directory that was prepared under another name in place; `false` if one is there already.
pub fn put_dir(prepared: &Path, path: &Path) -> Result<bool, FileError> {
    point();
    match fs::rename(prepared, path) {
        Ok(()) => Ok(true),
        Err(_) if path.is_dir() => Ok(false),
        Err(error) => Err(FileError::io("create", path)(error)),
    }
}

/// A name in the same directory that nobody else uses.
pub fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.{}-{count}", host(), std::process::id()));
    path.with_file_name(name)
}

/// Whether a name is one of those, of a file that is being written, or never was to its end.
pub fn is_beside(name: &OsStr) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = name.to_string_lossy();
    let tail = name.strip_prefix('.').and_then(|name| name.rsplit_once('.')?.1.split_once('-'));
    tail.is_some_and(|(process, count)| is_number(process) && is_number(count))
}

/// The name of this machine.
pub fn host() -> String {
    nix::unistd::gethostname().map_or_else(|_| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A JSON document with the format's and the program's version on it.
#[derive(Serialize)]
struct Document<'a, T> {
    format: u32,
    scl: &'a str,
    content: &'a T,
}

/// The versions of a document, whatever else it holds.
#[derive(Deserialize)]
struct Header {
    format: u32,
    scl: String,
}

/// The rest of a document, once the versions are known to be right.
#[derive(Deserialize)]
struct Content<T> {
    content: T,
}

/// Whose files are good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Any version of this program, as long as the format is the same.
    Any,
    /// This version only.
    ThisVersion,
}

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A JSON document, with versions.
pub fn to_json(path: &Path, format: u32, content: &impl Serialize) -> Result<Vec<u8>, FileError> {
    let document = Document { format, scl: VERSION, content };
    let mut bytes = serde_json::to_vec_pretty(&document).map_err(|error| FileError::damaged(path, error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a JSON document that [`to_json`] wrote; versions first, so that another version's file is not called damaged.
pub fn from_json<T: DeserializeOwned + Send>(path: &Path, bytes: &[u8], format: u32, writer: Writer) -> Result<T, FileError> {
    let (header, depth) = header(path, bytes)?;
    if header.format != format {
        return Err(FileError::Format { path: path.to_owned(), found: header.format, expected: format });
    }
    if writer == Writer::ThisVersion && header.scl != VERSION {
        return Err(FileError::Version { path: path.to_owned(), found: header.scl, expected: VERSION });
    }
    Ok(parse::<Content<T>>(path, bytes, depth)?.content)
}

/// The same of a file that may not be there.
pub fn json_if_there<T: DeserializeOwned + Send>(path: &Path, format: u32) -> Result<Option<T>, FileError> {
    let Some(bytes) = read_if_there(path)? else { return Ok(None) };
    from_json(path, &bytes, format, Writer::Any).map(Some)
}

/// The same of any format up to the newest one that is known, for what all of them have in common; gives the format too.
pub fn from_json_up_to<T: DeserializeOwned + Send>(path: &Path, bytes: &[u8], newest: u32) -> Result<(u32, T), FileError> {
    let (header, depth) = header(path, bytes)?;
    if header.format > newest {
        return Err(FileError::Format { path: path.to_owned(), found: header.format, expected: newest });
    }
    Ok((header.format, parse::<Content<T>>(path, bytes, depth)?.content))
}

/// The versions, and how deep it is.
fn header(path: &Path, bytes: &[u8]) -> Result<(Header, usize), FileError> {
    let depth = depth(bytes);
    if depth > DEEPEST {
        return Err(FileError::damaged(path, "it is nested too deeply"));
    }
    Ok((parse(path, bytes, depth)?, depth))
}

/// Deeper than any expression that the parser lets through, and still within [`STACK`].
const DEEPEST: usize = 4000;

/// Address space, of which only what is used becomes memory.
const STACK: usize = 256 << 20;

/// What any stack has room for. A thread for each file would take longer than all else that is done with it.
const SHALLOW: usize = 64;

/// serde recurses, so a deep tree is read on a stack that is large enough for [`DEEPEST`].
fn parse<T: DeserializeOwned + Send>(path: &Path, bytes: &[u8], depth: usize) -> Result<T, FileError> {
    let read = || {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        json.disable_recursion_limit();
        T::deserialize(&mut json).and_then(|value| json.end().map(|()| value))
    };
    if depth <= SHALLOW {
        return read().map_err(|error| FileError::damaged(path, error));
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read).map_err(FileError::io("read", path))?;
        match thread.join() {
            Ok(value) => value.map_err(|error| FileError::damaged(path, error)),
            Err(_) => Err(FileError::damaged(path, "reading it failed")),
        }
    })
}

/// How deeply brackets nest, outside of strings.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn replace(path: &Path, bytes: &(impl Filling + ?Sized), sync: bool) -> io::Result<()> {
    let temporary = beside(path);
    let written = write_new(&temporary, bytes, sync).and_then(|()| {
        point();
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // The fault to report is the first one; a leftover temporary file does no harm.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    point();
    Ok(())
}

fn write_plainly(path: &Path, bytes: &(impl Filling + ?Sized), sync: bool) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    point();
    put(file, bytes, sync)?;
    point();
    Ok(())
}

fn write_new(path: &Path, bytes: &(impl Filling + ?Sized), sync: bool) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    point();
    put(file, bytes, sync)
}

fn put(mut file: File, bytes: &(impl Filling + ?Sized), sync: bool) -> io::Result<()> {
    bytes.write_to(&mut file)?;
    if sync { file.sync_all() } else { Ok(()) }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_says_who_wrote_it() {
        let path = Path::new("x.json");
        let bytes = to_json(path, 3, &vec![1, 2]).expect("numbers");
        assert_eq!(from_json::<Vec<u8>>(path, &bytes, 3, Writer::ThisVersion).expect("as written"), [1, 2]);
        assert!(matches!(from_json::<Vec<u8>>(path, &bytes, 4, Writer::Any), Err(FileError::Format { found: 3, expected: 4, .. })));
        let other = String::from_utf8(bytes.clone()).expect("JSON").replace(VERSION, "99.0.0");
        assert_eq!(from_json::<Vec<u8>>(path, other.as_bytes(), 3, Writer::Any).expect("same format"), [1, 2]);
        assert!(matches!(from_json::<Vec<u8>>(path, other.as_bytes(), 3, Writer::ThisVersion), Err(FileError::Version { .. })));
        for end in 0..bytes.len() - 2 {
            assert!(from_json::<Vec<u8>>(path, &bytes[..end], 3, Writer::Any).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        #[derive(Debug, Serialize, Deserialize)]
        struct Deep(Vec<Deep>);
        let nested = |depth: usize| format!("{{\"format\":1,\"scl\":\"1\",\"content\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let path = Path::new("x.json");
        assert!(from_json::<Deep>(path, nested(3000).as_bytes(), 1, Writer::Any).is_ok());
        assert!(from_json::<Deep>(path, nested(100_000).as_bytes(), 1, Writer::Any).is_err());
        assert_eq!(depth(br#"{"[[[\"[": ["]"]}"#), 2);
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("a b\n'c");
        write(&path, b"one").expect("writable");
        write(&path, b"two").expect("writable");
        assert_eq!(read(&path).expect("readable"), b"two");
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
        assert!(read_checked(&path, Digest::of(b"two")).is_ok());
        assert!(matches!(read_checked(&path, Digest::of(b"one")), Err(FileError::Checksum { .. })));
    }

    #[test]
    fn names_of_files_that_are_being_written_are_known() {
        assert!(beside(Path::new("a/b.json")).file_name().is_some_and(is_beside));
        for name in [".gitignore", "b.json", ".b.json", ".b.1", ".b.1-", "b.host.1-2"] {
            assert!(!is_beside(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn faults_say_the_path() {
        let path = Path::new("/proc/nobody can write here/x");
        let error = write(path, b"").expect_err("not writable").to_string();
        assert!(error.contains("nobody can write here/x"), "{error}");
        let fault = Fault::from(make_dir(path).expect_err("not writable"));
        assert_eq!(fault.code, "E0801");
    }
}
