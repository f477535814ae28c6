//! A cluster: its queues, what a request may be there, and which queue a request goes to.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::diagnostic::Fault;
use crate::resources::Request;

/// Bytes in a MiB.
const MIB: u64 = 1 << 20;

/// How the batch system counts memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryStyle {
    /// For each core.
    #[default]
    PerCore,
    /// For all cores of a job on a node together.
    PerNode,
    /// Not at all: it refuses or ignores the option.
    None,
}

/// What a site file says of a Slurm cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// As it calls itself; for people.
    pub name: Option<String>,
    /// Whom jobs are charged to, where a queue says nothing else.
    pub account: Option<String>,
    /// How memory is asked for.
    pub memory: MemoryStyle,
    /// The largest number that an element of a job array may have.
    pub largest_array: u32,
    /// How many jobs may be in the queues at a time.
    pub most_jobs: Option<u32>,
    /// How long a job that no query knows any more, and that left no word, counts as running.
    pub unknown_after: Duration,
    /// The program on the nodes; by default the one that submits, at the same path.
    pub program: Option<PathBuf>,
    /// Where jobs run; by default where the driver does.
    pub directory: Option<PathBuf>,
    /// Environment modules that are loaded first.
    pub modules: Vec<String>,
    /// Environment variables that are set after that.
    pub environment: BTreeMap<String, String>,
    /// Lines of bash that are run after that.
    pub setup: Vec<String>,
    /// In the order in which they are preferred.
    pub queues: Vec<Queue>,
}

/// A queue, which Slurm calls a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// What nodes it has, by kind; without any, nothing is known of them and no limit checked.
    pub nodes: Vec<Node>,
    /// The longest walltime.
    pub longest: Option<Duration>,
    /// The walltime of a job that asks for none.
    pub usual: Option<Duration>,
    /// Memory for each core of a job that asks for none, in bytes.
    pub usual_memory: Option<u64>,
    /// The most memory for each core that can be asked for, in bytes.
    pub most_memory: Option<u64>,
    /// Whom its jobs are charged to.
    pub account: Option<String>,
    /// Quality of service.
    pub qos: Option<String>,
    /// Features that the nodes must have.
    pub constraint: Option<String>,
    /// A reservation.
    pub reservation: Option<String>,
    /// Generic resources, such as `gpu:1`.
    pub gres: Option<String>,
}

/// Nodes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// How many there are.
    pub count: u32,
    /// Cores for jobs, on each.
    pub cores: u32,
    /// Bytes for jobs, on each.
    pub memory: u64,
    /// Hardware threads of each core, if a job is to get whole cores and the batch system counts threads; otherwise 1.
    pub threads_per_core: u32,
}

/// Why a queue can never run a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No node has so many cores.
    Cores {
        /// That are asked for.
        asked: u32,
        /// Of the largest node.
        most: u32,
    },
    /// No node that has the cores has so much memory; in MiB.
    Memory {
        /// That is asked for in all.
        asked: u64,
        /// Of the largest node with as many cores.
        most: u64,
    },
    /// A core cannot have so much; in MiB.
    MemoryPerCore {
        /// That is asked for.
        asked: u64,
        /// That can be.
        most: u64,
    },
    /// No job may run for so long.
    Walltime {
        /// That is asked for.
        asked: Duration,
        /// The limit.
        most: Duration,
    },
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster {
            name: None,
            account: None,
            memory: MemoryStyle::default(),
            largest_array: 1000,
            most_jobs: None,
            unknown_after: Duration::from_secs(600),
            program: None,
            directory: None,
            modules: Vec::new(),
            environment: BTreeMap::new(),
            setup: Vec::new(),
            queues: Vec::new(),
        }
    }
}

impl Cluster {
    /// The first queue that can run a request; the fault says which limit of the queue that comes nearest is in the way.
    pub fn choose(&self, request: &Request) -> Result<&Queue, Fault> {
        match self.nearest(request) {
            Some((queue, misfits)) if misfits.is_empty() => Ok(queue),
            Some((queue, misfits)) => Err(self.never_runs(queue, &misfits)),
            None => Err(no_queue()),
        }
    }

    /// The request, or the part of it that the queue which comes nearest can run.
    pub fn clamp(&self, request: &Request) -> Request {
        match self.nearest(request) {
            Some((queue, misfits)) if !misfits.is_empty() => queue.clamp(request),
            Some(_) | None => request.clone(),
        }
    }

    /// The first of the queues of which a request breaks the fewest limits, with these limits.
    fn nearest(&self, request: &Request) -> Option<(&Queue, Vec<Misfit>)> {
        let queues = self.queues.iter().map(|queue| (queue, queue.misfits(request, self.memory)));
        queues.min_by_key(|(_, misfits)| misfits.len())
    }

    fn never_runs(&self, queue: &Queue, misfits: &[Misfit]) -> Fault {
        let place = match &self.name {
            Some(name) => format!("the cluster `{name}`"),
            None => "the cluster".to_owned(),
        };
        let limits: Vec<_> = misfits.iter().map(Misfit::to_string).collect();
        let message = format!("no queue of {place} can ever run this; of `{}`, which comes nearest, {}", queue.name, limits.join(", and "));
        let fits: Vec<_> = misfits.iter().map(Misfit::advice).collect();
        Fault::new("E0840", message)
            .help(format!("ask for {}; `--clamp` does that, and `scl site show` lists all queues", fits.join(", and ")))
    }
}

impl Queue {
    /// All limits that a request breaks; memory as it is asked for, in whole MiB.
    pub fn misfits(&self, request: &Request, style: MemoryStyle) -> Vec<Misfit> {
        let mut misfits = Vec::new();
        let cores = request.cores().get();
        let memory = memory_mib(request, style);
        let largest = self.nodes.iter().map(|node| node.cores).max();
        let roomiest = self.nodes.iter().filter(|node| node.cores >= cores).map(|node| node.memory / MIB).max();
        match (largest, roomiest) {
            (Some(most), _) if cores > most => misfits.push(Misfit::Cores { asked: cores, most }),
            (_, Some(most)) if memory.is_some_and(|(_, all)| all > most) => {
                misfits.extend(memory.map(|(_, asked)| Misfit::Memory { asked, most }));
            }
            _ => {}
        }
        if let (Some((asked, _)), Some(most)) = (memory, self.most_memory.map(|most| most / MIB))
            && asked > most
        {
            misfits.push(Misfit::MemoryPerCore { asked, most });
        }
        if let (Some(asked), Some(most)) = (request.duration(), self.longest)
            && asked > most
        {
            misfits.push(Misfit::Walltime { asked, most });
        }
        misfits
    }

    /// What of a request this queue can run.
    fn clamp(&self, request: &Request) -> Request {
        let cores = self.nodes.iter().map(|node| node.cores).max().unwrap_or(u32::MAX).min(request.cores().get());
        let memory = self.nodes.iter().filter(|node| node.cores >= cores).map(|node| node.memory).max().unwrap_or(u64::MAX);
        let memory = self.most_memory.map_or(memory, |most| memory.min(most.saturating_mul(u64::from(cores))));
        let cores = cores.try_into().unwrap_or(request.cores());
        let shorter = self.longest.map_or_else(|| request.clone(), |longest| request.no_longer_than(longest));
        shorter.at_most(cores, memory)
    }

    /// Hardware threads of each core of the nodes that a request fits on.
    pub fn threads_per_core(&self) -> u32 {
        self.nodes.iter().map(|node| node.threads_per_core).max().unwrap_or(1).max(1)
    }
}

/// Memory as it is asked for, rounded up to whole MiB: for each core, and in all.
pub fn memory_mib(request: &Request, style: MemoryStyle) -> Option<(u64, u64)> {
    let all = request.memory_bytes()?;
    let cores = u64::from(request.cores().get());
    let each = (all / cores).div_ceil(MIB);
    match style {
        MemoryStyle::PerCore => Some((each, each * cores)),
        MemoryStyle::PerNode => Some((each, all.div_ceil(MIB))),
        MemoryStyle::None => None,
    }
}

impl Misfit {
    /// What would not break this limit.
    fn advice(&self) -> String {
        match self {
            Misfit::Cores { most, .. } => format!("at most {most} cores"),
            Misfit::Memory { most, .. } => format!("at most {most} [MiB] in all"),
            Misfit::MemoryPerCore { most, .. } => format!("at most {most} [MiB] per core"),
            Misfit::Walltime { most, .. } => format!("at most {}", minutes(*most)),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Cores { asked, most } => write!(out, "the largest node has {most} cores, and {asked} are requested"),
            Misfit::Memory { asked, most } => {
                write!(out, "the largest such node has {most} MiB of memory, and {asked} MiB in all are requested")
            }
            Misfit::MemoryPerCore { asked, most } => write!(out, "a core has {most} MiB of memory at most, and {asked} MiB are requested"),
            Misfit::Walltime { asked, most } => {
                write!(out, "the longest walltime is {}, and {} are requested", minutes(*most), minutes(*asked))
            }
        }
    }
}

fn minutes(time: Duration) -> String {
    format!("{} min", time.as_secs().div_ceil(60))
}

fn no_queue() -> Fault {
    Fault::new("E0841", "the site files name no queue, so that no job can be submitted")
        .help("`scl site detect` writes down what the batch system has; `--system local` runs jobs on this machine")
}
