//! What site files say, compared with what there is.
//!
//! Only what would fail is told: that a file allows less than the cluster does, or leaves queues out, is a choice.

use std::path::Path;

use super::read::Marks;
use super::{Cluster, Node, Queue, Survey};
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::Span;

/// Faults of a cluster as files describe it, against the one that Slurm describes.
pub fn compare(said: &Cluster, found: &Survey, marks: &Marks) -> Vec<Diagnostic> {
    let mut check = Check { found, marks, diagnostics: Vec::new() };
    check.account(said.account.as_deref(), &["slurm", "account"]);
    let most = found.cluster.largest_array;
    check.limit("largest_array", Some(said.largest_array.into()), Some(most.into()), &["slurm"]);
    said.queues.iter().for_each(|queue| check.queue(queue));
    check.diagnostics
}

/// What is missing on this machine of what jobs need; `modules` are those that it has, if it knows any.
pub fn missing(said: &Cluster, modules: Option<&[String]>, marks: &Marks) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let paths = [("program", &said.program, Path::is_file as fn(&Path) -> bool), ("directory", &said.directory, Path::is_dir)];
    for (key, path, is_there) in paths {
        let lacking = path.as_deref().filter(|path| !is_there(path));
        diagnostics.extend(lacking.map(|path| not_here(key, path, marks.of(&["slurm", key]))));
    }
    let known = |name: &&String| modules.is_none_or(|modules| modules.iter().any(|module| names(module, name)));
    for (index, name) in said.modules.iter().enumerate().filter(|(_, name)| !known(name)) {
        let near = nearest(name, modules.into_iter().flatten().map(String::as_str));
        diagnostics.push(unknown_module(name, near, marks.of(&["slurm", "modules", &index.to_string()])));
    }
    diagnostics
}

/// Whether `gcc/13`, or `gcc`, means this module.
fn names(module: &str, name: &str) -> bool {
    module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

struct Check<'a> {
    found: &'a Survey,
    marks: &'a Marks,
    diagnostics: Vec<Diagnostic>,
}

impl Check<'_> {
    fn account(&mut self, account: Option<&str>, path: &[&str]) {
        if let (Some(account), Some(known)) = (account, &self.found.accounts)
            && !known.iter().any(|known| known == account)
        {
            self.diagnostics.push(unknown_account(account, known, self.marks.of(path)));
        }
    }

    fn queue(&mut self, queue: &Queue) {
        let path = ["slurm", "queue", &queue.name];
        let span = self.marks.of(&path);
        self.account(queue.account.as_deref(), &[&path[..], &["account"]].concat());
        if let Some(left_out) = self.found.left_out.iter().find(|left_out| left_out.partition == queue.name) {
            return self.diagnostics.push(closed_queue(&queue.name, left_out.reason, span));
        }
        let Some(real) = self.found.cluster.queues.iter().find(|real| real.name == queue.name) else {
            let known = self.found.cluster.queues.iter().map(|queue| &*queue.name);
            return self.diagnostics.push(unknown_queue(&queue.name, nearest(&queue.name, known), span));
        };
        let minutes = |queue: &Queue| queue.longest.map(|time| time.as_secs() / 60);
        let mib = |queue: &Queue| queue.most_memory.map(|memory| memory >> 20);
        self.limit("longest_minutes", minutes(queue), minutes(real), &path);
        self.limit("most_memory_mib", mib(queue), mib(real), &path);
        for (index, node) in queue.nodes.iter().enumerate() {
            self.node(node, &real.nodes, &[&path[..], &["nodes", &index.to_string()]].concat());
        }
    }

    fn node(&mut self, node: &Node, real: &[Node], path: &[&str]) {
        let most_cores = real.iter().map(|real| real.cores).max().map(u64::from);
        self.limit("cores", Some(node.cores.into()), most_cores, path);
        // of nodes with as many cores; without any the cores are at fault
        let most_memory = real.iter().filter(|real| real.cores >= node.cores).map(|real| real.memory >> 20).max();
        self.limit("memory_mib", Some(node.memory >> 20), most_memory, path);
    }

    fn limit(&mut self, key: &str, said: Option<u64>, most: Option<u64>, path: &[&str]) {
        if let (Some(said), Some(most)) = (said, most)
            && said > most
        {
            self.diagnostics.push(too_large(key, said, most, self.marks.of(&[path, &[key]].concat())));
        }
    }
}

fn unknown_queue(name: &str, near: Option<&str>, span: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0845", format!("Slurm has no partition `{name}`"), span);
    match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("`scl site detect` shows those that there are"),
    }
}

fn closed_queue(name: &str, reason: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("W0842", format!("the partition `{name}` {reason}"), span)
        .help("jobs that go there are refused, or wait until that changes")
}

fn too_large(key: &str, said: u64, most: u64, span: Span) -> Diagnostic {
    Diagnostic::error("E0846", format!("`{key}` is {said}, but Slurm has no more than {most}"), span)
        .help("jobs that need more than there is would be refused, or wait for ever")
}

fn unknown_account(name: &str, known: &[String], span: Span) -> Diagnostic {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Diagnostic::error("E0847", format!("Slurm knows no account `{name}` of this user"), span).help(format!("there are: {known}"))
}

fn not_here(key: &str, path: &Path, span: Span) -> Diagnostic {
    Diagnostic::warning("W0843", format!("the {key} {path:?} is not there on this machine"), span)
        .help("jobs need it on the nodes; see that it is there")
}

fn unknown_module(name: &str, near: Option<&str>, span: Span) -> Diagnostic {
    let warning = Diagnostic::warning("W0844", format!("`module` knows no `{name}` on this machine"), span);
    match near {
        Some(near) => warning.help(format!("did you mean `{near}`?")),
        None => warning.help("`module avail` lists those that there are; the nodes may have others"),
    }
}
