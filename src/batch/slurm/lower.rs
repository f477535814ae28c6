//! From a request to what Slurm reads.
//!
//! A quantity stays typed until here and is rounded up, once, to what Slurm can express: memory to whole MiB with the suffix `M` (its
//! suffixes are powers of 1024, it knows no fractions, no `GiB` and no bytes), walltime to whole minutes, for it takes nothing smaller.
//! Zero would mean all of a node, or no limit at all; a request of zero cannot be made.

use std::time::Duration;

use crate::resources::Request;
use crate::site::{Cluster, MemoryStyle, Queue, memory_mib};

/// What is asked of Slurm for one job: a process with some cores of one node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lowered {
    /// The partition.
    pub partition: String,
    /// `--cpus-per-task`.
    pub cores: u32,
    /// Memory, if it asks for some.
    pub memory: Option<Memory>,
    /// Walltime in minutes, if it asks for some.
    pub minutes: Option<u64>,
    /// Whether a core with several hardware threads counts once.
    pub whole_cores: bool,
    /// What the site adds, as options with their values.
    pub extra: Vec<(&'static str, String)>,
}

/// Memory in MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Memory {
    /// `--mem-per-cpu`.
    PerCore(u64),
    /// `--mem`.
    PerNode(u64),
}

impl Lowered {
    /// What a queue of the cluster is asked for.
    pub fn new(request: &Request, cluster: &Cluster, queue: &Queue) -> Self {
        let memory = memory_mib(request, cluster.memory).map(|(each, all)| match cluster.memory {
            MemoryStyle::PerNode => Memory::PerNode(all),
            MemoryStyle::PerCore | MemoryStyle::None => Memory::PerCore(each),
        });
        let account = queue.account.as_ref().or(cluster.account.as_ref());
        let extra = [
            ("account", account),
            ("qos", queue.qos.as_ref()),
            ("constraint", queue.constraint.as_ref()),
            ("reservation", queue.reservation.as_ref()),
            ("gres", queue.gres.as_ref()),
        ];
        Lowered {
            partition: queue.name.clone(),
            cores: request.cores().get(),
            memory,
            minutes: request.duration().map(whole_minutes),
            whole_cores: queue.threads_per_core() > 1,
            extra: extra.into_iter().filter_map(|(name, value)| Some((name, value?.clone()))).collect(),
        }
    }

    /// The options of `sbatch`, one each.
    pub fn options(&self) -> Vec<String> {
        let mut options = vec![
            format!("--partition={}", self.partition),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={}", self.cores),
        ];
        if self.whole_cores {
            options.push("--hint=nomultithread".to_owned());
        }
        options.extend(self.memory.map(|memory| match memory {
            Memory::PerCore(mib) => format!("--mem-per-cpu={mib}M"),
            Memory::PerNode(mib) => format!("--mem={mib}M"),
        }));
        options.extend(self.minutes.map(|minutes| format!("--time={}", show_minutes(minutes))));
        options.extend(self.extra.iter().map(|(name, value)| format!("--{name}={value}")));
        options
    }
}

/// Rounded up.
fn whole_minutes(time: Duration) -> u64 {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    seconds.div_ceil(60)
}

/// `D-HH:MM:SS`, which nobody reads as anything else.
pub fn show_minutes(minutes: u64) -> String {
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    format!("{days}-{hours:02}:{minutes:02}:00")
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;

    fn request(cores: u32, memory: Option<u64>, nanoseconds: Option<u64>) -> Request {
        Request::new(NonZeroU32::new(cores).expect("a core"), memory, nanoseconds).expect("a request")
    }

    fn lowered(request: &Request, style: MemoryStyle) -> Lowered {
        let queue = Queue { name: "main".to_owned(), ..Queue::default() };
        let cluster = Cluster { memory: style, ..Cluster::default() };
        Lowered::new(request, &cluster, &queue)
    }

    /// How Slurm reads memory (slurm.conf(5), sbatch(1)): MiB, by a suffix that is a power of 1024.
    fn read_memory(text: &str) -> u64 {
        text.strip_suffix('M').and_then(|number| number.parse().ok()).expect("whole MiB with a suffix")
    }

    /// How Slurm reads `days-hours:minutes:seconds`, in minutes.
    fn read_time(text: &str) -> u64 {
        let (days, rest) = text.split_once('-').expect("days");
        let parts: Vec<u64> = rest.split(':').map(|part| part.parse().expect("a number")).collect();
        let &[hours, minutes, 0] = parts.as_slice() else { panic!("{text}") };
        assert!(hours < 24 && minutes < 60, "{text}");
        days.parse::<u64>().expect("a number") * 1440 + hours * 60 + minutes
    }

    fn value(options: &[String], name: &str) -> Option<String> {
        options.iter().find_map(|option| Some(option.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    #[test]
    fn quantities_of_annotations_become_what_slurm_reads() {
        let options = |memory, seconds: Option<u64>| {
            lowered(&request(1, memory, seconds.map(|seconds| seconds * 1_000_000_000)), MemoryStyle::PerCore).options()
        };
        let memory = |bytes| value(&options(Some(bytes), None), "mem-per-cpu");
        assert_eq!(memory(3 << 30).as_deref(), Some("3072M"));
        assert_eq!(memory(2_000_000_000).as_deref(), Some("1908M"));
        assert_eq!(memory(1).as_deref(), Some("1M"));
        let time = |seconds| value(&options(None, Some(seconds)), "time");
        assert_eq!(time(30).as_deref(), Some("0-00:01:00"), "`0:30` would be no limit");
        assert_eq!(time(90).as_deref(), Some("0-00:02:00"));
        assert_eq!(time(1800).as_deref(), Some("0-00:30:00"));
        assert_eq!(time(3 * 86400).as_deref(), Some("3-00:00:00"));
        assert_eq!(options(None, None), ["--partition=main", "--nodes=1", "--ntasks=1", "--cpus-per-task=1"]);
    }

    #[test]
    fn memory_is_asked_for_as_the_site_counts_it() {
        let three = request(3, Some((1 << 20) + 1), None);
        assert_eq!(lowered(&three, MemoryStyle::PerCore).memory, Some(Memory::PerCore(2)));
        assert_eq!(lowered(&three, MemoryStyle::PerNode).memory, Some(Memory::PerNode(4)));
        assert_eq!(lowered(&three, MemoryStyle::None).memory, None);
    }

    #[test]
    fn what_the_site_adds_stands_in_the_options() {
        let queue = Queue { name: "gpu".to_owned(), account: Some("a".to_owned()), gres: Some("gpu:1".to_owned()), ..Queue::default() };
        let cluster = Cluster { account: Some("b".to_owned()), ..Cluster::default() };
        let options = Lowered::new(&Request::ONE_CORE, &cluster, &queue).options();
        assert_eq!(options[4..], ["--account=a", "--gres=gpu:1"]);
    }

    proptest! {
        /// Never less than what was asked for, and less than one step more.
        #[test]
        fn nothing_is_lost_in_lowering(cores in 1_u32..10_000, bytes in 1_u64..1 << 46, nanoseconds in 1_u64.., per_node: bool) {
            let style = if per_node { MemoryStyle::PerNode } else { MemoryStyle::PerCore };
            let options = lowered(&request(cores, Some(bytes), Some(nanoseconds)), style).options();
            let (name, asked) = if per_node { ("mem", u128::from(bytes) * u128::from(cores)) } else { ("mem-per-cpu", u128::from(bytes)) };
            let memory = u128::from(read_memory(&value(&options, name).expect("memory"))) << 20;
            prop_assert!(memory >= asked && memory < asked + (1 << 20));
            let time = u128::from(read_time(&value(&options, "time").expect("a time"))) * 60_000_000_000;
            prop_assert!(time >= u128::from(nanoseconds) && time < u128::from(nanoseconds) + 60_000_000_000);
        }
    }
}
