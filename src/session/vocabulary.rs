//! What can be named: for completions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::Type;
use crate::value::Value;

/// The names of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Everything that is defined or imported, each with the names of its columns or members.
    pub names: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

impl Vocabulary {
    /// Adds a name of which nothing else is known.
    pub fn add(&mut self, name: &Arc<str>) {
        self.names.entry(name.clone()).or_default();
    }

    /// Adds a variable; a value knows more of it than a type.
    pub fn add_variable(&mut self, name: &Arc<str>, ty: &Type, value: Option<&Value>) {
        self.names.insert(name.clone(), value.map_or_else(|| members_of_type(ty), members_of_value));
    }

    /// The columns or members of a variable.
    pub fn members(&self, name: &str) -> &[Arc<str>] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }
}

fn members_of_type(ty: &Type) -> Vec<Arc<str>> {
    match ty {
        Type::Dict(Some(members)) | Type::Table { columns: Some(members), .. } => members.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

fn members_of_value(value: &Value) -> Vec<Arc<str>> {
    match value {
        Value::Dict(members) => members.keys().cloned().collect(),
        Value::Table(table) => table.columns().iter().map(|column| column.name.clone()).collect(),
        _ => Vec::new(),
    }
}
