//! Control groups (version 2) of jobs, where this process may make some.
//!
//! A job that is in a group of its own cannot leave it, whatever it starts: all of it can be ended at once, also when the job's own
//! process is dead and cannot help. Where the memory controller is at hand the kernel holds the job to its memory, to the byte and at
//! once; elsewhere only the job's watchdog does. Groups are made below that of this process, never beside it, so that no limit which
//! someone has set for this process is evaded.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the groups of this program are called, before the driver's number.
const PREFIX: &str = "scl-";

/// The controller that holds a group to its memory.
const MEMORY: &str = "memory";

/// The group of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    path: PathBuf,
}

impl Group {
    /// The one in this directory.
    pub fn at(path: &Path) -> Self {
        Group { path: path.to_owned() }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes a process in, with all that it will start.
    pub fn admit(&self, pid: u32) -> io::Result<()> {
        put(&self.path.join("cgroup.procs"), &pid.to_string())
    }

    /// Ends all that is in it by force; fine if nothing is, or if it is gone.
    pub fn kill(&self) {
        let _ = put(&self.path.join("cgroup.kill"), "1");
    }

    /// How much memory it used at most, in bytes, if the kernel ended something of it because that was too much.
    pub(super) fn ran_out(&self) -> Option<u64> {
        let events = fs::read_to_string(self.path.join("memory.events")).ok()?;
        let kills: u64 = events.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()?;
        let peak = fs::read_to_string(self.path.join("memory.peak")).ok().and_then(|text| text.trim().parse().ok());
        (kills > 0).then(|| peak.unwrap_or(0))
    }

    /// Whether this process made it: another one may remove it as soon as its own driver is gone.
    fn is_own(&self) -> bool {
        let name = self.path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with(&format!("{PREFIX}{}-", std::process::id())))
    }

    /// Whether nothing is in it, and no controller has anything of those that were.
    fn is_as_new(&self) -> bool {
        let read = |file: &str| fs::read(self.path.join(file)).ok();
        read("cgroup.controllers").is_some_and(|names| names.trim_ascii().is_empty())
            && read("cgroup.procs").is_some_and(|processes| processes.is_empty())
    }

    /// Whether there is nothing of it any more, or nothing that could be done about it.
    fn is_removed(&self) -> bool {
        match fs::remove_dir(&self.path) {
            // what was killed is not over at once
            Err(error) => error.kind() != io::ErrorKind::ResourceBusy,
            Ok(()) => true,
        }
    }
}

/// Makes groups, and takes them away.
#[derive(Debug)]
pub(super) struct Groups {
    base: Option<PathBuf>,
    /// Groups that still have something in them that is about to end.
    ending: Vec<Group>,
    /// Groups that are as good as new.
    idle: Vec<Group>,
}

impl Groups {
    /// Below the group of this process, if there is one.
    pub(super) fn detect() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let base = own_group(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
        if let Some(base) = &base {
            sweep(base);
            make_room(base, MEMORY, std::process::id());
        }
        Groups { base, ending: Vec::new(), idle: Vec::new() }
    }

    /// A new group, held to so many bytes where that can be done; nothing where no group can be made.
    pub(super) fn create(&mut self, memory: Option<u64>) -> Option<Group> {
        if let Some(group) = self.idle.pop() {
            return Some(group);
        }
        // of this process, which may have several batch systems, one after the other
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let group = Group { path: self.base.as_ref()?.join(format!("{PREFIX}{}-{number}", std::process::id())) };
        fs::create_dir(&group.path).ok()?;
        if let Some(memory) = memory {
            // files that are not there mean that the controller is not; the watchdog has a limit too
            for (file, value) in [("memory.swap.max", "0"), ("memory.oom.group", "1"), ("memory.max", &memory.to_string())] {
                let _ = put(&group.path.join(file), value);
            }
        }
        Some(group)
    }

    /// Ends all that is left in a group, and takes it away as soon as that is over. One that is empty and counts nothing is used again,
    /// since to make and to remove groups takes longer than all else that is done with them.
    pub(super) fn dissolve(&mut self, group: Group) {
        if group.is_own() && group.is_as_new() {
            self.idle.push(group);
        } else if !group.is_removed() {
            group.kill();
            self.ending.push(group);
        }
    }

    /// Takes away what waits for the next job.
    pub(super) fn clear(&mut self) {
        self.ending.append(&mut self.idle);
    }

    /// Takes away what can be taken away by now; whether something is left.
    pub(super) fn tidy(&mut self) -> bool {
        self.ending.retain(|group| !group.is_removed());
        !self.ending.is_empty()
    }
}

/// Files of control groups are only ever written, never made.
fn put(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

/// The directory of this process's group: where version 2 is mounted (`/proc/self/mountinfo`), and below that what
/// `/proc/self/cgroup` says.
fn own_group(mounts: &str, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, point) = mounts.lines().find_map(hierarchy)?;
    let inside = Path::new(path).strip_prefix(root).ok()?;
    // outside of the part that can be seen
    if inside.components().any(|part| part.as_os_str() == "..") { None } else { Some(Path::new(point).join(inside)) }
}

/// What of the hierarchy of version 2 is mounted and where, if a line of `/proc/self/mountinfo` is about that.
fn hierarchy(mount: &str) -> Option<(&str, &str)> {
    let (fields, rest) = mount.split_once(" - ")?;
    let mut fields = fields.split(' ').skip(3);
    let (root, point) = (fields.next()?, fields.next()?);
    // an escaped name is one that no distribution uses
    (rest.starts_with("cgroup2 ") && !point.contains('\\')).then_some((root, point))
}

/// Takes away the empty groups that drivers left behind which were killed.
fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let driver = entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next()?.parse::<u32>().ok());
        if driver.is_some_and(|driver| !Path::new(&format!("/proc/{driver}")).exists()) {
            // one that is not empty stays
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Lets the groups below have a controller, if it is at hand. The kernel allows that only where no process is in the group itself, so a
/// driver that is alone in it moves into a group below.
fn make_room(base: &Path, controller: &str, driver: u32) {
    let lists = |file: &str| fs::read_to_string(base.join(file)).is_ok_and(|text| text.split_whitespace().any(|name| name == controller));
    // what is not below anything is the machine's, not ours
    if lists("cgroup.subtree_control") || !lists("cgroup.controllers") || !base.join("cgroup.type").exists() {
        return;
    }
    let is_alone = fs::read_to_string(base.join("cgroup.procs")).is_ok_and(|text| text.trim() == driver.to_string());
    let below = Group { path: base.join(format!("{PREFIX}{driver}-driver")) };
    if !is_alone || fs::create_dir(&below.path).is_err() {
        return;
    }
    let granted = below.admit(driver).and_then(|()| put(&base.join("cgroup.subtree_control"), &format!("+{controller}")));
    if granted.is_err() {
        // as it was before
        let _ = Group::at(base).admit(driver);
        let _ = fs::remove_dir(&below.path);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use super::*;

    const MOUNTS: &str = "\
31 24 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
";

    #[test]
    fn the_own_group_is_found() {
        let own = |mounts: &str, groups: &str| own_group(mounts, groups).map(|path| path.display().to_string());
        assert_eq!(own(MOUNTS, "4:memory:/m\n0::/a/b\n").as_deref(), Some("/sys/fs/cgroup/unified/a/b"));
        assert_eq!(own(&MOUNTS.replace("0:38 /", "0:38 /a"), "0::/a/b\n").as_deref(), Some("/sys/fs/cgroup/unified/b"));
        for (mounts, groups) in [(MOUNTS, "4:memory:/m\n"), (MOUNTS, "0::/../c\n"), ("", "0::/\n"), ("x - cgroup2 y\n", "0::/\n")] {
            assert_eq!(own(mounts, groups), None, "{groups}");
        }
        assert_eq!(own(&MOUNTS.replace("0:38 /", "0:38 /other"), "0::/a\n"), None);
    }

    #[test]
    fn what_the_kernel_ended_is_known() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let group = Group::at(directory.path());
        assert_eq!(group.ran_out(), None);
        for (events, peak, expected) in
            [("low 0\noom 0\noom_kill 0\n", "7\n", None), ("oom 1\noom_kill 2\n", "4711\n", Some(4711)), ("oom_kill 1\n", "?", Some(0))]
        {
            fs::write(directory.path().join("memory.events"), events).expect("writable");
            fs::write(directory.path().join("memory.peak"), peak).expect("writable");
            assert_eq!(group.ran_out(), expected);
        }
    }

    #[test]
    fn files_are_not_made() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let group = Group::at(directory.path());
        assert!(group.admit(1).is_err());
        group.kill();
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 0);
        let mut nowhere = Groups { base: None, ending: Vec::new(), idle: Vec::new() };
        assert_eq!(nowhere.create(Some(1)), None);
    }

    /// A process in a group of its own below that of the tests; nothing, and a line that says so, where none can be made.
    fn sleeper() -> Option<(Groups, Group, Child)> {
        let mut groups = Groups::detect();
        let Some(group) = groups.create(Some(1 << 30)) else {
            eprintln!("skipped: no control group can be made here");
            return None;
        };
        let child = Command::new("/bin/sleep").arg("1000").spawn().expect("a program");
        group.admit(child.id()).expect("an own process");
        Some((groups, group, child))
    }

    #[test]
    fn a_group_ends_as_a_whole_and_is_taken_away() {
        let Some((mut groups, group, mut child)) = sleeper() else { return };
        assert!(!group.is_removed(), "there is something in it");
        groups.dissolve(group.clone());
        let status = child.wait().expect("a child");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
        let limit = Instant::now() + Duration::from_secs(10);
        while groups.tidy() {
            assert!(Instant::now() < limit, "{groups:?}");
            sleep(Duration::from_millis(2));
        }
        assert!(!group.path.exists());
    }

    #[test]
    fn an_empty_group_is_used_again() {
        let Some((mut groups, group, mut child)) = sleeper() else { return };
        assert!(!group.is_as_new(), "there is something in it");
        child.kill().expect("a child");
        child.wait().expect("a child");
        if group.is_as_new() {
            groups.dissolve(group.clone());
            assert_eq!(groups.create(None), Some(group.clone()));
        }
        groups.dissolve(group.clone());
        groups.clear();
        while groups.tidy() {
            sleep(Duration::from_millis(2));
        }
        assert!(!group.path.exists(), "{group:?}");
    }

    /// With the controller that this machine has, which need not be that of memory.
    #[test]
    fn a_driver_that_is_alone_makes_room() {
        let Some((mut groups, group, mut child)) = sleeper() else { return };
        let controllers = fs::read_to_string(group.path.join("cgroup.controllers")).unwrap_or_default();
        match controllers.split_whitespace().next() {
            None => eprintln!("skipped: no controller is at hand below the group of the tests"),
            Some(controller) => {
                make_room(&group.path, controller, child.id());
                let given = fs::read_to_string(group.path.join("cgroup.subtree_control")).expect("readable");
                assert!(given.split_whitespace().any(|name| name == controller), "{given}");
                let below = group.path.join(format!("{PREFIX}{}-driver", child.id()));
                assert_eq!(fs::read_to_string(below.join("cgroup.procs")).expect("readable").trim(), child.id().to_string());
                make_room(&group.path, controller, child.id());
            }
        }
        group.kill();
        child.wait().expect("a child");
        sweep(&group.path);
        groups.dissolve(group.clone());
        groups.clear();
        while groups.tidy() {
            sleep(Duration::from_millis(2));
        }
        assert!(!group.path.exists(), "{group:?}");
    }
}
