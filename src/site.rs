//! Site configuration: what holds for a machine, a user or a project, whatever the program.
//!
//! ```toml
//! [retries]                       # how often a job is tried again, by why it failed
//! signal = 2                      # killed from outside
//! node_failure = 3
//! preempted = 3
//! never_started = 1
//! unknown = 1                     # it left no word of how it ended
//! out_of_memory = 0
//! walltime = 0
//! pause_seconds = 1               # before the first retry; each pause is twice as long as the one before,
//! longest_pause_seconds = 300     # but no longer than this
//! ```
//!
//! Every file may leave out what it has nothing to say about; of several files the more special one counts. What is not known is an
//! error, for a misspelt key would have no effect.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};

pub use retries::Retries;

mod read;
mod retries;

/// What all files together say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    /// Which failed jobs are tried again.
    pub retries: Retries,
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
/// `SCL_SITE` names. `variable` gives environment variables, `project` is the directory of the program.
pub fn places(variable: impl Fn(&str) -> Option<OsString>, project: &Path) -> Vec<Place> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let user = config.map(|config| config.join("scl").join("site.toml"));
    let of_project = [project.join("site.toml"), project.join(".scl").join("site.toml")];
    let usual = user.into_iter().chain(of_project).map(|path| Place { path, named: false });
    usual.chain(set("SCL_SITE").map(|path| Place { path, named: true })).collect()
}

/// Reads all files that are there; their texts are added to the sources.
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
            Err(error) => diagnostics.push(unreadable(&place.path, &error)),
        }
    }
    (site, diagnostics)
}

/// There is no text to point into.
fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    let nowhere = Span { file: FileId::NOWHERE, start: 0, end: 0 };
    Diagnostic::error("E0830", format!("the site file `{}` cannot be read: {error}", path.display()), nowhere)
        .help("make it readable, or let `SCL_SITE` name another")
}

#[cfg(test)]
mod tests;
