//! Running a checked program, with jobs if it asks for them: what `scl run` and `scl repl` share.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::destination::{Destination, SystemName, destination};
use super::driver::{self, Driver};
use super::{Format, Reporting, site as sites};
use crate::batch::BatchSystem;
use crate::batch::local::{Launcher, Local, Machine};
use crate::batch::slurm::{self, Slurm};
use crate::check::Mode;
use crate::diagnostic::{Diagnostic, Fault};
use crate::eval;
use crate::model::{Model, VarId};
use crate::report::progress::{Display, Form};
use crate::resources::Request;
use crate::run::{self, Batch, JobSettings, Program, Summary};
use crate::session::{Refused, Verdict};
use crate::site::Site;
use crate::source::Spanned;

/// How programs are run.
#[derive(Debug, clap::Args)]
pub(super) struct Settings {
    /// Where jobs and their results are kept [default: .scl beside the program, or in the current directory]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Compute anew what is kept from earlier runs
    #[arg(long)]
    fresh: bool,
    /// Threads for tasks, and for large columns, of this process [default: one for each core that the process may use]
    #[arg(long, short = 'j', value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Where jobs run [default: what site files say, or else Slurm where there is one, or else this machine]
    #[arg(long, value_enum, value_name = "SYSTEM")]
    system: Option<SystemName>,
    /// Run jobs that ask for more than there is with what there is, and warn, instead of refusing them
    #[arg(long)]
    clamp: bool,
    /// Try a job again so often when it did not fail by a fault of its own: it was killed, its machine failed, it could not be started
    /// [default: what site files say, or else 0]
    #[arg(long, value_name = "N")]
    retries: Option<u32>,
    /// Say nothing of jobs that end well
    #[arg(long, short)]
    quiet: bool,
}

/// Runs programs.
pub(super) struct Executor<'a> {
    settings: &'a Settings,
    site: Site,
    reporting: &'a Reporting,
    mode: Mode,
    /// Of the program, or of nothing for a session.
    program: PathBuf,
    store: PathBuf,
}

impl<'a> Executor<'a> {
    /// Keeps jobs, of which there are some in workflow mode only, in the directory of the settings, or else in one beside a program.
    /// What is wrong in a site file is reported here; nothing is to be run then.
    pub(super) fn new(settings: &'a Settings, reporting: &'a Reporting, mode: Mode, program: &Path) -> Option<Self> {
        let (mut site, _) = sites::load(Some(program), settings.store.as_deref(), reporting).ok()?;
        let store = driver::store_of(settings.store.as_deref(), Some(program));
        if let Some(count) = settings.retries {
            site.retries = site.retries.with_all(count);
        }
        settings.threads.into_iter().for_each(eval::limit_threads);
        let store = std::path::absolute(&store).unwrap_or(store);
        Some(Executor { settings, site, reporting, mode, program: program.to_owned(), store })
    }

    /// Runs a program and says for people what became of its jobs. `interrupted` is set when the user does not want to wait any longer;
    /// without it this watches out for signals itself when there are jobs.
    pub(super) fn run(
        &self,
        program: &Program,
        interrupted: Option<&Arc<AtomicBool>>,
        line: &mut dyn FnMut(&str),
    ) -> Result<Summary, Refused> {
        let requests = if self.mode == Mode::Workflow { requests(program) } else { Vec::new() };
        let summary = match requests.first() {
            None => run::run(program, self.threads(), None, line),
            Some(first) => {
                let unable = |fault: Fault| Refused { verdict: Verdict::Failed, diagnostics: vec![fault.at(first.span)] };
                let mut system = self.system().map_err(unable)?;
                let (program, warnings) = self.admit(program, &requests, system.as_dyn())?;
                let interrupted = interrupted.map_or_else(watched, |flag| Ok(flag.clone())).map_err(unable)?;
                let mut summary = self.with_jobs(&program, &mut system, &interrupted, line).map_err(unable)?;
                summary.diagnostics.extend(warnings);
                summary
            }
        };
        self.say(&summary, !requests.is_empty());
        Ok(summary)
    }

    /// The program with requests that the system can satisfy, and warnings of those that were made smaller for that. Without `--clamp`
    /// what can never be satisfied is refused before anything runs.
    fn admit(
        &self,
        program: &Program,
        requests: &[&Spanned<Request>],
        system: &dyn BatchSystem,
    ) -> Result<(Program, Vec<Diagnostic>), Refused> {
        let too_large = requests.iter().filter_map(|request| Some((*request, system.check(&request.node).err()?)));
        let too_large: Vec<(&Spanned<Request>, Fault)> = too_large.collect();
        if too_large.is_empty() {
            return Ok((program.clone(), Vec::new()));
        }
        if !self.settings.clamp {
            let diagnostics = too_large.into_iter().map(|(request, fault)| fault.at(request.span)).collect();
            return Err(Refused { verdict: Verdict::Wrong, diagnostics });
        }
        let mut model = Model::clone(&program.model);
        for request in model.variables.iter_mut().filter_map(|variable| variable.request.as_deref_mut()) {
            request.node = system.clamp(&request.node);
        }
        let warning = |(request, fault): (&Spanned<Request>, Fault)| clamped(request, &fault, &system.clamp(&request.node));
        Ok((Program { model: Arc::new(model), ..program.clone() }, too_large.into_iter().map(warning).collect()))
    }

    /// What runs the jobs.
    fn system(&self) -> Result<System, Fault> {
        let launcher = Launcher::this_program()?;
        let mut say = |text: &str| {
            if self.speaks() {
                complain!("{text}");
            }
        };
        match destination(self.settings.system, &self.site, &mut say)? {
            Destination::Local => Ok(System::Local(Box::new(Local::new(launcher, Machine::detect())))),
            Destination::Slurm(cluster) => {
                let settings = slurm::Settings::new(*cluster, &self.store.join("jobs"), &launcher)?;
                Slurm::new(settings).map(System::Slurm)
            }
        }
    }

    fn threads(&self) -> usize {
        self.settings.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    fn with_jobs(
        &self,
        program: &Program,
        system: &mut System,
        interrupted: &AtomicBool,
        line: &mut dyn FnMut(&str),
    ) -> Result<Summary, Fault> {
        let info = driver::info(program, &self.program);
        let driver = Driver::enter(&self.store, &info, interrupted, self.reporting.format == Format::Json)?;
        let Some(mut driver) = driver else { return Ok(Summary { interrupted: true, ..Summary::default() }) };
        let orphans = system.count_orphans(driver.store.jobs());
        if orphans > 0 && self.speaks() {
            let (plural, verb) = if orphans == 1 { ("", "s") } else { ("s", "") };
            complain!("{orphans} job{plural} of an earlier run still run{verb} here");
        }
        let settings = JobSettings {
            jobs: driver.store.jobs().to_owned(),
            fresh: self.settings.fresh,
            retries: self.site.retries.clone(),
            only_look: false,
            read_only: driver.is_read_only(),
        };
        let mut display = Display::new(self.form());
        let stage = display.stage();
        let batch = Batch { system: system.as_dyn_mut(), settings, interrupted, watcher: &mut display, recorder: driver.recorder() };
        let mut summary = run::run(program, self.threads(), Some(batch), &mut |text| stage.clear(|| line(text)));
        let place = requests(program).first().map(|request| request.span).unwrap_or_default();
        driver.leave(&mut summary, place);
        Ok(summary)
    }

    /// What is told of jobs while they run. A terminal that cannot move its cursor is none.
    fn form(&self) -> Form {
        let terminal = io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        match self.reporting.format {
            Format::Json if self.settings.quiet => Form::Nothing,
            Format::Json => Form::Json,
            Format::Text if self.settings.quiet => Form::Notes,
            Format::Text if terminal => Form::Live,
            Format::Text => Form::Lines,
        }
    }

    /// Whether people want to know of jobs that end well.
    fn speaks(&self) -> bool {
        !self.settings.quiet && self.reporting.format == Format::Text
    }

    /// What became of the jobs of a run, for people.
    fn say(&self, summary: &Summary, had_jobs: bool) {
        if self.reporting.format == Format::Json {
            return;
        }
        if self.speaks() {
            complain_as_is!(driver::jobs(summary));
        }
        match (summary.interrupted, had_jobs) {
            (true, true) if summary.jobs_left > 0 => {
                let (count, plural) = (summary.jobs_left, if summary.jobs_left == 1 { " goes" } else { "s go" });
                complain!(
                    "left: {count} job{plural} on; run it again to take their results, `scl status` shows how they stand, `scl cancel` ends them"
                );
            }
            (true, true) => complain!("interrupted: none of its jobs goes on; what was finished is kept in {}", self.store.display()),
            (true, false) => complain!("interrupted"),
            (false, _) => {}
        }
    }
}

/// A batch system.
enum System {
    Local(Box<Local>),
    Slurm(Slurm),
}

impl System {
    fn as_dyn(&self) -> &dyn BatchSystem {
        match self {
            System::Local(local) => &**local,
            System::Slurm(slurm) => slurm,
        }
    }

    fn as_dyn_mut(&mut self) -> &mut dyn BatchSystem {
        match self {
            System::Local(local) => &mut **local,
            System::Slurm(slurm) => slurm,
        }
    }

    /// Jobs of this machine that a driver which is gone left running.
    fn count_orphans(&mut self, jobs: &Path) -> usize {
        match self {
            System::Local(local) => local.count_orphans(jobs),
            System::Slurm(_) => 0,
        }
    }
}

/// What the variables ask for that are going to be computed.
fn requests(program: &Program) -> Vec<&Spanned<Request>> {
    let needed = program.graph.reachable();
    let variables = program.model.variables.iter().enumerate();
    let variables = variables.filter(|(index, _)| needed[program.graph.of_variable(VarId(*index as u32)).index()]);
    variables.filter_map(|(_, variable)| variable.request.as_deref()).collect()
}

/// A flag that is set when the user wants the run to end.
fn watched() -> Result<Arc<AtomicBool>, Fault> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in heeded() {
        signal_hook::flag::register(signal, interrupted.clone()).map_err(unwatchable)?;
    }
    Ok(interrupted)
}

/// The signals by which users end programs. What was ignored before this program began (by `nohup`, or for a process in the background)
/// stays ignored.
pub(super) fn heeded() -> impl Iterator<Item = i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok()).unwrap_or(0);
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

pub(super) fn unwatchable(error: std::io::Error) -> Fault {
    Fault::new("E0904", format!("signals cannot be handled: {error}"))
}

fn clamped(request: &Spanned<Request>, fault: &Fault, smaller: &Request) -> Diagnostic {
    Diagnostic::warning("W0810", format!("the job gets less than it asks for: {}", fault.message), request.span)
        .here(format!("it runs {smaller}"))
        .help("values do not depend on it, but it may run out of time or memory")
}
