//! `scl fmt FILE…`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::{FAILED, Reporting, WRONG, print, read, unwritable};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceMap, Span};
use crate::syntax;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The programs, which are written anew where they change; `-` is standard input, formatted to standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing; print the names of the programs that would change, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    reporting: Reporting,
}

/// What became of the programs so far.
#[derive(Default)]
struct Outcome {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    status: u8,
}

/// A program that is wrong, or cannot be read or written, keeps none of the others from being formatted.
pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let mut outcome = Outcome::default();
    for path in &arguments.files {
        outcome.format(path, arguments.check);
    }
    arguments.reporting.report(&outcome.diagnostics, &outcome.sources);
    ExitCode::from(outcome.status)
}

impl Outcome {
    fn format(&mut self, path: &Path, check: bool) {
        let (file, text) = match read::program(path, &mut self.sources) {
            Ok(program) => program,
            Err(fault) => return self.fail(WRONG, [*fault]),
        };
        let formatted = match syntax::format::format(file, &text) {
            Ok(formatted) => formatted,
            Err(faults) => return self.fail(WRONG, faults),
        };
        let changed = formatted != *text;
        match (check, path.as_os_str() == "-") {
            (true, _) if changed => self.tell(file),
            (false, true) => self.print(&formatted),
            (false, false) if changed => {
                if let Err(error) = replace(path, &formatted) {
                    self.fail(FAILED, [not_written(path, &error)]);
                }
            }
            _ => {}
        }
    }

    /// A program would change.
    fn tell(&mut self, file: FileId) {
        let name = self.sources.get(file).map_or("", |source| &source.name);
        self.print(&format!("{name}\n"));
        self.status = self.status.max(FAILED);
    }

    fn print(&mut self, text: &str) {
        if let Err(error) = print(text) {
            self.status = self.status.max(unwritable(&error));
        }
    }

    fn fail(&mut self, status: u8, faults: impl IntoIterator<Item = Diagnostic>) {
        self.status = self.status.max(status);
        self.diagnostics.extend(faults);
    }
}

/// There is no place in the text to point to.
fn not_written(path: &Path, error: &io::Error) -> Diagnostic {
    let nowhere = Span { file: FileId::NOWHERE, start: 0, end: 0 };
    Diagnostic::error("E0004", format!("cannot write `{}`: {error}", path.display()), nowhere)
}

/// Replaces a file's content as a whole: whoever reads it, even after a crash, finds the old or the new. Links stay links, and
/// permissions are kept.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
    let written = fill(file, text, permissions).and_then(|()| fs::rename(&draft, &path));
    written.inspect_err(|_| {
        // the first error is the one to be told
        let _ = fs::remove_file(&draft);
    })
}

fn fill(mut file: File, text: &str, permissions: fs::Permissions) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.set_permissions(permissions)?;
    file.sync_all()
}
