//! Processes of this machine.
//!
//! Each job is a process in a group of its own, given CPUs that no other job has; never more cores and memory are handed out than
//! this process may use. Nothing here waits: [`BatchSystem::poll`] looks who has ended, ends who is over its time, and begins what
//! fits. A job holds itself to its limits; the walltime is enforced from here too, later, in case that it cannot. Where control groups can
//! be made, each job has one, and nothing of it outlives it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroU32;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::{BatchId, BatchSystem, CPUS, Capacity, GROUP, JobSpec, JobState, SubmitError, THREADS, Waker, cause_of_status};
use crate::diagnostic::Fault;
use crate::job::points::point;
use crate::job::{self, Attempt, Cause, FileError, Holder, Life, quote};
use crate::resources::Request;
use admission::Need;
use bell::Bell;
use groups::Groups;
use nursery::Nursery;

pub use groups::Group;
pub use machine::{Machine, affinity};
pub use nursery::{NO_PROCESS, Order};
pub use system::{Role, fork_sibling, set_environment};

mod admission;
mod bell;
mod groups;
mod machine;
mod nursery;
mod system;

/// How many of those who wait are looked at: enough to fill a machine, and the same effort however long the queue is.
const WINDOW: usize = 100;

/// The program that runs an attempt: its path and arguments, to which the attempt's directory is added.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// An executable file.
    pub program: PathBuf,
    /// What stands before the directory.
    pub arguments: Vec<OsString>,
    /// The arguments with which the program serves processes for attempts, see [`Order`]; nothing if it does not.
    pub server: Option<Vec<OsString>>,
}

/// Copies of the server are named by the directories of their attempts, for which it needs room.
const ROOM: usize = 4096 + 64;

impl Launcher {
    /// This program's `exec` command.
    pub fn this_program() -> Result<Self, Fault> {
        let program = std::env::current_exe().map_err(|error| Fault::new("E0811", format!("cannot find this program's file: {error}")))?;
        let server = Some(vec!["serve".into(), ".".repeat(ROOM).into()]);
        Ok(Launcher { program, arguments: vec!["exec".into()], server })
    }
}

/// The batch system of this machine.
#[derive(Debug)]
pub struct Local {
    launcher: Launcher,
    machine: Machine,
    /// Jobs that have not begun, in their order.
    queue: VecDeque<(BatchId, JobSpec)>,
    running: BTreeMap<BatchId, Process>,
    /// What became of jobs since the last poll.
    news: Vec<(BatchId, JobState)>,
    bell: Option<Bell>,
    /// What runs here beside them, see [`Local::count_orphans`].
    orphans: Vec<Process>,
    count: u64,
    groups: Groups,
    nursery: Nursery,
    patience: Patience,
}

/// How long a process may take to do what it is asked.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// From the request to end until the end by force: a job needs some of it to end what it has started.
    grace: Duration,
    /// From the end of its walltime, at which it should end itself, until it is asked to.
    late: Duration,
    /// The same as `grace`, when nobody polls any more.
    farewell: Duration,
}

const PATIENCE: Patience = Patience { grace: Duration::from_secs(5), late: Duration::from_secs(10), farewell: Duration::from_secs(4) };

#[derive(Debug)]
struct Process {
    handle: Handle,
    group: Option<Group>,
    cpus: Vec<usize>,
    memory: u64,
    began: Instant,
    walltime: Option<Duration>,
    /// Why it is being ended, and when it will be ended by force.
    ending: Option<(Cause, Instant)>,
}

#[derive(Debug)]
enum Handle {
    /// Begun here.
    Child(Pid),
    /// Begun by an earlier run of this program.
    Adopted(Holder),
}

impl Local {
    /// Runs attempts with this launcher on this machine.
    pub fn new(launcher: Launcher, machine: Machine) -> Self {
        Local {
            launcher,
            machine,
            queue: VecDeque::new(),
            running: BTreeMap::new(),
            news: Vec::new(),
            bell: None,
            orphans: Vec::new(),
            count: 0,
            groups: Groups::detect(),
            nursery: Nursery::default(),
            patience: PATIENCE,
        }
    }

    /// Counts what a driver that is gone left running in a directory of jobs against the cores and the memory, until it is over or taken
    /// over; gives how many there are. Only the driver that has the directory for itself may ask for this, before it submits anything.
    pub fn count_orphans(&mut self, jobs: &Path) -> usize {
        let orphan = |(attempt, holder): (Attempt, Holder)| {
            // without a description nothing is known of its limits, but its cores are
            let request = attempt.description().map_or(Request::ONE_CORE, |description| description.request);
            Process::adopted(holder, &request)
        };
        self.orphans = job::running(jobs).into_iter().map(orphan).collect();
        self.orphans.len()
    }

    fn accept(&mut self, job: &JobSpec) -> Result<BatchId, SubmitError> {
        self.check(&job.request).map_err(SubmitError::Permanent)?;
        let id = self.new_id();
        self.queue.push_back((id.clone(), job.clone()));
        Ok(id)
    }

    fn new_id(&mut self) -> BatchId {
        self.count += 1;
        BatchId(format!("{}-{}", std::process::id(), self.count).into())
    }

    /// Takes over a process that an earlier run began, with all that it uses.
    fn adopt(&mut self, job: &JobSpec) -> Result<Option<BatchId>, FileError> {
        let Some(holder) = job.attempt.holder()?.filter(|holder| holder.life() == Life::Here) else { return Ok(None) };
        if let Some(id) = self.adopted(&holder) {
            return Ok(Some(id.clone()));
        }
        self.orphans.retain(|orphan| !orphan.is_of(&holder));
        let id = self.new_id();
        self.enter(id.clone(), Process::adopted(holder, &job.request));
        Ok(Some(id))
    }

    fn adopted(&self, holder: &Holder) -> Option<&BatchId> {
        self.running.iter().find(|(_, process)| process.is_of(holder)).map(|(id, _)| id)
    }

    fn enter(&mut self, id: BatchId, process: Process) {
        self.news.push((id.clone(), JobState::Running));
        self.running.insert(id, process);
    }

    fn reap(&mut self, now: Instant) {
        self.orphans.retain(|orphan| !orphan.handle.is_over());
        let ends = self.running.iter_mut().filter_map(|(id, process)| Some((id.clone(), process.look(now, self.patience)?)));
        for (id, end) in ends.collect::<Vec<_>>() {
            let group = self.running.remove(&id).and_then(|process| process.group);
            group.into_iter().for_each(|group| self.groups.dissolve(group));
            self.news.push((id, JobState::Ended(end)));
        }
        self.groups.tidy();
    }

    fn begin_what_fits(&mut self, now: Instant) {
        while let Some((id, job)) = self.next(now).and_then(|place| self.queue.remove(place)) {
            match self.begin(&job, now) {
                Ok(process) => self.enter(id, process),
                Err(error) => self.news.push((id, JobState::Ended(Err(Cause::NeverStarted { reason: error.to_string() })))),
            }
        }
    }

    fn next(&self, now: Instant) -> Option<usize> {
        let running: Vec<_> = self.in_use().map(|process| process.need(now)).collect();
        let waiting: Vec<_> = self.queue.iter().take(WINDOW).map(|(_, job)| Need::of(&job.request)).collect();
        admission::next(self.machine.capacity(), &running, &waiting)
    }

    fn begin(&mut self, job: &JobSpec, now: Instant) -> Result<Process, FileError> {
        let in_use: Vec<_> = self.in_use().flat_map(|process| process.cpus.iter().copied()).collect();
        let cpus = self.machine.choose(&in_use, job.request.cores().get());
        let group = self.groups.create(job.request.memory_bytes());
        match self.launch(job, &cpus, group.as_ref()) {
            Ok(child) => Ok(Process::new(Handle::Child(child), group, cpus, &job.request, now)),
            Err(error) => {
                group.into_iter().for_each(|group| self.groups.dissolve(group));
                Err(error)
            }
        }
    }

    fn launch(&mut self, job: &JobSpec, cpus: &[usize], group: Option<&Group>) -> Result<Pid, FileError> {
        let environment = environment(cpus, group);
        job.attempt.record_command(&command_line(&self.launcher, &job.attempt, &environment))?;
        let order = Order { directory: job.attempt.path().to_owned(), environment };
        point();
        let launched = match self.nursery.process(&self.launcher, &order) {
            Some(pid) => Ok(pid),
            None => spawn(&self.launcher, &job.attempt, order.environment),
        };
        point();
        launched
    }

    /// All that uses something of the machine.
    fn in_use(&self) -> impl Iterator<Item = &Process> {
        self.running.values().chain(&self.orphans)
    }
}

impl BatchSystem for Local {
    fn check(&self, request: &Request) -> Result<(), Fault> {
        let capacity = self.machine.capacity();
        if request.cores().get() > capacity.cores {
            let message = format!("{} cores are requested, but this machine has {} for us", request.cores(), capacity.cores);
            return Err(Fault::new("E0810", message)
                .help("request fewer cores, run it on a larger machine, or with `--clamp` on as many cores as there are"));
        }
        let memory = request.memory_bytes().unwrap_or(0);
        if memory > capacity.memory {
            let (memory, most) = (memory.div_ceil(1 << 20), capacity.memory >> 20);
            let message = format!("{memory} MiB of memory in all are requested, but this machine has {most} MiB for us");
            return Err(Fault::new("E0812", message).help("request less memory per core, or fewer cores; or run it on a larger machine, or with `--clamp` in as much memory as there is"));
        }
        Ok(())
    }

    fn clamp(&self, request: &Request) -> Request {
        let Capacity { cores, memory } = self.machine.capacity();
        request.at_most(NonZeroU32::new(cores).unwrap_or(NonZeroU32::MIN), memory)
    }

    fn find(&mut self, jobs: &[JobSpec]) -> Vec<Result<Option<BatchId>, Fault>> {
        jobs.iter().map(|job| self.adopt(job).map_err(Fault::from)).collect()
    }

    fn submit(&mut self, jobs: &[JobSpec]) -> Vec<Result<BatchId, SubmitError>> {
        let answers = jobs.iter().map(|job| self.accept(job)).collect();
        self.begin_what_fits(Instant::now());
        answers
    }

    fn poll(&mut self) -> Vec<(BatchId, JobState)> {
        let now = Instant::now();
        self.reap(now);
        self.begin_what_fits(now);
        std::mem::take(&mut self.news)
    }

    fn wake(&mut self, waker: Waker) {
        // without it an end is noticed a little later
        self.bell = Bell::hang(waker).ok();
    }

    fn cancel(&mut self, ids: &[BatchId]) -> Vec<Result<(), Fault>> {
        let force = Instant::now() + self.patience.grace;
        let unwanted: BTreeSet<&BatchId> = ids.iter().collect();
        let (waiting, queue): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.queue).into_iter().partition(|(id, _)| unwanted.contains(id));
        self.queue = queue;
        self.news.extend(waiting.into_iter().map(|(id, _)| (id, JobState::Ended(Err(Cause::Cancelled)))));
        for id in ids {
            if let Some(process) = self.running.get_mut(id) {
                process.end(Cause::Cancelled, force);
            }
        }
        vec![Ok(()); ids.len()]
    }
}

/// No process outlives the one that asked for it, unless that one is killed. Each is asked to end, for only it knows all that it
/// has started, and ended by force if it does not hurry.
impl Drop for Local {
    fn drop(&mut self) {
        let mut left: Vec<_> = std::mem::take(&mut self.running).into_values().collect();
        left.iter().for_each(|process| process.signal(Signal::SIGTERM));
        let force = Instant::now() + self.patience.farewell;
        while left.iter().any(|process| !process.handle.is_over()) && Instant::now() < force {
            std::thread::sleep(Duration::from_millis(2));
        }
        for process in &mut left {
            process.signal(Signal::SIGKILL);
            // There is nobody left to tell how it ended.
            let _ = process.handle.bury(None);
            process.group.take().into_iter().for_each(|group| self.groups.dissolve(group));
        }
        self.groups.clear();
        // what was killed is over in a moment; a group that is left is no harm
        while self.groups.tidy() && Instant::now() < force {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Handle {
    fn pid(&self) -> Pid {
        match self {
            Handle::Child(pid) => *pid,
            Handle::Adopted(holder) => Pid::from_raw(holder.pid.cast_signed()),
        }
    }

    /// Whether it has ended, without taking note of it.
    fn is_over(&self) -> bool {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match self {
            Handle::Child(_) => !matches!(waitid(Id::Pid(self.pid()), flags), Ok(WaitStatus::StillAlive)),
            Handle::Adopted(holder) => holder.life() != Life::Here,
        }
    }

    /// How it ended, now that it has; `ending` is why it was made to.
    fn bury(&self, ending: Option<Cause>) -> Result<(), Cause> {
        match (self, ending) {
            (Handle::Child(pid), ending) => match system::wait(*pid) {
                Ok(status) => judge(status, ending),
                Err(error) => Err(Cause::Unknown { reason: error.to_string() }),
            },
            (Handle::Adopted(_), Some(cause)) => Err(cause),
            // Its manifest must say; only a parent learns of an exit status.
            (Handle::Adopted(_), None) => Ok(()),
        }
    }
}

impl Process {
    fn new(handle: Handle, group: Option<Group>, cpus: Vec<usize>, request: &Request, began: Instant) -> Self {
        let memory = request.memory_bytes().unwrap_or(0);
        Process { handle, group, cpus, memory, began, walltime: request.duration(), ending: None }
    }

    /// One that an earlier run began, when that was.
    fn adopted(holder: Holder, request: &Request) -> Self {
        let now = Instant::now();
        let began = holder.age().and_then(|age| now.checked_sub(age)).unwrap_or(now);
        let (group, cpus) = (holder.group.as_deref().map(Group::at), holder.cpus.clone());
        Process::new(Handle::Adopted(holder), group, cpus, request, began)
    }

    fn is_of(&self, holder: &Holder) -> bool {
        matches!(&self.handle, Handle::Adopted(adopted) if adopted == holder)
    }

    fn need(&self, now: Instant) -> Need {
        let time = self.walltime.map(|walltime| walltime.saturating_sub(now.duration_since(self.began)));
        Need { cores: self.cpus.len() as u32, memory: self.memory, time }
    }

    /// How it ended, if it did; if not, it is ended when it is time to.
    fn look(&mut self, now: Instant, patience: Patience) -> Option<Result<(), Cause>> {
        if self.handle.is_over() {
            // What it started and left behind goes with it: a child's number is not free before it is waited for.
            self.signal(Signal::SIGKILL);
            let cause = self.ending.take().map(|(cause, _)| cause);
            // the kernel leaves a job no time to say that it was out of memory
            let ran_out = self.group.as_ref().and_then(Group::ran_out);
            let cause = cause.or(ran_out.map(|used| Cause::OutOfMemory { used: used.max(self.memory), limit: self.memory }));
            return Some(self.handle.bury(cause));
        }
        match (&self.ending, self.walltime) {
            (Some((_, force)), _) if now >= *force => self.signal(Signal::SIGKILL),
            (None, Some(walltime)) if now.duration_since(self.began) >= walltime.saturating_add(patience.late) => {
                self.end(Cause::Walltime { limit_ns: u64::try_from(walltime.as_nanos()).unwrap_or(u64::MAX) }, now + patience.grace);
            }
            (Some(_), _) | (None, _) => {}
        }
        None
    }

    /// Asks it to end, and remembers when to insist.
    fn end(&mut self, cause: Cause, force: Instant) {
        if self.ending.is_none() {
            self.signal(Signal::SIGTERM);
            self.ending = Some((cause, force));
        }
    }

    fn signal(&self, signal: Signal) {
        let ours = match &self.handle {
            Handle::Child(_) => true,
            // Once it is over its number may belong to a stranger.
            Handle::Adopted(holder) => holder.life() == Life::Here,
        };
        if ours {
            // The group may be gone already, which is all that is asked for.
            let _ = killpg(self.handle.pid(), signal);
        }
    }
}

fn judge(status: ExitStatus, ending: Option<Cause>) -> Result<(), Cause> {
    match (status.code(), status.signal(), ending) {
        (Some(0), _, _) => Ok(()),
        (_, _, Some(cause)) => Err(cause),
        (Some(code), _, None) => Err(cause_of_status(code)),
        (None, Some(signal), None) => Err(Cause::Signal { signal }),
        (None, None, None) => Err(Cause::Unknown { reason: status.to_string() }),
    }
}

fn spawn(launcher: &Launcher, attempt: &Attempt, environment: Vec<(OsString, OsString)>) -> Result<Pid, FileError> {
    let mut command = Command::new(&launcher.program);
    command.args(&launcher.arguments).arg(attempt.path()).envs(environment);
    command.stdin(Stdio::null()).stdout(Attempt::stream(&attempt.stdout())?).stderr(Attempt::stream(&attempt.stderr())?);
    let child = command.process_group(0).spawn().map_err(FileError::io("run", &launcher.program))?;
    Ok(Pid::from_raw(child.id().cast_signed()))
}

fn environment(cpus: &[usize], group: Option<&Group>) -> Vec<(OsString, OsString)> {
    let list: Vec<_> = cpus.iter().map(usize::to_string).collect();
    let threads = THREADS.into_iter().map(|name| (name.into(), cpus.len().to_string().into()));
    let group = group.map(|group| (GROUP.into(), group.path().as_os_str().to_owned()));
    std::iter::once((CPUS.into(), list.join(",").into())).chain(threads).chain(group).collect()
}

/// The command as one would type it.
fn command_line(launcher: &Launcher, attempt: &Attempt, environment: &[(OsString, OsString)]) -> Vec<u8> {
    let setting = |(name, value): &(OsString, OsString)| [name.as_os_str(), value].join(OsStr::new("="));
    let settings: Vec<OsString> = environment.iter().map(setting).collect();
    let words = std::iter::once(OsStr::new("env")).chain(settings.iter().map(OsString::as_os_str));
    let words = words.chain([launcher.program.as_os_str()]).chain(launcher.arguments.iter().map(OsString::as_os_str));
    quote(words.chain([attempt.path().as_os_str()]))
}

#[cfg(test)]
mod tests;
