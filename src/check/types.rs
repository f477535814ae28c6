//! Types: what is known of each value before anything is computed.
//!
//! An abstract evaluation in the order of dependence. A call is looked at with the types of its arguments and remembered, so
//! that a fault inside a function is found for the calls that cause it and said once, with the call as a label.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::check::cycles::Node;
use crate::check::faults;
use crate::diagnostic::Diagnostic;
use crate::model::{Comparison, Expr, ExprKind, Function, FunctionId, LoadKind, Model, NumberType, Output, Parameter, ProductOp, Type};
use crate::source::Span;
use crate::value::{Column, Number, Value};

mod collections;
mod iterate;

/// Sets the type of each variable and of each `info`; says what is wrong with types and shapes.
pub fn infer(model: &mut Model, order: &[Node]) -> Vec<Diagnostic> {
    let mut checker = Checker {
        functions: &model.functions,
        variables: vec![Type::Any; model.variables.len()],
        diagnostics: Vec::new(),
        said: HashSet::new(),
        calls: HashMap::new(),
        variants: vec![0; model.functions.len()],
    };
    for node in order {
        match *node {
            Node::Variable(id) => checker.variables[id.index()] = checker.infer(&model.variables[id.index()].expr, &Scope::GLOBAL),
            Node::Function(id) => checker.body(id),
        }
    }
    for output in &mut model.outputs {
        checker.output(output);
    }
    let Checker { variables, diagnostics, .. } = checker;
    for (variable, ty) in model.variables.iter_mut().zip(variables) {
        variable.ty = ty;
    }
    diagnostics
}

/// Types of the parameters around an expression.
struct Scope<'a> {
    parameters: &'a [Type],
    outer: Option<&'a Scope<'a>>,
}

impl Scope<'_> {
    const GLOBAL: Scope<'static> = Scope { parameters: &[], outer: None };

    fn get(&self, depth: u32, index: u32) -> Type {
        let mut scope = self;
        for _ in 0..depth {
            match scope.outer {
                Some(outer) => scope = outer,
                None => return Type::Any,
            }
        }
        scope.parameters.get(index as usize).cloned().unwrap_or(Type::Any)
    }
}

struct Checker<'m> {
    functions: &'m [Function],
    variables: Vec<Type>,
    diagnostics: Vec<Diagnostic>,
    said: HashSet<(String, Span)>,
    calls: HashMap<(FunctionId, Vec<Type>), Type>,
    /// With how many different types each function was called.
    variants: Vec<u16>,
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

    fn output(&mut self, output: &mut Output) {
        match output {
            Output::Print { parameters, .. } | Output::View { parameters, .. } => {
                parameters.iter_mut().for_each(|each| self.parameter(each))
            }
            Output::Export { place, .. } => {
                self.infer(place, &Scope::GLOBAL);
            }
        }
    }

    fn parameter(&mut self, parameter: &mut Parameter) {
        if let ExprKind::Info { value, ty, .. } = &mut parameter.expr.kind {
            *ty = self.infer(value, &Scope::GLOBAL);
            return;
        }
        let ty = self.infer(&parameter.expr, &Scope::GLOBAL);
        if parameter.target.is_some() && ty.is_numeric() == Some(false) {
            self.say(faults::print_unit(parameter.expr.span, &ty));
        }
    }

    /// What is wrong with a function whatever it is called with.
    fn body(&mut self, id: FunctionId) {
        let function = &self.functions[id.index()];
        let parameters = vec![Type::Any; function.parameters.len()];
        self.call(id, &parameters, None);
    }

    /// The type of a call; faults inside are labelled with the call.
    fn call(&mut self, id: FunctionId, arguments: &[Type], call: Option<Span>) -> Type {
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
        let scope = Scope { parameters: arguments, outer: None };
        let ty = self.infer(&function.body, &scope);
        if let Some(call) = call {
            for fault in &mut self.diagnostics[before..] {
                *fault = fault.clone().label(call, format!("in this call of `{}`", function.name));
            }
        }
        self.calls.insert(key, ty.clone());
        ty
    }

    fn infer(&mut self, expr: &Expr, scope: &Scope) -> Type {
        match &expr.kind {
            ExprKind::Literal(value) => of_value(value),
            ExprKind::Uncertain { unit, .. } => Type::Number { kind: NumberType::Float, unit: Some(*unit) },
            ExprKind::Variable(id) => self.variables[id.index()].clone(),
            ExprKind::Local { depth, index } => scope.get(*depth, *index),
            ExprKind::Negate(operand) | ExprKind::Plus(operand) => {
                let ty = self.infer(operand, scope);
                self.number(operand, &ty, "a sign")
            }
            ExprKind::Sum(first, rest) => self.sum(first, rest.iter().map(|(_, term)| term), scope),
            ExprKind::Product(first, rest) => self.product(first, rest, scope),
            ExprKind::Power(base, exponent) => self.power(base, exponent, scope),
            ExprKind::Compare(op, left, right) => self.comparison(expr.span, *op, left, right, scope),
            ExprKind::In(item, set) => self.membership(item, set, scope),
            ExprKind::Not(operand) => self.boolean(operand, "`not`", scope),
            ExprKind::And(operands) => self.booleans(operands, "`and`", scope),
            ExprKind::Or(operands) => self.booleans(operands, "`or`", scope),
            ExprKind::If(condition, then, otherwise) => {
                self.boolean(condition, "the condition of `if`", scope);
                self.branches(then, otherwise, scope)
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
                self.number(operand, &ty, "`real` or `imag`");
                Type::number(NumberType::Float)
            }
            ExprKind::Range { name, start, stop, step } => self.range(name, [start, stop, step], scope),
            ExprKind::Info { value, .. } => self.infer(value, scope),
            ExprKind::Source { kind, path } => self.source(*kind, path, scope),
            ExprKind::Query { source, select, condition } => self.query(source, select.as_deref(), condition.as_deref(), scope),
        }
    }

    /// An operand that must be a number.
    fn number(&mut self, operand: &Expr, ty: &Type, operation: &str) -> Type {
        match ty {
            Type::Number { .. } => ty.clone(),
            Type::Any => Type::number(NumberType::Number),
            _ => {
                self.say(faults::operand_help(faults::operand(operand.span, operation, "a number", ty), ty));
                Type::number(NumberType::Number)
            }
        }
    }

    /// Integers stay integers when all units are known and the same; otherwise a conversion may make floats of them.
    fn sum<'e>(&mut self, first: &'e Expr, rest: impl Iterator<Item = &'e Expr>, scope: &Scope) -> Type {
        let ty = self.infer(first, scope);
        let mut total = self.number(first, &ty, "`+` or `-`");
        for term in rest {
            let ty = self.infer(term, scope);
            let ty = self.number(term, &ty, "`+` or `-`");
            total = add(&total, &ty);
        }
        total
    }

    fn product(&mut self, first: &Expr, rest: &[(ProductOp, Expr)], scope: &Scope) -> Type {
        let ty = self.infer(first, scope);
        let mut total = self.number(first, &ty, "`*` or `/`");
        for (op, factor) in rest {
            let ty = self.infer(factor, scope);
            let ty = self.number(factor, &ty, "`*` or `/`");
            total = multiply(&total, *op, &ty);
        }
        total
    }

    fn power(&mut self, base: &Expr, exponent: &Expr, scope: &Scope) -> Type {
        let ty = self.infer(base, scope);
        let base_ty = self.number(base, &ty, "`**`");
        let ty = self.infer(exponent, scope);
        let exponent_ty = self.number(exponent, &ty, "`**`");
        let negative = matches!(&exponent.kind, ExprKind::Literal(Value::Quantity(quantity)) if is_negative(&quantity.number));
        match (&base_ty, &exponent_ty) {
            (Type::Number { kind: NumberType::Integer, unit: Some(unit) }, Type::Number { kind: NumberType::Integer, .. }) if !negative => {
                Type::Number { kind: NumberType::Integer, unit: unit.is_none().then_some(*unit) }
            }
            (Type::Number { kind: left, .. }, Type::Number { kind: right, .. }) => Type::number((*left).max(*right).max(NumberType::Float)),
            _ => Type::number(NumberType::Number),
        }
    }

    fn boolean(&mut self, operand: &Expr, operation: &str, scope: &Scope) -> Type {
        let ty = self.infer(operand, scope);
        if !matches!(ty, Type::Bool | Type::Any) {
            self.say(faults::operand(operand.span, operation, "a boolean", &ty));
        }
        Type::Bool
    }

    fn booleans(&mut self, operands: &[Expr], operation: &str, scope: &Scope) -> Type {
        for operand in operands {
            self.boolean(operand, operation, scope);
        }
        Type::Bool
    }

    fn comparison(&mut self, span: Span, op: Comparison, left: &Expr, right: &Expr, scope: &Scope) -> Type {
        let (left_ty, right_ty) = (self.infer(left, scope), self.infer(right, scope));
        for (operand, ty) in [(left, &left_ty), (right, &right_ty)] {
            if !matches!(ty, Type::Any | Type::Bool | Type::Str | Type::Number { .. }) {
                self.say(faults::comparison_type(operand.span, ty));
                return Type::Bool;
            }
        }
        let mismatch = !left_ty.is_any() && !right_ty.is_any() && left_ty.name() != right_ty.name();
        if mismatch {
            self.say(faults::comparison_mismatch(span, (left.span, &left_ty), (right.span, &right_ty)));
        } else if !matches!(op, Comparison::Equal | Comparison::NotEqual) {
            let unordered = |ty: &&Type| matches!(ty, Type::Bool | Type::Str | Type::Number { kind: NumberType::Complex, .. });
            if let Some(ty) = [&left_ty, &right_ty].into_iter().find(unordered) {
                self.say(faults::comparison_order(span, op, ty));
            }
        }
        Type::Bool
    }

    fn branches(&mut self, then: &Expr, otherwise: &Expr, scope: &Scope) -> Type {
        let (left, right) = (self.infer(then, scope), self.infer(otherwise, scope));
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
        match unify(&left, &right) {
            Some(ty) => ty,
            None => self.say(faults::branch_mismatch((then.span, &left), (otherwise.span, &right))),
        }
    }

    fn source(&mut self, kind: LoadKind, path: &Expr, scope: &Scope) -> Type {
        let ty = self.infer(path, scope);
        if !matches!(ty, Type::Str | Type::Any) {
            self.say(faults::filename(path.span, &ty));
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

fn is_negative(number: &Number) -> bool {
    match number {
        Number::Int(value) => *value < 0,
        Number::Float(value) => *value < 0.0,
        Number::Null | Number::Complex(_) | Number::Uncertain(_) => false,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Value::Null))
}

fn add(left: &Type, right: &Type) -> Type {
    let (Type::Number { kind: a, unit: u }, Type::Number { kind: b, unit: v }) = (left, right) else {
        return Type::number(NumberType::Number);
    };
    let kind = (*a).max(*b);
    let same = u.is_some() && u == v;
    match kind {
        NumberType::Integer if same => Type::Number { kind, unit: *u },
        NumberType::Integer => Type::Number { kind: NumberType::Float, unit: *u },
        NumberType::Float | NumberType::Complex | NumberType::Number => Type::Number { kind, unit: *u },
    }
}

fn multiply(left: &Type, op: ProductOp, right: &Type) -> Type {
    let (Type::Number { kind: a, unit: u }, Type::Number { kind: b, unit: v }) = (left, right) else {
        return Type::number(NumberType::Number);
    };
    let kind = (*a).max(*b);
    let unit = match (u, v, op) {
        // a product with an affine unit is converted, which is for the evaluation to say
        (Some(u), Some(v), _) if u.has_affine() || v.has_affine() => None,
        (Some(u), Some(v), ProductOp::Multiply) => Some(u.multiply(*v)),
        (Some(u), Some(v), ProductOp::Divide) => Some(u.divide(*v)),
        _ => None,
    };
    let same = u.is_some() && u == v;
    match (kind, op) {
        (NumberType::Integer, ProductOp::Multiply) if same => Type::Number { kind, unit },
        (NumberType::Integer, _) => Type::Number { kind: NumberType::Float, unit },
        (NumberType::Float | NumberType::Complex | NumberType::Number, _) => Type::Number { kind, unit },
    }
}

/// A type that both values have; `None` when they have none in common.
fn unify(left: &Type, right: &Type) -> Option<Type> {
    match (left, right) {
        (Type::Any, other) | (other, Type::Any) => Some(if other.is_any() { Type::Any } else { widen(other) }),
        (Type::Number { kind: a, unit: u }, Type::Number { kind: b, unit: v }) => {
            Some(Type::Number { kind: (*a).max(*b), unit: if u == v { *u } else { None } })
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
        Type::Array { .. } | Type::Function | Type::Any => Type::Any,
        Type::Bool | Type::Str => ty.clone(),
    }
}

/// The type of a constant.
fn of_value(value: &Value) -> Type {
    match value {
        Value::Null => Type::Any,
        Value::Bool(_) => Type::Bool,
        Value::Str(_) => Type::Str,
        Value::Quantity(quantity) => Type::Number { kind: of_number(&quantity.number), unit: Some(quantity.unit) },
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
    let number = |kind| Type::Number { kind, unit: Some(unit) };
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
