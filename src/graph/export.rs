//! The graph as DOT, for pictures, and as JSON, for tools.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Need, TaskGraph, TaskId, TaskKind};
use crate::model::{Model, Output};
use crate::source::SourceMap;

/// The version of [`json()`]'s form.
const VERSION: u32 = 1;

/// The graph in the DOT language; dashed edges are values that are only perhaps needed, boxes are batch tasks.
pub fn dot(graph: &TaskGraph, model: &Model, sources: &SourceMap) -> String {
    let mut text = String::from("digraph scl {\n    rankdir = LR;\n    node [shape = ellipse];\n");
    for task in shown(graph) {
        let label = escape(&name(graph.kind(task), model, sources));
        let shape = match request(graph.kind(task), model) {
            Some(request) => format!(", shape = box, tooltip = \"{}\"", escape(&request)),
            None if matches!(graph.kind(task), TaskKind::Output(_)) => ", shape = plaintext".to_owned(),
            None => String::new(),
        };
        let _ = writeln!(text, "    t{} [label = \"{label}\"{shape}];", task.index());
    }
    for (from, to, need) in edges(graph) {
        let style = if need == Need::Perhaps { " [style = dashed]" } else { "" };
        let _ = writeln!(text, "    t{} -> t{}{style};", from.index(), to.index());
    }
    text.push_str("}\n");
    text
}

/// `{"version": 1, "tasks": [{id, kind, name, line, request, chunk, chunks}], "edges": [{from, to, need}]}`
pub fn json(graph: &TaskGraph, model: &Model, sources: &SourceMap) -> Value {
    let tasks: Vec<Value> = shown(graph).map(|task| task_json(graph, task, model, sources)).collect();
    let edges = edges(graph).into_iter().map(|(from, to, need)| {
        let need = match need {
            Need::Certain => "certain",
            Need::Perhaps => "perhaps",
        };
        json!({"from": from.index(), "to": to.index(), "need": need})
    });
    json!({"version": VERSION, "tasks": tasks, "edges": edges.collect::<Vec<_>>()})
}

fn task_json(graph: &TaskGraph, task: TaskId, model: &Model, sources: &SourceMap) -> Value {
    let kind = graph.kind(task);
    let (word, span, chunk) = match kind {
        TaskKind::Variable(id) => ("variable", model.variables[id.index()].span, None),
        TaskKind::Chunk { variable, index, of } => ("chunk", model.variables[variable.index()].span, Some((index, of))),
        TaskKind::Merge(id) => ("merge", model.variables[id.index()].span, None),
        TaskKind::Output(index) => (output_word(&model.outputs[index]), model.outputs[index].span(), None),
    };
    let line = sources.get(span.file).map(|file| file.position(span.start).0);
    let mut object = json!({"id": task.index(), "kind": word, "name": name(kind, model, sources), "line": line});
    if let Some(request) = request(kind, model) {
        object["request"] = request.into();
    }
    if let Some((index, of)) = chunk {
        object["chunk"] = (index + 1).into();
        object["chunks"] = of.into();
    }
    object
}

fn output_word(output: &Output) -> &'static str {
    match output {
        Output::Print { .. } => "print",
        Output::View { .. } => "view",
        Output::Export { .. } => "export",
    }
}

/// What people call a task: `rates`, `rates 1/2`, `print(rates)`.
/// What a task is called: `rates`, `rates 1/2`, or its statement.
pub fn name(kind: TaskKind, model: &Model, sources: &SourceMap) -> String {
    match kind {
        TaskKind::Variable(id) | TaskKind::Merge(id) => model.variables[id.index()].name.to_string(),
        TaskKind::Chunk { variable, index, of } => format!("{} {}/{of}", model.variables[variable.index()].name, index + 1),
        TaskKind::Output(index) => {
            let text = sources.text(model.outputs[index].span()).split_whitespace().collect::<Vec<_>>().join(" ");
            match text.char_indices().nth(60) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}

/// The request of a batch task.
fn request(kind: TaskKind, model: &Model) -> Option<String> {
    let variable = match kind {
        TaskKind::Variable(id) => id,
        TaskKind::Chunk { variable, .. } => variable,
        TaskKind::Merge(_) | TaskKind::Output(_) => return None,
    };
    model.variables[variable.index()].request.as_ref().map(|request| request.node.to_string())
}

fn shown(graph: &TaskGraph) -> impl Iterator<Item = TaskId> {
    let reachable = graph.reachable();
    graph.tasks().filter(move |task| reachable[task.index()])
}

fn edges(graph: &TaskGraph) -> Vec<(TaskId, TaskId, Need)> {
    let into = |task: TaskId| graph.dependencies(task).map(move |(from, need)| (from, task, need));
    let mut edges: Vec<_> = shown(graph).flat_map(into).collect();
    edges.sort_unstable();
    edges
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}
