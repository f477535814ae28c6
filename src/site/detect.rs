//! What Slurm says of itself, as a cluster of a site file.
//!
//! The clients are called here; what they say is read by pure functions: [`reply`] takes it apart, [`survey`](mod@survey) makes a
//! cluster of it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::{Cluster, call};
use crate::diagnostic::Fault;
use survey::{Accounts, Replies};

pub use survey::{LeftOut, Survey};

mod reply;
mod survey;

/// How long one call may take; on a healthy cluster it is some hundredths of a second.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether the clients of Slurm are on the search path; they are not called.
pub fn scheduler_is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program = |path: std::path::PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
    ["sbatch", "scontrol"].iter().all(|name| std::env::split_paths(&path).any(|directory| is_program(directory.join(name))))
}

/// The cluster that Slurm describes, by three calls: whom jobs are charged to is left to Slurm, and partitions that take only some
/// accounts stand behind the others.
pub fn detect() -> Result<Cluster, Fault> {
    let replies = Replies::ask(scontrol)?;
    usable(survey::survey(&replies, None)).map(|survey| survey.cluster)
}

/// Whether detection failed because there are Slurm's clients here, as on many a laptop, but no cluster that they belong to.
pub fn is_unconfigured(fault: &Fault) -> bool {
    fault.message.contains("configuration source")
}

/// The same and more, in more time: also the accounts of the user, and what was left out.
pub fn survey() -> Result<Survey, Fault> {
    let replies = Replies::ask(scontrol)?;
    let accounts = if replies.has_accounting() { accounts() } else { None };
    Ok(survey::survey(&replies, accounts.as_ref()))
}

/// What was found, if a job can go somewhere.
pub fn usable(survey: Survey) -> Result<Survey, Fault> {
    if survey.cluster.queues.is_empty() { Err(no_partition(&survey.left_out)) } else { Ok(survey) }
}

/// The environment modules of this machine; nothing when there is no `module` command.
pub fn known_modules() -> Option<Vec<String>> {
    let script = "type module >/dev/null 2>&1 && module -t avail 2>&1";
    let reply = call("bash", &["-lc", script].map(OsString::from), None, LIMIT);
    reply.is_well().then(|| modules(&reply.stdout))
}

/// Modules in a listing of `module -t avail`, which has directories too, and signs behind defaults.
fn modules(listing: &str) -> Vec<String> {
    let names = listing.lines().map(str::trim).filter(|line| !line.is_empty() && !line.ends_with(':'));
    names.map(|name| name.split('(').next().unwrap_or(name).trim_end_matches('/').to_owned()).collect()
}

fn scontrol(what: &str) -> Result<String, Fault> {
    let reply = call("scontrol", &["-o", "show", what].map(OsString::from), None, LIMIT);
    if reply.is_well() { Ok(reply.stdout) } else { Err(no_answer(what, &reply.complaint())) }
}

/// What the accounting knows of this user; nothing when it does not answer, for then Slurm decides.
fn accounts() -> Option<Accounts> {
    let user = call("id", &["-un".into()], None, LIMIT);
    let arguments = ["--noheader", "--parsable2", "show", "user", user.stdout.trim(), "withassoc", "format=DefaultAccount,Account"];
    let reply = call("sacctmgr", &arguments.map(OsString::from), None, LIMIT);
    (user.is_well() && reply.is_well()).then(|| Accounts::read(&reply.stdout))
}

fn no_answer(what: &str, complaint: &str) -> Fault {
    Fault::new("E0842", format!("Slurm does not say what it has: `scontrol -o show {what}`: {complaint}")).help(
        "see that this command works here (`SLURM_CONF` may have to name the configuration), or write the site file by hand; \
         `--system local` runs jobs on this machine",
    )
}

fn no_partition(left_out: &[LeftOut]) -> Fault {
    let reasons: Vec<_> = left_out.iter().map(|left_out| format!("`{}` {}", left_out.partition, left_out.reason)).collect();
    let reasons = if reasons.is_empty() { "it shows none".to_owned() } else { reasons.join(", ") };
    Fault::new("E0843", format!("Slurm has no partition that jobs of this user can go to: {reasons}"))
        .help("ask those who run the cluster; `scontrol show partition` says more")
}
