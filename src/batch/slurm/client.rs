//! Calls of Slurm's clients.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use nix::unistd::getuid;

use super::replies::{self, ACCOUNT_FIELDS, Lines, QUEUE_FIELDS};
use crate::job::{Submission, quote};
use crate::site::{Reply, call};

/// How long a query may take.
const QUERY: Duration = Duration::from_secs(30);

/// How long a submission may take: Slurm's client itself tries several times.
const SUBMIT: Duration = Duration::from_secs(120);

/// How many jobs one call names: a command line has a longest length.
const AT_ONCE: usize = 500;

/// All jobs of the user that Slurm remembers.
pub fn queue() -> Result<Lines, String> {
    let user = format!("--user={}", getuid());
    let fields = format!("--Format={QUEUE_FIELDS}");
    let reply = ask("squeue", &["--noheader", "--array", "--all", "--states=all", &user, &fields]);
    well(reply).map(|stdout| replies::queue(&stdout))
}

/// What the controller says of one job, or of all elements of an array.
pub fn details(id: &str) -> Result<Lines, String> {
    well(ask("scontrol", &["--oneliner", "show", "job", id])).map(|stdout| replies::details(&stdout))
}

/// Whether a complaint of `scontrol` says that there is no such job.
pub fn is_unknown(complaint: &str) -> bool {
    complaint.contains("Invalid job id")
}

/// What the accounting says of jobs, where there is one.
pub fn accounts(ids: &[String]) -> Result<Lines, String> {
    let fields = format!("--format={ACCOUNT_FIELDS}");
    let mut lines = Lines::new();
    for ids in ids.chunks(AT_ONCE) {
        let ids = format!("--jobs={}", ids.join(","));
        let stdout = well(ask("sacct", &["--noheader", "--parsable2", "--allocations", &fields, &ids]))?;
        lines.extend(replies::accounts(&stdout));
    }
    Ok(lines)
}

/// The same of all jobs of the user of the last days, by their names.
pub fn accounts_by_name(names: &[String]) -> Result<Lines, String> {
    let (fields, user) = (format!("--format={ACCOUNT_FIELDS}"), format!("--user={}", getuid()));
    let names = format!("--name={}", names.join(","));
    let since = "--starttime=now-14days";
    let reply = ask("sacct", &["--noheader", "--parsable2", "--allocations", since, &fields, &user, &names]);
    well(reply).map(|stdout| replies::accounts(&stdout))
}

/// Whether a complaint of `sacct` says that there is no accounting at all.
pub fn is_without_accounting(complaint: &str) -> bool {
    complaint.contains("accounting storage is disabled") || complaint.contains("No such file")
}

/// The words of a submission. Its directory, to which Slurm writes its log, is an argument, for in the script it could not be quoted.
fn submission(submission: &Submission) -> Vec<OsString> {
    let mut directory = OsString::from("--chdir=");
    directory.push(submission.path());
    vec!["--parsable".into(), directory, submission.script().into()]
}

/// The submission as one would type it.
pub fn command(directory: &Path, of: &Submission) -> Vec<u8> {
    let words = submission(of);
    let words = std::iter::once(OsString::from("sbatch")).chain(words).collect::<Vec<_>>();
    let cd = quote(["cd".as_ref(), directory.as_os_str()]);
    [cd, b" && ".to_vec(), quote(words.iter().map(OsString::as_os_str))].concat()
}

/// Hands it in, or only these elements of its array.
pub fn submit(of: &Submission, elements: Option<&[u32]>) -> Reply {
    let elements = elements.map(|elements| elements.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
    let mut words = submission(of);
    // an option of the command counts more than one of the script
    words.splice(1..1, elements.map(|elements| format!("--array={elements}").into()));
    call("sbatch", &words, Some(of.path()), SUBMIT)
}

/// Asks for the end of these jobs; the complaint of what was refused.
pub fn cancel(ids: &[String]) -> Result<(), String> {
    let mut complaints = Vec::new();
    for ids in ids.chunks(AT_ONCE) {
        let words: Vec<&str> = ids.iter().map(String::as_str).collect();
        complaints.extend(well(ask("scancel", &words)).err());
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("; ")) }
}

fn ask(program: &str, words: &[&str]) -> Reply {
    let words: Vec<OsString> = words.iter().map(Into::into).collect();
    call(program, &words, None, QUERY)
}

fn well(reply: Reply) -> Result<String, String> {
    if reply.is_well() { Ok(reply.stdout) } else { Err(reply.complaint()) }
}
