//! What holds a job to its walltime and memory, and ends it when it is asked to end.

use std::io::{self, ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use super::{Run, processes};
use crate::batch::local::Group;
use crate::job::{Cause, Outcome};
use crate::resources::Request;

/// How often the memory is looked at, at most.
const INTERVAL: Duration = Duration::from_millis(100);

/// Looking may take this part of the time, at most.
const EFFORT: u32 = 20;

/// How long what the job has started may take to end when it is asked to; less than the batch system waits for the job.
const GRACE: Duration = Duration::from_secs(2);

/// The pause between two looks at whether they have ended.
const HURRY: Duration = Duration::from_millis(10);

/// How often those are ended by force that others start in the same moment.
const ROUNDS: u32 = 10;

/// What holds a job to its limits and hears what it is asked.
pub(super) struct Watchdog {
    run: Arc<Run>,
    limits: Limits,
    /// Nothing where signals cannot be handled.
    ear: Option<Ear>,
}

type Ear = SignalDelivery<UnixStream, SignalOnly>;

impl Watchdog {
    /// Hears from now on what a job is asked that began at `began`.
    pub(super) fn new(run: &Arc<Run>, request: &Request, began: Instant) -> Self {
        let limits = Limits { began, walltime: request.duration(), memory: request.memory_bytes() };
        let ear = ear().inspect_err(|error| complain!("scl exec: requests to end are not heard: {error}"));
        Watchdog { run: run.clone(), limits, ear: ear.ok() }
    }

    /// Watches until the process is over.
    pub(super) fn watch(mut self) -> ! {
        let mut pause = INTERVAL;
        loop {
            match self.listen(self.limits.pause(pause, Instant::now())) {
                // The batch system knows better why it came; what is known here is the signal.
                Some(signal) => end(&self.run, Cause::Signal { signal }, Pid::this().as_raw()),
                None => pause = look(&self.run, &self.limits),
            }
        }
    }

    /// The next signal, or nothing when there was none for so long.
    fn listen(&mut self, pause: Duration) -> Option<i32> {
        // no time at all would mean for ever
        let pause = pause.max(Duration::from_millis(1));
        let Some(ear) = &mut self.ear else {
            thread::sleep(pause);
            return None;
        };
        // where that is refused a signal wakes it all the same
        let _ = ear.get_read().set_read_timeout(Some(pause));
        let mut wait = |stream: &mut UnixStream| match stream.read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Ok(_) | Err(_) => Ok(true),
        };
        ear.poll_pending(&mut wait).ok().flatten()?.next()
    }
}

fn ear() -> io::Result<Ear> {
    let (read, write) = UnixStream::pair()?;
    SignalDelivery::with_pipe(read, write, SignalOnly, [SIGTERM, SIGINT, SIGHUP])
}

struct Limits {
    began: Instant,
    walltime: Option<Duration>,
    memory: Option<u64>,
}

impl Limits {
    /// How long to wait, so that the end of the walltime is not missed.
    fn pause(&self, pause: Duration, now: Instant) -> Duration {
        let ran = now.duration_since(self.began);
        self.walltime.map_or(pause, |walltime| pause.min(walltime.saturating_sub(ran)))
    }

    /// The limit that is passed, if one is.
    fn passed(&self, ran: Duration, used: u64) -> Option<Cause> {
        match (self.memory, self.walltime) {
            (Some(limit), _) if used > limit => Some(Cause::OutOfMemory { used, limit }),
            (_, Some(walltime)) if ran >= walltime => {
                Some(Cause::Walltime { limit_ns: u64::try_from(walltime.as_nanos()).unwrap_or(u64::MAX) })
            }
            (_, _) => None,
        }
    }
}

/// Looks once; gives how long to wait until the next time.
fn look(run: &Run, limits: &Limits) -> Duration {
    let now = Instant::now();
    let own = Pid::this().as_raw();
    let used = processes::resident(&processes::of_job(&processes::all(), own));
    run.peak.fetch_max(used, Ordering::Relaxed);
    if let Some(cause) = limits.passed(now.duration_since(limits.began), used) {
        end(run, cause, own);
    }
    INTERVAL.max(now.elapsed() * EFFORT)
}

/// Says why, then ends everything, this process last. If the job was over before, nothing happens.
///
/// What the job has started is asked to end first, so that it can put its affairs in order; not where memory is short, for that would
/// only take more of it.
fn end(run: &Run, cause: Cause, own: i32) {
    let message = format!("scl exec: {cause}");
    let patient = !matches!(cause, Cause::OutOfMemory { .. });
    match run.conclude(Outcome::Failure { cause, diagnostics: Vec::new() }) {
        Ok(None) => return,
        Ok(Some(_)) => complain!("{message}"),
        Err(error) => complain!("{message}\nscl exec: {error}"),
    }
    if patient {
        send_all(own, Signal::SIGTERM);
        let force = Instant::now() + GRACE;
        while others(own).next().is_some() && Instant::now() < force {
            thread::sleep(HURRY);
        }
    }
    // what is started between two looks is found by the next one
    let _ = (0..ROUNDS).find(|_| !send_all(own, Signal::SIGKILL));
    run.group.iter().for_each(Group::kill);
    let _ = kill(Pid::this(), Signal::SIGKILL);
}

/// What the job has started and is not over.
fn others(own: i32) -> impl Iterator<Item = Pid> {
    let all = processes::of_job(&processes::all(), own).into_iter();
    all.filter(move |process| process.pid != own).map(|process| Pid::from_raw(process.pid))
}

/// Sends a signal to all that the job has started; whether there was anyone.
fn send_all(own: i32, signal: Signal) -> bool {
    others(own).fold(false, |_, process| {
        // one that has ended by now is no fault
        let _ = kill(process, signal);
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_for_what_is_above_them() {
        let limits = Limits { began: Instant::now(), walltime: Some(Duration::from_secs(2)), memory: Some(10) };
        assert_eq!(limits.passed(Duration::from_secs(1), 10), None);
        assert_eq!(limits.passed(Duration::from_secs(1), 11), Some(Cause::OutOfMemory { used: 11, limit: 10 }));
        assert_eq!(limits.passed(Duration::from_secs(2), 10), Some(Cause::Walltime { limit_ns: 2_000_000_000 }));
        let none = Limits { began: Instant::now(), walltime: None, memory: None };
        assert_eq!(none.passed(Duration::MAX, u64::MAX), None);
    }

    #[test]
    fn the_end_of_the_walltime_is_not_missed() {
        let began = Instant::now();
        let limits = Limits { began, walltime: Some(Duration::from_millis(1050)), memory: None };
        assert_eq!(limits.pause(INTERVAL, began + Duration::from_millis(1000)), Duration::from_millis(50));
        assert_eq!(limits.pause(INTERVAL, began + Duration::from_millis(2000)), Duration::ZERO);
        assert_eq!(limits.pause(INTERVAL, began), INTERVAL);
    }
}
