//! The threads that hold a job to its walltime and memory, and that end it when it is asked to end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

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

/// Watches until it is dropped; signals until the process is over.
pub(super) struct Watchdog {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Begins to watch a job that began at `began`.
    pub(super) fn start(run: &Arc<Run>, request: &Request, began: Instant) -> Self {
        let limits = Limits { began, walltime: request.duration(), memory: request.memory_bytes() };
        let (stop, stopped) = mpsc::channel();
        let (watching, listening) = (run.clone(), run.clone());
        let watch = move || {
            let mut pause = INTERVAL;
            loop {
                match stopped.recv_timeout(limits.pause(pause, Instant::now())) {
                    Err(RecvTimeoutError::Timeout) => pause = look(&watching, &limits),
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = spawn("watchdog", watch);
        match Signals::new([SIGTERM, SIGINT, SIGHUP]) {
            Ok(signals) => drop(spawn("signals", move || listen(&listening, signals))),
            Err(error) => complain!("scl exec: requests to end are not heard: {error}"),
        }
        Watchdog { stop: Some(stop), thread }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.inspect_err(|error| complain!("scl exec: this job is not watched: {error}")).ok()
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened, and ends nothing.
            let _ = thread.join();
        }
    }
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

/// Waits for a request to end. The batch system knows better why it came; what is known here is the signal.
fn listen(run: &Run, mut signals: Signals) {
    if let Some(signal) = signals.forever().next() {
        end(run, Cause::Signal { signal }, Pid::this().as_raw());
    }
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
            std::thread::sleep(HURRY);
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
