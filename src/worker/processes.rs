//! The processes that belong to a job: its process group and all descendants, wherever they went.

use std::collections::BTreeMap;
use std::fs;

use nix::unistd::{SysconfVar, sysconf};

/// One process, from `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    parent: i32,
    group: i32,
    /// When it began, in the system's ticks since the boot.
    birth: u64,
    /// Resident memory in pages.
    pages: u64,
}

impl Process {
    /// Whether it is the other one: numbers are reused, but not at the same time.
    pub(super) fn is_same(&self, other: &Process) -> bool {
        (self.pid, self.birth) == (other.pid, other.birth)
    }
}

/// All processes of this machine that can be seen, without those that have ended and only wait for someone to take note of it.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    numbers.filter_map(|entry| parse(&fs::read(entry.path().join("stat")).ok()?)).collect()
}

/// Those that belong to the job of the process `leader`, itself included.
pub(super) fn of_job(all: &[Process], leader: i32) -> Vec<Process> {
    let parents: BTreeMap<i32, i32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let descends = |process: &Process| {
        let line = std::iter::successors(Some(process.pid), |pid| parents.get(pid).copied());
        // A process that ends while the list is read may leave a loop of reused numbers.
        line.take(parents.len() + 1).any(|pid| pid == leader)
    };
    all.iter().filter(|process| process.group == leader || descends(process)).copied().collect()
}

/// Resident memory of these processes in bytes; what they share counts for each.
pub(super) fn resident(processes: &[Process]) -> u64 {
    let page = sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|size| u64::try_from(size).ok()).unwrap_or(4096);
    processes.iter().map(|process| process.pages.saturating_mul(page)).sum()
}

/// `pid (name) state ppid pgrp … rss …`, where the name may hold anything.
fn parse(stat: &[u8]) -> Option<Process> {
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let pid = std::str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let rest: Vec<_> = std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace().collect();
    if matches!(*rest.first()?, "Z" | "X") {
        return None;
    }
    let (parent, group) = (rest.get(1)?.parse().ok()?, rest.get(2)?.parse().ok()?);
    let (birth, pages) = (rest.get(19)?.parse().ok()?, rest.get(21)?.parse().ok()?);
    Some(Process { pid, parent, group, birth, pages })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, group: i32) -> Process {
        Process { pid, parent, group, birth: 1, pages: 1 }
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"42 (a) (b\n\xff) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 100 1000 55 18446744073709551615 1 1\n";
        assert_eq!(parse(stat), Some(Process { pid: 42, parent: 1, group: 7, birth: 100, pages: 55 }));
        for cut in [&b""[..], b")(", b"42 (a) S 1 7", b"x (a) S 1 7"] {
            assert_eq!(parse(cut), None);
        }
    }

    #[test]
    fn the_dead_are_none() {
        let stat = |state| format!("42 (a) {state} 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 100 1000 55 18446744073709551615 1 1\n");
        assert!(parse(stat("R").as_bytes()).is_some());
        assert_eq!(parse(stat("Z").as_bytes()), None);
    }

    #[test]
    fn descendants_count_wherever_they_are() {
        let all = [process(1, 0, 1), process(10, 1, 10), process(11, 10, 10), process(12, 11, 12), process(13, 1, 10), process(20, 1, 20)];
        let pids: Vec<_> = of_job(&all, 10).iter().map(|process| process.pid).collect();
        assert_eq!(pids, [10, 11, 12, 13]);
    }

    #[test]
    fn loops_end() {
        assert!(of_job(&[process(1, 2, 1), process(2, 1, 1)], 3).is_empty());
    }

    #[test]
    fn this_process_is_one() {
        let own = i32::try_from(std::process::id()).expect("a process number");
        let seen = of_job(&all(), own);
        assert!(seen.iter().any(|process| process.pid == own));
        assert!(resident(&seen) > 1 << 20);
    }
}
