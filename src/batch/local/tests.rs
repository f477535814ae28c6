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
    let mut news = Vec::new();
    let limit = Instant::now() + Duration::from_secs(30);
    while !local.queue.is_empty() || !local.running.is_empty() {
        news.extend(local.poll());
        assert!(Instant::now() < limit, "{local:?}");
        sleep(Duration::from_millis(2));
    }
    // there is one core, so they begin and end in turn
    let expected = ids.iter().flat_map(|id| [(id.clone(), JobState::Running), (id.clone(), JobState::Ended(Ok(())))]);
    assert_eq!(news, expected.collect::<Vec<_>>());
    assert_eq!(local.poll(), []);
}

#[test]
fn an_end_is_told_at_once() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut local = local("/bin/true", &[]);
    let (told, heard) = std::sync::mpsc::channel();
    local.wake(Box::new(move || told.send(()).unwrap_or_default()));
    let ids: Vec<_> = local.submit(&specs(directory.path(), 1)).into_iter().flatten().collect();
    let mut news = Vec::new();
    while !matches!(news.last(), Some((_, JobState::Ended(_)))) {
        heard.recv_timeout(Duration::from_secs(30)).expect("it ends");
        news.extend(local.poll());
    }
    assert_eq!(news, [(ids[0].clone(), JobState::Running), (ids[0].clone(), JobState::Ended(Ok(())))]);
    drop(local);
    while heard.recv_timeout(Duration::from_secs(30)).is_ok() {}
    assert_eq!(heard.try_recv(), Err(std::sync::mpsc::TryRecvError::Disconnected), "the thread that tells has ended");
}

#[test]
fn who_is_not_wanted_any_more_does_not_begin() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut local = local("/bin/sleep", &["1000"]);
    let ids: Vec<_> = local.submit(&specs(directory.path(), 3)).into_iter().flatten().collect();
    local.cancel(&ids[1..2]);
    let cancelled = JobState::Ended(Err(Cause::Cancelled));
    assert_eq!(local.poll(), [(ids[0].clone(), JobState::Running), (ids[1].clone(), cancelled)]);
    assert_eq!(local.queue.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&ids[2]]);
}

#[test]
fn who_never_began_ends_too() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut local = local("/nowhere/at all", &[]);
    let ids: Vec<_> = local.submit(&specs(directory.path(), 1)).into_iter().flatten().collect();
    match local.poll().as_slice() {
        [(id, JobState::Ended(Err(Cause::NeverStarted { reason })))] if *id == ids[0] => {
            assert!(reason.contains("/nowhere/at all"), "{reason}");
        }
        news => panic!("{news:?}"),
    }
    assert!(local.running.is_empty() && local.queue.is_empty());
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
        let news = local.poll();
        most = most.max(local.running.len());
        ended += news.iter().filter(|(_, state)| *state == JobState::Ended(Ok(()))).count();
        assert!(Instant::now() < limit, "{local:?}");
        sleep(Duration::from_millis(2));
    }
    assert_eq!(most, 2);
}
