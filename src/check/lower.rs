//! From the syntax tree to the model's trees: names become ids, literals values, units units.
//!
//! A faulty part becomes the literal `null`, of which no type is known, so that nothing else is said because of it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::check::names::{Meaning, Names};
use crate::check::{Mode, annotations, faults};
use crate::diagnostic::Diagnostic;
use crate::model::{
    Callee, Comparison, Condition, Expr, ExprKind, Function, FunctionId, Model, NativeName, Operand, Output, Parameter, Property, Set,
    Slice, Target, Type, VarId, Variable,
};
use crate::source::{Span, Spanned};
use crate::syntax::ast::{self, Ast, Binding, Medium, Name, Statement, StatementKind};
use crate::units::Unit;
use crate::value::{Quantity, Value};

mod lint;
mod literals;

/// Lowers all statements; variables and functions stand at the places that their ids say.
pub fn lower(ast: &Ast, names: &Names, mode: Mode) -> (Model, Vec<Diagnostic>) {
    let mut lowerer = Lowerer { names, diagnostics: Vec::new(), scopes: Vec::new(), mode, in_condition: false, unknown_names: 0 };
    let mut variables = Vec::with_capacity(names.variables.len());
    variables.extend(names.variables.iter().filter_map(|position| lowerer.variable(ast.statements.get(*position)?)));
    let functions = names.functions.iter().filter_map(|position| ast.statements.get(*position));
    let functions = functions.filter_map(|statement| lowerer.function(statement)).collect();
    let outputs = ast.statements.iter().filter_map(|statement| lowerer.output(statement)).collect();
    let model = Model { variables, functions, outputs };
    lowerer.compare_updates(ast, &model);
    lowerer.duplicates(ast);
    (model, lowerer.diagnostics)
}

/// Parameters of a function or lambda, while its body is lowered.
struct Scope<'a> {
    /// Positions by name.
    places: HashMap<&'a str, usize>,
    used: Vec<bool>,
}

struct Lowerer<'a> {
    names: &'a Names,
    diagnostics: Vec<Diagnostic>,
    scopes: Vec<Scope<'a>>,
    mode: Mode,
    /// Within a part of `where` that compares no column.
    in_condition: bool,
    /// How many names were not known so far.
    unknown_names: usize,
}

impl<'a> Lowerer<'a> {
    fn variable(&mut self, statement: &'a Statement) -> Option<Variable> {
        let (StatementKind::Variable(binding) | StatementKind::Update(binding)) = &statement.kind else { return None };
        if let (Some(mark), Mode::Workflow) = (binding.non_strict, self.mode)
            && !annotations::may_be_non_strict(&binding.value)
        {
            self.diagnostics.push(faults::non_strict_of_strict(mark, binding.value.span));
        }
        let (expr, chunks) = self.binding_value(binding);
        Some(Variable {
            name: binding.name.node.clone(),
            name_span: binding.name.span,
            span: statement.span,
            expr,
            non_strict: binding.non_strict.is_some(),
            chunks,
            request: self.request(binding),
            ty: Type::Any,
        })
    }

    /// The value of a binding. Only here map, filter and range are named after the variable, and only here they may be chunked.
    fn binding_value(&mut self, binding: &'a Binding) -> (Expr, Option<Spanned<u32>>) {
        let ast::ExprKind::Iterate { kind, function, inputs, chunks: Some(chunks) } = &binding.value.kind else {
            return (self.named(&binding.value, Some(&binding.name.node)), None);
        };
        let count = self.keep(annotations::chunks(chunks));
        if let Some(fault) = annotations::unchunkable_input(inputs) {
            self.diagnostics.push(fault);
        }
        let expr = self.iterate(binding.value.span, *kind, function, inputs, Some(&binding.name.node));
        (expr, count.map(|count| Spanned::new(count, chunks.span)))
    }

    fn request(&mut self, binding: &Binding) -> Option<Box<Spanned<crate::resources::Request>>> {
        let resources = binding.resources.as_deref()?;
        match crate::resources::request(resources, literals::unit) {
            Ok(request) => Some(Box::new(Spanned::new(request, resources.span))),
            Err(faults) => {
                self.diagnostics.extend(faults);
                None
            }
        }
    }

    fn function(&mut self, statement: &'a Statement) -> Option<Function> {
        let StatementKind::Function { name, parameters, body } = &statement.kind else { return None };
        if parameters.is_empty() {
            self.diagnostics.push(faults::no_parameters(name));
        }
        let body = self.scoped(parameters, body, &faults::Owner::Function(name.node.clone()));
        let parameters = parameters.iter().map(|parameter| parameter.node.clone()).collect();
        Some(Function { name: name.node.clone(), name_span: name.span, parameters, body })
    }

    /// The body of a function or lambda; each parameter has a name of its own and is used.
    fn scoped(&mut self, parameters: &'a [Name], body: &'a ast::Expr, owner: &faults::Owner) -> Expr {
        let mut scope = Scope { places: HashMap::with_capacity(parameters.len()), used: vec![false; parameters.len()] };
        for (position, parameter) in parameters.iter().enumerate() {
            match scope.places.entry(&parameter.node) {
                Entry::Vacant(place) => drop(place.insert(position)),
                Entry::Occupied(first) => {
                    // one fault is enough: neither counts as unused
                    scope.used[*first.get()] = true;
                    scope.used[position] = true;
                    self.diagnostics.push(faults::repeated_parameter(parameter, parameters[*first.get()].span, owner));
                }
            }
        }
        self.scopes.push(scope);
        let unknown = self.unknown_names;
        let body = self.expr(body);
        let scope = self.scopes.pop().expect("the scope was pushed above");
        // a misspelt parameter is not unused as well
        let is_spelt = self.unknown_names == unknown;
        for (parameter, used) in parameters.iter().zip(scope.used) {
            if !used && is_spelt {
                self.diagnostics.push(faults::unused_parameter(parameter, owner));
            }
        }
        body
    }

    fn output(&mut self, statement: &'a Statement) -> Option<Output> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Print(parameters) => Some(Output::Print { span, parameters: self.parameters(parameters, true) }),
            StatementKind::View { mode, parameters } => {
                self.diagnostics.push(faults::view_is_not_drawn(mode));
                Some(Output::View { span, mode: mode.node.clone(), parameters: self.parameters(parameters, false) })
            }
            StatementKind::Export { place, medium, path } => Some(self.export(span, place, *medium, path)),
            StatementKind::Vary(value) => {
                self.vary(span, value);
                None
            }
            StatementKind::Tag(value) => {
                self.tag(span, value);
                None
            }
            StatementKind::Variable(_) | StatementKind::Update(_) | StatementKind::Function { .. } | StatementKind::Import { .. } => None,
        }
    }

    fn export(&mut self, span: Span, place: &'a ast::Expr, medium: Medium, path: &Name) -> Output {
        if medium == Medium::Url {
            self.diagnostics.push(faults::url(path.span));
        } else if let Some(fault) = annotations::file_format(path) {
            self.diagnostics.push(fault);
        }
        Output::Export { span, place: self.expr(place), medium, path: path.clone() }
    }

    fn vary(&mut self, span: Span, value: &'a ast::Expr) {
        if !matches!(value.kind, ast::ExprKind::Table(_)) {
            self.diagnostics.push(faults::vary_without_table(value.span));
            return;
        }
        self.expr(value);
        self.diagnostics.push(faults::vary_has_no_effect(span));
    }

    fn tag(&mut self, span: Span, value: &'a ast::Expr) {
        match &value.kind {
            ast::ExprKind::Dict(_) => {}
            ast::ExprKind::Table(columns) => {
                let rows = |column: &ast::Expr| matches!(&column.kind, ast::ExprKind::Series { elements, .. } if elements.len() > 1);
                if columns.iter().any(rows) {
                    self.diagnostics.push(faults::tag_with_rows(value.span));
                    return;
                }
            }
            _ => {
                self.diagnostics.push(faults::tag_without_table(value.span));
                return;
            }
        }
        let before = self.diagnostics.len();
        let lowered = self.expr(value);
        if self.diagnostics.len() == before && refers(&lowered) {
            self.diagnostics.push(faults::tag_with_reference(value.span));
            return;
        }
        self.diagnostics.push(faults::tag_has_no_effect(span));
    }

    fn parameters(&mut self, parameters: &'a [ast::Parameter], print: bool) -> Vec<Parameter> {
        let mut lowered = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let expr = match &parameter.value.kind {
                ast::ExprKind::Info { value, detail } if print => self.info(parameter.value.span, value, detail.as_ref()),
                ast::ExprKind::Reference(name) if print => self.reference(parameter.value.span, name, true),
                _ => self.expr(&parameter.value),
            };
            let target = parameter.unit.as_deref().and_then(|unit| self.target(unit));
            lowered.push(Parameter { expr, target });
        }
        lowered
    }

    fn target(&mut self, unit: &ast::UnitExpr) -> Option<Spanned<Target>> {
        let special = match unit.factors.as_slice() {
            [ast::UnitFactor { base: ast::UnitBase::Name(name), exponent: None, divide: false, .. }] => match name.as_ref() {
                "_base" => Some(Target::Base),
                "_root" => Some(Target::Root),
                "_reduced" => Some(Target::Reduced),
                "_compact" => Some(Target::Compact),
                _ => None,
            },
            _ => None,
        };
        let target = special.or_else(|| self.unit(unit).map(Target::Unit))?;
        Some(Spanned::new(target, unit.span))
    }

    fn info(&mut self, span: Span, value: &'a ast::Expr, detail: Option<&Name>) -> Expr {
        if let Some(detail) = detail
            && !matches!(detail.node.as_ref(), "less" | "more" | "all")
        {
            self.diagnostics.push(faults::unknown_detail(detail));
        }
        let name = base_name(value).filter(|name| !matches!(self.names.get(name).map(|known| &known.meaning), Some(Meaning::Function(_))));
        let lowered = match &value.kind {
            ast::ExprKind::Reference(name) => self.reference(value.span, name, true),
            _ => self.expr(value),
        };
        Expr { span, kind: ExprKind::Info { value: Box::new(lowered), name, ty: Box::new(Type::Any) } }
    }

    fn expr(&mut self, expr: &'a ast::Expr) -> Expr {
        self.named(expr, None)
    }

    fn boxed(&mut self, expr: &'a ast::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn list(&mut self, exprs: &'a [ast::Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// Lowers an expression; `name` is the variable's when the expression is its whole value.
    fn named(&mut self, expr: &'a ast::Expr, name: Option<&Arc<str>>) -> Expr {
        let span = expr.span;
        self.diagnostics.extend(lint::surprise(expr));
        let kind = match &expr.kind {
            ast::ExprKind::Number { number, uncertainty, unit } => {
                return self.number(span, number, uncertainty.as_deref(), unit.as_deref(), ast::Sign::Plus);
            }
            ast::ExprKind::String(text) => ExprKind::Literal(Value::Str(text.clone())),
            ast::ExprKind::Bool(value) => ExprKind::Literal(Value::Bool(*value)),
            ast::ExprKind::Null => ExprKind::Literal(Value::Null),
            ast::ExprKind::Reference(reference) => return self.reference(span, reference, false),
            ast::ExprKind::Reuse { name, uuid } => self.refuse(faults::reuse(span, name, uuid)),
            ast::ExprKind::Key(base, key) => ExprKind::Key(self.boxed(base), key.node.clone()),
            ast::ExprKind::Index(base, index) => return self.index(span, base, index),
            ast::ExprKind::Slice(base, slice) => return self.slice(span, base, slice),
            ast::ExprKind::Property(base, property) => ExprKind::Property(self.boxed(base), property_of(property.node)),
            ast::ExprKind::Call { function, arguments } => return self.call(span, function, arguments),
            ast::ExprKind::Sign(sign, operand) => return self.sign(span, *sign, operand),
            ast::ExprKind::Sum(first, rest) => {
                let first = self.boxed(first);
                ExprKind::Sum(first, rest.iter().map(|(op, term)| ((*op).into(), self.expr(term))).collect())
            }
            ast::ExprKind::Product(first, rest) => {
                let first = self.boxed(first);
                ExprKind::Product(first, rest.iter().map(|(op, factor)| ((*op).into(), self.expr(factor))).collect())
            }
            ast::ExprKind::Power(base, exponent) => ExprKind::Power(self.boxed(base), self.boxed(exponent)),
            ast::ExprKind::Comparison(left, op, right) => ExprKind::Compare(comparison(op.node), self.boxed(left), self.boxed(right)),
            ast::ExprKind::Membership(item, set) => {
                let item = self.boxed(item);
                ExprKind::In(item, Box::new(self.set(set)))
            }
            ast::ExprKind::Not(operand) => ExprKind::Not(self.boxed(operand)),
            ast::ExprKind::And(operands) => ExprKind::And(self.list(operands)),
            ast::ExprKind::Or(operands) => ExprKind::Or(self.list(operands)),
            ast::ExprKind::If { condition, then, otherwise } => {
                ExprKind::If(self.boxed(condition), self.boxed(then), self.boxed(otherwise))
            }
            ast::ExprKind::Group(inner) => return Expr { span, ..self.expr(inner) },
            ast::ExprKind::Tuple(members) => ExprKind::Tuple(self.list(members)),
            ast::ExprKind::Series { name, elements, unit } => self.series(name, elements, unit.as_deref()),
            ast::ExprKind::Table(columns) => ExprKind::Table(self.list(columns)),
            ast::ExprKind::Dict(members) => self.dict(members),
            ast::ExprKind::Array { elements, unit } => self.array(span, elements, unit.as_deref()),
            ast::ExprKind::Iterate { kind, function, inputs, chunks } => {
                if let Some(chunks) = chunks {
                    self.diagnostics.push(faults::chunks_within_expression(chunks.span, span));
                }
                return self.iterate(span, *kind, function, inputs, name);
            }
            ast::ExprKind::Aggregate(kind, arguments) => ExprKind::Aggregate((*kind).into(), self.list(arguments)),
            ast::ExprKind::Part(part, operand) => ExprKind::Part((*part).into(), self.boxed(operand)),
            ast::ExprKind::Range { start, stop, step } => ExprKind::Range {
                name: name.cloned().unwrap_or_else(|| "range".into()),
                start: self.boxed(start),
                stop: self.boxed(stop),
                step: self.boxed(step),
            },
            ast::ExprKind::Info { .. } => self.refuse(faults::info_outside_print(span)),
            ast::ExprKind::Source { kind, medium, path } => self.source(kind, *medium, path),
            ast::ExprKind::Query { source, select, condition } => ExprKind::Query {
                source: self.boxed(source),
                select: select.clone(),
                condition: condition.as_deref().map(|condition| Box::new(self.condition(condition))),
            },
            ast::ExprKind::Column(column) => self.refuse(faults::column_outside_query(span, &column.node)),
        };
        Expr { span, kind }
    }

    /// Notes a fault; the expression becomes one of which nothing is known.
    fn refuse(&mut self, fault: Diagnostic) -> ExprKind {
        self.diagnostics.push(fault);
        UNKNOWN
    }

    fn keep<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|fault| self.diagnostics.push(fault)).ok()
    }

    fn reference(&mut self, span: Span, name: &Arc<str>, functions_allowed: bool) -> Expr {
        if let Some(kind) = self.local(name) {
            return Expr { span, kind };
        }
        let kind = match self.names.get(name).map(|definition| (&definition.meaning, definition.span)) {
            Some((Meaning::Variable(id), _)) => ExprKind::Variable(*id),
            Some((Meaning::Constant(value), _)) => ExprKind::Literal(Value::clone(value)),
            Some((Meaning::Native(native), _)) if functions_allowed => ExprKind::Literal(Value::Function(native_path(native))),
            Some((Meaning::Native(_) | Meaning::Function(_), defined)) => self.refuse(faults::function_as_value(span, name, defined)),
            Some((Meaning::Varied, defined)) => self.refuse(faults::reference_to_varied(span, name, defined)),
            Some((Meaning::Unknown, _)) => UNKNOWN,
            None => {
                self.unknown_names += 1;
                let fault = match self.in_condition {
                    true => faults::unknown_name_in_condition(span, name),
                    false => faults::unknown_name(span, name, self.suggestion(name).as_deref()),
                };
                self.refuse(fault)
            }
        };
        Expr { span, kind }
    }

    fn local(&mut self, name: &str) -> Option<ExprKind> {
        for (depth, scope) in self.scopes.iter_mut().rev().enumerate() {
            if let Some(index) = scope.places.get(name) {
                scope.used[*index] = true;
                return Some(ExprKind::Local { depth: depth as u32, index: *index as u32 });
            }
        }
        None
    }

    fn suggestion(&self, name: &str) -> Option<String> {
        let mut locals: Vec<&str> = self.scopes.iter().flat_map(|scope| scope.places.keys().copied()).collect();
        locals.sort_unstable();
        let near = self.names.spend(locals.len()).then(|| crate::diagnostic::nearest(name, locals)).flatten();
        near.or_else(|| self.names.nearest(name)).map(str::to_owned)
    }

    fn call(&mut self, span: Span, function: &Name, arguments: &'a [ast::Expr]) -> Expr {
        let arguments = self.list(arguments);
        let callee = self.callable(function);
        let kind = match callee {
            Some(Callable::Function(id)) => ExprKind::Call(id, arguments),
            Some(Callable::Native(native)) => ExprKind::Native(native, arguments),
            None => UNKNOWN,
        };
        Expr { span, kind }
    }

    fn callable(&mut self, function: &Name) -> Option<Callable> {
        let name = &function.node;
        if self.local(name).is_some() {
            self.diagnostics.push(faults::not_callable(function, "a parameter", None));
            return None;
        }
        match self.names.get(name).map(|definition| (&definition.meaning, definition.span)) {
            Some((Meaning::Function(id), _)) => Some(Callable::Function(*id)),
            Some((Meaning::Native(native), _)) => Some(Callable::Native(NativeName::clone(native))),
            Some((Meaning::Unknown, _)) => None,
            Some((Meaning::Variable(_) | Meaning::Varied, defined)) => {
                self.diagnostics.push(faults::not_callable(function, "a variable", Some(defined)));
                None
            }
            Some((Meaning::Constant(_), defined)) => {
                self.diagnostics.push(faults::not_callable(function, "an imported constant", Some(defined)));
                None
            }
            None => {
                let suggestion = self.names.nearest(name).map(str::to_owned);
                self.unknown_names += 1;
                self.diagnostics.push(faults::unknown_function(function, suggestion.as_deref()));
                None
            }
        }
    }

    fn index(&mut self, span: Span, base: &'a ast::Expr, index: &Spanned<Arc<str>>) -> Expr {
        let base = self.boxed(base);
        let kind = match self.keep(literals::index(index)) {
            Some(index) => ExprKind::Index(base, index),
            None => UNKNOWN,
        };
        Expr { span, kind }
    }

    fn slice(&mut self, span: Span, base: &'a ast::Expr, slice: &ast::Slice) -> Expr {
        let base = self.boxed(base);
        let mut bound = |text: &Option<Spanned<Arc<str>>>| text.as_ref().and_then(|text| self.keep(literals::index(text)));
        let lowered = Slice { start: bound(&slice.start), stop: bound(&slice.stop), step: bound(&slice.step) };
        let kind = match &slice.step {
            Some(step) if lowered.step == Some(0) => self.refuse(faults::zero_step(step.span)),
            _ => ExprKind::Slice(base, lowered),
        };
        Expr { span, kind }
    }

    fn set(&mut self, set: &'a ast::Expr) -> Set {
        match &set.kind {
            ast::ExprKind::Tuple(members) => Set::Values(self.list(members)),
            ast::ExprKind::Group(inner) if !matches!(inner.kind, ast::ExprKind::Reference(_)) => Set::Values(vec![self.expr(inner)]),
            _ => Set::Series(self.expr(set)),
        }
    }

    fn dict(&mut self, members: &'a [(Name, ast::Expr)]) -> ExprKind {
        let mut known = HashMap::with_capacity(members.len());
        for (key, _) in members {
            match known.entry(&key.node) {
                Entry::Vacant(place) => drop(place.insert(key.span)),
                Entry::Occupied(first) => self.diagnostics.push(faults::repeated_key(key, *first.get())),
            }
        }
        ExprKind::Dict(members.iter().map(|(key, value)| (key.node.clone(), self.expr(value))).collect())
    }

    fn iterate(
        &mut self,
        span: Span,
        kind: ast::Iterate,
        function: &'a ast::Callee,
        inputs: &'a [ast::Expr],
        name: Option<&Arc<str>>,
    ) -> Expr {
        let function = self.callee(function);
        let mut inputs_lowered = self.list(inputs);
        let named = |default: &str| name.cloned().unwrap_or_else(|| default.into());
        let Some(function) = function.map(Box::new) else {
            return Expr { span, kind: UNKNOWN };
        };
        if kind != ast::Iterate::Map && inputs.len() != 1 {
            let second = inputs.get(1).map_or(span, |input| input.span);
            return Expr { span, kind: self.refuse(faults::one_input(second, kind)) };
        }
        let kind = match (kind, inputs_lowered.len()) {
            (ast::Iterate::Map, _) => ExprKind::Map { name: named("map"), function, inputs: inputs_lowered },
            (ast::Iterate::Filter, _) => {
                ExprKind::Filter { name: named("filter"), function, input: Box::new(inputs_lowered.swap_remove(0)) }
            }
            (ast::Iterate::Reduce, _) => ExprKind::Reduce { function, input: Box::new(inputs_lowered.swap_remove(0)) },
        };
        Expr { span, kind }
    }

    fn callee(&mut self, callee: &'a ast::Callee) -> Option<Callee> {
        match callee {
            ast::Callee::Lambda { span, parameters, body } => {
                let body = Box::new(self.scoped(parameters, body, &faults::Owner::Lambda));
                let parameters = parameters.iter().map(|parameter| parameter.node.clone()).collect();
                Some(Callee::Lambda { span: *span, parameters, body })
            }
            ast::Callee::Name(name) => Some(match self.callable(name)? {
                Callable::Function(id) => Callee::Function(id, name.span),
                Callable::Native(native) => Callee::Native(native, name.span),
            }),
        }
    }

    fn source(&mut self, kind: &Spanned<ast::SourceKind>, medium: Medium, path: &'a ast::Expr) -> ExprKind {
        if medium == Medium::Url {
            return self.refuse(faults::url(path.span));
        }
        if kind.node == ast::SourceKind::Structure {
            return self.refuse(faults::structure_source(kind.span));
        }
        if let ast::ExprKind::String(text) = &path.kind {
            let path = Spanned::new(text.clone(), path.span);
            if let Some(fault) = annotations::file_format(&path) {
                return self.refuse(fault);
            }
        }
        ExprKind::Source { kind: kind.node.into(), path: self.boxed(path) }
    }

    fn condition(&mut self, condition: &'a ast::Expr) -> Condition {
        match &condition.kind {
            ast::ExprKind::Group(inner) => self.condition(inner),
            ast::ExprKind::Not(inner) => Condition::Not(Box::new(self.condition(inner))),
            ast::ExprKind::And(parts) | ast::ExprKind::Aggregate(ast::Aggregate::All, parts) => {
                Condition::And(parts.iter().map(|part| self.condition(part)).collect())
            }
            ast::ExprKind::Or(parts) | ast::ExprKind::Aggregate(ast::Aggregate::Any, parts) => {
                Condition::Or(parts.iter().map(|part| self.condition(part)).collect())
            }
            ast::ExprKind::Membership(item, set) => self.column_membership(condition.span, item, set),
            ast::ExprKind::Comparison(left, op, right) if is_column(left) || is_column(right) => {
                let (left, right) = (self.operand(left), self.operand(right));
                Condition::Compare(condition.span, comparison(op.node), left, right)
            }
            _ => {
                let outer = std::mem::replace(&mut self.in_condition, true);
                let constant = self.expr(condition);
                self.in_condition = outer;
                Condition::Constant(constant)
            }
        }
    }

    /// In a condition the left side of `in` names a column, with or without `column:`.
    fn column_membership(&mut self, span: Span, item: &'a ast::Expr, set: &'a ast::Expr) -> Condition {
        let (ast::ExprKind::Reference(key) | ast::ExprKind::String(key)) = &item.kind else {
            if let ast::ExprKind::Column(key) = &item.kind {
                return Condition::In(span, key.clone(), Box::new(self.set(set)));
            }
            let item = self.boxed(item);
            return Condition::Constant(Expr { span, kind: ExprKind::In(item, Box::new(self.set(set))) });
        };
        Condition::In(span, Spanned::new(key.clone(), item.span), Box::new(self.set(set)))
    }

    fn operand(&mut self, operand: &'a ast::Expr) -> Operand {
        match &operand.kind {
            ast::ExprKind::Column(key) => Operand::Column(key.clone()),
            ast::ExprKind::Group(inner) if is_column(inner) => self.operand(inner),
            _ => Operand::Value(self.expr(operand)),
        }
    }

    /// A unit expression; `None` after a diagnostic.
    fn unit(&mut self, unit: &ast::UnitExpr) -> Option<Unit> {
        self.keep(literals::unit(unit))
    }

    /// An update must refer to what the definition refers to, so that the graph keeps its shape.
    fn compare_updates(&mut self, ast: &'a Ast, model: &Model) {
        if !ast.statements.iter().any(|statement| matches!(statement.kind, StatementKind::Update(_))) {
            return;
        }
        let mut originals = HashMap::new();
        for statement in &ast.statements {
            if let StatementKind::Variable(binding) = &statement.kind {
                originals.entry(&binding.name.node).or_insert(binding);
            }
        }
        for (id, position) in self.names.variables.iter().enumerate() {
            let Some(StatementKind::Update(update)) = ast.statements.get(*position).map(|statement| &statement.kind) else { continue };
            let (Some(original), Some(variable)) = (originals.get(&update.name.node).copied(), model.variables.get(id)) else { continue };
            let (old, _) = self.binding_value(original);
            let (old, new) = (variables(&old), variables(&variable.expr));
            let differing = old.symmetric_difference(&new).filter_map(|id| model.variables.get(id.index()));
            let differing: Vec<&str> = differing.map(|variable| variable.name.as_ref()).collect();
            // a reference that is misspelt is not missing as well
            if !differing.is_empty() && self.unknown_names == 0 {
                self.diagnostics.push(faults::update_changes_references(update.value.span, original.value.span, &differing));
            }
        }
    }

    /// Faults of definitions that lost their name to an earlier one are not said, but their statement is still looked at.
    fn duplicates(&mut self, ast: &'a Ast) {
        let mut known = vec![false; ast.statements.len()];
        self.names.variables.iter().chain(&self.names.functions).for_each(|position| known[*position] = true);
        for (statement, known) in ast.statements.iter().zip(known) {
            let is_definition = matches!(statement.kind, StatementKind::Variable(_) | StatementKind::Function { .. });
            if is_definition && !known && !self.is_updated(statement) {
                self.variable(statement);
                self.function(statement);
            }
        }
    }

    fn is_updated(&self, statement: &Statement) -> bool {
        let StatementKind::Variable(binding) = &statement.kind else { return false };
        matches!(self.names.get(&binding.name.node), Some(known) if known.span == binding.name.span)
    }
}

enum Callable {
    Function(FunctionId),
    Native(NativeName),
}

fn comparison(op: ast::CompareOp) -> Comparison {
    match op {
        ast::CompareOp::Equal => Comparison::Equal,
        ast::CompareOp::NotEqual => Comparison::NotEqual,
        ast::CompareOp::Less => Comparison::Less,
        ast::CompareOp::LessEqual => Comparison::LessEqual,
        ast::CompareOp::Greater => Comparison::Greater,
        ast::CompareOp::GreaterEqual => Comparison::GreaterEqual,
    }
}

fn property_of(property: ast::Property) -> Property {
    match property {
        ast::Property::Name => Property::Name,
        ast::Property::Array => Property::Array,
        ast::Property::Columns => Property::Columns,
    }
}

fn native_path(native: &NativeName) -> Arc<str> {
    format!("{}.{}", native.module, native.name).into()
}

fn is_column(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Column(_) => true,
        ast::ExprKind::Group(inner) => is_column(inner),
        _ => false,
    }
}

/// The name at the start of a chain of accessors; a property is no part of what has the name.
fn base_name(expr: &ast::Expr) -> Option<Arc<str>> {
    match &expr.kind {
        ast::ExprKind::Reference(name) => Some(name.clone()),
        ast::ExprKind::Key(base, _) | ast::ExprKind::Index(base, _) | ast::ExprKind::Slice(base, _) => base_name(base),
        _ => None,
    }
}

fn variables(expr: &Expr) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    expr.visit(&mut |expr| {
        if let ExprKind::Variable(id) = expr.kind {
            found.insert(id);
        }
    });
    found
}

fn refers(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |expr| found |= matches!(expr.kind, ExprKind::Variable(_) | ExprKind::Call(..) | ExprKind::Native(..)));
    found
}

/// A literal number as an expression.
/// In place of what is faulty: a parameter of no function. Nothing is known of it, so that it causes no further fault, and the model
/// never runs.
const UNKNOWN: ExprKind = ExprKind::Local { depth: u32::MAX, index: 0 };

fn literal(span: Span, quantity: Quantity) -> Expr {
    Expr { span, kind: ExprKind::Literal(Value::Quantity(quantity)) }
}
