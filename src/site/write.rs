//! A site as the text of a file, which says the same when it is read.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::path::PathBuf;
use std::time::Duration;

use toml::Value;

use super::read::{STYLES, SYSTEMS};
use super::retries::KINDS;
use super::{Cluster, Node, Queue, Retries, Site};

/// The text of a file that says all this.
pub fn text(site: &Site) -> String {
    let mut text = Text::default();
    let name = |system| SYSTEMS.iter().find(|(_, known)| *known == system).map(|(name, _)| *name);
    text.quoted("system", site.system.and_then(name));
    text.retries(&site.retries);
    site.slurm.iter().for_each(|cluster| text.cluster(cluster));
    text.0.trim_start().to_owned()
}

/// The same as a tree, for tools.
pub fn tree(site: &Site) -> toml::Table {
    text(site).parse().unwrap_or_default()
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn retries(&mut self, retries: &Retries) {
        let usual = Retries::default();
        if *retries == usual {
            return;
        }
        self.head("[retries]");
        for (kind, name, _) in KINDS {
            self.line(name, retries.counts.get(&kind));
        }
        let pauses = [("pause_seconds", retries.pause, usual.pause), ("longest_pause_seconds", retries.longest_pause, usual.longest_pause)];
        for (name, pause, usual) in pauses {
            self.line(name, Some(pause).filter(|pause| *pause != usual).map(|pause| pause.as_secs_f64()));
        }
    }

    fn cluster(&mut self, cluster: &Cluster) {
        let usual = Cluster::default();
        self.head("[slurm]");
        self.quoted("cluster", cluster.name.as_ref());
        self.quoted("account", cluster.account.as_ref());
        self.quoted("memory", STYLES.iter().find(|(_, style)| *style == cluster.memory).map(|(name, _)| name));
        self.line("largest_array", Some(cluster.largest_array));
        self.line("most_jobs", cluster.most_jobs);
        self.line("unknown_after_minutes", Some(cluster.unknown_after).filter(|time| *time != usual.unknown_after).map(minutes));
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        self.quoted("program", path(&cluster.program));
        self.quoted("directory", path(&cluster.directory));
        self.list("modules", &cluster.modules);
        self.line("environment", Some(&cluster.environment).filter(|variables| !variables.is_empty()).map(inline));
        self.list("setup", &cluster.setup);
        cluster.queues.iter().for_each(|queue| self.queue(queue));
    }

    fn queue(&mut self, queue: &Queue) {
        self.head("[[slurm.queue]]");
        self.quoted("name", Some(&queue.name));
        let nodes: Vec<_> = queue.nodes.iter().map(node).collect();
        self.line("nodes", Some(nodes).filter(|nodes| !nodes.is_empty()).map(|nodes| format!("[{}]", nodes.join(", "))));
        self.line("longest_minutes", queue.longest.map(minutes));
        self.line("usual_minutes", queue.usual.map(minutes));
        self.line("usual_memory_mib", queue.usual_memory.map(|memory| memory >> 20));
        self.line("most_memory_mib", queue.most_memory.map(|memory| memory >> 20));
        self.quoted("account", queue.account.as_ref());
        self.quoted("qos", queue.qos.as_ref());
        self.quoted("constraint", queue.constraint.as_ref());
        self.quoted("reservation", queue.reservation.as_ref());
        self.quoted("gres", queue.gres.as_ref());
    }

    fn head(&mut self, head: &str) {
        self.0.push_str(&format!("\n{head}\n"));
    }

    /// A key, if there is something to say.
    fn line(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            let _ = writeln!(self.0, "{key} = {value}");
        }
    }

    fn quoted(&mut self, key: &str, value: Option<impl ToString>) {
        self.line(key, value.map(|value| quoted(&value.to_string())));
    }

    fn list(&mut self, key: &str, values: &[String]) {
        let values: Vec<_> = values.iter().map(|value| quoted(value)).collect();
        self.line(key, Some(values).filter(|values| !values.is_empty()).map(|values| format!("[{}]", values.join(", "))));
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn inline(variables: &BTreeMap<String, String>) -> String {
    let variables: Vec<_> = variables.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
    format!("{{ {} }}", variables.join(", "))
}

fn node(node: &Node) -> String {
    let threads = if node.threads_per_core == 1 { String::new() } else { format!(", threads_per_core = {}", node.threads_per_core) };
    format!("{{ count = {}, cores = {}, memory_mib = {}{threads} }}", node.count, node.cores, node.memory >> 20)
}

fn minutes(time: Duration) -> u64 {
    time.as_secs() / 60
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::option;
    use proptest::prelude::*;

    use super::*;
    use crate::site::{MemoryStyle, System, read};
    use crate::source::FileId;

    fn nodes() -> impl Strategy<Value = Vec<Node>> {
        let node = (1_u32.., 1_u32.., 1_u64..1 << 40, 1_u32..9);
        vec(node.prop_map(|(count, cores, mib, threads)| Node { count, cores, memory: mib << 20, threads_per_core: threads }), 0..3)
    }

    fn line() -> impl Strategy<Value = Option<String>> {
        option::of("[^\\p{Cc}]{0,4}[a-z'\"\\\\#$=][^\\p{Cc}]{0,4}")
    }

    fn memory() -> impl Strategy<Value = Option<u64>> {
        option::of((1_u64..1 << 40).prop_map(|mib| mib << 20))
    }

    fn time() -> impl Strategy<Value = Option<Duration>> {
        option::of((1_u64..1 << 25).prop_map(|minutes| Duration::from_secs(60 * minutes)))
    }

    prop_compose! {
        fn queue()(
            nodes in nodes(), longest in time(), usual in time(), usual_memory in memory(), most_memory in memory(),
            account in line(), qos in line(), constraint in line(), reservation in line(), gres in line(),
        ) -> Queue {
            Queue { name: String::new(), nodes, longest, usual, usual_memory, most_memory, account, qos, constraint, reservation, gres }
        }
    }

    /// What stands in scripts as it is: anything but NUL.
    fn texts() -> impl Strategy<Value = Vec<String>> {
        vec("[^\\x00]{0,8}", 0..3)
    }

    prop_compose! {
        fn cluster()(
            name in line(), account in line(), style in 0..3_usize, largest_array in 1_u32.., most_jobs in option::of(1_u32..),
            unknown_after in time(), program in option::of("/[^\\x00]{0,8}"), directory in option::of("/[^\\x00]{0,8}"),
            modules in texts(), setup in texts(), environment in btree_map("[A-Z_][A-Z0-9_]{0,3}", "[^\\x00]{0,8}", 0..3),
            queues in vec((queue(), line()), 0..3),
        ) -> Cluster {
            let memory = [MemoryStyle::PerCore, MemoryStyle::PerNode, MemoryStyle::None][style];
            let named = |(at, (queue, name)): (usize, (Queue, Option<String>))| Queue { name: format!("{at}{}", name.unwrap_or_default()), ..queue };
            let queues = queues.into_iter().enumerate().map(named).collect();
            let unknown_after = unknown_after.unwrap_or(Cluster::default().unknown_after);
            let (program, directory) = (program.map(PathBuf::from), directory.map(PathBuf::from));
            Cluster { name, account, memory, largest_array, most_jobs, unknown_after, program, directory, modules, environment, setup, queues }
        }
    }

    prop_compose! {
        fn site()(
            slurm in option::of(cluster()), system in option::of(any::<bool>()),
            counts in vec(option::of(any::<u32>()), KINDS.len()), pauses in [0_u32..600_000, 0_u32..600_000],
        ) -> Site {
            let counts = KINDS.iter().zip(counts).filter_map(|((kind, ..), count)| Some((*kind, count?))).collect();
            let [pause, longest_pause] = pauses.map(|milliseconds| Duration::from_millis(milliseconds.into()));
            let system = system.map(|slurm| if slurm { System::Slurm } else { System::Local });
            Site { system, retries: Retries { counts, pause, longest_pause }, slurm }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(site in site()) {
            let text = text(&site);
            let mut found = Site::default();
            let faults = read::file(FileId(0), &text, &mut found);
            prop_assert_eq!(faults, [], "{}", text);
            prop_assert_eq!(&found, &site, "{}", text);
            prop_assert_eq!(tree(&site).is_empty(), text.is_empty());
        }
    }
}
