//! Random programs, run on several threads and as jobs, against an evaluation in turn.

use std::collections::VecDeque;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::*;
use crate::batch::{BatchId, JobSpec, JobState, SubmitError};
use crate::check::{Extent, Mode, check};
use crate::diagnostic::{Fault, Severity, has_errors};
use crate::eval;
use crate::graph::Options;
use crate::job::{Attempt, Cause, Keeping, Manifest, Outcome, Timestamp, Usage};
use crate::model::{LoadKind, Task};
use crate::resources::Request;
use crate::site::Retries;
use crate::syntax;

mod dimensions;
mod literals;
mod retries;

/// A variable; numbers are places of earlier ones.
#[derive(Clone, Debug)]
enum Node {
    Constant(u8),
    Broken,
    Sum(usize, usize),
    /// Only one of the last two is needed.
    Choice(usize, usize, usize, usize),
    /// Of so many elements in so many chunks, of which there may be too many.
    Chunks(usize, usize, usize),
}

/// The value of each variable, if it has one, worked out in turn.
fn naive(nodes: &[Node]) -> Vec<Option<i128>> {
    let mut values: Vec<Option<i128>> = Vec::new();
    for node in nodes {
        let value = match *node {
            Node::Constant(value) => Some(value.into()),
            Node::Broken => None,
            Node::Sum(left, right) => values[left].zip(values[right]).map(|(left, right)| left + right),
            Node::Choice(left, right, then, otherwise) => {
                values[left].zip(values[right]).and_then(|(left, right)| values[if left > right { then } else { otherwise }])
            }
            Node::Chunks(shift, count, chunks) => {
                values[shift].filter(|_| chunks <= count).map(|shift| (0..count as i128).map(|element| element + shift).sum())
            }
        };
        values.push(value);
    }
    values
}

/// The program, its definitions in an order that begins anywhere, with every `nth` variable as a job.
fn text(nodes: &[Node], first: usize, nth: usize) -> String {
    let mut statements = Vec::new();
    for (place, node) in nodes.iter().enumerate() {
        let (of, job) = if nth > 0 && place % nth == 0 { (" ?", " on 1 core") } else { ("", "") };
        statements.push(match node {
            Node::Constant(value) => format!("v{place} = {value}{job}"),
            Node::Broken => format!("v{place} = if(1 / 0 > 0, 1, 2){job}"),
            Node::Sum(left, right) => format!("v{place} = v{left} + v{right}{job}"),
            Node::Choice(left, right, then, otherwise) => format!("v{place} = if(v{left} > v{right}, v{then}, v{otherwise}){of}{job}"),
            Node::Chunks(shift, count, chunks) => {
                let map = format!("s{place} = map((x: x + v{shift}), r{place}) in {chunks} chunks{job}");
                format!("r{place} = range(0, {count} + 0, 1)\n{map}\nv{place} = sum(s{place})")
            }
        });
    }
    let length = statements.len();
    statements.rotate_left(first % length);
    let mut text = statements.join("\n");
    (0..length).for_each(|place| write!(text, "\nprint({place}, v{place})").expect("a string takes all that is written"));
    text
}

fn nodes(count: usize) -> impl Strategy<Value = Vec<Node>> {
    let node = (0_u8..10, any::<[prop::sample::Index; 4]>(), 1_usize..6, 1_usize..6);
    prop::collection::vec(node, 1..count).prop_map(|seeds| {
        let node = |(place, (kind, indices, count, chunks)): (usize, (u8, [prop::sample::Index; 4], usize, usize))| {
            let earlier = |number: usize| indices[number].index(place);
            match kind {
                _ if place == 0 => Node::Constant(kind),
                0 | 1 => Node::Constant(kind),
                2 => Node::Broken,
                3..=5 => Node::Sum(earlier(0), earlier(1)),
                6 | 7 => Node::Choice(earlier(0), earlier(1), earlier(2), earlier(3)),
                _ => Node::Chunks(earlier(0), count, chunks),
            }
        };
        seeds.into_iter().enumerate().map(node).collect()
    })
}

struct Nowhere;

impl World for Nowhere {
    fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
        Err(Fault::new("E0000", path))
    }
}

impl Exporter for Nowhere {
    fn save(&self, _: &Value, path: &str) -> Result<(), Fault> {
        Err(Fault::new("E0000", path))
    }
}

fn compile(text: &str) -> Program {
    let mut sources = SourceMap::new();
    let file = sources.add("m.scl", text);
    let (ast, faults) = syntax::parse(file, text);
    let (model, more) = check(&ast, Mode::Workflow, Extent::Outputs);
    assert!(!has_errors(&faults) && !has_errors(&more), "{faults:?} {more:?}\n{text}");
    let graph = Arc::new(TaskGraph::build(&model, Options { chunks: true, batch: true, all: false }));
    Program { model: Arc::new(model), graph, sources: Arc::new(sources), world: Arc::new(Nowhere), exporter: Arc::new(Nowhere) }
}

fn lines(program: &Program, threads: usize, batch: Option<Batch>) -> (Vec<String>, Summary) {
    let mut lines = Vec::new();
    let summary = run(program, threads, batch, &mut |line| lines.push(line.to_owned()));
    (lines, summary)
}

fn expected(nodes: &[Node]) -> Vec<String> {
    let values = naive(nodes).into_iter().enumerate();
    values.filter_map(|(place, value)| Some(format!("{place} {}", value?))).collect()
}

/// A batch system without processes: each look ends one job, the oldest and the newest in turn.
#[derive(Default)]
struct InTurn {
    jobs: VecDeque<(BatchId, Attempt)>,
    begun: Vec<Arc<str>>,
    /// Ends nothing that it is not asked to end.
    stuck: bool,
    /// The jobs that end first end so, without a manifest.
    deaths: VecDeque<Cause>,
    /// So many submissions are refused for now.
    busy: usize,
    cancelled: Vec<BatchId>,
}

impl InTurn {
    fn end_one(&mut self) -> Option<(BatchId, Result<(), Cause>)> {
        let (id, attempt) = if self.begun.len().is_multiple_of(2) { self.jobs.pop_front()? } else { self.jobs.pop_back()? };
        if let Some(cause) = self.deaths.pop_front() {
            return Some((id, Err(cause)));
        }
        let description = attempt.description().expect("as written");
        let inputs = attempt.inputs(&description.task).expect("as written");
        let outcome = match eval::run(&description.task, &inputs, &Nowhere) {
            Ok(value) => Outcome::Success { result: attempt.write_result(&value, Keeping::Cheap).expect("writable") },
            Err(fault) => Outcome::Failure { cause: Cause::Evaluation, diagnostics: vec![*fault] },
        };
        let now = Timestamp::now();
        let (key, host, usage) = (description.key, String::new(), Usage::default());
        attempt.conclude(&Manifest { key, outcome, started: now, ended: now, host, pid: 0, usage }, Keeping::Cheap).expect("writable");
        Some((id, Ok(())))
    }
}

impl BatchSystem for InTurn {
    fn check(&self, _: &Request) -> Result<(), Fault> {
        Ok(())
    }

    fn clamp(&self, request: &Request) -> Request {
        request.clone()
    }

    fn find(&mut self, jobs: &[JobSpec]) -> Vec<Result<Option<BatchId>, Fault>> {
        vec![Ok(None); jobs.len()]
    }

    fn submit(&mut self, jobs: &[JobSpec]) -> Vec<Result<BatchId, SubmitError>> {
        let accept = |job: &JobSpec| {
            if self.busy > 0 {
                self.busy -= 1;
                return Err(SubmitError::Transient(Fault::new("E0000", "the queue is full")));
            }
            let id = BatchId(format!("{}", self.begun.len()).into());
            self.begun.push(job.name.clone());
            self.jobs.push_back((id.clone(), job.attempt.clone()));
            Ok(id)
        };
        jobs.iter().map(accept).collect()
    }

    fn poll(&mut self) -> Vec<(BatchId, JobState)> {
        let ended = if self.stuck { None } else { self.end_one() };
        let cancelled = self.cancelled.drain(..).map(|id| (id, JobState::Ended(Err(Cause::Cancelled))));
        let running = self.jobs.iter().map(|(id, _)| (id.clone(), JobState::Running));
        cancelled.chain(running).chain(ended.map(|(id, end)| (id, JobState::Ended(end)))).collect()
    }

    fn cancel(&mut self, ids: &[BatchId]) -> Vec<Result<(), Fault>> {
        self.cancelled.extend(ids.iter().cloned());
        vec![Ok(()); ids.len()]
    }
}

/// Nothing is tried again, and nobody watches.
fn batch<'b>(system: &'b mut InTurn, jobs: &Path, interrupted: &'b AtomicBool) -> Batch<'b> {
    let settings = JobSettings { jobs: jobs.to_owned(), fresh: false, retries: Retries::default(), only_look: false, read_only: false };
    Batch { system, settings, interrupted, watcher: Box::leak(Box::new(())), recorder: Box::leak(Box::new(())) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_print_what_one_evaluation_in_turn_prints(nodes in nodes(40), first in 0_usize..40, threads in 1_usize..=8) {
        let program = compile(&text(&nodes, first, 0));
        let (lines, summary) = lines(&program, threads, None);
        prop_assert_eq!(&lines, &expected(&nodes));
        prop_assert_eq!(summary.failed, lines.len() < nodes.len());
        prop_assert_eq!(summary.failed, has_errors(&summary.diagnostics), "what failed has a reason, and nothing else has");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn jobs_print_the_same_and_are_kept(nodes in nodes(12), first in 0_usize..12, nth in 1_usize..3, threads in 1_usize..=4) {
        let program = compile(&text(&nodes, first, nth));
        let directory = tempfile::tempdir().expect("a temporary directory");
        let going_on = AtomicBool::new(false);
        let mut system = InTurn::default();
        let (printed, summary) = lines(&program, threads, Some(batch(&mut system, directory.path(), &going_on)));
        prop_assert_eq!(&printed, &expected(&nodes));
        prop_assert_eq!(system.begun.len(), summary.jobs_done + summary.jobs_failed);
        let mut system = InTurn::default();
        let (again, second) = lines(&program, threads, Some(batch(&mut system, directory.path(), &going_on)));
        prop_assert_eq!(again, printed);
        prop_assert_eq!((second.jobs_done, second.jobs_failed), (0, summary.jobs_failed), "what succeeded is not done again");
    }
}

#[test]
fn without_threads_the_leading_one_does_all() {
    let nodes = [Node::Constant(2), Node::Broken, Node::Chunks(0, 5, 3), Node::Choice(2, 0, 0, 1), Node::Sum(2, 3)];
    let program = compile(&text(&nodes, 2, 0));
    let shared = Shared::new(&program, false);
    let mut lines = Vec::new();
    shared.lead(None, true, &mut |line| lines.push(line.to_owned()));
    assert_eq!(lines, expected(&nodes));
}

#[test]
fn what_waits_for_jobs_that_the_user_ends_is_not_begun() {
    let nodes = [Node::Constant(1), Node::Sum(0, 0), Node::Choice(1, 0, 1, 0)];
    let program = compile(&text(&nodes, 0, 1));
    let directory = tempfile::tempdir().expect("a temporary directory");
    let interrupted = AtomicBool::new(false);
    let mut system = InTurn { stuck: true, ..InTurn::default() };
    let (printed, summary) = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        lines(&program, 2, Some(batch(&mut system, directory.path(), &interrupted)))
    });
    assert_eq!(printed, Vec::<String>::new());
    assert!(summary.interrupted && summary.failed);
    assert_eq!(system.begun, ["v0".into()]);
    assert_eq!((summary.diagnostics.len(), summary.jobs_failed), (0, 0), "it was no failure");
}

/// Nothing can be read, and the user stops it once something was printed.
#[derive(Default)]
struct Stoppable(AtomicBool);

impl World for Stoppable {
    fn load(&self, _: LoadKind, path: &str) -> Result<Value, Fault> {
        Err(Fault::new("E0000", path))
    }

    fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn what_is_computed_here_ends_when_the_user_stops_it() {
    let long = "map((x: sum(map((y: x + y), range(0, 1000, 1)))), range(0, 1000000, 1))";
    let world = Arc::new(Stoppable::default());
    let text = format!(
        "a = 1; b = {long}\nr = range(0, 1000000, 1); c = {} in 2 chunks\nprint(a); print(sum(b), sum(c)); print('last')",
        long.replace("range(0, 1000000, 1)", "r")
    );
    let program = Program { world: world.clone(), ..compile(&text) };
    let mut printed = Vec::new();
    let summary = run(&program, 2, None, &mut |line| {
        printed.push(line.to_owned());
        world.0.store(true, Ordering::Relaxed);
    });
    assert!(summary.interrupted && summary.failed && summary.diagnostics.is_empty());
    assert_eq!(printed.first().map(String::as_str), Some("1"));
    // what was finished is known, and only that
    assert!(summary.values.iter().any(|(id, _)| *id == VarId(0)) && !summary.values.iter().any(|(id, _)| *id == VarId(1)));
    // the world is held by whoever still evaluates
    drop(program);
    let ended = (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(20));
        Arc::strong_count(&world) == 1
    });
    assert!(ended, "a thread goes on");
}
