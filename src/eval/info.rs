//! `info(x)`: what is known of a value, as a table of one row.

use std::sync::Arc;

use super::{Env, Evaluator, Stop, text};
use crate::diagnostic::At;
use crate::model::{Expr, Type};
use crate::units::Unit;
use crate::value::{Quantity, Series, Table, Value};

impl Evaluator<'_> {
    /// Dimension and unit need the value; when it cannot be computed they are left out.
    pub(super) fn info(&self, expr: &Expr, name: Option<&Arc<str>>, ty: &Type, env: &Env) -> Result<Value, Stop> {
        let value = match self.eval(expr, env) {
            Ok(value) => Some(value),
            Err(Stop::Fault(_) | Stop::Failed(..)) => None,
            Err(stop @ (Stop::Needs(_) | Stop::Interrupted(_))) => return Err(stop),
        };
        let mut facts = vec![
            ("name", name.map_or(Value::Null, |name| Value::Str(name.clone()))),
            ("type", text(ty.name())),
            ("scalar", ty.is_scalar().map_or(Value::Null, Value::Bool)),
            ("numeric", ty.is_numeric().map_or(Value::Null, Value::Bool)),
        ];
        shape(ty, &mut facts);
        if ty.is_numeric() == Some(true)
            && let Some(unit) = value.as_ref().and_then(unit)
        {
            facts.push(("dimensionality", text(&unit.dimension().to_string())));
            facts.push(("units", text(&unit.info_name())));
        }
        let columns = facts.into_iter().map(|(name, fact)| Series::from_values(name, vec![fact]).map(Arc::new));
        let table = columns.collect::<Result<Vec<_>, _>>().and_then(Table::new).at(expr.span)?;
        Ok(Value::Table(Arc::new(table)))
    }
}

type Fact = (&'static str, Value);

/// Types and number of the parts.
fn shape(ty: &Type, facts: &mut Vec<Fact>) {
    match ty {
        Type::Any | Type::Native(_) | Type::Bool | Type::Str | Type::Function => {}
        Type::Number { kind, .. } => facts.push(("datatype", text(kind.name()))),
        Type::Tuple(members) => {
            if let Some(members) = members {
                facts.push(("datatypes", names(members.iter())));
            }
        }
        Type::Dict(members) => {
            if let Some(members) = members {
                facts.push(("datatypes", names(members.iter().map(|(_, ty)| ty))));
            }
        }
        Type::Series { element, len, .. } => {
            facts.push(("datatype", datatype(element)));
            facts.push(("datalen", len.map_or(Value::Null, count)));
        }
        Type::Table { columns, len } => {
            facts.push(("datalen", len.map_or(Value::Null, count)));
            let columns = columns.iter().flat_map(|columns| columns.iter());
            facts.push(("datatypes", Value::Tuple(columns.map(|_| text("Series")).collect())));
        }
        Type::Array { element, shape } => {
            facts.push(("datatype", datatype(element)));
            let shape = shape.iter().flat_map(|shape| shape.iter().copied());
            facts.push(("datalen", Value::Tuple(shape.map(count).collect())));
        }
    }
}

fn datatype(element: &Type) -> Value {
    match element {
        Type::Number { kind, .. } => text(kind.name()),
        other => text(other.name()),
    }
}

fn names<'t>(types: impl Iterator<Item = &'t Type>) -> Value {
    Value::Tuple(types.map(|ty| text(ty.name())).collect())
}

fn count(len: usize) -> Value {
    Value::Quantity(Quantity::int(len as i128))
}

fn unit(value: &Value) -> Option<Unit> {
    match value {
        Value::Quantity(quantity) => Some(quantity.unit),
        Value::Series(series) => Some(series.unit),
        Value::Array(array) => Some(array.unit),
        Value::Null => Some(Unit::NONE),
        _ => None,
    }
}
