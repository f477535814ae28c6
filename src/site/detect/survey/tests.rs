use std::time::Duration;

use super::*;
use crate::site::{Site, text};

/// What Slurm 22.05.8 said of a cluster, in files of `tests/site`.
macro_rules! replies {
    ($name:literal) => {
        Replies {
            config: include_str!(concat!("../../../../tests/site/", $name, ".config")).to_owned(),
            partitions: include_str!(concat!("../../../../tests/site/", $name, ".partition")).to_owned(),
            nodes: include_str!(concat!("../../../../tests/site/", $name, ".node")).to_owned(),
        }
    };
}

fn odd_accounts() -> Accounts {
    Accounts::read(include_str!("../../../../tests/site/odd.accounts"))
}

fn toml(survey: Survey) -> String {
    text(&Site { slurm: Some(survey.cluster), ..Site::default() })
}

/// The queues of a cluster with one partition and nodes like these.
fn queues(config: &str, partition: &str, nodes: &[&str]) -> Survey {
    let replies = Replies { config: config.to_owned(), partitions: format!("PartitionName=p {partition}\n"), nodes: nodes.join("\n") };
    survey(&replies, None)
}

const NODE: &str = "NodeName=n CPUTot=8 Sockets=2 CoresPerSocket=4 RealMemory=1000 ThreadsPerCore=1 State=IDLE Partitions=q,p";

fn node_like(change: (&str, &str)) -> Vec<Node> {
    let survey = queues("", "State=UP", &[&NODE.replace(change.0, change.1)]);
    survey.cluster.queues.first().map(|queue| queue.nodes.clone()).unwrap_or_default()
}

#[test]
fn a_plain_cluster() {
    let replies = replies!("two-nodes");
    assert!(!replies.has_accounting());
    let found = survey(&replies, None);
    assert_eq!(found.left_out, []);
    let expected = r#"[slurm]
cluster = "test"
memory = "per_core"
largest_array = 10000
most_jobs = 20000

[[slurm.queue]]
name = "main"
nodes = [{ count = 2, cores = 8, memory_mib = 16000 }]
usual_minutes = 60
usual_memory_mib = 100

[[slurm.queue]]
name = "short"
nodes = [{ count = 2, cores = 8, memory_mib = 16000 }]
longest_minutes = 10
usual_minutes = 5
usual_memory_mib = 100
"#;
    assert_eq!(toml(found), expected);
}

/// Partitions that are closed for many reasons, and nodes of several kinds: down, without a state yet, planned, with two threads a core,
/// of which one is set up to count cores.
#[test]
fn an_odd_cluster() {
    let replies = replies!("odd");
    assert!(replies.has_accounting());
    let found = survey(&replies, Some(&odd_accounts()));
    let left_out: Vec<_> = found.left_out.iter().map(|left_out| format!("{} {}", left_out.partition, left_out.reason)).collect();
    let closed = [
        "bio takes none of the user's accounts",
        "secret is hidden",
        "rooted takes jobs of root only",
        "shut is down",
        "idle is inactive",
        "many takes no jobs of a single node",
    ];
    assert_eq!(left_out, closed);
    let expected = r#"[slurm]
cluster = "test"
account = "phys"
memory = "per_core"
largest_array = 10000
most_jobs = 20000

[[slurm.queue]]
name = "main"
nodes = [{ count = 2, cores = 8, memory_mib = 16000 }, { count = 3, cores = 8, memory_mib = 30000, threads_per_core = 2 }, { count = 1, cores = 8, memory_mib = 64000 }]
usual_minutes = 60
usual_memory_mib = 100

[[slurm.queue]]
name = "threads"
nodes = [{ count = 3, cores = 6, memory_mib = 20000, threads_per_core = 2 }, { count = 1, cores = 8, memory_mib = 20000 }]
longest_minutes = 2880

[[slurm.queue]]
name = "chem"
nodes = [{ count = 2, cores = 8, memory_mib = 30000, threads_per_core = 2 }]
most_memory_mib = 4000
account = "chem"

[[slurm.queue]]
name = "short"
nodes = [{ count = 2, cores = 8, memory_mib = 16000 }, { count = 3, cores = 8, memory_mib = 30000, threads_per_core = 2 }, { count = 1, cores = 8, memory_mib = 64000 }]
longest_minutes = 10
usual_minutes = 5
usual_memory_mib = 100
"#;
    assert_eq!(toml(found), expected);
}

#[test]
fn partitions_for_unknown_accounts_come_last() {
    let found = survey(&replies!("odd"), None);
    let names: Vec<_> = found.cluster.queues.iter().map(|queue| (&*queue.name, queue.account.as_deref())).collect();
    assert_eq!(names, [("main", None), ("threads", None), ("short", None), ("chem", None), ("bio", None)]);
    let lax = Replies { config: replies!("odd").config.replace("= associations", "= none"), ..replies!("odd") };
    let found = survey(&lax, Some(&odd_accounts()));
    assert!(found.cluster.queues.iter().any(|queue| queue.name == "bio"), "nobody looks at accounts");
}

#[test]
fn accounts_are_denied_too() {
    let admission = |partition, accounts: &[&str]| {
        let all: Vec<_> = accounts.iter().map(|account| (*account).to_owned()).collect();
        Admission::of(&fields(partition), Some(&Accounts { default: all.first().cloned(), all }))
    };
    assert_eq!(admission("DenyAccounts=a,b", &["a", "c"]), Admission::Another("c".to_owned()));
    assert_eq!(admission("DenyAccounts=a,b", &["ab"]), Admission::Any);
    assert_eq!(admission("DenyAccounts=a,b", &["b", "a"]), Admission::None);
    assert_eq!(admission("AllowAccounts=ab", &[]), Admission::None);
    assert_eq!(admission("AllowAccounts=ALL DenyAccounts=(null)", &[]), Admission::Any);
    assert_eq!(Accounts::read(""), Accounts::default());
}

#[test]
fn what_is_set_aside_is_not_for_jobs() {
    let node = |cores, memory: u64, threads_per_core| vec![Node { count: 1, cores, memory: memory << 20, threads_per_core }];
    assert_eq!(node_like(("", "")), node(8, 1000, 1));
    assert_eq!(node_like(("CPUTot=8", "CPUEfctv=6 CPUTot=8")), node(6, 1000, 1));
    assert_eq!(node_like(("CPUTot=8", "CPUEfctv=14 CPUTot=16 ThreadsPerCore=2")), node(7, 1000, 2));
    assert_eq!(node_like(("CPUTot=8", "CPUTot=8 ThreadsPerCore=2")), node(8, 1000, 1), "CPUs are cores there");
    assert_eq!(node_like(("RealMemory=1000", "MemSpecLimit=100 RealMemory=1000")), node(8, 900, 1));
    for broken in [("CPUTot=8", "CPUTot=0"), ("RealMemory=1000", ""), ("State=IDLE", "State=FUTURE"), ("Partitions=q,p", "Partitions=pp")] {
        assert_eq!(node_like(broken), [], "{broken:?}");
    }
    for away in ["DOWN*+DRAIN", "IDLE+CLOUD+POWERED_DOWN", "DRAINED", "UNKNOWN", "FAIL"] {
        assert_eq!(node_like(("IDLE", away)), node(8, 1000, 1), "{away}");
    }
}

#[test]
fn limits_of_a_partition_hide_those_of_the_cluster() {
    let both = |config, partition| {
        let survey = queues(config, partition, &[NODE]);
        let queue = &survey.cluster.queues[0];
        (queue.most_memory.map(|memory| memory >> 20), queue.nodes[0].memory >> 20)
    };
    assert_eq!(both("MaxMemPerCPU = 100\n", "State=UP MaxMemPerNode=UNLIMITED"), (Some(100), 1000));
    assert_eq!(both("MaxMemPerCPU = 100\n", "State=UP MaxMemPerCPU=50"), (Some(50), 1000));
    assert_eq!(both("MaxMemPerCPU = 100\n", "State=UP MaxMemPerNode=500"), (None, 500));
    assert_eq!(both("MaxMemPerNode = 700\n", "State=UP MaxMemPerNode=UNLIMITED"), (None, 700));
    assert_eq!(both("MaxMemPerNode = UNLIMITED\n", "State=UP MaxCPUsPerNode=2"), (None, 1000));
    assert_eq!(queues("", "State=UP MaxCPUsPerNode=2", &[NODE]).cluster.queues[0].nodes[0].cores, 2);
}

#[test]
fn the_cluster_as_a_whole() {
    let cluster = |config: &str| survey(&Replies { config: config.to_owned(), ..Replies::default() }, None).cluster;
    let largest = |config| cluster(config).largest_array;
    assert_eq!((largest("MaxArraySize = 1001"), largest("MaxArraySize = 0"), largest("MaxArraySize = 1"), largest("")), (1000, 1, 1, 1000));
    assert_eq!(largest("MaxArraySize = 1001\nSchedulerParameters = a=1,max_array_tasks=50"), 50);
    let style = |kind: &str, parameters: &str| cluster(&format!("SelectType = select/{kind}\nSelectTypeParameters = {parameters}")).memory;
    assert_eq!(style("cons_tres", "CR_CORE_MEMORY,CR_ONE_TASK_PER_CORE"), MemoryStyle::PerCore);
    assert_eq!(style("cons_res", "CR_CPU_Memory"), MemoryStyle::PerCore);
    assert_eq!(style("cons_tres", "CR_CORE"), MemoryStyle::PerNode);
    assert_eq!(style("linear", "CR_MEMORY"), MemoryStyle::PerNode);
    assert_eq!(cluster("ClusterName = (null)").name, None);
    assert_eq!(cluster("").unknown_after, Duration::from_secs(600));
}

#[test]
fn nonsense_is_no_queue() {
    for text in ["", "\n\n", "slurm_load_partitions error: Unable to contact slurm controller", "PartitionName", "=x PartitionName"] {
        let replies = Replies { config: text.to_owned(), partitions: text.to_owned(), nodes: text.to_owned() };
        assert_eq!(survey(&replies, None).cluster.queues, [], "{text}");
    }
    let closed = |partition: &str| queues("", partition, &[NODE]).left_out.first().map(|left_out| left_out.reason);
    assert_eq!((closed("State=DRAIN"), closed("ReqResv=YES")), (Some("is drained"), Some("takes jobs of reservations only")));
    assert_eq!(queues("", "State=UP", &[]).left_out[0].reason, "has no nodes");
}
