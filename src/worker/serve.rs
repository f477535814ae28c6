//! `scl serve`: the process that copies itself for each job, see [`crate::batch::local::Order`].

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout, setpgid};

use super::title::Title;
use super::{Exit, exec};
use crate::batch::local::{NO_PROCESS, Order, Role, fork_sibling, set_environment};
use crate::diagnostic::Diagnostic;
use crate::eval::Input;
use crate::job::{Attempt, Description, FileError};
use crate::value::Value;

/// Makes processes for the orders that come in on stdin, until there are no more; each runs its attempt, as [`exec`] does.
///
/// Nothing is evaluated before the copy: what is random in this process would be the same in all copies.
pub fn serve<F>(evaluate: F) -> Exit
where
    F: FnOnce(&Description, &[Input]) -> Result<Value, Vec<Diagnostic>> + Send + 'static,
{
    let Ok(mut server) = Server::begin() else { return Exit::Refused };
    while let Some(order) = Order::receive(&mut server.line) {
        match fork_sibling() {
            Ok(Role::Original) => {}
            Ok(Role::Copy) => return server.run(&order, evaluate),
            Err(_) if server.answer(NO_PROCESS).is_ok() => {}
            Err(_) => break,
        }
    }
    Exit::Done
}

struct Server {
    line: UnixStream,
    title: Title,
}

impl Server {
    /// What copies need is there before it is ready: nothing to read on stdin, and a title that can be changed.
    fn begin() -> io::Result<Self> {
        let line = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        dup2_stdin(File::open("/dev/null")?)?;
        let title = Title::find()?;
        title.set(&[OsStr::new("serve")])?;
        Ok(Server { line, title })
    }

    fn answer(&mut self, number: i32) -> io::Result<()> {
        self.line.write_all(&number.to_le_bytes())
    }

    /// Becomes the process of a job. Whoever ordered it and is gone, or does not wait any longer, does not get it.
    fn run<F>(mut self, order: &Order, evaluate: F) -> Exit
    where
        F: FnOnce(&Description, &[Input]) -> Result<Value, Vec<Diagnostic>> + Send + 'static,
    {
        let own = Pid::this().as_raw();
        let ready = self.settle_in(order).is_ok();
        let answered = self.answer(if ready { own } else { -own }).is_ok();
        drop(self);
        if ready && answered { exec(&order.directory, evaluate) } else { Exit::Refused }
    }

    /// All that is otherwise done between the making of a process and the beginning of its program.
    fn settle_in(&self, order: &Order) -> io::Result<()> {
        // first, for whoever looks for jobs finds them by their names
        self.title.set(&[OsStr::new("exec"), order.directory.as_os_str()])?;
        setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        let (stdout, stderr) = streams(&order.directory).map_err(io::Error::other)?;
        dup2_stdout(stdout)?;
        dup2_stderr(stderr)?;
        set_environment(order.environment.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())))
    }
}

fn streams(directory: &Path) -> Result<(File, File), FileError> {
    let attempt = Attempt::open(directory)?;
    Ok((Attempt::stream(&attempt.stdout())?, Attempt::stream(&attempt.stderr())?))
}
