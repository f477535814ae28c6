//! Processes for jobs that are not begun by running the program but copied from one that is ready.
//!
//! Running this program (loading it, linking it, reading its tables) takes longer than a small job. So one process of it, the server
//! (`scl serve`), does that once, waits for orders, and copies itself for each. The copies are children of this process, which therefore
//! learns how they end as of any child, and they are named like what they do: `scl exec DIR`. The server holds nothing of theirs.
//! When it cannot be had, or does not do what it should, the program is run instead.
//!
//! An order is the attempt's directory and settings of the environment. The answer is the number of the process, given by that process
//! itself when it is on its way: who gets no answer knows that there is no such process, or that it does not go on.

use std::ffi::{OsStr, OsString};
use std::io::{self, Error, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::{Launcher, system};

/// How long an answer may take, the start of the server included.
const PATIENCE: Duration = Duration::from_secs(10);

/// After so many orders that came to nothing the server is not asked any more.
const MOST_FAILURES: u32 = 3;

/// No order is longer.
const LONGEST: usize = 1 << 20;

/// What the server says when it could not make a process.
pub const NO_PROCESS: i32 = 0;

/// What a process is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The attempt's.
    pub directory: PathBuf,
    /// Names and values.
    pub environment: Vec<(OsString, OsString)>,
}

impl Order {
    /// Sends it: a length, then words with zeros between them, which no word can hold.
    pub fn send(&self, line: &mut impl Write) -> io::Result<()> {
        let settings = self.environment.iter().map(|(name, value)| [name.as_os_str(), value].join(OsStr::new("=")));
        let words: Vec<_> = std::iter::once(self.directory.clone().into_os_string()).chain(settings).collect();
        let text = words.join(OsStr::new("\0"));
        let length = u32::try_from(text.len()).ok().filter(|length| *length as usize <= LONGEST);
        let mut bytes = length.ok_or_else(|| Error::from(ErrorKind::InvalidInput))?.to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        line.write_all(&bytes)
    }

    /// Waits for one; nothing when there will be none any more.
    pub fn receive(line: &mut impl Read) -> Option<Self> {
        let mut length = [0; 4];
        line.read_exact(&mut length).ok()?;
        let length = usize::try_from(u32::from_le_bytes(length)).ok().filter(|length| *length <= LONGEST)?;
        let mut text = vec![0; length];
        line.read_exact(&mut text).ok()?;
        let mut words = text.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec()));
        let directory = words.next()?.into();
        Some(Order { directory, environment: words.map(|word| setting(&word)).collect::<Option<_>>()? })
    }
}

fn setting(word: &OsStr) -> Option<(OsString, OsString)> {
    let mut parts = word.as_bytes().splitn(2, |byte| *byte == b'=').map(|part| OsString::from_vec(part.to_vec()));
    let name = parts.next().filter(|name| !name.is_empty())?;
    Some((name, parts.next()?))
}

/// Where processes for jobs come from.
#[derive(Debug)]
pub(super) struct Nursery {
    /// For one job alone a server is not worth it.
    asked: bool,
    server: Option<Server>,
    failures: u32,
    patience: Duration,
}

impl Default for Nursery {
    fn default() -> Self {
        Nursery { asked: false, server: None, failures: 0, patience: PATIENCE }
    }
}

impl Nursery {
    /// A process for an order, child of this one and leader of its group; nothing where the program is to be run instead.
    pub(super) fn process(&mut self, launcher: &Launcher, order: &Order) -> Option<Pid> {
        let arguments = launcher.server.as_ref()?;
        if !std::mem::replace(&mut self.asked, true) || self.failures >= MOST_FAILURES {
            return None;
        }
        match self.try_process(&launcher.program, arguments, order) {
            Ok(pid) => Some(pid),
            Err(error) => {
                // who has waited once for nothing does not do so again
                let is_deaf = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                self.failures = if is_deaf { MOST_FAILURES } else { self.failures + 1 };
                self.server = None;
                None
            }
        }
    }

    fn try_process(&mut self, program: &Path, arguments: &[OsString], order: &Order) -> io::Result<Pid> {
        let server = match &mut self.server {
            Some(server) => server,
            none => none.insert(Server::start(program, arguments, &order.environment, self.patience)?),
        };
        order.send(&mut server.line)?;
        let mut answer = [0; 4];
        server.line.read_exact(&mut answer)?;
        match i32::from_le_bytes(answer) {
            number if is_child(number) => Ok(Pid::from_raw(number)),
            // it could not begin, and says so before it ends
            number if is_child(number.saturating_neg()) => {
                let _ = system::wait(Pid::from_raw(-number));
                Err(Error::other("the process could not begin"))
            }
            _ => Err(Error::from(ErrorKind::InvalidData)),
        }
    }

    /// Waits for a server that does not answer for no longer than this.
    #[cfg(test)]
    pub(super) fn limit(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// How often it was of no use.
    #[cfg(test)]
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }
}

/// Whether this is the number of a child of this process.
fn is_child(number: i32) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    // it may have ended by now
    number > 0 && waitid(Id::Pid(Pid::from_raw(number)), flags) != Err(nix::errno::Errno::ECHILD)
}

/// The process that copies itself. It ends when the other end of its line is gone, also when this process is killed.
#[derive(Debug)]
struct Server {
    process: Child,
    line: UnixStream,
}

impl Server {
    /// In a group of its own, so that what is meant for this process does not reach it. The environment is one that its first copies
    /// need not change much.
    fn start(program: &Path, arguments: &[OsString], environment: &[(OsString, OsString)], patience: Duration) -> io::Result<Self> {
        let (line, its_end) = UnixStream::pair()?;
        line.set_read_timeout(Some(patience))?;
        line.set_write_timeout(Some(patience))?;
        let mut command = Command::new(program);
        command.args(arguments).envs(environment.iter().cloned()).stdin(OwnedFd::from(its_end)).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Server { process: command.process_group(0).spawn()?, line })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // it has nothing to put in order, and may be stuck
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
