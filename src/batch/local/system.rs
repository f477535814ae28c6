//! Calls of the system that neither the standard library nor nix makes: a place with `unsafe`, as `value::memory` and
//! `job::mapped` are.

#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::{self, Error};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::ptr;

use nix::unistd::Pid;

/// Who goes on after a process was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The process that asked for it.
    Original,
    /// The copy.
    Copy,
}

/// Makes a copy of this process that is not its child but a child of its parent, who learns how it ends. Refused when this process has
/// more than one thread.
pub fn fork_sibling() -> io::Result<Role> {
    require_solitude()?;
    let flags = libc::CLONE_PARENT | libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
    let mut thread: *mut libc::c_int = ptr::null_mut();
    // SAFETY: The first call writes an address to a variable that outlives it. In the second one memory is copied and not shared (there
    // is no CLONE_VM), a stack of zero means the same one in the copy, and the address is the one where the C library keeps the number
    // of its thread, which has to change in the copy, as it does after the library's own `fork`. That one also takes and gives back the
    // library's locks around the call: nobody can hold one, for there is no other thread, and this one is not inside of the library.
    // The last two arguments are told apart by the architecture; only one of them has a meaning without CLONE_SETTLS.
    let made = unsafe {
        if libc::prctl(libc::PR_GET_TID_ADDRESS, &raw mut thread) != 0 {
            return Err(Error::last_os_error());
        }
        let nothing = ptr::null_mut::<libc::c_void>();
        libc::syscall(libc::SYS_clone, libc::c_long::from(flags), nothing, nothing, thread, thread)
    };
    match made {
        0 => Ok(Role::Copy),
        -1 => Err(Error::last_os_error()),
        _ => Ok(Role::Original),
    }
}

/// Sets variables of the environment of this process. Refused when it has more than one thread.
pub fn set_environment<'a>(variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) -> io::Result<()> {
    require_solitude()?;
    // what a copy does not write it shares with its original
    for (name, value) in variables.into_iter().filter(|(name, value)| std::env::var_os(name).as_deref() != Some(*value)) {
        // SAFETY: Nobody else reads or writes the environment, for there is no other thread.
        unsafe { std::env::set_var(name, value) };
    }
    Ok(())
}

/// Waits for the end of a child of this process and takes note of it.
pub(super) fn wait(child: Pid) -> io::Result<ExitStatus> {
    let mut status = 0;
    loop {
        // SAFETY: The status is written to a variable that outlives the call.
        if unsafe { libc::waitpid(child.as_raw(), &raw mut status, 0) } == child.as_raw() {
            return Ok(ExitStatus::from_raw(status));
        }
        let error = Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The directory of the threads has a link for each, beside its own two.
fn require_solitude() -> io::Result<()> {
    match std::fs::metadata("/proc/self/task")?.nlink() {
        3 => Ok(()),
        _ => Err(Error::other("there are other threads")),
    }
}
