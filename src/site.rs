//! Site configuration: what holds for a machine, a user or a project, whatever the program.
//!
//! ```toml
//! system = "slurm"                # where jobs run: "local" or "slurm"; by default Slurm where there is one, otherwise this machine
//!
//! [retries]                       # how often a job is tried again, by why it failed
//! signal = 2                      # killed from outside
//! node_failure = 20               # these two are no fault of the job, and tried again by default
//! preempted = 20
//! never_started = 1
//! unknown = 1                     # it left no word of how it ended
//! out_of_memory = 0
//! walltime = 0
//! pause_seconds = 1               # before the first retry; each pause is twice as long as the one before,
//! longest_pause_seconds = 300     # but no longer than this
//!
//! [slurm]
//! cluster = "bigiron"             # for people
//! account = "chem"                # whom jobs are charged to
//! memory = "per_core"             # how memory is asked for: "per_core", "per_node" or "none"
//! largest_array = 1000            # the largest index of a job array
//! most_jobs = 5000                # no more jobs than these are in the queues at a time
//! unknown_after_minutes = 10      # a job that no query knows, and that left no word, counts as lost after this time
//! program = "/shared/bin/scl"     # on the nodes; by default the path of the program that submits
//! directory = "/scratch/me"       # where jobs run; by default the directory in which `scl` was called
//! modules = ["gcc/13"]            # loaded first,
//! environment = { OMP_PLACES = "cores" }      # set after that,
//! setup = ["ulimit -c 0"]         # and lines of bash that are run after that
//!
//! [[slurm.queue]]                 # the first queue that a job fits into is taken
//! name = "short"
//! nodes = [{ count = 2, cores = 64, memory_mib = 256000, threads_per_core = 2 }]
//! longest_minutes = 60            # the longest walltime
//! usual_minutes = 10              # the walltime of a job that asks for none
//! usual_memory_mib = 2000         # memory per core of a job that asks for none
//! most_memory_mib = 8000          # the most memory per core
//! account = "chem-short"          # in place of the one above
//! qos = "normal"
//! constraint = "haswell"
//! reservation = "course"
//! gres = "gpu:1"
//! ```
//!
//! Every file may leave out what it has nothing to say about; of several files the more special one counts, key by key, and queue by
//! queue for those of one name. What is not known is an error, for a misspelt key would have no effect.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};

pub use call::{Reply, call};
pub use check::{compare, missing};
pub use cluster::{Cluster, MemoryStyle, Misfit, Node, Queue, memory_mib};
pub use detect::{LeftOut, Survey, detect, is_unconfigured, known_modules, scheduler_is_there, survey, usable};
pub use read::Marks;
pub use retries::Retries;
pub use write::{text, tree};

mod call;
mod check;
mod cluster;
mod detect;
mod read;
mod retries;
mod write;

/// Where jobs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// On this machine.
    Local,
    /// As jobs of Slurm.
    Slurm,
}

/// What all files together say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Where jobs run, if they say so.
    pub system: Option<System>,
    /// Which failed jobs are tried again.
    pub retries: Retries,
    /// The cluster, if they say something of one.
    pub slurm: Option<Cluster>,
}

impl Site {
    /// Where jobs run: what the files say, or else Slurm where they describe a cluster or its clients are there, or else this machine.
    pub fn system(&self) -> System {
        let slurm = || self.slurm.is_some() || scheduler_is_there();
        self.system.unwrap_or_else(|| if slurm() { System::Slurm } else { System::Local })
    }
}

/// Where a file may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its path.
    pub path: PathBuf,
    /// Whether someone named it, so that it must be there.
    pub named: bool,
}

/// Where files are looked for, the most general one first: the user's, the project's (beside the program, and in its store), the one that
/// `SCL_SITE` names. `variable` gives environment variables, `project` is the directory of the program, `store` that of its jobs.
pub fn places(variable: impl Fn(&str) -> Option<OsString>, project: &Path, store: &Path) -> Vec<Place> {
    let of_project = [project.join("site.toml"), store.join("site.toml")];
    let usual = user_file(&variable).into_iter().chain(of_project).map(|path| Place { path, named: false });
    usual.chain(path_in(&variable, "SCL_SITE").map(|path| Place { path, named: true })).collect()
}

/// The user's file, which is the first of all places if the user has a directory for such files.
pub fn user_file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let config = path_in(&variable, "XDG_CONFIG_HOME").or_else(|| Some(path_in(&variable, "HOME")?.join(".config")))?;
    Some(config.join("scl").join("site.toml"))
}

/// The path that a variable has, if it has one.
fn path_in(variable: impl Fn(&str) -> Option<OsString>, name: &str) -> Option<PathBuf> {
    variable(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Reads all files that are there; their texts are added to the sources. What is only a warning keeps nobody from using the rest.
pub fn load(places: &[Place], sources: &mut SourceMap) -> (Site, Vec<Diagnostic>) {
    let mut site = Site::default();
    let mut diagnostics = Vec::new();
    for place in places {
        match std::fs::read_to_string(&place.path) {
            Ok(text) => {
                let file = sources.add(place.path.display().to_string(), text.as_str());
                diagnostics.extend(read::file(file, &text, &mut site));
            }
            Err(error) if !place.named && matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) if place.named => diagnostics.push(unreadable(&place.path, &error)),
            Err(error) => diagnostics.push(passed_over(&place.path, &error)),
        }
    }
    (site, diagnostics)
}

/// There is no text to point into.
const NOWHERE: Span = Span { file: FileId::NOWHERE, start: 0, end: 0 };

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::error("E0830", format!("the site file `{}` cannot be read: {error}", path.display()), NOWHERE)
        .help("make it readable, or let `SCL_SITE` name another")
}

/// Nobody asked for it: it may be in the private directory of someone else whose program this is.
fn passed_over(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::warning("W0830", format!("the site file `{}` cannot be read, and is passed over: {error}", path.display()), NOWHERE)
}

#[cfg(test)]
mod tests;
