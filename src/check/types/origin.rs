//! Where the unit of a value comes from, for messages.

use super::{Checker, Scope, decided};
use crate::model::{Expr, ExprKind, Property};
use crate::source::Span;

/// How many references are followed.
const MOST_STEPS: usize = 10_000;

impl Checker<'_> {
    /// The expression that gave the unit: through variables, arguments, elements and columns, as far as no computation changes it.
    pub(super) fn origin(&self, expr: &Expr, scope: &Scope) -> Span {
        let (mut expr, mut scope) = (expr, scope);
        for _ in 0..MOST_STEPS {
            match self.step(expr, scope) {
                Some(next) => (expr, scope) = next,
                None => break,
            }
        }
        expr.span
    }

    /// The same for a column of a table or series.
    pub(super) fn column_origin(&self, source: &Expr, column: &str, scope: &Scope) -> Span {
        match self.member(source, column, scope) {
            Some((column, scope)) => self.origin(column, scope),
            None => self.origin(source, scope),
        }
    }

    fn step<'e>(&'e self, expr: &'e Expr, scope: &'e Scope<'e>) -> Option<(&'e Expr, &'e Scope<'e>)> {
        match &expr.kind {
            ExprKind::Variable(id) => Some((&self.definitions[id.index()].expr, &Scope::GLOBAL)),
            ExprKind::Local { depth, index } => scope.given(*depth, *index),
            ExprKind::Negate(operand) | ExprKind::Plus(operand) | ExprKind::Part(_, operand) => Some((operand, scope)),
            ExprKind::Sum(first, _) => Some((first, scope)),
            ExprKind::If(condition, then, otherwise) => Some((if decided(condition) == Some(false) { otherwise } else { then }, scope)),
            ExprKind::Index(base, _) | ExprKind::Slice(base, _) | ExprKind::Property(base, Property::Array) => Some((base, scope)),
            ExprKind::Filter { input, .. } => Some((input, scope)),
            ExprKind::Query { source, .. } => Some((source, scope)),
            ExprKind::Range { start, .. } => Some((start, scope)),
            ExprKind::Aggregate(_, arguments) => arguments.first().map(|first| (first, scope)),
            ExprKind::Series { elements, unit: None, .. } => elements.first().map(|first| (first, scope)),
            ExprKind::Key(base, key) => self.member(base, key, scope),
            _ => None,
        }
    }

    /// The column or member of a literal table or dict that is reached through references.
    fn member<'e>(&'e self, base: &'e Expr, key: &str, scope: &'e Scope<'e>) -> Option<(&'e Expr, &'e Scope<'e>)> {
        let (mut base, mut scope) = (base, scope);
        for _ in 0..MOST_STEPS {
            match &base.kind {
                ExprKind::Table(columns) => return columns.iter().find(|column| self.is_named(column, key)).map(|column| (column, scope)),
                ExprKind::Dict(members) => return members.iter().find(|(name, _)| **name == *key).map(|(_, value)| (value, scope)),
                _ => (base, scope) = self.step(base, scope)?,
            }
        }
        None
    }

    fn is_named(&self, column: &Expr, key: &str) -> bool {
        match &column.kind {
            ExprKind::Series { name, .. } | ExprKind::Map { name, .. } | ExprKind::Filter { name, .. } | ExprKind::Range { name, .. } => {
                **name == *key
            }
            ExprKind::Variable(id) => match &self.definitions[id.index()].expr.kind {
                ExprKind::Variable(_) => false,
                _ => self.is_named(&self.definitions[id.index()].expr, key),
            },
            _ => false,
        }
    }
}
