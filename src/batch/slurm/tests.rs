use std::time::Duration;

use super::books::Books;
use super::replies::{self, Ending};
use super::*;
use crate::batch::BatchSystem;
use crate::job::{Attempt, Digest, Ticket};
use crate::site::{MemoryStyle, Node, Queue};

fn settings(cluster: Cluster) -> Settings {
    let queue = Queue { name: "main".to_owned(), nodes: vec![node(8, 16000)], ..Queue::default() };
    let cluster = Cluster { queues: vec![queue], ..cluster };
    Settings { cluster, jobs: "/store/jobs".into(), program: "/bin/scl".into(), directory: "/work".into() }
}

fn node(cores: u32, mib: u64) -> Node {
    Node { count: 1, cores, memory: mib << 20, threads_per_core: 1 }
}

fn job(number: u32, group: Option<u32>) -> JobSpec {
    let key = Digest::of(&number.to_le_bytes());
    let attempt = Attempt::open(&Path::new("/store/jobs").join(key.to_string()).join("attempt-1")).expect("a path of an attempt");
    JobSpec { name: format!("m {number}/9").into(), key, attempt, request: Request::ONE_CORE, group }
}

/// A desk with jobs that wait, and a clerk who has not begun to work.
fn desk(cluster: Cluster, groups: &[Option<u32>]) -> (Arc<Desk>, Clerk) {
    let desk = Arc::new(Desk::default());
    let mut books = desk.open();
    for (number, group) in groups.iter().enumerate() {
        let id = BatchId(format!("{CLUSTER}{number:02}").into());
        books.jobs.insert(id.clone(), Entry::new(&job(number as u32, *group)));
        books.queue.push_back(id);
    }
    drop(books);
    let clerk = Clerk::new(Arc::new(settings(cluster)), desk.clone());
    (desk, clerk)
}

fn sizes(mut clerk: Clerk) -> Vec<usize> {
    std::iter::from_fn(|| Some(clerk.draft().len()).filter(|size| *size > 0)).collect()
}

#[test]
fn jobs_of_one_statement_go_together_up_to_the_largest_array() {
    let groups = [Some(1), Some(1), Some(1), None, None, Some(2), Some(2), Some(1)];
    assert_eq!(sizes(desk(Cluster::default(), &groups).1), [3, 1, 1, 2, 1]);
    let small = Cluster { largest_array: 2, ..Cluster::default() };
    assert_eq!(sizes(desk(small, &groups).1), [2, 1, 1, 1, 2, 1]);
}

#[test]
fn no_more_is_submitted_than_the_site_allows() {
    let (desk, mut clerk) = desk(Cluster { most_jobs: Some(2), ..Cluster::default() }, &[Some(1); 5]);
    let first = clerk.draft();
    assert_eq!(first.len(), 2);
    clerk.enter_tickets(&first, "tag");
    assert!(clerk.draft().is_empty());
    assert!(matches!(desk.open().said.as_slice(), [said] if said.contains("allows no more jobs")));
    desk.open().jobs.values_mut().next().expect("a job").conclude(Ok(()));
    assert_eq!(clerk.draft().len(), 1);
}

#[test]
fn elements_of_an_array_have_numbers_and_a_job_alone_has_none() {
    let (desk, mut clerk) = desk(Cluster::default(), &[Some(1), Some(1), None]);
    let array = clerk.draft();
    clerk.enter_tickets(&array, "array");
    let alone = clerk.draft();
    clerk.enter_tickets(&alone, "alone");
    let tickets: Vec<Ticket> = desk.open().jobs.values().filter_map(|entry| entry.ticket.clone()).collect();
    let ids: Vec<String> = tickets.iter().map(|ticket| ticket.id_within("7")).collect();
    assert_eq!(ids, ["7_1", "7_2", "7"]);
}

#[test]
fn what_slurm_does_not_have_is_submitted_again_unless_it_is_not_wanted() {
    let (desk, mut clerk) = desk(Cluster::default(), &[Some(1), Some(1)]);
    let drafts = clerk.draft();
    clerk.enter_tickets(&drafts, "tag");
    let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).expect("the machine runs for a minute");
    let mut books = desk.open();
    books.jobs.values_mut().for_each(|entry| entry.unclear = Some(long_ago));
    books.jobs.values_mut().next().expect("a job").doomed = Some((long_ago, None));
    drop(books);
    let lost = clerk.lost();
    assert_eq!(lost["tag"].iter().map(|(_, index)| *index).collect::<Vec<_>>(), [Some(2)]);
    let Books { jobs, queue, .. } = &*desk.open();
    let states: Vec<&JobState> = jobs.values().map(|entry| &entry.state).collect();
    assert_eq!(states, [&JobState::Ended(Err(Cause::Cancelled)), &JobState::Waiting]);
    assert!(queue.is_empty(), "it keeps its tag");
}

#[test]
fn a_query_that_leaves_a_job_out_ends_nothing() {
    let (desk, mut clerk) = desk(Cluster::default(), &[None]);
    let drafts = clerk.draft();
    clerk.enter_tickets(&drafts, "tag");
    let hear = |text: &str| clerk.hear(&replies::queue(text));
    let entry = |look: fn(&Entry) -> bool| desk.open().jobs.values().all(look);
    assert!(hear("4|N/A|RUNNING|0|None|m.scl-tag\n"));
    assert!(entry(|entry| entry.state == JobState::Running && entry.id.as_deref() == Some("4")));
    assert!(!hear(""));
    assert!(entry(|entry| entry.missing.is_some() && entry.state == JobState::Running));
    assert!(!hear("4|N/A|STATE_OF_TOMORROW|0|None|m.scl-tag\n"));
    assert!(entry(|entry| entry.missing.is_none() && entry.state == JobState::Running));
    assert!(hear("4|N/A|TIMEOUT|0|TimeLimit|m.scl-tag\n"));
    assert!(entry(|entry| matches!(entry.ended, Some((_, Ending::Timeout))) && entry.state == JobState::Running));
}

#[test]
fn the_driver_is_told_each_news_once() {
    let (desk, mut clerk) = desk(Cluster::default(), &[None]);
    let mut slurm = Slurm { settings: Arc::new(settings(Cluster::default())), desk: desk.clone(), clerk: None, count: 0 };
    assert_eq!(slurm.poll(), []);
    let drafts = clerk.draft();
    clerk.enter_tickets(&drafts, "tag");
    clerk.hear(&replies::queue("4|N/A|RUNNING|0|None|m.scl-tag\n"));
    let id = drafts[0].id.clone();
    assert_eq!(slurm.poll(), [(id.clone(), JobState::Running)]);
    assert_eq!(slurm.poll(), []);
    slurm.cancel(std::slice::from_ref(&id));
    assert!(desk.open().jobs[&id].doomed.is_some(), "Slurm has it, and is asked");
    desk.open().jobs.values_mut().for_each(|entry| entry.conclude(Ok(())));
    assert_eq!(slurm.poll(), [(id, JobState::Ended(Ok(())))]);
    assert!(desk.open().jobs.is_empty());
}

#[test]
fn what_is_cancelled_while_it_is_written_is_not_submitted() {
    let (desk, mut clerk) = desk(Cluster::default(), &[Some(1), Some(1)]);
    let mut slurm = Slurm { settings: Arc::new(settings(Cluster::default())), desk: desk.clone(), clerk: None, count: 0 };
    let drafts = clerk.draft();
    slurm.cancel(std::slice::from_ref(&drafts[0].id));
    assert_eq!(slurm.poll(), [], "the clerk has it in hand");
    assert!(!clerk.enter_tickets(&drafts, "tag"));
}

#[test]
fn what_was_not_submitted_is_cancelled_at_once() {
    let (desk, _) = desk(Cluster::default(), &[None, None]);
    let ids: Vec<BatchId> = desk.open().queue.iter().cloned().collect();
    let mut slurm = Slurm { settings: Arc::new(settings(Cluster::default())), desk: desk.clone(), clerk: None, count: 0 };
    slurm.cancel(&ids[..1]);
    assert_eq!(slurm.poll(), [(ids[0].clone(), JobState::Ended(Err(Cause::Cancelled)))]);
    assert_eq!(desk.open().queue, [ids[1].clone()]);
}

#[test]
fn names_carry_their_tag() {
    assert_eq!(job_name("rates", "0123"), "rates.scl-0123");
    assert_eq!(tag(&job_name("größe|$(x)\n", "ab12")), Some("ab12"));
    assert_eq!(tag("somebody's job"), None);
    assert_eq!(within(Path::new("/store/jobs/ab/attempt-1"), Path::new("/store/jobs")), Some("ab/attempt-1"));
    assert_eq!(within(Path::new("/store/jobs/a b/attempt-1"), Path::new("/store/jobs")), None);
    assert_eq!(within(Path::new("/elsewhere"), Path::new("/store/jobs")), None);
}

#[test]
fn the_first_queue_that_fits_is_taken() {
    let queue = |name: &str, node, longest: Option<u64>| Queue {
        name: name.to_owned(),
        nodes: vec![node],
        longest: longest.map(|minutes| Duration::from_secs(60 * minutes)),
        ..Queue::default()
    };
    let queues = vec![queue("short", node(8, 16000), Some(10)), queue("fat", node(4, 64000), None), queue("wide", node(64, 64000), None)];
    let cluster = Cluster { queues, ..Cluster::default() };
    let request = |cores: u32, mib: u64, minutes: u64| {
        Request::new(cores.try_into().expect("a core"), Some(mib << 20), Some(minutes * 60_000_000_000)).expect("a request")
    };
    let chosen = |cores, mib, minutes| cluster.choose(&request(cores, mib, minutes)).map(|queue| queue.name.clone());
    assert_eq!(chosen(1, 100, 10).as_deref(), Ok("short"));
    assert_eq!(chosen(1, 100, 11).as_deref(), Ok("fat"));
    assert_eq!(chosen(5, 100, 11).as_deref(), Ok("wide"));
    assert_eq!(chosen(4, 16000, 1).as_deref(), Ok("fat"));
    let fault = chosen(65, 100, 5).expect_err("no node is so large");
    assert!(fault.message.contains("`short`") && fault.message.contains("8 cores"), "{}", fault.message);
    assert_eq!(cluster.clamp(&request(65, 100, 5)), request(8, 100, 5));
    let none = Cluster { memory: MemoryStyle::None, ..cluster.clone() };
    assert!(none.choose(&request(1, 1 << 20, 1)).is_ok(), "memory is no matter there");
}
