//! Jobs that are killed by nobody's fault.

use super::*;
use crate::job::Job;
use crate::store::{self, Recorder, State, Wishes};

const KILLED: Cause = Cause::Signal { signal: 9 };

/// Remembers all that it is told, and wants the run to end when it has been told of so many events.
struct Log<'a> {
    events: Vec<EventKind>,
    enough: usize,
    interrupted: &'a AtomicBool,
}

impl Watcher for Log<'_> {
    fn note(&mut self, event: &Event) {
        self.events.push(event.kind.clone());
        if self.events.len() == self.enough {
            self.interrupted.store(true, Ordering::Relaxed);
        }
    }

    fn wants_progress(&self) -> bool {
        true
    }

    fn look(&mut self, progress: &Progress) {
        assert!(progress.over <= progress.needed && progress.needed <= progress.possible, "{progress:?}");
    }
}

struct Tried {
    lines: Vec<String>,
    summary: Summary,
    events: Vec<EventKind>,
    begun: usize,
    attempts: usize,
}

/// Runs a program whose first jobs die like this, with so many retries, until so many events.
fn tried(text: &str, deaths: &[Cause], retries: Retries, enough: usize) -> Tried {
    tried_on(InTurn { deaths: deaths.iter().cloned().collect(), ..InTurn::default() }, text, retries, enough)
}

fn tried_on(mut system: InTurn, text: &str, retries: Retries, enough: usize) -> Tried {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let interrupted = AtomicBool::new(false);
    let mut log = Log { events: Vec::new(), enough, interrupted: &interrupted };
    let settings = JobSettings { jobs: directory.path().to_owned(), fresh: false, retries, only_look: false, read_only: false };
    let batch = Batch { system: &mut system, settings, interrupted: &interrupted, watcher: &mut log, recorder: &mut () };
    let (lines, summary) = lines(&compile(text), 2, Some(batch));
    let keys = std::fs::read_dir(directory.path()).expect("readable").flatten().map(|entry| entry.file_name());
    let keys = keys.filter_map(|name| name.to_str()?.parse().ok());
    let attempts = keys.map(|key| Job::at(directory.path(), key).attempts().expect("readable").len()).sum();
    Tried { lines, summary, events: log.events, begun: system.begun.len(), attempts }
}

fn retries(count: u32) -> Retries {
    Retries::default().with_all(count).with_pause(Duration::from_millis(1))
}

#[test]
fn what_was_killed_is_tried_again_in_a_directory_of_its_own() {
    let tried = tried("a = 2 + 3 on 1 core\nprint(a)", &[KILLED, Cause::NodeFailure], retries(1), 0);
    assert_eq!((tried.lines, tried.summary.failed), (vec!["5".to_owned()], false));
    assert_eq!((tried.summary.jobs_done, tried.summary.jobs_failed, tried.begun, tried.attempts), (1, 0, 3, 3));
    let pauses: Vec<_> =
        tried.events.iter().filter_map(|event| if let EventKind::Retried { pause, .. } = event { Some(*pause) } else { None }).collect();
    assert_eq!(pauses, [Duration::from_millis(1), Duration::from_millis(2)]);
    assert!(matches!(tried.events.last(), Some(EventKind::Done { .. })), "{:?}", tried.events);
}

#[test]
fn what_is_killed_too_often_fails_and_says_so() {
    let tried = tried("a = 2 + 3 on 1 core\nprint(a)\nprint('after')", &[KILLED, KILLED, KILLED], retries(2), 0);
    assert_eq!(tried.lines, ["'after'"]);
    assert_eq!((tried.summary.jobs_failed, tried.attempts), (1, 3));
    let [fault] = tried.summary.diagnostics.as_slice() else { panic!("{:?}", tried.summary.diagnostics) };
    assert_eq!(fault.code, "E0701");
    let note = "it was tried 3 times; before, it failed by: killed by signal 9 (SIGKILL); killed by signal 9 (SIGKILL)";
    assert!(fault.notes.iter().any(|text| text == note) && fault.notes.iter().any(|text| text.contains("attempt-3")), "{:?}", fault.notes);
}

#[test]
fn a_fault_of_the_program_is_final() {
    let tried = tried("a = 1 / 0 on 1 core\nprint(a)", &[], retries(5), 0);
    assert_eq!((tried.summary.jobs_failed, tried.begun), (1, 1));
    assert!(matches!(tried.events.last(), Some(EventKind::Failed { cause: Cause::Evaluation, .. })), "{:?}", tried.events);
}

/// That `b` is needed is known when `a` was killed and waits for its next try.
#[test]
fn equal_tasks_share_a_job_that_waits_for_its_next_try() {
    let text = "a = 2 + 3 on 1 core\nc = 1 + 1 on 1 core\nb = 2 + 3 on 1 core\nlate = if(c > 1, b, 0)?\nprint(a, late)";
    let tried = tried(text, &[KILLED], retries(1).with_pause(Duration::from_millis(300)), 0);
    assert_eq!(tried.lines, ["5 5"]);
    assert_eq!((tried.summary.jobs_done, tried.summary.jobs_kept, tried.begun), (2, 1, 3));
    let place = |wanted: fn(&EventKind) -> bool| tried.events.iter().position(wanted);
    let (retried, done) = (place(|kind| matches!(kind, EventKind::Retried { .. })), place(|kind| matches!(kind, EventKind::Done { .. })));
    assert!(retried < done, "{:?}", tried.events);
}

#[test]
fn nothing_is_tried_again_when_the_user_stops() {
    let slow = Retries::default().with_all(9).with_pause(Duration::from_secs(1000));
    // as soon as it is known that it will be tried again
    let tried = tried("a = 2 + 3 on 1 core\nprint(a)", &[KILLED], slow, 1);
    assert!(tried.summary.interrupted && tried.summary.failed, "{:?}", tried.summary);
    assert_eq!((tried.summary.diagnostics.len(), tried.begun), (0, 1));
}

#[test]
fn what_is_refused_for_now_is_submitted_again() {
    let busy = |busy| InTurn { busy, ..InTurn::default() };
    let tried = tried_on(busy(2), "a = 2 + 3 on 1 core\nprint(a)", retries(2), 0);
    assert_eq!((tried.lines, tried.summary.jobs_done, tried.begun, tried.attempts), (vec!["5".to_owned()], 1, 1, 3));
    let tried = tried_on(busy(2), "a = 2 + 3 on 1 core\nprint(a)", retries(1), 0);
    assert_eq!((tried.summary.jobs_failed, tried.begun), (1, 0));
    assert!(tried.summary.diagnostics[0].message.contains("the queue is full"), "{:?}", tried.summary.diagnostics);
}

/// Makes the directory of jobs a file as soon as a job waits for its next try.
struct Wrecker<'a>(&'a Path);

impl Watcher for Wrecker<'_> {
    fn note(&mut self, event: &Event) {
        if matches!(event.kind, EventKind::Retried { .. }) {
            std::fs::remove_dir_all(self.0).expect("removable");
            std::fs::write(self.0, "").expect("writable");
        }
    }

    fn wants_progress(&self) -> bool {
        false
    }

    fn look(&mut self, _: &Progress) {}
}

/// How tasks ended.
#[derive(Default)]
struct Ends(Vec<Option<Cause>>);

impl Recorder for Ends {
    fn note(&mut self, event: store::Event) {
        if let store::Event::State { state, .. } = event
            && let State::Ended(end) = *state
        {
            self.0.push(end.cause);
        }
    }

    fn wishes(&mut self) -> Wishes {
        Wishes::default()
    }
}

#[test]
fn a_next_try_without_a_directory_is_a_failure_that_is_counted_and_recorded() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let jobs = directory.path().join("jobs");
    let mut system = InTurn { deaths: [KILLED].into(), ..InTurn::default() };
    let (interrupted, mut ends) = (AtomicBool::new(false), Ends::default());
    let settings = JobSettings { jobs: jobs.clone(), fresh: false, retries: retries(1), only_look: false, read_only: false };
    let batch = Batch { system: &mut system, settings, interrupted: &interrupted, watcher: &mut Wrecker(&jobs), recorder: &mut ends };
    let (_, summary) = lines(&compile("a = 2 + 3 on 1 core\nprint(a)"), 2, Some(batch));
    assert_eq!((summary.jobs_failed, summary.diagnostics[0].code.as_str()), (1, "E0702"), "{:?}", summary.diagnostics);
    assert!(matches!(ends.0.as_slice(), [Some(Cause::NeverStarted { .. })]), "{:?}", ends.0);
}
