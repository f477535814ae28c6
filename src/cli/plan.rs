//! `scl plan`: what a run would ask for, and what it can cost.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::destination::{Destination, SystemName, destination};
use super::driver::{model_name, store_of};
use super::records::{Answer, Refusal, answer, no_such_task};
use super::{Checked, FAILED, Input, extent, finish, site as sites};
use crate::batch::slurm::{Batch, job_name, script};
use crate::batch::{BatchSystem, Capacity, local};
use crate::diagnostic::{Diagnostic, Fault};
use crate::graph::{self, Options, TaskGraph, TaskId};
use crate::io::Files;
use crate::job::{Attempt, Digest, Job};
use crate::run::Program;
use crate::run::plan::{Plan, Statement, Target, keys, plan};
use crate::site::{Cluster, Site};

/// What stands in a script for the mark of a submission, which is drawn when it is submitted.
const TAG: &str = "TAG";

/// What is said in scripts that are printed in advance.
const NOTE: &str = "# printed by `scl plan`; TAG stands for the mark by which scl finds the submission again";

/// The same where keys are not known.
const NOTE_OF_KEYS: &str = "# KEY-n stands for the key of a job, which names its directory: it depends on the values that the job is given";

/// Options that all jobs have.
const ALWAYS: [&str; 2] = ["--nodes=1", "--ntasks=1"];

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Where jobs would run [default: what site files say, or else Slurm where there is one, or else this machine]
    #[arg(long, value_enum)]
    system: Option<SystemName>,
    /// Print the script of this statement, or of the job array with this part of it, as in `rates 1/2`
    #[arg(long, value_name = "NAME")]
    script: Option<String>,
    /// Where jobs and their results would be kept [default: .scl beside the program]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Also what nothing needs
    #[arg(long)]
    all: bool,
}

/// A program and where its jobs would run.
struct Planning<'a> {
    arguments: &'a Arguments,
    program: Program,
    place: Place,
}

enum Place {
    Slurm(Box<Cluster>),
    Local(Capacity),
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let input = &arguments.input;
    let mut checked = Checked::load(input, extent(arguments.all));
    if !checked.is_sound() {
        return finish(input, &checked);
    }
    let site = match sites::load(Some(&input.file), arguments.store.as_deref(), &input.reporting) {
        Ok((site, _)) => site,
        Err(status) => return status,
    };
    let program = program(&checked, arguments.all);
    match planned(arguments, &site, &program) {
        Err(refusal) => answer(&input.reporting, Err(refusal)),
        Ok((_, Err(faults))) => {
            checked.diagnostics.extend(faults);
            finish(input, &checked)
        }
        Ok((place, Ok(plan))) => {
            if !checked.diagnostics.is_empty() {
                input.reporting.report(&checked.diagnostics, &checked.sources);
            }
            let planning = Planning { arguments, program, place };
            let wanted = arguments.script.as_ref();
            answer(&input.reporting, wanted.map_or_else(|| Ok(planning.answer(&plan)), |name| planning.script(&plan, name)))
        }
    }
}

fn program(checked: &Checked, all: bool) -> Program {
    let graph = Arc::new(TaskGraph::build(&checked.model, Options { chunks: true, batch: true, all }));
    let files = Arc::new(Files { base: PathBuf::new() });
    Program { model: checked.model.clone(), graph, sources: checked.sources.clone(), world: files.clone(), exporter: files }
}

type Planned = Result<Plan, Vec<Diagnostic>>;

/// The plan, or what is wrong with the program; or why none can be made.
fn planned(arguments: &Arguments, site: &Site, program: &Program) -> Result<(Place, Planned), Refusal> {
    let failed = |fault| Refusal { fault, status: FAILED };
    match destination(arguments.system, site, &mut |text| complain!("{text}")).map_err(failed)? {
        Destination::Slurm(cluster) => {
            let plan = plan(program, &Target::Slurm(&cluster));
            Ok((Place::Slurm(cluster), plan))
        }
        Destination::Local => {
            let machine = local::Machine::detect();
            let capacity = machine.capacity();
            let system = local::Local::new(local::Launcher::this_program().map_err(failed)?, machine);
            Ok((Place::Local(capacity), plan(program, &Target::Local(&|request| system.check(request)))))
        }
    }
}

impl Planning<'_> {
    fn answer(&self, plan: &Plan) -> Answer {
        let (system, cluster) = match &self.place {
            Place::Slurm(cluster) => ("slurm", cluster.name.as_deref()),
            Place::Local(_) => ("local", None),
        };
        let statements: Vec<Value> = plan.statements.iter().map(|statement| self.object(statement)).collect();
        let chain: Vec<String> = plan.chain.iter().map(|task| self.name(*task)).collect();
        let object = json!({
            "model": model_name(&self.arguments.input.file), "system": system, "cluster": cluster, "statements": statements,
            "total": { "jobs": jobs(plan), "submissions": submissions(plan), "core_hours": hours(plan), "without_limit": self.unlimited(plan) },
            "critical_path": { "seconds": plan.longest.as_secs_f64(), "jobs": chain },
        });
        if plan.statements.is_empty() {
            return Answer::new("the program has no jobs\n".to_owned(), object);
        }
        let text = plan.statements.iter().map(|statement| self.text(statement)).collect::<String>() + &self.totals(plan, &chain);
        Answer::new(text, object)
    }

    fn text(&self, statement: &Statement) -> String {
        let mut text = format!("line {}  {}\n", self.line(statement), self.variable(statement));
        let mut row = |head: &str, what: String| text.push_str(&format!("    {head:<10}{what}\n"));
        row("asked", self.annotation(statement));
        row("lowered", self.lowered(statement));
        row("jobs", submitted(statement));
        row("cost", cost(statement));
        text
    }

    fn lowered(&self, statement: &Statement) -> String {
        match (&self.place, &statement.lowered) {
            (Place::Local(capacity), _) => {
                let mib = statement.request.memory_bytes().map(|memory| memory.div_ceil(1 << 20));
                let memory = mib.map_or_else(String::new, |mib| format!(", {mib} of {} MiB", capacity.memory >> 20));
                format!("{} of {} cores{memory}", statement.request.cores(), capacity.cores)
            }
            (Place::Slurm(_), lowered) => {
                let options = lowered.iter().flat_map(|lowered| lowered.options());
                options.filter(|option| !ALWAYS.contains(&option.as_str())).collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn object(&self, statement: &Statement) -> Value {
        let lowered = statement.lowered.as_ref();
        json!({
            "name": self.variable(statement), "line": self.line(statement), "annotation": self.annotation(statement),
            "jobs": statement.jobs.len(), "submissions": statement.arrays, "request": statement.request,
            "queue": lowered.map(|lowered| &lowered.partition), "options": lowered.map(|lowered| lowered.options()),
            "limit_seconds": statement.limit.map(|limit| limit.as_secs_f64()), "limit_of_queue": statement.usual_limit,
            "core_hours": statement.core_hours(),
        })
    }

    fn totals(&self, plan: &Plan, chain: &[String]) -> String {
        let mut text = format!("total: {}", counted(jobs(plan), "job"));
        if matches!(self.place, Place::Slurm(_)) {
            let _ = write!(text, " in {}", counted(submissions(plan), "submission"));
        }
        let beside = match self.unlimited(plan).as_slice() {
            [] => String::new(),
            unlimited => format!(" beside those of {}, which have no limit", unlimited.join(", ")),
        };
        if plan.longest.is_zero() {
            return text + "; none has a limit of its time\n";
        }
        let _ = writeln!(text, ", at most {:.2} core hours{beside}, if each job is tried once", hours(plan));
        let _ = writeln!(text, "critical path: at most {}{beside}: {}", shown(plan.longest), chain.join(", then "));
        text
    }

    /// The statements whose jobs may take as long as they like.
    fn unlimited(&self, plan: &Plan) -> Vec<&str> {
        plan.statements.iter().filter(|statement| statement.limit.is_none()).map(|statement| self.variable(statement)).collect()
    }

    fn variable(&self, statement: &Statement) -> &str {
        &self.program.model.variables[statement.variable.index()].name
    }

    fn name(&self, task: TaskId) -> String {
        graph::name(self.program.graph.kind(task), &self.program.model, &self.program.sources)
    }

    fn line(&self, statement: &Statement) -> usize {
        let span = self.program.model.variables[statement.variable.index()].name_span;
        self.program.sources.get(span.file).map_or(0, |file| file.position(span.start).0)
    }

    /// As it is written, with chunks.
    fn annotation(&self, statement: &Statement) -> String {
        let variable = &self.program.model.variables[statement.variable.index()];
        let words = |span| self.program.sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let request = variable.request.as_ref().map(|request| words(request.span)).unwrap_or_default();
        let chunks = variable.chunks.as_ref().map_or_else(String::new, |chunks| format!("in {} chunks ", words(chunks.span)));
        format!("{chunks}{request}")
    }

    fn script(&self, plan: &Plan, name: &str) -> Result<Answer, Refusal> {
        let Place::Slurm(cluster) = &self.place else { return Err(no_script().into()) };
        let part = |statement: &Statement| {
            let whole = (self.variable(statement) == name).then_some(0);
            whole.or_else(|| statement.jobs.iter().position(|job| self.name(*job) == name))
        };
        let Some((statement, job)) = plan.statements.iter().find_map(|statement| Some((statement, part(statement)?))) else {
            let names = plan.statements.iter().map(|statement| self.variable(statement));
            return Err(no_such_task(name, names, "the program").into());
        };
        let text = self.submission(cluster, statement, statement.array_of(job))?;
        Ok(Answer::new(text.clone(), json!({ "name": name, "script": text })))
    }

    fn submission(&self, cluster: &Cluster, statement: &Statement, tasks: &[TaskId]) -> Result<String, Fault> {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let jobs = absolute(&store_of(self.arguments.store.as_deref(), Some(&self.arguments.input.file))).join("jobs");
        let keys = keys(&self.program, statement, tasks);
        let next = |key| 1 + Job::at(&jobs, key).attempts().map_or(0, |before| before.last().map_or(0, Attempt::number));
        let attempt = |(index, key): (usize, &Option<Digest>)| match key {
            Some(key) => format!("{key}/attempt-{}", next(*key)),
            None => format!("KEY-{}/attempt-1", index + 1),
        };
        let attempts: Vec<String> = keys.iter().enumerate().map(attempt).collect();
        let program = cluster.program.clone().map_or_else(|| local::Launcher::this_program().map(|this| this.program), Ok)?;
        let directory = cluster.directory.clone().unwrap_or_else(|| absolute(Path::new(".")));
        let name = job_name(self.variable(statement), TAG);
        let Some(lowered) = &statement.lowered else { return Err(no_script()) };
        let batch = Batch { name: &name, lowered, cluster, jobs: &jobs, attempts: &attempts, program: &program, directory: &directory };
        let text = String::from_utf8_lossy(&script(&batch)).into_owned();
        let (head, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let note = if keys.contains(&None) { format!("{NOTE}\n{NOTE_OF_KEYS}") } else { NOTE.to_owned() };
        Ok(format!("{head}\n{note}\n{rest}"))
    }
}

fn jobs(plan: &Plan) -> usize {
    plan.statements.iter().map(|statement| statement.jobs.len()).sum()
}

fn submissions(plan: &Plan) -> usize {
    plan.statements.iter().map(|statement| statement.arrays.len()).sum()
}

/// Core hours, without those of jobs that have no limit.
fn hours(plan: &Plan) -> f64 {
    plan.statements.iter().filter_map(Statement::core_hours).fold(0.0, |sum, hours| sum + hours)
}

/// `2500, in 2 arrays of 1000 and one of 500`
fn submitted(statement: &Statement) -> String {
    let all = statement.jobs.len();
    let one = statement.arrays.iter().all(|size| *size == 1);
    match statement.arrays.as_slice() {
        _ if one => all.to_string(),
        [_] => format!("{all}, in an array"),
        [size, .., last] if size == last => format!("{all}, in {} arrays of {size}", statement.arrays.len()),
        [size, between @ .., last] => format!("{all}, in {} of {size} and one of {last}", counted(between.len() + 1, "array")),
        [] => all.to_string(),
    }
}

fn cost(statement: &Statement) -> String {
    let whose = if statement.usual_limit { ", the limit of the queue" } else { "" };
    match (statement.core_hours(), statement.limit) {
        (Some(hours), Some(limit)) => format!("at most {hours:.2} core hours, each job at most {}{whose}", shown(limit)),
        _ => "without a limit: no walltime is asked for".to_owned(),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn shown(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}

fn no_script() -> Fault {
    Fault::new("E0849", "jobs of this machine have no script").help("`--system slurm` shows those for a cluster")
}
