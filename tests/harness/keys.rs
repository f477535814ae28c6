//! What changes the keys of jobs: each case is two programs, and its golden text tells which keys of the second are other ones than
//! those of the first, of the same name or else the same place, and in which part.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::Trial;
use scl::check::{self, Extent, Mode};
use scl::graph::{Options, TaskGraph};
use scl::io::Files;
use scl::run::{self, Looked, Program};
use scl::source::SourceMap;
use scl::syntax;

use crate::golden;

/// What stands between the two programs.
const THEN: &str = "# ---- then ----\n";

/// One for each case.
pub fn trials() -> Vec<Trial> {
    golden::folder("keys", render)
}

fn render(_: &Path, text: &str) -> String {
    let Some((first, second)) = text.split_once(THEN) else { return "two programs are needed\n".to_owned() };
    let before = look(first);
    let mut out = String::new();
    for (place, looked) in look(second).into_iter().enumerate() {
        let same = before.iter().find(|before| before.name == looked.name).or(before.get(place));
        let compared = match (&looked.known, same.and_then(|before| before.known.as_ref())) {
            (None, _) => format!("after {:?}", looked.after),
            (Some(_), None) => "new".to_owned(),
            (Some((now, _)), Some((before, _))) => {
                let changes = now.parts.as_ref().zip(before.parts.as_ref()).map(|(now, before)| now.changes(before)).unwrap_or_default();
                match now.key == before.key {
                    true if changes.is_empty() => "the same key".to_owned(),
                    true => format!("the same key in spite of {changes:?}"),
                    false if changes.is_empty() => "another key, and nothing tells why".to_owned(),
                    false => format!("another key: {}", changes.join(", ")),
                }
            }
        };
        let _ = writeln!(out, "{}: {compared}", looked.name);
    }
    out
}

/// The jobs of a program, of which nothing is kept.
fn look(text: &str) -> Vec<Looked> {
    let mut sources = SourceMap::new();
    let file = sources.add("model.scl", text);
    let (ast, _) = syntax::parse(file, text);
    let (model, _) = check::check(&ast, Mode::Workflow, Extent::Outputs);
    let graph = Arc::new(TaskGraph::build(&model, Options { chunks: true, batch: true, all: false }));
    let files = Arc::new(Files { base: PathBuf::new() });
    let program = Program { model: Arc::new(model), graph, sources: Arc::new(sources), world: files.clone(), exporter: files };
    run::look(&program, 1, Path::new("no such directory")).0
}
