//! Types: what is known of each value before anything is computed.
//!
//! An abstract evaluation in the order of dependence. A call is looked at with the types of its arguments and remembered, so
//! that a fault inside a function is found for the calls that cause it and said once, with the call as a label.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::check::cycles::{self, Node};
use crate::check::{Extent, Mode, annotations, faults};
use crate::diagnostic::Diagnostic;
use crate::model::{
    Expr, ExprKind, Function, FunctionId, LoadKind, Model, NumberType, Output, Parameter, Target, Type, UnitType, VarId, Variable,
};
use crate::source::{Span, Spanned};
use crate::value::{Column, Number, Value};

mod collections;
mod iterate;
mod numbers;
mod origin;

/// Sets the type of each variable and of each `info`; says what is wrong with types, shapes and dimensions.
///
/// A statement that no output needs is not computed, so wrong dimensions there are warnings. Statements that are needed come first, so
/// that a fault in a function is said for a call that matters.
pub fn infer(model: &mut Model, order: &[Node], mode: Mode, extent: Extent) -> Vec<Diagnostic> {
    let needed = cycles::needed(model, extent);
    let is_needed = |node: &&Node| needed.contains(**node);
    let mut checker = Checker {
        functions: &model.functions,
        definitions: &model.variables,
        variables: vec![Type::Any; model.variables.len()],
        diagnostics: Vec::new(),
        said: HashSet::new(),
        calls: HashMap::new(),
        variants: vec![0; model.functions.len()],
        unneeded: None,
        splits: mode == Mode::Workflow,
        never: 0,
    };
    order.iter().filter(is_needed).for_each(|node| checker.node(*node));
    for output in &mut model.outputs {
        checker.output(output);
    }
    for node in order.iter().filter(|node| !is_needed(node)) {
        checker.unneeded = Some(match *node {
            Node::Variable(id) => model.variables[id.index()].name.clone(),
            Node::Function(id) => model.functions[id.index()].name.clone(),
        });
        checker.node(*node);
    }
    let Checker { variables, diagnostics, .. } = checker;
    for (variable, ty) in model.variables.iter_mut().zip(variables) {
        variable.ty = ty;
    }
    diagnostics
}

/// Types of the parameters around an expression, and what they stand for.
struct Scope<'a> {
    parameters: &'a [Type],
    outer: Option<&'a Scope<'a>>,
    /// The arguments of the call, or the inputs of map, filter or reduce; none when a function is looked at by itself.
    given: &'a [Expr],
    /// Where these are evaluated.
    caller: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    const GLOBAL: Scope<'static> = Scope { parameters: &[], outer: None, given: &[], caller: None };

    fn at(&self, depth: u32) -> Option<&Scope<'a>> {
        (0..depth).try_fold(self, |scope, _| scope.outer)
    }

    fn get(&self, depth: u32, index: u32) -> Type {
        self.at(depth).and_then(|scope| scope.parameters.get(index as usize)).cloned().unwrap_or(Type::Any)
    }

    /// What a parameter stands for.
    fn given(&self, depth: u32, index: u32) -> Option<(&Expr, &Scope<'a>)> {
        let scope = self.at(depth)?;
        // both parameters of a reduce are elements of its one input
        Some((scope.given.get(index as usize).or(scope.given.first())?, scope.caller?))
    }
}

struct Checker<'m> {
    functions: &'m [Function],
    definitions: &'m [Variable],
    variables: Vec<Type>,
    diagnostics: Vec<Diagnostic>,
    said: HashSet<(String, Span)>,
    calls: HashMap<(FunctionId, Vec<Type>), Type>,
    /// With how many different types each function was called.
    variants: Vec<u16>,
    /// The variable or function that is looked at, when no output needs it.
    unneeded: Option<Arc<str>>,
    /// Whether `in K chunks` makes tasks.
    splits: bool,
    /// Within how many parts that are never evaluated, for a literal decides so.
    never: u32,
}

/// With so many different types of its arguments a function is looked at; of further calls nothing is known. Functions that call
/// each other twice, each time with another type, have more calls than anyone can wait for.
const MOST_VARIANTS: u16 = 200;

impl Checker<'_> {
    fn say(&mut self, fault: Diagnostic) -> Type {
        if self.said.insert((fault.code.clone(), fault.span())) {
            self.diagnostics.push(fault);
        }
        Type::Any
    }

    /// Says that dimensions do not fit, which matters only where something is computed.
    fn say_of_dimensions(&mut self, fault: Diagnostic) {
        if self.never > 0 {
            return;
        }
        let fault = match &self.unneeded {
            Some(name) => faults::dimensions::unneeded(fault, name),
            None => fault,
        };
        self.say(fault);
    }

    fn node(&mut self, node: Node) {
        match node {
            Node::Variable(id) => self.variable(id),
            Node::Function(id) => self.body(id),
        }
    }

    fn variable(&mut self, id: VarId) {
        let variable = &self.definitions[id.index()];
        let ty = self.infer(&variable.expr, &Scope::GLOBAL);
        if self.splits
            && let Some(chunks) = &variable.chunks
        {
            self.chunks(chunks, &variable.expr);
        }
        self.variables[id.index()] = ty;
    }

    fn output(&mut self, output: &mut Output) {
        match output {
            Output::Print { parameters, .. } | Output::View { parameters, .. } => {
                parameters.iter_mut().for_each(|each| self.parameter(each))
            }
            Output::Export { place, path, .. } => {
                let ty = self.infer(place, &Scope::GLOBAL);
                if annotations::is_separated(&path.node)
                    && !matches!(ty, Type::Series { .. } | Type::Table { .. } | Type::Any | Type::Native(_))
                {
                    self.say(faults::separated(place.span, &ty));
                }
            }
        }
    }

    fn parameter(&mut self, parameter: &mut Parameter) {
        if let ExprKind::Info { value, ty, .. } = &mut parameter.expr.kind {
            **ty = self.infer(value, &Scope::GLOBAL);
            return;
        }
        let ty = self.infer(&parameter.expr, &Scope::GLOBAL);
        if parameter.target.is_some() && ty.is_numeric() == Some(false) {
            self.say(faults::print_unit(parameter.expr.span, &ty));
        }
        if let Some(Spanned { node: Target::Unit(unit), span }) = &parameter.target
            && let Some((from, to)) = ty.unit().conflict(UnitType::Exact(*unit))
        {
            let side = self.side(&parameter.expr, from, &Scope::GLOBAL);
            self.say_of_dimensions(faults::dimensions::print_conversion(side, *span, to));
        }
    }

    /// What is wrong with a function whatever it is called with.
    fn body(&mut self, id: FunctionId) {
        let function = &self.functions[id.index()];
        let parameters = vec![Type::Any; function.parameters.len()];
        self.call(id, &parameters, None, &[], &Scope::GLOBAL);
    }

    /// The type of a call; faults inside are labelled with the call. `given` is what the arguments are or, for a map, what they are
    /// elements of.
    fn call(&mut self, id: FunctionId, arguments: &[Type], call: Option<Span>, given: &[Expr], caller: &Scope) -> Type {
        let key = (id, arguments.to_vec());
        if let Some(known) = self.calls.get(&key) {
            return known.clone();
        }
        let function = &self.functions[id.index()];
        if self.variants[id.index()] == MOST_VARIANTS {
            return Type::Any;
        }
        self.variants[id.index()] += 1;
        let before = self.diagnostics.len();
        let scope = Scope { parameters: arguments, outer: None, given, caller: Some(caller) };
        let ty = self.infer(&function.body, &scope);
        if let Some(call) = call {
            for fault in &mut self.diagnostics[before..] {
                *fault = fault.clone().label(call, format!("in this call of `{}`", function.name));
            }
        }
        // what is wrong with it was not said
        if self.never == 0 {
            self.calls.insert(key, ty.clone());
        }
        ty
    }

    fn infer(&mut self, expr: &Expr, scope: &Scope) -> Type {
        match &expr.kind {
            ExprKind::Literal(value) => of_value(value),
            ExprKind::Uncertain { unit, .. } => Type::Number { kind: NumberType::Float, unit: UnitType::Exact(*unit) },
            ExprKind::Variable(id) => self.variables[id.index()].clone(),
            ExprKind::Local { depth, index } => scope.get(*depth, *index),
            ExprKind::Negate(operand) | ExprKind::Plus(operand) => {
                let ty = self.infer(operand, scope);
                self.number(operand, &ty, "a sign")
            }
            ExprKind::Sum(first, rest) => self.sum(first, rest, scope),
            ExprKind::Product(first, rest) => self.product(first, rest, scope),
            ExprKind::Power(base, exponent) => self.power(base, exponent, scope),
            ExprKind::Compare(op, left, right) => self.comparison(expr.span, *op, left, right, scope),
            ExprKind::In(item, set) => self.membership(item, set, scope),
            ExprKind::Not(operand) => self.boolean(operand, "`not`", scope),
            ExprKind::And(operands) => self.booleans(operands, false, "`and`", scope),
            ExprKind::Or(operands) => self.booleans(operands, true, "`or`", scope),
            ExprKind::If(condition, then, otherwise) => {
                self.boolean(condition, "the condition of `if`", scope);
                self.branches(decided(condition), then, otherwise, scope)
            }
            ExprKind::Tuple(members) => Type::Tuple(Some(members.iter().map(|member| self.infer(member, scope)).collect())).bounded(),
            ExprKind::Dict(members) => {
                Type::Dict(Some(members.iter().map(|(key, member)| (key.clone(), self.infer(member, scope))).collect())).bounded()
            }
            ExprKind::Series { name, elements, unit } => self.series(expr.span, name, elements, *unit, scope).bounded(),
            ExprKind::Table(columns) => self.table(columns, scope).bounded(),
            ExprKind::Key(base, key) => self.key(expr.span, base, key, scope),
            ExprKind::Index(base, index) => self.index(expr.span, base, *index, scope),
            ExprKind::Slice(base, slice) => self.slice(expr.span, base, slice, scope),
            ExprKind::Property(base, property) => self.property(expr.span, base, *property, scope),
            ExprKind::Call(id, arguments) => self.user_call(expr.span, *id, arguments, scope),
            ExprKind::Native(name, arguments) => self.native_call(expr.span, name, arguments, scope),
            ExprKind::Map { function, inputs, name } => self.map(expr.span, name, function, inputs, scope),
            ExprKind::Filter { function, input, name } => self.filter(name, function, input, scope),
            ExprKind::Reduce { function, input } => self.reduce(function, input, scope),
            ExprKind::Aggregate(kind, arguments) => self.aggregate(*kind, arguments, scope),
            ExprKind::Part(_, operand) => {
                let ty = self.infer(operand, scope);
                let ty = self.number(operand, &ty, "`real` or `imag`");
                Type::Number { kind: NumberType::Float, unit: ty.unit().loosened() }
            }
            ExprKind::Range { name, start, stop, step } => self.range(name, [start, stop, step], scope),
            ExprKind::Info { value, .. } => self.infer(value, scope),
            ExprKind::Source { kind, path } => self.source(*kind, path, scope),
            ExprKind::Query { source, select, condition } => self.query(source, select.as_deref(), condition.as_deref(), scope),
        }
    }

    fn boolean(&mut self, operand: &Expr, operation: &str, scope: &Scope) -> Type {
        let ty = self.infer(operand, scope);
        if !matches!(ty, Type::Bool | Type::Any | Type::Native(_)) {
            self.say(faults::operand(operand.span, operation, "a boolean", &ty));
        }
        Type::Bool
    }

    /// What follows a literal that decides is never evaluated.
    fn booleans(&mut self, operands: &[Expr], decisive: bool, operation: &str, scope: &Scope) -> Type {
        let mut over = 0;
        for operand in operands {
            self.boolean(operand, operation, scope);
            if decided(operand) == Some(decisive) {
                over += 1;
                self.never += 1;
            }
        }
        self.never -= over;
        Type::Bool
    }

    /// The type of a part that may never be evaluated: then wrong dimensions do no harm.
    fn part(&mut self, part: &Expr, never: bool, scope: &Scope) -> Type {
        self.never += u32::from(never);
        let ty = self.infer(part, scope);
        self.never -= u32::from(never);
        ty
    }

    /// Both branches have one type and, unless the condition is a literal so that only one can ever be taken, one dimension.
    fn branches(&mut self, decided: Option<bool>, then: &Expr, otherwise: &Expr, scope: &Scope) -> Type {
        let left = self.part(then, decided == Some(false), scope);
        let right = self.part(otherwise, decided == Some(true), scope);
        for (null, other, ty) in [(then, otherwise, &right), (otherwise, then, &left)] {
            if is_null(null) && !ty.is_any() {
                return self.say(faults::null_branch(null.span, (other.span, ty)));
            }
        }
        if let (Type::Series { len: Some(first), .. }, Type::Series { len: Some(second), .. }) = (&left, &right)
            && first != second
        {
            return self.say(faults::branch_lengths((then.span, *first), (otherwise.span, *second)));
        }
        if decided.is_none()
            && let Some(sides) = self.conflict((then, &left), (otherwise, &right), scope)
        {
            self.say_of_dimensions(faults::dimensions::branches(sides));
        }
        match unify(&left, &right) {
            Some(ty) => match decided {
                Some(first) => ty.with_unit(if first { left.unit() } else { right.unit() }.loosened()),
                None => ty,
            },
            None => self.say(faults::branch_mismatch((then.span, &left), (otherwise.span, &right))),
        }
    }

    fn source(&mut self, kind: LoadKind, path: &Expr, scope: &Scope) -> Type {
        let ty = self.infer(path, scope);
        if !matches!(ty, Type::Str | Type::Any | Type::Native(_)) {
            self.say(faults::filename(path.span, &ty));
        }
        if let ExprKind::Literal(Value::Str(name)) = &path.kind
            && annotations::is_separated(name)
            && !matches!(kind, LoadKind::Table | LoadKind::Series)
        {
            self.say(faults::separated_source(path.span));
        }
        let array = |element: Type| Type::Array { element: Arc::new(element), shape: None };
        match kind {
            LoadKind::Quantity => Type::number(NumberType::Number),
            LoadKind::Bool => Type::Bool,
            LoadKind::String => Type::Str,
            LoadKind::Series => Type::series(Type::Any),
            LoadKind::Table => Type::Table { columns: None, len: None },
            LoadKind::BoolArray => array(Type::Bool),
            LoadKind::StrArray => array(Type::Str),
            LoadKind::IntArray => array(Type::number(NumberType::Integer)),
            LoadKind::FloatArray => array(Type::number(NumberType::Float)),
            LoadKind::ComplexArray => array(Type::number(NumberType::Complex)),
            LoadKind::Structure => Type::Any,
        }
    }
}

/// The value of a condition that is a literal.
fn decided(condition: &Expr) -> Option<bool> {
    match condition.kind {
        ExprKind::Literal(Value::Bool(value)) => Some(value),
        _ => None,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Value::Null))
}

/// A type that both values have; `None` when they have none in common.
fn unify(left: &Type, right: &Type) -> Option<Type> {
    match (left, right) {
        (Type::Native(u), Type::Native(v)) => Some(Type::Native(u.common(*v))),
        (Type::Any | Type::Native(_), other) | (other, Type::Any | Type::Native(_)) => {
            let unit = left.unit().common(right.unit());
            Some(if other.is_any() { Type::Any } else { widen(other).with_unit(unit) })
        }
        (Type::Number { kind: a, unit: u }, Type::Number { kind: b, unit: v }) => {
            Some(Type::Number { kind: (*a).max(*b), unit: u.common(*v) })
        }
        (Type::Tuple(a), Type::Tuple(b)) => Some(Type::Tuple(if a == b { a.clone() } else { None })),
        (Type::Dict(a), Type::Dict(b)) => Some(Type::Dict(if a == b { a.clone() } else { None })),
        (Type::Series { element: a, len, name }, Type::Series { element: b, len: other, name: named }) => Some(Type::Series {
            element: Arc::new(unify(a, b)?),
            len: if len == other { *len } else { None },
            name: if name == named { name.clone() } else { None },
        }),
        (Type::Table { columns: a, len }, Type::Table { columns: b, len: other }) => {
            Some(Type::Table { columns: if a == b { a.clone() } else { None }, len: if len == other { *len } else { None } })
        }
        (Type::Array { element: a, shape }, Type::Array { element: b, shape: other }) => {
            Some(Type::Array { element: Arc::new(unify(a, b)?), shape: if shape == other { shape.clone() } else { None } })
        }
        _ if left == right => Some(left.clone()),
        _ => None,
    }
}

/// What remains certain when the other possibility is not known at all.
fn widen(ty: &Type) -> Type {
    match ty {
        Type::Number { kind, .. } => Type::number(*kind),
        Type::Tuple(_) => Type::Tuple(None),
        Type::Dict(_) => Type::Dict(None),
        Type::Series { .. } => Type::series(Type::Any),
        Type::Table { .. } => Type::Table { columns: None, len: None },
        Type::Array { .. } | Type::Function | Type::Any | Type::Native(_) => Type::Any,
        Type::Bool | Type::Str => ty.clone(),
    }
}

/// The type of a constant.
fn of_value(value: &Value) -> Type {
    match value {
        Value::Null => Type::Any,
        Value::Bool(_) => Type::Bool,
        Value::Str(_) => Type::Str,
        Value::Quantity(quantity) => Type::Number { kind: of_number(&quantity.number), unit: UnitType::Exact(quantity.unit) },
        Value::Tuple(members) => Type::Tuple(Some(members.iter().map(of_value).collect())),
        Value::Dict(members) => Type::Dict(Some(members.iter().map(|(key, member)| (key.clone(), of_value(member))).collect())),
        Value::Series(series) => Type::Series {
            element: Arc::new(of_column(&series.data, series.unit)),
            len: Some(series.data.len()),
            name: Some(series.name.clone()),
        },
        Value::Table(table) => {
            let columns = table.columns().iter().map(|column| (column.name.clone(), of_column(&column.data, column.unit)));
            Type::Table { columns: Some(columns.collect()), len: Some(table.len()) }
        }
        Value::Array(array) => {
            Type::Array { element: Arc::new(of_column(&array.data, array.unit)), shape: Some(array.shape.as_slice().into()) }
        }
        Value::Function(_) => Type::Function,
    }
}

fn of_number(number: &Number) -> NumberType {
    match number {
        Number::Null => NumberType::Number,
        Number::Int(_) => NumberType::Integer,
        Number::Float(_) | Number::Uncertain(_) => NumberType::Float,
        Number::Complex(_) => NumberType::Complex,
    }
}

fn of_column(column: &Column, unit: crate::units::Unit) -> Type {
    let number = |kind| Type::Number { kind, unit: UnitType::Exact(unit) };
    match column {
        Column::Null(_) => Type::Any,
        Column::Bool(_) => Type::Bool,
        Column::Str(_) => Type::Str,
        Column::Int(_) => number(NumberType::Integer),
        Column::Float(_) => number(NumberType::Float),
        Column::Complex(_) => number(NumberType::Complex),
        Column::Object(values) => values.iter().find(|value| !matches!(value, Value::Null)).map_or(Type::Any, of_value),
    }
}
