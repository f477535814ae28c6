//! `scl site`: the batch system as site files describe it, and as it describes itself.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::driver::store_of;
use super::records::{Answer, NOWHERE, Refusal, answer};
use super::{FAILED, Format, Reporting, WRONG, print, unwritable};
use crate::diagnostic::{Diagnostic, Fault, has_errors};
use crate::report;
use crate::site::{self, Marks, Site, Survey, System};
use crate::source::{SourceMap, Span};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Ask Slurm what it has, and print a site file that says so
    Detect(Detect),
    /// Print what holds here: what all site files say together, or else what Slurm says
    Show(Place),
    /// Say what is wrong in the site files, and where they and Slurm disagree
    Check(Place),
}

#[derive(Debug, clap::Args)]
struct Detect {
    /// Write it to the user's site file
    #[arg(long, conflicts_with = "output")]
    write: bool,
    /// Write it to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    reporting: Reporting,
}

/// For which program.
#[derive(Debug, clap::Args)]
struct Place {
    /// With the site files of this program [default: of one in the current directory]
    #[arg(long, short, value_name = "FILE")]
    program: Option<PathBuf>,
    /// And with the one in the directory where its jobs are kept [default: .scl beside the program]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(flatten)]
    reporting: Reporting,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    match &arguments.command {
        Command::Detect(arguments) => answer(&arguments.reporting, detect(arguments)),
        Command::Show(place) => place.with_site(|site, sources| answer(&place.reporting, show(site, &sources))),
        Command::Check(place) => place.with_site(|site, sources| check(&site, &sources, &place.reporting)),
    }
}

/// What site files say for a program, or the exit status when something is wrong with them, which is reported.
pub(super) fn load(program: Option<&Path>, store: Option<&Path>, reporting: &Reporting) -> Result<(Site, SourceMap), ExitCode> {
    let mut sources = SourceMap::new();
    let project = program.and_then(Path::parent).unwrap_or(Path::new(""));
    let (site, faults) = site::load(&site::places(|name| std::env::var_os(name), project, &store_of(store, program)), &mut sources);
    if !faults.is_empty() {
        reporting.report(&faults, &sources);
    }
    if has_errors(&faults) { Err(ExitCode::from(WRONG)) } else { Ok((site, sources)) }
}

impl Place {
    fn with_site(&self, act: impl FnOnce(Site, SourceMap) -> ExitCode) -> ExitCode {
        load(self.program.as_deref(), self.store.as_deref(), &self.reporting)
            .map_or_else(|status| status, |(site, sources)| act(site, sources))
    }
}

fn detect(arguments: &Detect) -> Result<Answer, Refusal> {
    let found = site::survey().and_then(site::usable).map_err(|fault| Refusal { fault, status: FAILED })?;
    let target = match &arguments.output {
        None if arguments.write => Some(site::user_file(|name| std::env::var_os(name)).ok_or_else(no_home)?),
        output => output.clone(),
    };
    let left_out: Vec<_> = found.left_out.iter().map(|left| json!({ "queue": left.partition, "reason": left.reason })).collect();
    let text = described(&found);
    let site = Site { slurm: Some(found.cluster), ..Site::default() };
    let object = json!({ "file": target, "left_out": left_out, "site": site::tree(&site) });
    let Some(path) = target else { return Ok(Answer::new(text, object)) };
    save(&path, &text, arguments.force).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Refusal { fault: exists(&path), status: WRONG },
        _ => Refusal { fault: unsaved(&path, &error), status: FAILED },
    })?;
    Ok(Answer::new(format!("{} describes {} queues\n", path.display(), site.slurm.map_or(0, |cluster| cluster.queues.len())), object))
}

/// The file as people find it.
fn described(found: &Survey) -> String {
    let mut text = "# What Slurm says of itself, found by `scl site detect`. The first queue that a job fits into is taken:\n\
                    # put those that you prefer first, and remove those that you do not want.\n"
        .to_owned();
    for left_out in &found.left_out {
        text.push_str(&format!("# left out: `{}` {}\n", left_out.partition, left_out.reason));
    }
    let site = Site { slurm: Some(found.cluster.clone()), ..Site::default() };
    format!("{text}\n{}", site::text(&site))
}

fn save(path: &Path, text: &str, force: bool) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut file = OpenOptions::new().write(true).create(true).create_new(!force).truncate(force).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// What holds, which includes what files leave to chance.
fn show(mut site: Site, sources: &SourceMap) -> Result<Answer, Refusal> {
    let files: Vec<&str> = sources.files().map(|(_, file)| &*file.name).collect();
    let system = site.system();
    let detected = system == System::Slurm && site.slurm.is_none();
    if detected {
        site.slurm = Some(site::detect().map_err(|fault| Refusal { fault, status: FAILED })?);
    }
    site.system = Some(system);
    let mut text: String = files.iter().map(|file| format!("# from {file}\n")).collect();
    if detected {
        text.push_str("# no site file describes a cluster; this is what Slurm says\n");
    }
    text.push_str(&site::text(&site));
    Ok(Answer::new(text, json!({ "files": files, "detected": detected, "site": site::tree(&site) })))
}

fn check(site: &Site, sources: &SourceMap, reporting: &Reporting) -> ExitCode {
    let mut diagnostics = Vec::new();
    let mut status = 0;
    if let Some(cluster) = &site.slurm {
        let marks = Marks::new(sources);
        let modules = if cluster.modules.is_empty() { None } else { site::known_modules() };
        diagnostics.extend(site::missing(cluster, modules.as_deref(), &marks));
        match site::scheduler_is_there().then(site::survey) {
            Some(Ok(found)) => diagnostics.extend(site::compare(cluster, &found, &marks)),
            Some(Err(fault)) => {
                status = FAILED;
                diagnostics.push(fault.at(NOWHERE));
            }
            None => diagnostics.push(not_compared(marks.of(&["slurm"]))),
        }
    }
    if status == 0 && has_errors(&diagnostics) {
        status = WRONG;
    }
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span().file, diagnostic.span().start));
    let files: String = sources.files().map(|(_, file)| format!("checked {}\n", file.name)).collect();
    let text = match reporting.format {
        Format::Json => format!("{}\n", report::json(&diagnostics, sources)),
        Format::Text if files.is_empty() => "there is no site file\n".to_owned(),
        Format::Text => files,
    };
    if reporting.format == Format::Text {
        reporting.report(&diagnostics, sources);
    }
    ExitCode::from(print(&text).map_or_else(|error| unwritable(&error), |()| status))
}

fn not_compared(span: Span) -> Diagnostic {
    Diagnostic::warning("W0845", "there is no Slurm on this machine to compare this with", span)
        .help("check it where jobs are submitted, with `sbatch` and `scontrol` on the search path")
}

fn no_home() -> Fault {
    unsaved(Path::new("site.toml"), &io::Error::other("the user has no directory for it, since neither HOME nor XDG_CONFIG_HOME is set"))
}

fn exists(path: &Path) -> Fault {
    Fault::new("E0844", format!("the site file {path:?} is there already"))
        .help("`--force` replaces it; without `--write` and `--output` what was found is only printed")
}

fn unsaved(path: &Path, error: &io::Error) -> Fault {
    Fault::new("E0848", format!("the site file {path:?} cannot be written: {error}")).help("choose another file with `--output`")
}
