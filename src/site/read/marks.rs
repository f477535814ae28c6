//! Where site files say what.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::source::{FileId, SourceMap, Span};

/// The place of each value, by its path, as in `slurm.account`; tables of a list go by their names, as in `slurm.queue.main.qos`, or else
/// by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Marks(BTreeMap<Vec<String>, Span>);

impl Marks {
    /// Of several site files, the more special one last: what counts is marked.
    pub fn new(files: &SourceMap) -> Self {
        let mut marks = Marks::default();
        for (id, file) in files.files() {
            // what does not parse has no effect, and was reported
            DeTable::parse(&file.text).into_iter().for_each(|table| marks.table(id, table.get_ref(), &mut Vec::new()));
        }
        marks
    }

    /// The place of a value; where no file says anything of it, of what is around it.
    pub fn of(&self, path: &[&str]) -> Span {
        let within = |length: usize| self.0.get(&path[..length].iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        (1..=path.len()).rev().find_map(within).copied().unwrap_or(Span { file: FileId::NOWHERE, start: 0, end: 0 })
    }

    fn table(&mut self, file: FileId, table: &DeTable, path: &mut Vec<String>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            // a table is marked by its name: it may be as long as the file
            let range = if matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_)) { key.span() } else { value.span() };
            self.0.insert(path.clone(), Span::new(file, range.start, range.end));
            self.value(file, value, path);
            path.pop();
        }
    }

    fn value(&mut self, file: FileId, value: &Spanned<DeValue>, path: &mut Vec<String>) {
        match value.get_ref() {
            DeValue::Table(table) => self.table(file, table, path),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let name = item.get_ref().as_table().and_then(|table| table.get("name"));
                    path.push(name.and_then(|name| name.get_ref().as_str()).map_or_else(|| index.to_string(), ToOwned::to_owned));
                    let span = name.map_or(item.span(), Spanned::span);
                    self.0.insert(path.clone(), Span::new(file, span.start, span.end));
                    self.value(file, item, path);
                    path.pop();
                }
            }
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
        }
    }
}
