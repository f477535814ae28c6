//! Real jobs: the test binary runs itself as `scl exec DIR`, with an evaluator that does what the task's text says.

use std::fs;
use std::num::NonZeroU32;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use nix::sched::sched_getaffinity;
use nix::sys::signal::{Signal, kill};

use super::*;
use crate::batch::local::{Launcher, Local, Machine};
use crate::batch::{BatchId, BatchSystem, JobSpec, JobState, verdict};
use crate::job::{self, fixture};
use crate::resources::Request;
use crate::value::codec;

/// The directory that [`child`] is to run.
const DIRECTORY: &str = "SCL_TEST_ATTEMPT";

/// What a job of these tests runs in its process; a test of nothing when the tests themselves run.
#[test]
fn child() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        let exit = exec(Path::new(&directory), act);
        std::process::exit(exit.code().into());
    }
}

fn act(description: &Description, inputs: &[Input]) -> Result<Value, Vec<Diagnostic>> {
    let task = &description.task;
    match fixture::text(task) {
        "fail" => {
            return Err(vec![Diagnostic::error("E0499", "it fails", task.expr.span).here("here").note("a fact").help("help yourself")]);
        }
        "panic" => panic!("a defect"),
        "sleep" => {
            // One leaves the process group, and all are left to themselves.
            let family = "sleep 1000 & setsid sleep 1000 & exit 0";
            Command::new("/bin/sh").args(["-c", family]).status().expect("a program");
            sleep(Duration::from_secs(1000));
        }
        "leave" | "leave and die" => {
            let family = "setsid sleep 1000 > /dev/null 2>&1 &";
            Command::new("/bin/sh").args(["-c", family]).status().expect("a program");
            if fixture::text(task) == "leave and die" {
                let _ = kill(Pid::this(), Signal::SIGKILL);
            }
        }
        "testament" => {
            // One writes its last will when it is asked to end, one does not listen.
            let family = "(trap 'echo the will; exit' TERM; echo ready; while :; do sleep 0.05; done) & (trap '' TERM; sleep 1000) & wait";
            Command::new("/bin/sh").args(["-c", family]).status().expect("a program");
        }
        "nap" => sleep(Duration::from_millis(500)),
        "eat" => eat(),
        "feed" => {
            // `tail` keeps a line until it ends, and this one does not.
            let meal = "head -c 600000000 /dev/zero | tail -n 1 | sleep 1000";
            Command::new("/bin/sh").args(["-c", meal]).status().expect("a program");
        }
        "die" => {
            let _ = Command::new("/bin/sh").arg("-c").arg("kill -9 $PPID").status();
            sleep(Duration::from_secs(1000));
        }
        "inputs" => {
            let shown = inputs.iter().zip(&task.inputs).map(|(input, name)| match input {
                Input::Value(value) => Value::Str(format!("{value:?}").into()),
                Input::Failed => Value::Str(format!("no {name}").into()),
            });
            return Ok(Value::Tuple(shown.collect()));
        }
        "cpus" => return Ok(Value::Str(cpus().into())),
        _ => {}
    }
    Ok(Value::Str("done".into()))
}

fn eat() {
    let mut meal = Vec::new();
    for _ in 0..200 {
        meal.push(vec![1_u8; 4 << 20]);
        sleep(Duration::from_millis(5));
    }
    println!("{}", meal.len());
    sleep(Duration::from_secs(1000));
}

fn cpus() -> String {
    let set = sched_getaffinity(Pid::from_raw(0)).expect("a mask");
    let own = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).count();
    let threads = std::env::var("OMP_NUM_THREADS").unwrap_or_default();
    format!("{own} {threads} {}", rayon::current_num_threads())
}

fn request(bytes: Option<u64>, milliseconds: Option<u64>) -> Request {
    Request::new(NonZeroU32::MIN, bytes, milliseconds.map(|time| time * 1_000_000)).expect("a request")
}

/// The shell passes the directory on in the environment, for the test binary takes no other arguments.
fn launcher() -> Launcher {
    let script = format!("{DIRECTORY}=\"$1\" exec \"$0\" --exact worker::tests::child --nocapture");
    let program = std::env::current_exe().expect("a program").into_os_string();
    Launcher { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into(), program], server: None }
}

struct Ran {
    directory: tempfile::TempDir,
    attempt: Attempt,
    state: JobState,
}

impl Ran {
    fn manifest(&self) -> Manifest {
        self.attempt.manifest().expect("readable").expect("it is over")
    }

    fn failure(&self) -> (Cause, Vec<Diagnostic>) {
        match verdict(&self.attempt, &self.state).expect("readable") {
            Some(Outcome::Failure { cause, diagnostics }) => (cause, diagnostics),
            outcome => panic!("{outcome:?}"),
        }
    }

    fn value(&self) -> Value {
        match self.manifest().outcome {
            Outcome::Success { result } => self.attempt.result(&result).expect("as written"),
            outcome @ Outcome::Failure { .. } => panic!("{outcome:?}"),
        }
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.attempt.stderr()).expect("text")
    }
}

fn run(text: &str, inputs: &[Input], request: Request) -> Ran {
    run_prepared(text, inputs, request, |_| {})
}

/// Runs a task whose directory was tampered with.
fn run_prepared(text: &str, inputs: &[Input], request: Request, tamper: impl FnOnce(&Attempt)) -> Ran {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (job, attempt) = fixture::attempt(directory.path(), text, inputs, request.clone());
    tamper(&attempt);
    let mut local = Local::new(launcher(), Machine::detect());
    let spec = JobSpec { name: "t".into(), key: job.key(), attempt: attempt.clone(), request, group: None };
    assert!(local.submit(&[spec])[0].is_ok());
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        match local.poll().pop() {
            Some((_, state @ JobState::Ended(_))) => return Ran { directory, attempt, state },
            news => assert!(Instant::now() < limit, "only {news:?}"),
        }
        sleep(Duration::from_millis(5));
    }
}

/// Runs an attempt without a batch system.
fn run_directly(attempt: &Attempt) -> Output {
    let launcher = launcher();
    Command::new(&launcher.program).args(&launcher.arguments).arg(attempt.path()).output().expect("a program")
}

#[test]
fn a_job_leaves_its_result_and_what_it_took() {
    let ran = run("value", &[], Request::ONE_CORE);
    assert_eq!(ran.state, JobState::Ended(Ok(())));
    assert_eq!(codec::encode(&ran.value()), codec::encode(&Value::Str("done".into())));
    let manifest = ran.manifest();
    assert_eq!(manifest.key, ran.attempt.description().expect("as written").key);
    assert!(manifest.started <= manifest.ended && manifest.started > Timestamp(1_600_000_000_000), "{manifest:?}");
    assert!(manifest.usage.peak_rss > 1 << 20 && manifest.usage.user_us + manifest.usage.system_us > 0, "{manifest:?}");
    assert_eq!(manifest.host, host());
    assert_eq!(ran.stderr(), "");
    assert_eq!(fs::read_dir(ran.directory.path()).expect("readable").count(), 2);
}

#[test]
fn inputs_arrive() {
    let ran = run("inputs", &[Input::Value(Value::Bool(true)), Input::Failed], Request::ONE_CORE);
    let expected = ["Bool(true)", "no input1"].map(|text| Value::Str(text.into()));
    assert_eq!(codec::encode(&ran.value()), codec::encode(&Value::Tuple(expected.to_vec().into())));
}

#[test]
fn a_job_keeps_to_its_cores() {
    let ran = run("cpus", &[], Request::ONE_CORE);
    assert_eq!(codec::encode(&ran.value()), codec::encode(&Value::Str("1 1 1".into())));
}

#[test]
fn a_fault_is_kept_and_logged() {
    let ran = run("fail", &[], Request::ONE_CORE);
    assert_eq!(ran.state, JobState::Ended(Err(Cause::ExitCode { code: 1 })));
    let (cause, diagnostics) = ran.failure();
    assert_eq!((cause, diagnostics[0].code.as_str()), (Cause::Evaluation, "E0499"));
    assert_eq!(ran.stderr(), "m.scl:1:5: error[E0499]: it fails\n  m.scl:1:5: here\n  note: a fact\n  help: help yourself\n");
}

#[test]
fn a_panic_is_a_fault_of_ours() {
    let (cause, diagnostics) = run("panic", &[], Request::ONE_CORE).failure();
    assert_eq!(cause, Cause::Evaluation);
    assert_eq!(diagnostics[0].message, "internal error in task 't': a defect");
}

#[test]
fn a_killed_job_leaves_no_manifest() {
    let ran = run("die", &[], Request::ONE_CORE);
    assert_eq!(ran.attempt.manifest().expect("readable"), None);
    assert_eq!(ran.failure().0, Cause::Signal { signal: 9 });
}

/// The processes whose environment says that they belong to this attempt.
fn survivors(attempt: &Attempt) -> usize {
    let mark = [DIRECTORY.as_bytes(), b"=", attempt.path().as_os_str().as_encoded_bytes()].concat();
    let entries = fs::read_dir("/proc").expect("readable").flatten();
    let environments = entries.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments.filter(|environment| environment.split(|byte| *byte == 0).any(|setting| setting == mark)).count()
}

fn nobody_survives(attempt: &Attempt) {
    let limit = Instant::now() + Duration::from_secs(10);
    while survivors(attempt) > 0 {
        assert!(Instant::now() < limit, "{} survive", survivors(attempt));
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_walltime_ends_everything() {
    let ran = run("sleep", &[], request(None, Some(400)));
    assert_eq!(ran.failure().0, Cause::Walltime { limit_ns: 400_000_000 });
    let manifest = ran.manifest();
    let took = manifest.ended.0 - manifest.started.0;
    assert!((350..3000).contains(&took), "{took} ms");
    assert!(ran.stderr().contains("walltime of 400ms exceeded"), "{}", ran.stderr());
    nobody_survives(&ran.attempt);
}

#[test]
fn what_a_job_has_started_is_asked_to_end_before_it_is_made_to() {
    let ran = run("testament", &[], request(None, Some(1500)));
    assert_eq!(ran.failure().0, Cause::Walltime { limit_ns: 1_500_000_000 });
    let stdout = fs::read_to_string(ran.attempt.stdout()).expect("text");
    assert!(stdout.ends_with("ready\nthe will\n"), "{stdout}");
    nobody_survives(&ran.attempt);
}

#[test]
fn the_memory_of_the_job_is_limited() {
    let ran = run("eat", &[], request(Some(150 << 20), None));
    let (cause, _) = ran.failure();
    assert!(matches!(cause, Cause::OutOfMemory { used, limit } if limit == 150 << 20 && used > limit), "{cause:?}");
    assert!(ran.manifest().usage.peak_rss > 150 << 20);
    assert!(ran.stderr().contains("out of memory"), "{}", ran.stderr());
}

#[test]
fn the_memory_of_its_children_counts() {
    let ran = run("feed", &[], request(Some(150 << 20), None));
    let (cause, _) = ran.failure();
    assert!(matches!(cause, Cause::OutOfMemory { .. }), "{cause:?}");
    nobody_survives(&ran.attempt);
}

/// Neither a job that is done nor one that is killed leaves anything running, where it can have a control group.
#[test]
fn nothing_of_a_job_outlives_it() {
    let ran = run("leave", &[], Request::ONE_CORE);
    let Some(group) = ran.attempt.holder().expect("readable").and_then(|holder| holder.group) else {
        eprintln!("skipped: no control group can be made here");
        return;
    };
    assert_eq!(ran.state, JobState::Ended(Ok(())));
    nobody_survives(&ran.attempt);
    assert!(!group.exists(), "{group:?}");
    let ran = run("leave and die", &[], Request::ONE_CORE);
    assert_eq!(ran.failure().0, Cause::Signal { signal: 9 });
    nobody_survives(&ran.attempt);
}

#[test]
fn nobody_survives_a_driver_that_ends() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = fixture::attempt(directory.path(), "sleep", &[], request(None, None));
    let (mut local, spec) = successor(&attempt, request(None, None));
    assert!(local.submit(&[spec]).iter().all(Result::is_ok));
    wait_for(|| attempt.holder().expect("readable"));
    wait_for(|| (survivors(&attempt) >= 3).then_some(()));
    drop(local);
    nobody_survives(&attempt);
}

/// Begins an attempt from a driver that is killed at once.
fn orphan(attempt: &Attempt) {
    let launcher = launcher();
    let mut driver = Command::new("/bin/sh");
    driver.args(["-c", "\"$@\" > /dev/null 2>&1 & kill -9 $$", "sh"]);
    driver.arg(&launcher.program).args(&launcher.arguments).arg(attempt.path());
    driver.status().expect("a program");
}

fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(Instant::now() < limit, "it does not come");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn limits_hold_without_a_driver() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = fixture::attempt(directory.path(), "sleep", &[], request(None, Some(600)));
    orphan(&attempt);
    let manifest = wait_for(|| attempt.manifest().expect("readable"));
    let walltime = Cause::Walltime { limit_ns: 600_000_000 };
    assert_eq!(manifest.outcome, Outcome::Failure { cause: walltime, diagnostics: Vec::new() });
    nobody_survives(&attempt);
}

#[test]
fn the_memory_is_limited_without_a_driver() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = fixture::attempt(directory.path(), "feed", &[], request(Some(150 << 20), None));
    orphan(&attempt);
    let manifest = wait_for(|| attempt.manifest().expect("readable"));
    assert!(matches!(manifest.outcome, Outcome::Failure { cause: Cause::OutOfMemory { .. }, .. }), "{manifest:?}");
    nobody_survives(&attempt);
}

/// A driver that comes after the one that was killed.
fn successor(attempt: &Attempt, request: Request) -> (Local, JobSpec) {
    let key = attempt.description().expect("as written").key;
    let spec = JobSpec { name: "t".into(), key, attempt: attempt.clone(), request, group: None };
    (Local::new(launcher(), Machine::detect()), spec)
}

#[test]
fn a_running_job_is_found_again() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = fixture::attempt(directory.path(), "sleep", &[], request(None, None));
    let (mut local, spec) = successor(&attempt, request(None, None));
    assert_eq!(local.find(std::slice::from_ref(&spec)), [Ok(None)], "nobody has begun");
    orphan(&attempt);
    let holder = wait_for(|| attempt.holder().expect("readable"));
    let found = local.find(&[spec.clone(), spec.clone()]).into_iter().collect::<Result<Option<Vec<_>>, _>>();
    let ids = found.expect("readable").expect("it runs");
    assert_eq!(ids[0], ids[1], "it is one process");
    assert_eq!(local.poll(), [(ids[0].clone(), JobState::Running)]);
    let second = run_directly(&attempt);
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains(&format!("is being run by process {}", holder.pid)));
    local.cancel(&ids[..1]);
    let ended = wait_for(|| local_end(&local.poll()));
    assert_eq!(ended, Err(Cause::Cancelled));
    nobody_survives(&attempt);
    let signal = Outcome::Failure { cause: Cause::Signal { signal: 15 }, diagnostics: Vec::new() };
    assert_eq!(attempt.manifest().expect("readable").map(|manifest| manifest.outcome), Some(signal), "the job cannot know who asks");
    match verdict(&attempt, &JobState::Ended(ended)).expect("readable") {
        Some(Outcome::Failure { cause, .. }) => assert_eq!(cause, Cause::Cancelled),
        outcome => panic!("{outcome:?}"),
    }
    assert_eq!(local.find(&[spec]), [Ok(None)], "it is over");
}

fn local_end(news: &[(BatchId, JobState)]) -> Option<Result<(), Cause>> {
    match news {
        [(_, JobState::Ended(end))] => Some(end.clone()),
        _ => None,
    }
}

#[test]
fn the_manifest_of_a_job_that_was_found_counts() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = fixture::attempt(directory.path(), "nap", &[], request(None, None));
    orphan(&attempt);
    wait_for(|| attempt.holder().expect("readable"));
    let (mut local, spec) = successor(&attempt, request(None, None));
    assert!(matches!(local.find(&[spec])[0], Ok(Some(_))));
    let state = wait_for(|| local.poll().into_iter().map(|(_, state)| state).find(|state| matches!(state, JobState::Ended(_))));
    assert_eq!(state, JobState::Ended(Ok(())));
    assert!(matches!(verdict(&attempt, &state), Ok(Some(Outcome::Success { .. }))));
}

#[test]
fn an_attempt_is_run_once() {
    let ran = run("value", &[], Request::ONE_CORE);
    let before = ran.manifest();
    let again = run_directly(&ran.attempt);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("was run already"));
    assert_eq!(ran.manifest(), before);
}

#[test]
fn another_versions_directory_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_, attempt) = fixture::attempt(directory.path(), "value", &[], Request::ONE_CORE);
    let path = attempt.path().join("task.json");
    let text = fs::read_to_string(&path).expect("text").replacen(job::VERSION, "99.0.0", 1);
    fs::write(&path, text).expect("writable");
    let output = run_directly(&attempt);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("99.0.0") && stderr.contains(job::VERSION) && stderr.contains("task.json"), "{stderr}");
    assert_eq!(attempt.manifest().expect("readable"), None);
}

#[test]
fn no_directory_of_an_attempt_is_refused() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for path in [directory.path().to_owned(), directory.path().join("attempt-1"), "".into(), "/".into()] {
        assert_eq!(exec(&path, |_, _| Ok(Value::Null)), Exit::Refused, "{path:?}");
    }
}

#[test]
fn an_altered_input_is_not_computed_with() {
    let ran = run_prepared("inputs", &[Input::Value(Value::Bool(true))], Request::ONE_CORE, |attempt| {
        let path = attempt.path().join("../inputs/000-input0.json");
        let bytes = String::from_utf8(fs::read(&path).expect("readable")).expect("JSON");
        fs::write(&path, bytes.replace("true", "false")).expect("writable");
    });
    match ran.failure().0 {
        Cause::NeverStarted { reason } => assert!(reason.contains("000-input0.json") && reason.contains("SHA-256"), "{reason}"),
        cause => panic!("{cause:?}"),
    }
}

#[test]
fn a_result_that_cannot_be_written_is_told() {
    let ran = run_prepared("value", &[], Request::ONE_CORE, |attempt| {
        fs::create_dir(attempt.path().join("result.json")).expect("writable");
    });
    match ran.failure().0 {
        Cause::Unknown { reason } => assert!(reason.contains("result.json"), "{reason}"),
        cause => panic!("{cause:?}"),
    }
}

#[test]
fn lists_of_cpus_are_read() {
    let set = cpu_set("0,3").expect("a list");
    assert_eq!((0..5).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect::<Vec<_>>(), [0, 3]);
    for list in ["", "a", "0,,1", "-1", "99999999"] {
        assert!(cpu_set(list).is_none(), "{list}");
    }
}
