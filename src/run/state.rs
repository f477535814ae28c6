//! Which task waits for which: pure transitions, without threads or clocks.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::graph::{Need, TaskGraph, TaskId};

/// The states of all tasks of a graph.
#[derive(Debug)]
pub struct State {
    graph: Arc<TaskGraph>,
    batch: Vec<bool>,
    status: Vec<Status>,
    waiters: Waiters,
    ready: VecDeque<TaskId>,
    ready_jobs: Vec<TaskId>,
    /// Tasks that were demanded and are not settled.
    open: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Nobody asked for it.
    Idle,
    /// It waits for so many others.
    Waiting(u32),
    /// It may begin, or has begun.
    Active,
    /// It has a value, or never will.
    Settled,
}

/// Which tasks wait for which, in the order in which they began to. Most tasks have few waiters, so that these are chained in one list
/// instead of standing in one each.
#[derive(Debug)]
struct Waiters {
    /// For each task the link of its last waiter, from which one comes to the first.
    last: Vec<u32>,
    /// A waiter, and the next.
    links: Vec<(TaskId, u32)>,
}

/// No link.
const NONE: u32 = u32::MAX;

impl Waiters {
    fn add(&mut self, task: TaskId, waiter: TaskId) {
        let link = self.links.len() as u32;
        let last = std::mem::replace(&mut self.last[task.index()], link);
        let first = self.links.get_mut(last as usize).map_or(link, |(_, next)| std::mem::replace(next, link));
        self.links.push((waiter, first));
    }

    /// The first link of those who wait for a task, and from now on no longer do.
    fn take(&mut self, task: TaskId) -> u32 {
        let last = std::mem::replace(&mut self.last[task.index()], NONE);
        self.links.get_mut(last as usize).map_or(NONE, |(_, next)| std::mem::replace(next, NONE))
    }

    fn link(&self, link: u32) -> Option<(TaskId, u32)> {
        self.links.get(link as usize).copied()
    }
}

impl State {
    /// All tasks idle.
    pub fn new(graph: Arc<TaskGraph>, is_batch: &dyn Fn(TaskId) -> bool) -> Self {
        State {
            batch: graph.tasks().map(is_batch).collect(),
            status: vec![Status::Idle; graph.len()],
            waiters: Waiters { last: vec![NONE; graph.len()], links: Vec::new() },
            graph,
            ready: VecDeque::new(),
            ready_jobs: Vec::new(),
            open: 0,
        }
    }

    /// Asks for a task, and for all that it certainly needs.
    pub fn demand(&mut self, task: TaskId) {
        let graph = self.graph.clone();
        let mut stack = vec![task];
        while let Some(task) = stack.pop() {
            if self.status[task.index()] != Status::Idle {
                continue;
            }
            self.open += 1;
            let before = stack.len();
            let certain = graph.dependencies(task).filter(|(_, need)| *need == Need::Certain);
            stack.extend(certain.map(|(dependency, _)| dependency).filter(|on| !self.is_settled(*on)));
            let missing = &stack[before..];
            self.status[task.index()] = Status::Waiting(missing.len() as u32);
            missing.iter().for_each(|dependency| self.waiters.add(*dependency, task));
            if missing.is_empty() {
                self.activate(task);
            }
        }
    }

    /// A task that had begun needs another one first.
    pub fn wait_for(&mut self, task: TaskId, other: TaskId) {
        if self.is_settled(other) {
            self.activate(task);
            return;
        }
        self.status[task.index()] = Status::Waiting(1);
        self.waiters.add(other, task);
        self.demand(other);
    }

    /// A task has a value, or never will.
    pub fn settle(&mut self, task: TaskId) {
        self.status[task.index()] = Status::Settled;
        self.open -= 1;
        let mut next = self.waiters.take(task);
        while let Some((waiter, after)) = self.waiters.link(next) {
            next = after;
            if let Status::Waiting(missing) = &mut self.status[waiter.index()] {
                *missing -= 1;
                if *missing == 0 {
                    self.activate(waiter);
                }
            }
        }
    }

    fn activate(&mut self, task: TaskId) {
        self.status[task.index()] = Status::Active;
        if self.batch[task.index()] { self.ready_jobs.push(task) } else { self.ready.push_back(task) }
    }

    /// An interactive task that may begin.
    pub fn next(&mut self) -> Option<TaskId> {
        self.ready.pop_front()
    }

    /// How many interactive tasks may begin.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The first `most` of the batch tasks that may begin.
    pub fn take_ready_jobs(&mut self, most: usize) -> Vec<TaskId> {
        let count = self.ready_jobs.len().min(most);
        self.ready_jobs.drain(..count).collect()
    }

    /// Whether batch tasks may begin.
    pub fn has_ready_jobs(&self) -> bool {
        !self.ready_jobs.is_empty()
    }

    /// Of the batch tasks that `needed` holds for: how many are settled, how many were asked for (those included), and how many there are.
    pub fn count_jobs(&self, needed: &[bool]) -> (usize, usize, usize) {
        let jobs = self.batch.iter().zip(needed).zip(&self.status).filter(|((batch, needed), _)| **batch && **needed);
        jobs.fold((0, 0, 0), |(settled, asked, all), (_, status)| {
            (settled + usize::from(*status == Status::Settled), asked + usize::from(*status != Status::Idle), all + 1)
        })
    }

    /// Whether a task has a value, or never will.
    pub fn is_settled(&self, task: TaskId) -> bool {
        self.status[task.index()] == Status::Settled
    }

    /// Whether nothing that was asked for is left.
    pub fn is_over(&self) -> bool {
        self.open == 0
    }
}
