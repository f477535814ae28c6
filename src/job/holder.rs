//! The process that runs an attempt, so that a later run of the program can find it again.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use nix::unistd::{Pid, SysconfVar, getpgid, sysconf};
use serde::{Deserialize, Serialize};

use super::files::host;

/// Room for what the system says of a process, so that it is asked once.
const STAT: usize = 1024;

/// A process, named so that no other can be taken for it: numbers are reused, but not at the same time after the same boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The machine.
    pub host: String,
    /// The system's own name for the time since it was started.
    pub boot: String,
    /// The process, leader of its group.
    pub pid: u32,
    /// When it began, in the system's ticks since the boot.
    pub birth: u64,
    /// The CPUs that it keeps to.
    pub cpus: Vec<usize>,
    /// The directory of its control group, if it has one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<PathBuf>,
}

/// What can be said of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It runs on this machine.
    Here,
    /// It was on this machine, and is over.
    Over,
    /// It is, or was, on another machine.
    Elsewhere,
}

impl Holder {
    /// This process.
    pub fn this_process(cpus: Vec<usize>) -> Self {
        let pid = std::process::id();
        Holder { host: host(), boot: boot().to_owned(), pid, birth: birth(pid).unwrap_or(0), cpus, group: None }
    }

    /// A process of this machine that leads its group, as jobs do and hardly anything that they start.
    pub fn leader(pid: u32) -> Option<Self> {
        let number = Pid::from_raw(i32::try_from(pid).ok()?);
        let leads = getpgid(Some(number)).is_ok_and(|group| group == number);
        let birth = birth(pid).filter(|_| leads)?;
        Some(Holder { host: host(), boot: boot().to_owned(), pid, birth, cpus: Vec::new(), group: None })
    }

    /// No process: of an attempt that is never to begin.
    pub fn nobody() -> Self {
        Holder { host: host(), boot: boot().to_owned(), pid: 0, birth: 0, cpus: Vec::new(), group: None }
    }

    /// Whether it is this process, whatever else is known of either.
    pub fn is_same(&self, other: &Holder) -> bool {
        (&*self.host, &*self.boot, self.pid, self.birth) == (&*other.host, &*other.boot, other.pid, other.birth)
    }

    /// Whether it still runs.
    pub fn life(&self) -> Life {
        if self.host != host() {
            Life::Elsewhere
        } else if self.boot == boot() && birth(self.pid) == Some(self.birth) {
            Life::Here
        } else {
            Life::Over
        }
    }

    /// For how long it has been running, if it is on this machine since its last start; no clock that can be set matters.
    pub fn age(&self) -> Option<Duration> {
        let here = self.host == host() && self.boot == boot();
        let uptime: f64 = fs::read_to_string("/proc/uptime").ok()?.split(' ').next()?.parse().ok()?;
        let ticks = sysconf(SysconfVar::CLK_TCK).ok()??;
        let age = uptime - self.birth as f64 / ticks as f64;
        Duration::try_from_secs_f64(age.max(0.0)).ok().filter(|_| here)
    }
}

fn boot() -> &'static str {
    static BOOT: LazyLock<String> =
        LazyLock::new(|| fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned());
    &BOOT
}

/// When a process began; nothing if it is over, also when nobody has taken note of its end.
fn birth(pid: u32) -> Option<u64> {
    let mut stat = Vec::with_capacity(STAT);
    File::open(format!("/proc/{pid}/stat")).and_then(|mut file| file.read_to_end(&mut stat)).ok()?;
    parse(&stat)
}

/// `pid (name) state … starttime …`, where the name may hold anything.
fn parse(stat: &[u8]) -> Option<u64> {
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let mut rest = std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace();
    let state = rest.next()?;
    let birth = rest.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(birth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_birth() {
        let own = Holder::this_process(vec![0]);
        assert_eq!(own.life(), Life::Here);
        assert_eq!(Holder { birth: own.birth + 1, ..own.clone() }.life(), Life::Over, "its number was given to another");
        assert_eq!(Holder { boot: "before".to_owned(), ..own.clone() }.life(), Life::Over);
        assert_eq!(Holder { pid: u32::MAX, ..own.clone() }.life(), Life::Over);
        assert_eq!(Holder::nobody().life(), Life::Over);
        assert_eq!(Holder { host: "elsewhere".to_owned(), ..own }.life(), Life::Elsewhere);
    }

    #[test]
    fn age_is_since_the_birth() {
        let own = Holder::this_process(Vec::new());
        let young = own.age().expect("it runs");
        std::thread::sleep(Duration::from_millis(50));
        assert!(own.age().is_some_and(|age| age >= young + Duration::from_millis(20)), "{young:?}");
        assert!(Holder { birth: 0, ..own.clone() }.age().is_some_and(|age| age > young), "it is as old as the system");
        assert_eq!(Holder { birth: u64::MAX, ..own.clone() }.age(), Some(Duration::ZERO));
        assert_eq!(Holder { boot: "before".to_owned(), ..own }.age(), None);
    }

    #[test]
    fn the_dead_are_over() {
        let stat = |state| format!("7 (a) b) {state} 1 7 7 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 4711 1000 55");
        assert_eq!(parse(stat("S").as_bytes()), Some(4711));
        assert_eq!(parse(stat("Z").as_bytes()), None);
        assert_eq!(parse(b"7 (a) S 1"), None);
        assert_eq!(parse(b""), None);
    }
}
