use std::thread::sleep;

use super::*;
use crate::job::fixture;

/// Runs a command of the system instead of a worker.
fn local(program: &str, arguments: &[&str]) -> Local {
    let arguments = arguments.iter().map(OsString::from).collect();
    Local::new(Launcher { program: program.into(), arguments, server: None }, Machine::new(vec![0], None, 1 << 30))
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
    let mut local = local("/bin/sh", &["-c", "sleep 1000"]);
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
        Launcher { program: "/bin/sh".into(), arguments: vec!["-c".into(), "sleep 0.2".into()], server: None },
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

/// A shell that runs one script as a job and another one as the server.
fn with_server(job: &str, server: &str) -> Local {
    let script = |text: &str| vec!["-c".into(), text.into()];
    let launcher = Launcher { program: "/bin/sh".into(), arguments: script(job), server: Some(script(server)) };
    Local::new(launcher, Machine::new(vec![0], None, 1 << 30))
}

/// Runs so many jobs to their ends.
fn ends(local: &mut Local, count: usize) -> Vec<Result<(), Cause>> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    assert!(local.submit(&specs(directory.path(), count)).iter().all(Result::is_ok));
    let limit = Instant::now() + Duration::from_secs(60);
    let mut ends = Vec::new();
    while ends.len() < count {
        let ended = |(_, state)| if let JobState::Ended(end) = state { Some(end) } else { None };
        ends.extend(local.poll().into_iter().filter_map(ended));
        assert!(Instant::now() < limit, "{local:?}");
        sleep(Duration::from_millis(2));
    }
    ends
}

/// It ends, is killed, never answers, answers with words, with a process that is not a child of ours, or that there is none.
#[test]
fn a_server_that_is_of_no_use_is_done_without() {
    let servers = [
        ("exit 1", 3),
        ("kill -9 $$", 3),
        ("exec cat > /dev/null", 3),
        ("echo nonsense >&0; cat", 3),
        ("printf '\\001\\000\\000\\000' >&0; cat", 3),
        ("printf '\\000\\000\\000\\000' >&0; cat", 3),
    ];
    for (server, failures) in servers {
        let mut local = with_server("exit 3", server);
        local.nursery.limit(Duration::from_millis(300));
        assert_eq!(ends(&mut local, 6), vec![Err(Cause::ExitCode { code: 3 }); 6], "{server}");
        assert_eq!(local.nursery.failures(), failures, "{server}");
    }
}

#[test]
fn one_job_alone_needs_no_server() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mark = directory.path().join("asked");
    let mut local = with_server("exit 0", &format!("touch {mark:?}; exit 1"));
    assert_eq!(ends(&mut local, 1), [Ok(())]);
    assert!(!mark.exists());
    assert_eq!(ends(&mut local, 1), [Ok(())]);
    assert!(mark.exists());
}

#[test]
fn any_signal_is_known_by_its_number() {
    for signal in ["KILL", "SEGV", "RTMIN+3"] {
        let number: i32 = match signal {
            "KILL" => 9,
            "SEGV" => 11,
            _ => 37,
        };
        assert_eq!(ends(&mut local("/bin/bash", &["-c", &format!("kill -{signal} $$")]), 1), [Err(Cause::Signal { signal: number })]);
    }
}

#[test]
fn an_order_arrives_as_it_was_sent() {
    let environment = vec![("A".into(), "1=2 ".into()), ("B".into(), "".into())];
    let order = Order { directory: "/a b\n/\u{e4}".into(), environment };
    let mut bytes = Vec::new();
    order.send(&mut bytes).expect("memory");
    assert_eq!(Order::receive(&mut bytes.as_slice()), Some(order));
    for end in 0..bytes.len() {
        assert_eq!(Order::receive(&mut &bytes[..end]), None, "cut at {end}");
    }
    assert_eq!(Order::receive(&mut [255; 100].as_slice()), None);
    assert_eq!(Order::receive(&mut [1, 0, 0, 0, 0].as_slice()), None, "no setting");
    let long = Order { directory: "x".repeat(2 << 20).into(), environment: Vec::new() };
    assert!(long.send(&mut bytes).is_err());
}
