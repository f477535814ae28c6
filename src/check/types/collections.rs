//! Types of collections and of what is taken from them.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Checker, Scope, is_null, unify};
use crate::check::faults;
use crate::check::faults::dimensions::Side;
use crate::model::{Condition, Expr, ExprKind, NumberType, Operand, Property, Set, Slice, Type, UnitType};
use crate::ops;
use crate::source::{Span, Spanned};
use crate::units::Unit;
use crate::value::{Number, Quantity, Value};

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
            if let (Some(first), Some(other)) = (known.unit().exact(), ty.unit().exact())
                && first != other
                && is_constant(expr)
                && is_constant(at)
            {
                let sides = [self.side(at, first, scope), self.side(expr, other, scope)];
                return self.say(faults::dimensions::elements(sides));
            }
            if let Some(sides) = self.conflict((at, known), (expr, &ty), scope) {
                self.say_of_dimensions(faults::dimensions::elements(sides));
                return Type::Any;
            }
            element = unify(&element, &ty).unwrap_or(Type::Any);
        }
        if let Some(unit) = unit {
            element = element.with_unit(UnitType::Exact(unit));
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
                Type::Any | Type::Native(_) => (Arc::new(Type::Any), None, None),
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
            Type::Any | Type::Native(_) | Type::Dict(None) => Type::Any,
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
            Type::Any | Type::Native(_) | Type::Tuple(None) => None,
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
            Type::Native(unit) => Type::Native(unit),
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
            ty @ (Type::Any | Type::Native(_) | Type::Tuple(None) | Type::Array { shape: None, .. }) => ty,
            other @ (Type::Bool | Type::Str | Type::Number { .. } | Type::Dict(_) | Type::Function) => {
                self.say(faults::index_of(span, &other))
            }
        }
    }

    pub(super) fn property(&mut self, span: Span, base: &Expr, property: Property, scope: &Scope) -> Type {
        let ty = self.infer(base, scope);
        match (property, &ty) {
            (Property::Name, Type::Series { .. } | Type::Any | Type::Native(_)) => Type::Str,
            (Property::Array, Type::Any | Type::Native(_)) => ty,
            (Property::Columns, Type::Any | Type::Native(_)) => Type::Any,
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
            Type::Any | Type::Native(_) => Type::Array { element: element.clone(), shape: None },
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
                if !matches!(ty, Type::Series { .. } | Type::Any | Type::Native(_)) {
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
            self.condition(condition, &ty, source, scope);
        }
        let rows = |len: Option<usize>| if condition.is_some() { None } else { len };
        match (ty, select) {
            (ty @ (Type::Any | Type::Native(_)), _) => ty,
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

    fn condition(&mut self, condition: &Condition, source: &Type, origin: &Expr, scope: &Scope) {
        match condition {
            Condition::Compare(_, op, left, right) => {
                let types = [left, right].map(|operand| self.operand(operand, source, scope));
                if let Some((first, second)) = types[0].unit().conflict(types[1].unit()) {
                    let sides = [(left, first), (right, second)].map(|(operand, unit)| match operand {
                        Operand::Column(column) => {
                            Side { span: column.span, unit, origin: self.column_origin(origin, &column.node, scope) }
                        }
                        Operand::Value(value) => self.side(value, unit, scope),
                    });
                    if op.is_equality() {
                        self.say(faults::dimensions::equality(*op, sides));
                    } else {
                        self.say_of_dimensions(faults::dimensions::comparison(*op, sides));
                    }
                }
            }
            Condition::In(_, column, set) => {
                self.query_column(column, source);
                self.set(set, scope);
            }
            Condition::Not(inner) => self.condition(inner, source, origin, scope),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|part| self.condition(part, source, origin, scope)),
            Condition::Constant(expr) => {
                self.boolean(expr, "`where`", scope);
            }
        }
    }

    /// The type of a side of a comparison, for a column that of its elements.
    fn operand(&mut self, operand: &Operand, source: &Type, scope: &Scope) -> Type {
        match operand {
            Operand::Value(value) => self.infer(value, scope),
            Operand::Column(column) => {
                self.query_column(column, source);
                match source {
                    Type::Table { columns: Some(columns), .. } => {
                        columns.iter().find(|(name, _)| *name == column.node).map_or(Type::Any, |(_, ty)| ty.clone())
                    }
                    Type::Series { element, .. } => element.as_ref().clone(),
                    _ => Type::Any,
                }
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
        let mut types = Vec::with_capacity(bounds.len());
        for bound in bounds {
            if is_null(bound) {
                return self.say(faults::range_null(bound.span));
            }
            let ty = self.infer(bound, scope);
            match &ty {
                Type::Number { kind: NumberType::Complex, .. } => return self.say(faults::range_type(bound.span, &ty)),
                Type::Number { kind: other, .. } => kind = kind.max(*other),
                Type::Any | Type::Native(_) => kind = NumberType::Number,
                other => return self.say(faults::range_type(bound.span, other)),
            }
            types.push(ty);
        }
        let mut unit = UnitType::Any;
        for (bound, ty) in bounds.iter().zip(&types) {
            if let Some(sides) = self.conflict((bounds[0], &types[0]), (bound, ty), scope) {
                self.say_of_dimensions(faults::dimensions::range(sides));
                return Type::series(Type::number(kind));
            }
            unit = if unit == UnitType::Any { ty.unit().loosened() } else { unit };
        }
        let element = Arc::new(Type::Number { kind, unit });
        Type::Series { element, len: range_len(bounds), name: Some(name.clone()) }
    }
}

/// The length of a range of whole numbers without units, the others being a matter of rounding.
fn range_len(bounds: [&Expr; 3]) -> Option<usize> {
    let whole = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(Value::Quantity(Quantity { number: Number::Int(int), unit })) if unit.is_none() => Some(*int),
        _ => None,
    };
    let [start, stop, step] = [whole(bounds[0])?, whole(bounds[1])?, whole(bounds[2])?];
    let distance = if step > 0 { stop.checked_sub(start)? } else { start.checked_sub(stop)? };
    let step = step.unsigned_abs();
    (step > 0).then(|| u128::try_from(distance).unwrap_or(0).div_ceil(step)).and_then(|len| usize::try_from(len).ok())
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
