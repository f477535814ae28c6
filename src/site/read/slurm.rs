//! What a site file says of a Slurm cluster.

use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Reader;
use crate::site::{Cluster, MemoryStyle, Node, Queue};

/// How memory is asked for, as a file says it.
pub(in crate::site) const STYLES: [(&str, MemoryStyle); 3] =
    [("per_core", MemoryStyle::PerCore), ("per_node", MemoryStyle::PerNode), ("none", MemoryStyle::None)];

const CLUSTER: [&str; 12] = [
    "cluster",
    "account",
    "memory",
    "largest_array",
    "most_jobs",
    "unknown_after_minutes",
    "program",
    "directory",
    "modules",
    "environment",
    "setup",
    "queue",
];

const QUEUE: [&str; 11] = [
    "name",
    "nodes",
    "longest_minutes",
    "usual_minutes",
    "usual_memory_mib",
    "most_memory_mib",
    "account",
    "qos",
    "constraint",
    "reservation",
    "gres",
];

const NODE: [&str; 4] = ["count", "cores", "memory_mib", "threads_per_core"];

/// A time that the batch system can still express, in minutes.
const LONGEST_MINUTES: u64 = 100 * 366 * 24 * 60;

/// As much as a request can ask for, in MiB.
const MOST_MEMORY_MIB: u64 = 1 << 40;

impl Reader {
    pub(super) fn slurm(&mut self, table: &DeTable, cluster: &mut Cluster) {
        for (key, value) in table {
            let name = &**key.get_ref();
            match name {
                "cluster" => cluster.name = self.line(name, value).or(cluster.name.take()),
                "account" => cluster.account = self.line(name, value).or(cluster.account.take()),
                "memory" => cluster.memory = self.one_of(name, value, &STYLES).unwrap_or(cluster.memory),
                "largest_array" => cluster.largest_array = self.count(name, value).unwrap_or(cluster.largest_array),
                "most_jobs" => cluster.most_jobs = self.count(name, value).or(cluster.most_jobs),
                "unknown_after_minutes" => cluster.unknown_after = self.minutes(name, value).unwrap_or(cluster.unknown_after),
                "program" => cluster.program = self.path(name, value).or(cluster.program.take()),
                "directory" => cluster.directory = self.path(name, value).or(cluster.directory.take()),
                "modules" => cluster.modules = self.lines(name, value).unwrap_or(std::mem::take(&mut cluster.modules)),
                "setup" => cluster.setup = self.lines(name, value).unwrap_or(std::mem::take(&mut cluster.setup)),
                "environment" => self.environment(value, cluster),
                "queue" => self.queues(value, cluster),
                _ => self.unknown(key, " in `[slurm]`", &CLUSTER),
            }
        }
    }

    fn environment(&mut self, value: &Spanned<DeValue>, cluster: &mut Cluster) {
        for (key, value) in self.table("environment", value).into_iter().flatten() {
            let name = &**key.get_ref();
            let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_name = is_name && !name.as_bytes()[0].is_ascii_digit();
            let text = value.get_ref().as_str().filter(|text| is_name && !text.contains('\0'));
            let wanted = if is_name { "a text" } else { "the name of an environment variable" };
            let text = self.wanted(name, wanted, value, text).map(ToOwned::to_owned);
            cluster.environment.extend(text.map(|text| (name.to_owned(), text)));
        }
    }

    fn queues(&mut self, value: &Spanned<DeValue>, cluster: &mut Cluster) {
        let tables = value.get_ref().as_array();
        for value in self.wanted("queue", "tables, each headed `[[slurm.queue]]`", value, tables).into_iter().flatten() {
            let Some(table) = self.table("queue", value) else { continue };
            let name = table.iter().find(|(key, _)| &**key.get_ref() == "name").map(|(_, value)| value);
            let Some(name) = name.and_then(|name| self.line("name", name)) else {
                let found: Option<()> = None;
                self.wanted("queue", "a table with a `name`", value, found);
                continue;
            };
            let place = cluster.queues.iter().position(|queue| queue.name == name).unwrap_or_else(|| {
                cluster.queues.push(Queue { name, ..Queue::default() });
                cluster.queues.len() - 1
            });
            self.queue(table, &mut cluster.queues[place]);
        }
    }

    fn queue(&mut self, table: &DeTable, queue: &mut Queue) {
        for (key, value) in table {
            let name = &**key.get_ref();
            match name {
                "name" => {}
                "nodes" => queue.nodes = self.nodes(value).unwrap_or(std::mem::take(&mut queue.nodes)),
                "longest_minutes" => queue.longest = self.minutes(name, value).or(queue.longest),
                "usual_minutes" => queue.usual = self.minutes(name, value).or(queue.usual),
                "usual_memory_mib" => queue.usual_memory = self.memory(name, value).or(queue.usual_memory),
                "most_memory_mib" => queue.most_memory = self.memory(name, value).or(queue.most_memory),
                "account" => queue.account = self.line(name, value).or(queue.account.take()),
                "qos" => queue.qos = self.line(name, value).or(queue.qos.take()),
                "constraint" => queue.constraint = self.line(name, value).or(queue.constraint.take()),
                "reservation" => queue.reservation = self.line(name, value).or(queue.reservation.take()),
                "gres" => queue.gres = self.line(name, value).or(queue.gres.take()),
                _ => self.unknown(key, " in `[[slurm.queue]]`", &QUEUE),
            }
        }
    }

    fn nodes(&mut self, value: &Spanned<DeValue>) -> Option<Vec<Node>> {
        let tables = value.get_ref().as_array();
        let tables = self.wanted("nodes", "a list of tables", value, tables)?;
        tables.iter().map(|value| self.node(value)).collect()
    }

    fn node(&mut self, value: &Spanned<DeValue>) -> Option<Node> {
        let (mut count, mut cores, mut memory, mut threads_per_core) = (1, None, None, 1);
        for (key, value) in self.table("nodes", value)? {
            let name = &**key.get_ref();
            match name {
                "count" => count = self.count(name, value)?,
                "cores" => cores = self.count(name, value),
                "memory_mib" => memory = self.memory(name, value),
                "threads_per_core" => threads_per_core = self.count(name, value)?,
                _ => self.unknown(key, " in a node", &NODE),
            }
        }
        let node = cores.zip(memory).map(|(cores, memory)| Node { count, cores, memory, threads_per_core });
        self.wanted("nodes", "a list of tables that have `cores` and `memory_mib`", value, node)
    }

    /// A text of one line that is not empty: it becomes part of a line of a script.
    fn line(&mut self, name: &str, value: &Spanned<DeValue>) -> Option<String> {
        let text = value.get_ref().as_str().filter(|text| is_line(text));
        self.wanted(name, "a text of one line", value, text).map(ToOwned::to_owned)
    }

    fn lines(&mut self, name: &str, value: &Spanned<DeValue>) -> Option<Vec<String>> {
        let texts = value.get_ref().as_array().and_then(|list| {
            list.iter().map(|item| Some(item.get_ref().as_str().filter(|text| !text.contains('\0'))?.to_owned())).collect()
        });
        self.wanted(name, "a list of texts", value, texts)
    }

    fn path(&mut self, name: &str, value: &Spanned<DeValue>) -> Option<PathBuf> {
        let path = value.get_ref().as_str().filter(|text| text.starts_with('/') && !text.contains('\0'));
        self.wanted(name, "a path from the root on, for it is used on other machines", value, path).map(PathBuf::from)
    }

    fn count(&mut self, name: &str, value: &Spanned<DeValue>) -> Option<u32> {
        self.value(name, value, "a whole number from 1 on", |number| number.parse().ok().filter(|count| *count > 0))
    }

    fn minutes(&mut self, name: &str, value: &Spanned<DeValue>) -> Option<Duration> {
        let minutes = |number: &str| number.parse().ok().filter(|minutes| (1..=LONGEST_MINUTES).contains(minutes));
        self.value(name, value, "a whole number of minutes from 1 on", minutes).map(|minutes| Duration::from_secs(60 * minutes))
    }

    fn memory(&mut self, name: &str, value: &Spanned<DeValue>) -> Option<u64> {
        let memory = |number: &str| number.parse().ok().filter(|memory| (1..=MOST_MEMORY_MIB).contains(memory));
        self.value(name, value, "a whole number of MiB from 1 on", memory).map(|memory| memory << 20)
    }
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}
