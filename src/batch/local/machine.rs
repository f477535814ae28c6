//! What this process may use of this machine: its affinity mask, its control groups, the memory that there is.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::batch::Capacity;

/// The CPUs and the memory that all jobs together may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    cpus: Vec<usize>,
    capacity: Capacity,
}

impl Machine {
    /// This machine, as far as this process may use it.
    pub fn detect() -> Self {
        let read = |path: &Path| fs::read_to_string(path).ok();
        let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
        let limits = limits(&groups, &read);
        let memory = read(Path::new("/proc/meminfo")).and_then(|text| total_memory(&text)).unwrap_or(u64::MAX);
        Machine::new(affinity(), limits.cpus, memory.min(limits.memory.unwrap_or(u64::MAX)))
    }

    /// A machine with these CPUs, of which no more than `most` may be in use, and so many bytes of memory.
    pub fn new(cpus: Vec<usize>, most: Option<u32>, memory: u64) -> Self {
        let count = u32::try_from(cpus.len()).unwrap_or(u32::MAX);
        Machine { cpus, capacity: Capacity { cores: count.min(most.unwrap_or(count)).max(1), memory } }
    }

    /// What may be used.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// The first `count` CPUs that are not in use.
    pub(super) fn choose(&self, in_use: &[usize], count: u32) -> Vec<usize> {
        self.cpus.iter().copied().filter(|cpu| !in_use.contains(cpu)).take(count as usize).collect()
    }
}

/// Limits that control groups set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limits {
    /// Whole CPUs; part of one is one.
    cpus: Option<u32>,
    /// Bytes.
    memory: Option<u64>,
}

/// The CPUs that this thread may run on.
pub fn affinity() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect()
}

/// The tightest limits of all control groups that `/proc/self/cgroup` names and of those around them. In a container the names
/// may be those outside of it, and then only the outermost directory exists.
fn limits(groups: &str, read: &dyn Fn(&Path) -> Option<String>) -> Limits {
    let directories: Vec<_> = groups.lines().flat_map(directories).collect();
    let cpus = directories.iter().filter_map(|path| cpu_quota(path, read)).min();
    let memory = directories.iter().filter_map(|path| memory_limit(path, read)).min();
    Limits { cpus, memory }
}

/// The directories of one line `number:controllers:path`, innermost first.
fn directories(line: &str) -> Vec<PathBuf> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return Vec::new() };
    let names = if controllers.is_empty() { vec!["", "unified"] } else { controllers.split(',').chain([controllers]).collect() };
    let roots = names.into_iter().map(|name| Path::new("/sys/fs/cgroup").join(name));
    let inside = Path::new(path.trim_start_matches('/'));
    roots.flat_map(|root| inside.ancestors().map(|part| root.join(part)).collect::<Vec<_>>()).collect()
}

fn cpu_quota(directory: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<u32> {
    let number = |name| read(&directory.join(name)).and_then(|text| text.trim().parse::<u64>().ok());
    let unified = read(&directory.join("cpu.max")).and_then(|text| {
        let (quota, period) = text.trim().split_once(' ')?;
        Some((quota.parse().ok()?, period.parse().ok()?))
    });
    let (quota, period): (u64, u64) = unified.or_else(|| Some((number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)))?;
    u32::try_from(quota.checked_div(period)?.max(1)).ok()
}

fn memory_limit(directory: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let number = |name| read(&directory.join(name)).and_then(|text| text.trim().parse().ok());
    number("memory.max").or_else(|| number("memory.limit_in_bytes"))
}

fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(groups: &str, files: &[(&str, &str)]) -> Limits {
        let read = |path: &Path| files.iter().find(|(name, _)| path == Path::new(name)).map(|(_, text)| (*text).to_owned());
        limits(groups, &read)
    }

    #[test]
    fn the_tightest_limit_counts() {
        let files = [
            ("/sys/fs/cgroup/a/cpu.max", "400000 100000\n"),
            ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/a/b/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.max", "max\n"),
            ("/sys/fs/cgroup/memory.max", "2000\n"),
        ];
        assert_eq!(with("0::/a/b\n", &files), Limits { cpus: Some(4), memory: Some(1000) });
        assert_eq!(with("0::/not/visible/here\n", &files), Limits { cpus: None, memory: Some(2000) });
    }

    #[test]
    fn version_one_is_read() {
        let groups = "4:memory:/m\n3:cpu,cpuacct:/c\n0::/\n";
        let files = [
            ("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ];
        assert_eq!(with(groups, &files), Limits { cpus: Some(1), memory: Some(4096) });
    }

    #[test]
    fn nonsense_is_no_limit() {
        let files = [("/sys/fs/cgroup/cpu.max", "7"), ("/sys/fs/cgroup/memory.max", "-3"), ("/sys/fs/cgroup/cpu.cfs_quota_us", "1")];
        assert_eq!(with("0::/\nx\n:\n\n", &files), Limits::default());
        assert_eq!(with("0::/", &[("/sys/fs/cgroup/cpu.max", "100 0")]), Limits::default());
        assert_eq!(total_memory("MemFree: 3 kB\nMemTotal:       16 kB\n"), Some(16384));
        assert_eq!(total_memory("MemTotal: 99999999999999999999 kB\n"), None);
    }

    #[test]
    fn a_quota_is_less_than_the_mask() {
        let machine = Machine::new(vec![2, 3, 5, 7], Some(2), 10);
        assert_eq!(machine.capacity(), Capacity { cores: 2, memory: 10 });
        assert_eq!(machine.choose(&[2, 5], 2), [3, 7]);
    }

    #[test]
    fn this_machine_has_something() {
        let capacity = Machine::detect().capacity();
        assert!(capacity.cores >= 1 && capacity.memory > 1 << 20, "{capacity:?}");
    }
}
