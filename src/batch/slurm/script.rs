//! The script of a submission.
//!
//! It is what Slurm is given, and complete: with its directory it can be submitted again by hand. Nothing that a user has named stands
//! in it unquoted; the directory of the submission, which Slurm is to write its log to, is not in it at all but an argument of
//! `sbatch`, since no quoting is known in `#SBATCH` lines. What the site file says to run is taken as it is: it is meant as shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::lower::Lowered;
use crate::batch::THREADS;
use crate::job::quote;
use crate::site::Cluster;

/// The status of a job whose site lines failed, or whose directory is not there; no status of `scl exec`.
pub const UNPREPARED: i32 = 97;

/// What is submitted together: one job, or the elements of an array.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// What Slurm calls it.
    pub name: &'a str,
    /// What each job asks for.
    pub lowered: &'a Lowered,
    /// What the site says.
    pub cluster: &'a Cluster,
    /// The directory of all jobs.
    pub jobs: &'a Path,
    /// The attempts, by their paths within it; several become an array, whose indices begin at 1.
    pub attempts: &'a [String],
    /// The program on the node.
    pub program: &'a Path,
    /// Where it is run.
    pub directory: &'a Path,
}

/// The text, which is bytes, as paths are.
pub fn script(batch: &Batch) -> Vec<u8> {
    let mut text = Text::default();
    text.line(b"#!/bin/bash");
    let mut options = vec![format!("--job-name={}", batch.name)];
    options.extend(batch.lowered.options());
    options.push("--no-requeue".to_owned());
    if batch.attempts.len() > 1 {
        options.push(format!("--array=1-{}", batch.attempts.len()));
    }
    options.push(format!("--output={}", log(batch)));
    options.iter().for_each(|option| text.line(format!("#SBATCH {option}").as_bytes()));
    text.line(b"");
    text.line(b"set -o pipefail");
    text.line(format!("unprepared() {{ echo \"scl: $1\" >&2; exit {UNPREPARED}; }}").as_bytes());
    for name in THREADS {
        text.line(format!("export {name}={}", batch.lowered.cores).as_bytes());
    }
    site_lines(batch.cluster, &mut text);
    text.command(b"cd ", batch.directory.as_os_str(), b" || unprepared 'the directory is not there'");
    text.command(b"jobs=", batch.jobs.as_os_str(), b"");
    text.line(b"attempts=(");
    batch.attempts.iter().for_each(|attempt| text.line(attempt.as_bytes()));
    text.line(b")");
    text.line(b"attempt=$jobs/${attempts[${SLURM_ARRAY_TASK_ID:-1} - 1]}");
    text.line(b"[ -d \"$attempt\" ] || unprepared \"$attempt is not there\"");
    text.command(b"exec ", batch.program.as_os_str(), b" exec \"$attempt\" >>\"$attempt/stdout\" 2>>\"$attempt/stderr\"");
    text.bytes
}

/// The file in the directory of the submission to which Slurm writes its own words. It looks for patterns also in the path of that directory:
/// where it would find one there is no such file.
fn log(batch: &Batch) -> &'static str {
    let patterns = batch.jobs.as_os_str().as_bytes().iter().any(|byte| b"%\\".contains(byte));
    match batch.attempts.len() {
        _ if patterns => "/dev/null",
        1 => "log",
        _ => "log-%a",
    }
}

fn site_lines(cluster: &Cluster, text: &mut Text) {
    if !cluster.modules.is_empty() {
        // a batch shell is no login shell, and may not know the command
        text.line(b"if ! type module >/dev/null 2>&1; then");
        text.line(b"    for file in /etc/profile.d/*modules.sh /etc/profile.d/*lmod.sh; do [ -r \"$file\" ] && . \"$file\"; done");
        text.line(b"fi");
    }
    for module in &cluster.modules {
        text.command(b"module load ", OsStr::new(module), b" || unprepared 'a module of the site file cannot be loaded'");
    }
    for (name, value) in &cluster.environment {
        text.command(format!("export {name}=").as_bytes(), OsStr::new(value), b"");
    }
    for line in &cluster.setup {
        text.line(b"{");
        text.line(line.as_bytes());
        text.line(b"} || unprepared 'a setup line of the site file failed'");
    }
}

#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
}

impl Text {
    fn line(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
    }

    /// A line with a word that has to be quoted.
    fn command(&mut self, before: &[u8], word: &OsStr, after: &[u8]) {
        self.line(&[before, &quote([word]), after].concat());
    }
}

/// What Slurm calls a submission: the task for people, and the tag by which it is found again.
pub fn job_name(task: &str, tag: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let task: String = task.chars().take(40).map(plain).collect();
    format!("{task}{TAG}{tag}")
}

/// The tag in what Slurm calls a job.
pub fn tag(name: &str) -> Option<&str> {
    name.rsplit_once(TAG).map(|(_, tag)| tag)
}

/// What stands between the name and the tag.
const TAG: &str = ".scl-";

/// A path within the directory of all jobs, which has plain letters only.
pub fn within<'p>(path: &'p Path, jobs: &Path) -> Option<&'p str> {
    let path = path.strip_prefix(jobs).ok()?.as_os_str();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-/".contains(byte);
    path.as_bytes().iter().all(plain).then(|| path.to_str()).flatten()
}
