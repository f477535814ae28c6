//! A type in words, for `%type`.

use crate::model::{Type, UnitType};

/// What is known of a value before it is computed: its kind, its unit or dimension, its size, its columns.
pub fn of(ty: &Type) -> String {
    match ty {
        Type::Series { len, .. } => format!("{ty}{}{}", unit(ty), counted(*len, "element")),
        Type::Table { columns, len } => {
            let columns = columns.iter().flat_map(|columns| columns.iter());
            let columns: Vec<String> = columns.map(|(name, ty)| format!("{name}{}", unit(ty))).collect();
            let columns = if columns.is_empty() { String::new() } else { format!(", columns {}", columns.join(", ")) };
            format!("{ty}{}{columns}", counted(*len, "row"))
        }
        Type::Any
        | Type::Bool
        | Type::Str
        | Type::Number { .. }
        | Type::Native(_)
        | Type::Tuple(_)
        | Type::Dict(_)
        | Type::Array { .. }
        | Type::Function => format!("{ty}{}", unit(ty)),
    }
}

fn unit(ty: &Type) -> String {
    match ty.unit() {
        UnitType::Exact(unit) if !unit.is_none() => format!(" in [{unit}]"),
        UnitType::Like(unit) if !unit.is_dimensionless() => format!(" of dimension {}", unit.dimension()),
        UnitType::Exact(_) | UnitType::Like(_) | UnitType::Any => String::new(),
    }
}

fn counted(len: Option<usize>, what: &str) -> String {
    match len {
        Some(1) => format!(", 1 {what}"),
        Some(len) => format!(", {len} {what}s"),
        None => String::new(),
    }
}
