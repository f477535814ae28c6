//! Types of collections and of what is taken from them.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Checker, Scope, is_null, unify};
use crate::check::faults;
use crate::model::{Condition, Expr, ExprKind, NumberType, Operand, Property, Set, Slice, Type};
use crate::ops;
use crate::source::{Span, Spanned};
use crate::units::Unit;

impl Checker<'_> {
    /// All elements have one type; the units of constants are the same. Units that depend on variables are compared when the series is
    /// evaluated, as those of sums are.
    pub(super) fn series(&mut self, span: Span, name: &Arc<str>, elements: &[Expr], unit: Option<Unit>, scope: &Scope) -> Type {
        let mut first: Option<(&Expr, Type)> = None;
        let mut element = Type::Any;
        for expr in elements {
            let ty = self.infer(expr, scope);
            if is_null(expr) || ty.is_any() {
                continue;
            }
            let Some((at, known)) = &first else {
                element = ty.clone();
                first = Some((expr, ty));
                continue;
            };
            if ty.name() != known.name() {
                let fault = faults::element_types(span, (at.span, known), (expr.span, &ty));
                return self.say(fault);
            }
            if let (Type::Number { unit: Some(u), .. }, Type::Number { unit: Some(v), .. }) = (known, &ty)
                && u != v
                && is_constant(expr)
                && is_constant(at)
            {
                let fault = faults::element_units((at.span, u.to_string()), (expr.span, v.to_string()));
                return self.say(fault);
            }
            element = unify(&element, &ty).unwrap_or(Type::Any);
        }
        if let (Type::Number { unit: known, .. }, Some(unit)) = (&mut element, unit) {
            *known = Some(unit);
        }
        Type::Series { element: Arc::new(element), len: Some(elements.len()), name: Some(name.clone()) }
    }

    /// Columns are series of one length with names of their own.
    pub(super) fn table(&mut self, columns: &[Expr], scope: &Scope) -> Type {
        let mut known: IndexMap<Arc<str>, (Type, Span)> = IndexMap::with_capacity(columns.len());
        let mut complete = true;
        let mut rows: Option<(Span, usize)> = None;
        for expr in columns {
            let (element, len, name) = match self.infer(expr, scope) {
                Type::Series { element, len, name } => (element, len, name),
                Type::Any => (Arc::new(Type::Any), None, None),
                other => return self.say(faults::table_column(expr.span, &other)),
            };
            if let Some(len) = len {
                match rows {
                    Some((at, first)) if first != len => return self.say(faults::table_lengths((at, first), (expr.span, len))),
                    _ => rows = rows.or(Some((expr.span, len))),
                }
            }
            let Some(name) = name else {
                complete = false;
                continue;
            };
            if let Some((_, first)) = known.get(&name) {
                let fault = faults::table_names(&name, *first, expr.span);
                return self.say(fault);
            }
            known.insert(name, (element.as_ref().clone(), expr.span));
        }
        let columns = complete.then(|| known.into_iter().map(|(name, (element, _))| (name, element)).collect());
        Type::Table { columns, len: rows.map(|(_, len)| len) }
    }

    pub(super) fn key(&mut self, span: Span, base: &Expr, key: &Arc<str>, scope: &Scope) -> Type {
        match self.infer(base, scope) {
            Type::Any | Type::Dict(None) => Type::Any,
            Type::Dict(Some(members)) => match members.iter().find(|(name, _)| name == key) {
                Some((_, ty)) => ty.clone(),
                None => self.say(faults::unknown_key(span, key, &names(&members))),
            },
            Type::Table { columns: None, len } => Type::Series { element: Arc::new(Type::Any), len, name: Some(key.clone()) },
            Type::Table { columns: Some(columns), len } => match columns.iter().find(|(name, _)| name == key) {
                Some((_, ty)) => Type::Series { element: Arc::new(ty.clone()), len, name: Some(key.clone()) },
                None => self.say(faults::unknown_column(span, key, &names(&columns))),
            },
            // a map whose function is not known to give numbers may give a table
            Type::Series { element, .. } if element.is_any() => Type::Any,
            other => self.say(faults::key_of(span, key, &other)),
        }
    }

    pub(super) fn index(&mut self, span: Span, base: &Expr, index: i64, scope: &Scope) -> Type {
        let ty = self.infer(base, scope);
        let len = match &ty {
            Type::Tuple(Some(members)) => Some(members.len()),
            Type::Series { len, .. } | Type::Table { len, .. } => *len,
            Type::Array { shape, .. } => shape.as_ref().and_then(|shape| shape.first().copied()),
            Type::Any | Type::Tuple(None) => None,
            Type::Bool | Type::Str | Type::Number { .. } | Type::Dict(_) | Type::Function => {
                return self.say(faults::index_of(span, &ty));
            }
        };
        if let Some(len) = len
            && ops::position(index, len).is_none()
        {
            return self.say(faults::index_range(span, index, len));
        }
        match ty {
            Type::Tuple(Some(members)) => ops::position(index, members.len()).map_or(Type::Any, |at| members[at].clone()),
            Type::Series { element, .. } => element.as_ref().clone(),
            Type::Table { columns, .. } => Type::Tuple(columns.map(|columns| columns.iter().map(|(_, ty)| ty.clone()).collect())),
            Type::Array { element, shape: Some(shape) } if shape.len() > 1 => Type::Array { element, shape: Some(shape[1..].into()) },
            Type::Array { element, shape: Some(_) } => element.as_ref().clone(),
            _ => Type::Any,
        }
    }

    pub(super) fn slice(&mut self, span: Span, base: &Expr, slice: &Slice, scope: &Scope) -> Type {
        let kept = |len: usize| ops::slice_positions(slice.start, slice.stop, slice.step, len);
        let count = |len: Option<usize>| len.map(|len| kept(len).len());
        match self.infer(base, scope) {
            Type::Tuple(Some(members)) => Type::Tuple(Some(kept(members.len()).into_iter().map(|at| members[at].clone()).collect())),
            Type::Series { element, len, name } => Type::Series { element, len: count(len), name },
            Type::Table { columns, len } => Type::Table { columns, len: count(len) },
            Type::Array { element, shape: Some(shape) } => {
                let first = count(shape.first().copied());
                let shape = first.into_iter().chain(shape.iter().skip(1).copied()).collect();
                Type::Array { element, shape: Some(shape) }
            }
            ty @ (Type::Any | Type::Tuple(None) | Type::Array { shape: None, .. }) => ty,
            other @ (Type::Bool | Type::Str | Type::Number { .. } | Type::Dict(_) | Type::Function) => {
                self.say(faults::index_of(span, &other))
            }
        }
    }

    pub(super) fn property(&mut self, span: Span, base: &Expr, property: Property, scope: &Scope) -> Type {
        let ty = self.infer(base, scope);
        match (property, &ty) {
            (Property::Name, Type::Series { .. } | Type::Any) => Type::Str,
            (Property::Array, Type::Any) | (Property::Columns, Type::Any) => Type::Any,
            (Property::Array, Type::Series { element, len, .. }) => self.series_array(span, element, *len),
            (Property::Columns, Type::Table { columns, .. }) => Type::Series {
                element: Arc::new(Type::Str),
                len: columns.as_ref().map(|columns| columns.len()),
                name: Some("columns".into()),
            },
            (Property::Columns, Type::Series { element, .. }) if element.is_any() => Type::series(Type::Str),
            _ => self.say(faults::property_of(span, property_name(property), &ty)),
        }
    }

    fn series_array(&mut self, span: Span, element: &Arc<Type>, len: Option<usize>) -> Type {
        match element.as_ref() {
            Type::Bool | Type::Str | Type::Number { .. } => Type::Array { element: element.clone(), shape: len.map(|len| [len].into()) },
            Type::Array { element, shape } => {
                let shape = len.zip(shape.as_ref()).map(|(len, shape)| std::iter::once(len).chain(shape.iter().copied()).collect());
                Type::Array { element: element.clone(), shape }
            }
            Type::Any => Type::Array { element: Arc::new(Type::Any), shape: None },
            Type::Tuple(_) | Type::Dict(_) | Type::Series { .. } | Type::Table { .. } | Type::Function => {
                self.say(faults::series_array(span, element))
            }
        }
    }

    pub(super) fn membership(&mut self, item: &Expr, set: &Set, scope: &Scope) -> Type {
        self.infer(item, scope);
        self.set(set, scope);
        Type::Bool
    }

    fn set(&mut self, set: &Set, scope: &Scope) {
        match set {
            Set::Values(values) => values.iter().for_each(|value| {
                self.infer(value, scope);
            }),
            Set::Series(series) => {
                let ty = self.infer(series, scope);
                if !matches!(ty, Type::Series { .. } | Type::Any) {
                    self.say(faults::series_needed(series.span, "in", &ty));
                }
            }
        }
    }

    pub(super) fn query(
        &mut self,
        source: &Expr,
        select: Option<&[Spanned<Arc<str>>]>,
        condition: Option<&Condition>,
        scope: &Scope,
    ) -> Type {
        let ty = self.infer(source, scope);
        if let Some(condition) = condition {
            self.condition(condition, &ty, scope);
        }
        let rows = |len: Option<usize>| if condition.is_some() { None } else { len };
        match (ty, select) {
            (Type::Any, _) => Type::Any,
            (Type::Series { element, len, name }, None) => Type::Series { element, len: rows(len), name },
            (Type::Series { .. }, Some(select)) => self.say(faults::select_of_series(select.first().map_or(source.span, |key| key.span))),
            (Type::Table { columns, len }, None) => Type::Table { columns, len: rows(len) },
            (Type::Table { columns: None, len }, Some(_)) => Type::Table { columns: None, len: rows(len) },
            (Type::Table { columns: Some(columns), len }, Some(select)) => {
                let mut kept = Vec::with_capacity(select.len());
                for key in select {
                    match columns.iter().find(|(name, _)| *name == key.node) {
                        Some(column) => kept.push(column.clone()),
                        None => return self.say(faults::unknown_column(key.span, &key.node, &names(&columns))),
                    }
                }
                Type::Table { columns: Some(kept.into()), len: rows(len) }
            }
            (other, _) => self.say(faults::query_source(source.span, &other)),
        }
    }

    fn condition(&mut self, condition: &Condition, source: &Type, scope: &Scope) {
        match condition {
            Condition::Compare(_, _, left, right) => {
                for operand in [left, right] {
                    match operand {
                        Operand::Column(column) => self.query_column(column, source),
                        Operand::Value(value) => {
                            self.infer(value, scope);
                        }
                    }
                }
            }
            Condition::In(_, column, set) => {
                self.query_column(column, source);
                self.set(set, scope);
            }
            Condition::Not(inner) => self.condition(inner, source, scope),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|part| self.condition(part, source, scope)),
            Condition::Constant(expr) => {
                self.boolean(expr, "`where`", scope);
            }
        }
    }

    fn query_column(&mut self, column: &Spanned<Arc<str>>, source: &Type) {
        match source {
            Type::Table { columns: Some(columns), .. } if !columns.iter().any(|(name, _)| *name == column.node) => {
                self.say(faults::unknown_column(column.span, &column.node, &names(columns)));
            }
            Type::Series { name: Some(name), .. } if *name != column.node => {
                self.say(faults::query_column(column.span, &column.node, name));
            }
            _ => {}
        }
    }

    pub(super) fn range(&mut self, name: &Arc<str>, bounds: [&Expr; 3], scope: &Scope) -> Type {
        let mut kind = NumberType::Integer;
        for bound in bounds {
            if is_null(bound) {
                return self.say(faults::range_null(bound.span));
            }
            match self.infer(bound, scope) {
                Type::Number { kind: NumberType::Complex, unit } => {
                    let ty = Type::Number { kind: NumberType::Complex, unit };
                    return self.say(faults::range_type(bound.span, &ty));
                }
                Type::Number { kind: other, .. } => kind = kind.max(other),
                Type::Any => kind = NumberType::Number,
                other => return self.say(faults::range_type(bound.span, &other)),
            }
        }
        Type::Series { element: Arc::new(Type::number(kind)), len: None, name: Some(name.clone()) }
    }
}

/// Whether the value is that of literals.
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Uncertain { .. } => true,
        ExprKind::Negate(operand) | ExprKind::Plus(operand) => is_constant(operand),
        _ => false,
    }
}

fn names(members: &[(Arc<str>, Type)]) -> Vec<&str> {
    members.iter().map(|(name, _)| name.as_ref()).collect()
}

fn property_name(property: Property) -> &'static str {
    match property {
        Property::Name => "name",
        Property::Array => "array",
        Property::Columns => "columns",
    }
}
