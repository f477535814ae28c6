//! What the grammar's actions call: constructors of tree nodes, none of which can fail.
//!
//! A few faults are easier to find in a tree than in a grammar (an annotation given twice, a unit on a bare expression). They are put
//! on a list beside the tree, and the statement counts as faulty.

use std::cell::RefCell;
use std::sync::Arc;

use super::ast::{
    AddOp, Binding, Callee, Cores, Expr, ExprKind, Measure, MulOp, Name, Number, Parameter, Property, Resources, Sign, Statement,
    StatementKind, UnitBase, UnitExpr, UnitFactor,
};
use super::diagnostics as fault;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span, Spanned};

/// What one parse gives, according to its start marker.
pub(super) enum Entry {
    Statement(Box<Statement>),
    Expression(Box<Parameter>),
}

/// A text with its place, as names and the digits of annotations are kept.
pub(super) type Text = Spanned<Arc<str>>;

/// One part of a resource annotation.
pub(super) enum Part {
    Walltime(Measure),
    Cores { count: Text, word: bool },
    Memory(Measure),
}

/// Makes nodes with the spans and texts of one file.
pub(super) struct Builder<'t> {
    file: FileId,
    text: &'t str,
    faults: RefCell<Vec<Diagnostic>>,
}

impl<'t> Builder<'t> {
    pub(super) fn new(file: FileId, text: &'t str) -> Self {
        Builder { file, text, faults: RefCell::default() }
    }

    /// The faults found since the last call.
    pub(super) fn take_faults(&self) -> Vec<Diagnostic> {
        self.faults.take()
    }

    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end }
    }

    fn slice(&self, start: u32, end: u32) -> &'t str {
        self.text.get(start as usize..end as usize).unwrap_or("")
    }

    pub(super) fn text(&self, start: u32, end: u32) -> Text {
        Spanned::new(self.slice(start, end).into(), self.span(start, end))
    }

    /// A number with its sign, without what may stand between them.
    pub(super) fn signed(&self, start: u32, number: u32, end: u32) -> Text {
        let sign = if start < number { self.slice(start, start + 1) } else { "" };
        Spanned::new(format!("{sign}{}", self.slice(number, end)).into(), self.span(start, end))
    }

    /// A string without its quotes, or a name.
    pub(super) fn key(&self, start: u32, end: u32) -> Name {
        Spanned::new(unquote(self.slice(start, end)), self.span(start, end))
    }

    pub(super) fn statement(&self, start: u32, kind: StatementKind, end: u32) -> Box<Statement> {
        Box::new(Statement { span: self.span(start, end), kind })
    }

    pub(super) fn variable(&self, name: Name, value: Expr, non_strict: Option<Span>, resources: Option<Box<Resources>>) -> StatementKind {
        StatementKind::Variable(Binding { name, value, non_strict, resources })
    }

    pub(super) fn update(&self, name: Name, value: Expr, resources: Option<Box<Resources>>) -> StatementKind {
        StatementKind::Update(Binding { name, value, non_strict: None, resources })
    }

    /// `use a.b.c` imports the last part from the others.
    pub(super) fn import_path(&self, first: Name, mut rest: Vec<Name>) -> StatementKind {
        let names = rest.pop().into_iter().collect();
        rest.insert(0, first);
        StatementKind::Import { names, module: rest }
    }

    pub(super) fn resources(&self, parts: Vec<(u32, Box<Part>, u32)>) -> Option<Box<Resources>> {
        let (start, end) = (parts.first()?.0, parts.last()?.2);
        let mut resources = Resources { span: self.span(start, end), walltime: None, cores: None };
        let mut with_cores = false;
        for (from, part, to) in parts {
            let span = self.span(from, to);
            let follows_cores = with_cores;
            with_cores = matches!(*part, Part::Cores { .. });
            self.faults.borrow_mut().extend(add_part(&mut resources, span, *part, follows_cores));
        }
        Some(Box::new(resources))
    }

    pub(super) fn measure(&self, number: Text, unit: Option<Box<UnitExpr>>) -> Measure {
        let span = unit.as_ref().map_or(number.span, |unit| number.span.to(unit.span));
        Measure { span, number: number.node, unit }
    }

    pub(super) fn unit(&self, start: u32, first: UnitFactor, rest: Vec<UnitFactor>, end: u32) -> Box<UnitExpr> {
        Box::new(UnitExpr { span: self.span(start, end), factors: std::iter::once(first).chain(rest).collect() })
    }

    pub(super) fn divided(&self, factor: UnitFactor) -> UnitFactor {
        UnitFactor { divide: true, ..factor }
    }

    pub(super) fn unit_name(&self, start: u32, end: u32) -> UnitBase {
        UnitBase::Name(self.slice(start, end).into())
    }

    pub(super) fn unit_number(&self, start: u32, end: u32) -> UnitBase {
        UnitBase::Number(self.slice(start, end).into())
    }

    pub(super) fn expr(&self, start: u32, kind: ExprKind, end: u32) -> Expr {
        Expr { span: self.span(start, end), kind }
    }

    pub(super) fn reuse(&self, start: u32, end: u32) -> ExprKind {
        let (name, uuid) = self.slice(start, end).split_once('@').unwrap_or_default();
        ExprKind::Reuse { name: name.into(), uuid: uuid.into() }
    }

    pub(super) fn property(&self, start: u32, end: u32) -> Spanned<Property> {
        let property = match self.slice(start, end) {
            "name" => Property::Name,
            "array" => Property::Array,
            _ => Property::Columns,
        };
        Spanned::new(property, self.span(start, end))
    }

    pub(super) fn int(&self, start: u32, end: u32) -> Number {
        Number::Int(self.slice(start, end).into())
    }

    pub(super) fn float(&self, start: u32, end: u32) -> Number {
        Number::Float(self.slice(start, end).into())
    }

    /// The value of the digits.
    pub(super) fn value(&self, start: u32, end: u32) -> f64 {
        self.slice(start, end).parse().expect("the lexer's form of a number is one that Rust reads")
    }

    pub(super) fn literal_sign(&self, start: u32, end: u32) -> Sign {
        if self.slice(start, end) == "-" { Sign::Minus } else { Sign::Plus }
    }

    pub(super) fn sum(&self, start: u32, first: Expr, mut rest: Vec<(AddOp, Expr)>, end: u32) -> Expr {
        rest.shrink_to_fit();
        self.expr(start, ExprKind::Sum(Box::new(first), rest), end)
    }

    pub(super) fn product(&self, start: u32, first: Expr, mut rest: Vec<(MulOp, Expr)>, end: u32) -> Expr {
        rest.shrink_to_fit();
        self.expr(start, ExprKind::Product(Box::new(first), rest), end)
    }

    /// What stands in plain parentheses: a group, a table or a tuple.
    pub(super) fn parenthesised(&self, mut items: Vec<Expr>, trailing_comma: bool) -> ExprKind {
        let is_series = |item: &Expr| matches!(item.kind, ExprKind::Series { .. });
        match items.pop() {
            Some(last) if !trailing_comma && is_series(&last) && items.iter().all(is_series) => ExprKind::Table(with_last(items, last)),
            Some(only) if !trailing_comma && items.is_empty() => ExprKind::Group(Box::new(only)),
            last => ExprKind::Tuple(last.map_or_else(Vec::new, |last| with_last(items, last))),
        }
    }

    pub(super) fn lambda(&self, start: u32, mut parameters: Vec<Name>, last: Name, body: Expr, end: u32) -> Box<Callee> {
        parameters.push(last);
        Box::new(Callee::Lambda { span: self.span(start, end), parameters, body: Box::new(body) })
    }
}

/// Everything of a chain of one operator, the first operand included.
pub(super) fn chain(first: Expr, rest: Vec<Expr>) -> Vec<Expr> {
    std::iter::once(first).chain(rest).collect()
}

/// The number under an optional sign.
pub(super) fn with_sign(sign: Option<Sign>, value: f64) -> f64 {
    if sign == Some(Sign::Minus) { -value } else { value }
}

/// A list and one more.
pub(super) fn with_last<T>(mut list: Vec<T>, last: T) -> Vec<T> {
    list.push(last);
    list
}

/// Puts a part where it belongs, `follows_cores` telling whether the part before was `on …`.
fn add_part(resources: &mut Resources, span: Span, part: Part, follows_cores: bool) -> Option<Diagnostic> {
    match (part, &resources.walltime, &mut resources.cores) {
        (Part::Walltime(_), Some(first), _) => return Some(fault::repeated_annotation("for", first.span, span)),
        (Part::Walltime(time), None, _) => resources.walltime = Some(time),
        (Part::Cores { count, word: false }, ..) => return Some(fault::missing_core(count.span)),
        (Part::Cores { .. }, _, Some(first)) => return Some(fault::repeated_annotation("on", first.span, span)),
        (Part::Cores { count, word: true }, _, None) => resources.cores = Some(Cores { span, count, memory: None }),
        (Part::Memory(memory), _, Some(cores)) if follows_cores => {
            cores.span = cores.span.to(span);
            cores.memory = Some(memory);
        }
        (Part::Memory(_), _, Some(Cores { span: first, memory: Some(_), .. })) => {
            return Some(fault::repeated_annotation("with", *first, span));
        }
        (Part::Memory(_), ..) => return Some(fault::memory_without_cores(span)),
    }
    None
}

/// A quoted text without its quotes and with its escaped quotes plain; a name as it is. Other backslashes stay, also before a backslash.
fn unquote(text: &str) -> Arc<str> {
    let Some(inner) = text.strip_prefix(['\'', '"']).and_then(|rest| rest.get(..rest.len().saturating_sub(1))) else {
        return text.into();
    };
    if !inner.contains('\\') {
        return inner.into();
    }
    let mut plain = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(char) = chars.next() {
        let escaped = if char == '\\' { chars.next_if(|next| matches!(next, '\'' | '"')) } else { None };
        plain.push(escaped.unwrap_or(char));
    }
    plain.into()
}
