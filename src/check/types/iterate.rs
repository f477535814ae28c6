//! Types of calls, map, filter, reduce and of sum, any, all.

use std::slice;
use std::sync::Arc;

use super::numbers::Total;
use super::{Checker, Scope};
use crate::builtin::{self, Native};
use crate::check::faults;
use crate::model::{AggregateKind, Callee, Expr, ExprKind, FunctionId, NativeName, NumberType, SumOp, Type, UnitType};
use crate::source::{Span, Spanned};
use crate::units::Unit;

impl Checker<'_> {
    pub(super) fn user_call(&mut self, span: Span, id: FunctionId, arguments: &[Expr], scope: &Scope) -> Type {
        let types: Vec<Type> = arguments.iter().map(|argument| self.infer(argument, scope)).collect();
        let function = &self.functions[id.index()];
        let expected = function.parameters.len();
        if types.len() != expected {
            let takes = format!("{expected} {}", if expected == 1 { "argument" } else { "arguments" });
            let fault = faults::arity(span, &function.name, &takes, types.len()).label(function.name_span, "defined here");
            return self.say(fault);
        }
        self.call(id, &types, Some(span), arguments, scope)
    }

    pub(super) fn native_call(&mut self, span: Span, name: &NativeName, arguments: &[Expr], scope: &Scope) -> Type {
        let types: Vec<Type> = arguments.iter().map(|argument| self.infer(argument, scope)).collect();
        if self.native_arity(span, name, arguments.len()) { self.native(name, &types, arguments, scope) } else { Type::Any }
    }

    /// What a native function gives; says which argument has a dimension that it does not take.
    fn native(&mut self, name: &NativeName, types: &[Type], given: &[Expr], scope: &Scope) -> Type {
        let Some(native) = builtin::native(&name.module, &name.name) else { return Type::Any };
        let units: Vec<Option<Unit>> = types.iter().map(|ty| ty.unit().known()).collect();
        for (index, (expr, unit)) in given.iter().zip(&units).enumerate() {
            let refused = |native: &Native| {
                let expected = native.takes(index, &units)?;
                UnitType::Like((*unit)?).conflict(UnitType::Like(expected)).map(|(unit, _)| (unit, expected))
            };
            if let Some((unit, expected)) = refused(native) {
                let side = self.side(expr, unit, scope);
                let other = builtin::native(OF_UNITS, &name.name).filter(|other| refused(other).is_none()).map(|_| OF_UNITS);
                self.say_of_dimensions(faults::dimensions::argument(&name.name, side, expected, other));
                return Type::Any;
            }
        }
        native.gives(&units).map_or(Type::Any, |unit| Type::Native(UnitType::Like(unit)))
    }

    /// Whether it takes so many arguments; says so when not.
    fn native_arity(&mut self, span: Span, name: &NativeName, count: usize) -> bool {
        let Some(native) = builtin::native(&name.module, &name.name) else { return false };
        let is_right = native.arity.accepts(count);
        if !is_right {
            self.say(faults::arity(span, &name.name, &arity_text(native.arity), count));
        }
        is_right
    }

    /// The type of what a lambda or function gives for parameters of some types, which are elements of `inputs`.
    fn apply(&mut self, function: &Callee, parameters: &[Type], inputs: &[Expr], scope: &Scope) -> Type {
        match function {
            Callee::Lambda { body, .. } => self.infer(body, &Scope { parameters, outer: Some(scope), given: inputs, caller: Some(scope) }),
            Callee::Function(id, span) => self.call(*id, parameters, Some(*span), inputs, scope),
            Callee::Native(name, _) => self.native(name, parameters, inputs, scope),
        }
    }

    /// How many parameters it has, when that is one number.
    fn parameters(&self, function: &Callee) -> Option<usize> {
        match function {
            Callee::Lambda { parameters, .. } => Some(parameters.len()),
            Callee::Function(id, _) => Some(self.functions[id.index()].parameters.len()),
            Callee::Native(..) => None,
        }
    }

    /// Whether the function takes as many parameters as it will get; says so when not.
    fn takes(&mut self, function: &Callee, what: &str, count: usize) -> bool {
        if let Callee::Native(name, span) = function {
            self.native_arity(*span, name, count);
        }
        match self.parameters(function) {
            Some(found) if found != count => {
                self.say(faults::callee_arity(function.span(), what, count, found));
                false
            }
            _ => true,
        }
    }

    pub(super) fn map(&mut self, span: Span, name: &Arc<str>, function: &Callee, inputs: &[Expr], scope: &Scope) -> Type {
        let mut elements = Vec::with_capacity(inputs.len());
        let mut rows: Option<(Span, usize)> = None;
        for input in inputs {
            let ty = self.infer(input, scope);
            let Some((element, len)) = element(&ty) else {
                return self.say(faults::iterate_input(input.span, "map", &ty));
            };
            if let Some(len) = len {
                match rows {
                    Some((at, first)) if first != len => return self.say(faults::map_lengths((at, first), (input.span, len))),
                    _ => rows = rows.or(Some((input.span, len))),
                }
            }
            elements.push(element);
        }
        if let Callee::Native(native, span) = function {
            self.native_arity(*span, native, inputs.len());
        }
        if let Some(found) = self.parameters(function)
            && found != inputs.len()
        {
            return self.say(faults::map_arity(if inputs.len() > found { span } else { function.span() }, found, inputs.len()));
        }
        let len = rows.map(|(_, len)| len);
        match self.apply(function, &elements, inputs, scope) {
            Type::Dict(columns) => Type::Table { columns, len },
            other => Type::Series { element: Arc::new(other), len, name: Some(name.clone()) },
        }
    }

    /// More chunks than elements are known to be there.
    pub(super) fn chunks(&mut self, chunks: &Spanned<u32>, iteration: &Expr) {
        let inputs = match &iteration.kind {
            ExprKind::Map { inputs, .. } => inputs.as_slice(),
            ExprKind::Filter { input, .. } | ExprKind::Reduce { input, .. } => slice::from_ref(input.as_ref()),
            _ => return,
        };
        for input in inputs {
            let (Type::Series { len: Some(len), .. } | Type::Table { len: Some(len), .. }) = self.infer(input, &Scope::GLOBAL) else {
                continue;
            };
            if usize::try_from(chunks.node).is_ok_and(|chunks| chunks > len) {
                self.say(faults::more_chunks_than_elements(chunks, input.span, len));
                return;
            }
        }
    }

    pub(super) fn filter(&mut self, name: &Arc<str>, function: &Callee, input: &Expr, scope: &Scope) -> Type {
        let ty = self.infer(input, scope);
        let Some((element, _)) = element(&ty) else {
            return self.say(faults::iterate_input(input.span, "filter", &ty));
        };
        if !self.takes(function, "filter", 1) {
            return Type::Any;
        }
        let kept = self.apply(function, &[element], slice::from_ref(input), scope);
        if !matches!(kept, Type::Bool | Type::Any | Type::Native(_)) {
            let at = match function {
                Callee::Lambda { body, .. } => body.span,
                Callee::Function(_, span) | Callee::Native(_, span) => *span,
            };
            return self.say(faults::filter_type(at, &kept));
        }
        match ty {
            Type::Series { element, .. } => Type::Series { element, len: None, name: Some(name.clone()) },
            Type::Table { columns, .. } => Type::Table { columns, len: None },
            _ => Type::Any,
        }
    }

    pub(super) fn reduce(&mut self, function: &Callee, input: &Expr, scope: &Scope) -> Type {
        let ty = self.infer(input, scope);
        let Some((element, _)) = element(&ty) else {
            return self.say(faults::iterate_input(input.span, "reduce", &ty));
        };
        if !self.takes(function, "reduce", 2) {
            return Type::Any;
        }
        let result = self.apply(function, &[element.clone(), element.clone()], slice::from_ref(input), scope);
        match (ty, result) {
            (Type::Table { .. }, result @ Type::Dict(_)) => match result.repeated(&element) {
                Type::Dict(columns) => Type::Table { columns, len: Some(1) },
                _ => Type::Any,
            },
            (Type::Series { .. }, result) => result.repeated(&element),
            _ => Type::Any,
        }
    }

    pub(super) fn aggregate(&mut self, kind: AggregateKind, arguments: &[Expr], scope: &Scope) -> Type {
        let types: Vec<Type> = arguments.iter().map(|argument| self.infer(argument, scope)).collect();
        match (kind, types.as_slice()) {
            (AggregateKind::Sum, [series @ Type::Series { element, .. }]) => self.sum_of_series(arguments[0].span, series, element),
            (AggregateKind::Sum, [ty]) if is_collection(ty) => self.say(faults::series_needed(arguments[0].span, "sum", ty)),
            (AggregateKind::Sum, _) => self.sum_of_scalars(arguments, &types, scope),
            (AggregateKind::Any | AggregateKind::All, [Type::Series { element, .. }]) => {
                if !matches!(**element, Type::Bool | Type::Any | Type::Native(_)) {
                    self.say(faults::series_of(arguments[0].span, word(kind), "booleans", &types[0]));
                }
                Type::Bool
            }
            (AggregateKind::Any | AggregateKind::All, [ty]) if is_collection(ty) => {
                self.say(faults::series_needed(arguments[0].span, word(kind), ty));
                Type::Bool
            }
            (AggregateKind::Any | AggregateKind::All, types) => {
                for (argument, ty) in arguments.iter().zip(types) {
                    if !matches!(ty, Type::Bool | Type::Any | Type::Native(_)) {
                        self.say(faults::scalars_needed(argument.span, word(kind), "booleans", ty));
                    }
                }
                Type::Bool
            }
        }
    }

    fn sum_of_series(&mut self, span: Span, series: &Type, element: &Type) -> Type {
        match element {
            Type::Number { .. } => element.clone(),
            Type::Any | Type::Native(_) => Type::Number { kind: NumberType::Number, unit: element.unit() },
            _ => self.say(faults::series_of(span, "sum", "numbers", series)),
        }
    }

    fn sum_of_scalars(&mut self, arguments: &[Expr], types: &[Type], scope: &Scope) -> Type {
        let mut total: Option<Total> = None;
        for (argument, ty) in arguments.iter().zip(types) {
            if !matches!(ty, Type::Number { .. } | Type::Any | Type::Native(_)) {
                return self.say(faults::scalars_needed(argument.span, "sum", "numbers", ty));
            }
            let term = self.number(argument, ty, "`sum`");
            match &mut total {
                Some(total) => self.add(total, SumOp::Add, argument, &term, scope),
                None => total = Some(Total { ty: term, first: argument, giver: argument, is_sound: true }),
            }
        }
        total.map_or(Type::Any, |total| total.ty)
    }
}

/// The module whose functions take units where they have a meaning.
const OF_UNITS: &str = "numpy";

fn arity_text(arity: builtin::Arity) -> String {
    match (arity.min, arity.max) {
        (1, Some(1)) => "1 argument".to_owned(),
        (min, Some(max)) if min == max => format!("{min} arguments"),
        (min, Some(max)) => format!("{min} to {max} arguments"),
        (min, None) => format!("{min} or more arguments"),
    }
}

/// What a function gets of each element, and how many there are; `None` when there are no elements.
fn element(ty: &Type) -> Option<(Type, Option<usize>)> {
    match ty {
        Type::Any | Type::Native(_) => Some((ty.loosened(), None)),
        Type::Series { element, len, .. } => Some((as_parameter(element), *len)),
        Type::Table { columns, len } => {
            let members = columns.as_ref().map(|columns| columns.iter().map(|(name, ty)| (name.clone(), as_parameter(ty))).collect());
            Some((Type::Dict(members), *len))
        }
        Type::Bool | Type::Str | Type::Number { .. } | Type::Tuple(_) | Type::Dict(_) | Type::Array { .. } | Type::Function => None,
    }
}

/// Only the dimension is carried into a lambda: an integer that meets another may become a float there.
fn as_parameter(element: &Type) -> Type {
    match element {
        // `sum` of an array element is fine, though that of an array variable is not
        Type::Array { .. } => Type::Any,
        _ => element.loosened(),
    }
}

fn is_collection(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(_) | Type::Dict(_) | Type::Table { .. } | Type::Array { .. } | Type::Series { .. })
}

fn word(kind: AggregateKind) -> &'static str {
    match kind {
        AggregateKind::Sum => "sum",
        AggregateKind::Any => "any",
        AggregateKind::All => "all",
    }
}
