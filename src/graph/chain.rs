//! The chain of tasks that decides how long all take.

use std::cmp::Reverse;
use std::time::Duration;

use petgraph::algo::toposort;

use super::{TaskGraph, TaskId};

impl TaskGraph {
    /// The chain of tasks, each of which waits for the one before, that takes the longest when each takes as long as `time` says and
    /// nothing waits for anything else; of several the one that comes first. What only perhaps is needed counts.
    pub fn longest_chain(&self, time: impl Fn(TaskId) -> Duration) -> (Duration, Vec<TaskId>) {
        let reachable = self.reachable();
        // a graph of a checked model has no cycles
        let order = toposort(&self.graph, None).unwrap_or_default();
        let mut best: Vec<(Duration, Option<TaskId>)> = vec![(Duration::ZERO, None); self.len()];
        let until = |best: &[(Duration, Option<TaskId>)], task: &TaskId| (best[task.index()].0, Reverse(*task));
        for task in order.into_iter().map(|node| TaskId(node.index() as u32)).filter(|task| reachable[task.index()]) {
            let before = self.dependencies(task).map(|(before, _)| before).max_by_key(|before| until(&best, before));
            let waits = before.map_or(Duration::ZERO, |before| best[before.index()].0);
            best[task.index()] = (waits.saturating_add(time(task)), before);
        }
        let mut next = self.tasks().filter(|task| reachable[task.index()]).max_by_key(|task| until(&best, task));
        let total = next.map_or(Duration::ZERO, |last| best[last.index()].0);
        let mut chain = Vec::new();
        while let Some(task) = next {
            chain.push(task);
            next = best[task.index()].1;
        }
        chain.reverse();
        (total, chain)
    }
}
