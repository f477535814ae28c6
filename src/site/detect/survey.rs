//! From what Slurm says to what a site file says.

use super::reply::{Fields, fields, number, settings, time};
use crate::diagnostic::Fault;
use crate::site::{Cluster, MemoryStyle, Node, Queue};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// As a site file would say it.
    pub cluster: Cluster,
    /// In the order in which Slurm names them.
    pub left_out: Vec<LeftOut>,
    /// The accounts that Slurm takes from the user, if it looks at them and they are known.
    pub accounts: Option<Vec<String>>,
}

/// A partition that is no queue for jobs of this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub partition: String,
    /// Why, with a verb.
    pub reason: &'static str,
}

/// What `scontrol` prints.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    /// Of `show config`.
    pub config: String,
    /// Of `show partition`.
    pub partitions: String,
    /// Of `show node`.
    pub nodes: String,
}

/// Whom jobs of the user may be charged to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts {
    /// If nothing is said.
    pub default: Option<String>,
    /// All.
    pub all: Vec<String>,
}

impl Replies {
    /// Asks for all three.
    pub fn ask(show: impl Fn(&str) -> Result<String, Fault>) -> Result<Self, Fault> {
        Ok(Replies { config: show("config")?, partitions: show("partition")?, nodes: show("node")? })
    }

    /// Whether there is a database of accounts.
    pub fn has_accounting(&self) -> bool {
        settings(&self.config).get("AccountingStorageType").is_some_and(|kind| kind.ends_with("/slurmdbd"))
    }
}

impl Accounts {
    /// Lines `default|account` of `sacctmgr`.
    pub fn read(text: &str) -> Self {
        let lines: Vec<(&str, &str)> = text.lines().filter_map(|line| line.trim().split_once('|')).collect();
        let default = lines.iter().map(|(default, _)| (*default).to_owned()).find(|default| !default.is_empty());
        Accounts { default, all: lines.iter().map(|(_, account)| (*account).to_owned()).collect() }
    }
}

/// The cluster and its queues: the default partition first, since jobs that name none go there, then the others in Slurm's order, those
/// last of which is not known whether they take an account of the user.
pub fn survey(replies: &Replies, accounts: Option<&Accounts>) -> Survey {
    let config = settings(&replies.config);
    let kinds: Vec<Kind> = replies.nodes.lines().filter_map(|line| Kind::read(&fields(line))).collect();
    // without this Slurm does not look at accounts
    let enforced = config.get("AccountingStorageEnforce").is_some_and(|what| what.contains("associations"));
    let known = accounts.filter(|_| enforced).map(|accounts| accounts.all.clone());
    let mut survey = Survey { cluster: cluster(&config, accounts), accounts: known, ..Survey::default() };
    let mut found = Vec::new();
    for partition in replies.partitions.lines().map(fields) {
        let Some(name) = partition.get("PartitionName").map(|name| (*name).to_owned()) else { continue };
        let admission = if enforced { Admission::of(&partition, accounts) } else { Admission::Any };
        let nodes = nodes(&kinds, &name, &partition, &config);
        match closed(&partition, &admission, &nodes) {
            Some(reason) => survey.left_out.push(LeftOut { partition: name, reason }),
            None => {
                let place = (admission == Admission::Unclear, partition.get("Default") != Some(&"YES"));
                found.push((place, queue(name, nodes, &partition, admission, &config)));
            }
        }
    }
    found.sort_by_key(|(place, _)| *place);
    survey.cluster.queues = found.into_iter().map(|(_, queue)| queue).collect();
    survey
}

fn cluster(config: &Fields, accounts: Option<&Accounts>) -> Cluster {
    let parameter = |name: &str| {
        let parameters = config.get("SchedulerParameters").copied().unwrap_or_default();
        parameters.split(',').find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('=')?.parse::<u32>().ok())
    };
    // the size counts index 0, which we do not use; zero means that there are no arrays
    let size: Option<u32> = config.get("MaxArraySize").and_then(|size| size.parse().ok());
    let largest = size.map_or(Cluster::default().largest_array, |size| size.saturating_sub(1));
    Cluster {
        name: config.get("ClusterName").filter(|name| !name.is_empty() && **name != "(null)").map(|name| (*name).to_owned()),
        account: accounts.and_then(|accounts| accounts.default.clone()),
        memory: memory_style(config),
        largest_array: largest.min(parameter("max_array_tasks").unwrap_or(largest)).max(1),
        most_jobs: number(config.get("MaxJobCount")),
        ..Cluster::default()
    }
}

/// Per core where Slurm hands out memory with cores. Where it hands out whole nodes, or does not count memory, it takes the options all
/// the same, reserves nothing, and only sends a job to nodes that are large enough: of `--mem` it compares all, of `--mem-per-cpu` the
/// memory of a single CPU (seen with 22.05), so that a job of many cores would come to a node that is too small.
fn memory_style(config: &Fields) -> MemoryStyle {
    let is = |name: &str, part: &str| config.get(name).is_some_and(|value| value.to_ascii_lowercase().contains(part));
    if is("SelectType", "cons_") && is("SelectTypeParameters", "memory") { MemoryStyle::PerCore } else { MemoryStyle::PerNode }
}

/// Which account a partition takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Admission {
    /// Also the one that is used anyway.
    Any,
    /// Only this one of the user's.
    Another(String),
    /// It takes only some, and nobody knows which the user has.
    Unclear,
    /// None of the user's.
    None,
}

impl Admission {
    fn of(partition: &Fields, accounts: Option<&Accounts>) -> Self {
        let list = |name: &str| partition.get(name).filter(|list| !["ALL", "NONE", "(null)", ""].contains(*list));
        let (allowed, denied) = (list("AllowAccounts"), list("DenyAccounts"));
        let named = |list: &&&str, account: &str| list.split(',').any(|name| name == account);
        let takes = |account: &String| match (&allowed, &denied) {
            (Some(allowed), _) => named(allowed, account),
            (None, denied) => !denied.as_ref().is_some_and(|denied| named(denied, account)),
        };
        match accounts {
            _ if allowed.is_none() && denied.is_none() => Admission::Any,
            None => Admission::Unclear,
            Some(accounts) if accounts.default.as_ref().is_some_and(takes) => Admission::Any,
            Some(accounts) => accounts.all.iter().find(|account| takes(account)).cloned().map_or(Admission::None, Admission::Another),
        }
    }
}

/// Why a partition takes no jobs as ours are: of one node, from a user like others, today and tomorrow.
fn closed(partition: &Fields, admission: &Admission, nodes: &[Node]) -> Option<&'static str> {
    let is = |name: &str, value: &str| partition.get(name) == Some(&value);
    let state = partition.get("State").copied().unwrap_or("UP");
    Some(match state {
        _ if is("Hidden", "YES") => "is hidden",
        _ if is("RootOnly", "YES") => "takes jobs of root only",
        _ if is("ReqResv", "YES") => "takes jobs of reservations only",
        // jobs are taken and never started
        "DOWN" => "is down",
        "DRAIN" => "is drained",
        "INACTIVE" => "is inactive",
        _ if number::<u32>(partition.get("MinNodes")).is_some_and(|least| least > 1) => "takes no jobs of a single node",
        _ if *admission == Admission::None => "takes none of the user's accounts",
        _ if nodes.is_empty() => "has no nodes",
        _ => return None,
    })
}

fn queue(name: String, nodes: Vec<Node>, partition: &Fields, admission: Admission, config: &Fields) -> Queue {
    Queue {
        name,
        nodes,
        longest: time(partition.get("MaxTime")),
        usual: time(partition.get("DefaultTime")),
        // what a job gets by `DefMemPerNode` depends on how many cores it has
        usual_memory: memory(["DefMemPerCPU", "DefMemPerNode"], partition, config),
        most_memory: memory(["MaxMemPerCPU", "MaxMemPerNode"], partition, config),
        account: if let Admission::Another(account) = admission { Some(account) } else { None },
        ..Queue::default()
    }
}

/// The first of two settings of which Slurm takes one, in bytes: what a partition sets hides both of the cluster.
fn memory([name, other]: [&str; 2], partition: &Fields, config: &Fields) -> Option<u64> {
    let of = |fields: &Fields, name| number::<u64>(fields.get(name));
    let own = of(partition, name).or_else(|| of(partition, other)).is_some();
    of(if own { partition } else { config }, name).map(|mib| mib << 20)
}

/// A node, and the partitions that it is in.
struct Kind<'t> {
    node: Node,
    partitions: &'t str,
}

impl<'t> Kind<'t> {
    /// Nodes that are down, drained or switched off are counted: they come back, and what a program may ask for does not depend on the
    /// day. One that is planned for the future is none.
    fn read(fields: &Fields<'t>) -> Option<Self> {
        if fields.get("State").is_some_and(|state| state.starts_with("FUTURE")) {
            return None;
        }
        let count = |name: &str| number::<u32>(fields.get(name));
        let all: u32 = count("CPUTot")?;
        let cores = count("Sockets").zip(count("CoresPerSocket")).map(|(sockets, cores)| sockets.saturating_mul(cores));
        // a site may have it count cores although these have several threads
        let threads = count("ThreadsPerCore").filter(|_| cores.is_none_or(|cores| all > cores)).unwrap_or(1);
        // without what is set aside for the system
        let cores = count("CPUEfctv").unwrap_or(all) / threads;
        let memory = number::<u64>(fields.get("RealMemory"))?.checked_sub(number(fields.get("MemSpecLimit")).unwrap_or(0))?;
        let node = Node { count: 1, cores, memory: memory << 20, threads_per_core: threads };
        (cores > 0 && memory > 0).then_some(Kind { node, partitions: fields.get("Partitions")? })
    }
}

/// The nodes of a partition by kind, as far as the partition may use them, the smallest first.
fn nodes(kinds: &[Kind], name: &str, partition: &Fields, config: &Fields) -> Vec<Node> {
    let cpus = number::<u32>(partition.get("MaxCPUsPerNode"));
    let memory = memory(["MaxMemPerNode", "MaxMemPerCPU"], partition, config);
    let members = kinds.iter().filter(|kind| kind.partitions.split(',').any(|member| member == name));
    let mut nodes: Vec<Node> = Vec::new();
    for Kind { node, .. } in members {
        let most = cpus.map_or(node.cores, |cpus| (cpus / node.threads_per_core).max(1));
        let node = Node { cores: node.cores.min(most), memory: memory.map_or(node.memory, |most| node.memory.min(most)), ..*node };
        match nodes.iter_mut().find(|known| Node { count: 1, ..**known } == node) {
            Some(known) => known.count += 1,
            None => nodes.push(node),
        }
    }
    nodes.sort_by_key(|node| (node.cores, node.memory, node.threads_per_core));
    nodes
}

#[cfg(test)]
mod tests;
