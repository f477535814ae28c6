use std::thread::sleep;

use super::*;
use crate::job::fixture;

/// Runs a command of the system instead of a worker.
fn local(program: &str, arguments: &[&str]) -> Local {
    let arguments = arguments.iter().map(OsString::from).collect();
    Local::new(Launcher { program: program.into(), arguments }, Machine::new(vec![0], None, 1 << 30))
}

fn specs(jobs: &Path, count: usize) -> Vec<JobSpec> {
    specs_of(jobs, count, &Request::ONE_CORE)
}

fn specs_of(jobs: &Path, count: usize, request: &Request) -> Vec<JobSpec> {
    let spec = |number: usize| {
        let (job, attempt) = fixture::attempt(jobs, &number.to_string(), &[], request.clone());
        JobSpec { name: "t".into(), key: job.key(), attempt, request: request.clone(), group: None }
    };
    (0..count).map(spec).collect()
}

#[test]
fn an_end_is_said_once_and_then_forgotten() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut local = local("/bin/true", &[]);
    let ids: Vec<_> = local.submit(&specs(directory.path(), 3)).into_iter().flatten().collect();
    let mut ends = vec![0; ids.len()];
    let limit = Instant::now() + Duration::from_secs(30);
    while !local.jobs.is_empty() {
        for (place, state) in local.poll(&ids).into_iter().enumerate() {
            ends[place] += usize::from(state == JobState::Ended(Ok(())));
        }
        assert!(Instant::now() < limit, "{local:?}");
        sleep(Duration::from_millis(2));
    }
    assert_eq!(ends, [1, 1, 1]);
    assert!(local.queue.is_empty());
    assert_eq!(local.poll(&ids), [JobState::Unknown, JobState::Unknown, JobState::Unknown]);
}

#[test]
fn who_never_began_ends_too() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut local = local("/nowhere/at all", &[]);
    let ids: Vec<_> = local.submit(&specs(directory.path(), 1)).into_iter().flatten().collect();
    match local.poll(&ids).as_slice() {
        [JobState::Ended(Err(Cause::NeverStarted { reason }))] => assert!(reason.contains("/nowhere/at all"), "{reason}"),
        states => panic!("{states:?}"),
    }
    assert!(local.jobs.is_empty());
}

/// There are cores for four, and memory for two.
#[test]
fn memory_is_counted_as_cores_are() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut local = Local::new(
        Launcher { program: "/bin/sh".into(), arguments: vec!["-c".into(), "sleep 0.2".into()] },
        Machine::new(vec![0, 1, 2, 3], None, 100 << 20),
    );
    let request = Request::new(NonZeroU32::MIN, Some(40 << 20), None).expect("a request");
    let ids: Vec<_> = local.submit(&specs_of(directory.path(), 5, &request)).into_iter().flatten().collect();
    let limit = Instant::now() + Duration::from_secs(30);
    let (mut most, mut ended) = (0, 0);
    while ended < ids.len() {
        let states = local.poll(&ids);
        most = most.max(states.iter().filter(|state| **state == JobState::Running).count());
        ended += states.iter().filter(|state| **state == JobState::Ended(Ok(()))).count();
        assert!(Instant::now() < limit, "{local:?}");
        sleep(Duration::from_millis(2));
    }
    assert_eq!(most, 2);
}
