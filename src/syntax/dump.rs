//! Trees as text, for goldens and for people who want to see what the parser saw.
//!
//! ```text
//! a = f(1, -x) * 2 [m]     (variable a (product (call f 1 (- x)) (* (number 2 (unit m)))))
//! ```

use std::fmt::Write;

use super::ast::{
    AddOp, Aggregate, Ast, Binding, Callee, CompareOp, Cores, Expr, ExprKind, Iterate, Measure, Medium, MulOp, Name, Number, Parameter,
    Part, Property, Resources, Sign, Slice, SourceKind, Statement, StatementKind, UnitBase, UnitExpr, UnitFactor,
};
use crate::source::Span;

/// The widest line that a tree is kept on.
const WIDTH: usize = 110;

/// One statement after the other in parentheses, without places.
pub fn dump(ast: &Ast) -> String {
    let mut out = String::new();
    for statement in &ast.statements {
        of_statement(statement).write(&mut out, 0);
        out.push('\n');
    }
    out
}

/// An expression in parentheses, without places.
pub fn dump_expression(expr: &Expr) -> String {
    let mut out = String::new();
    of_expr(expr).write(&mut out, 0);
    out
}

/// Every node that has a place on a line of its own, with the text it covers.
pub fn outline(ast: &Ast, text: &str) -> String {
    let mut out = String::new();
    for statement in &ast.statements {
        of_statement(statement).write_outline(&mut out, text, 0);
    }
    out
}

/// A word, and what belongs to it.
struct Node {
    head: String,
    children: Vec<Node>,
    span: Option<Span>,
}

impl Node {
    fn new(head: impl Into<String>, children: Vec<Node>) -> Node {
        Node { head: head.into(), children, span: None }
    }

    fn atom(head: impl Into<String>) -> Node {
        Node::new(head, Vec::new())
    }

    fn at(self, span: Span) -> Node {
        Node { span: Some(span), ..self }
    }

    fn flat(&self) -> String {
        if self.children.is_empty() {
            return self.head.clone();
        }
        let children: Vec<String> = self.children.iter().map(Node::flat).collect();
        format!("({} {})", self.head, children.join(" "))
    }

    fn write(&self, out: &mut String, indent: usize) {
        let flat = self.flat();
        if self.children.is_empty() || indent + flat.chars().count() <= WIDTH {
            out.push_str(&flat);
            return;
        }
        let _ = write!(out, "({}", self.head);
        for child in &self.children {
            let _ = write!(out, "\n{:width$}", "", width = indent + 2);
            child.write(out, indent + 2);
        }
        out.push(')');
    }

    fn write_outline(&self, out: &mut String, text: &str, indent: usize) {
        if let Some(span) = self.span {
            let covered = text.get(span.range()).unwrap_or("?");
            let _ = writeln!(out, "{:indent$}{}: {covered:?}", "", self.head);
        }
        let inner = if self.span.is_some() { indent + 2 } else { indent };
        self.children.iter().for_each(|child| child.write_outline(out, text, inner));
    }
}

fn of_statement(statement: &Statement) -> Node {
    let node = match &statement.kind {
        StatementKind::Variable(binding) => of_binding("variable", binding),
        StatementKind::Update(binding) => of_binding("update", binding),
        StatementKind::Function { name, parameters, body } => {
            Node::new("function", vec![of_name(name), Node::new("parameters", names(parameters)), of_expr(body)])
        }
        StatementKind::Import { names: imported, module } => {
            let path: Vec<&str> = module.iter().map(|part| part.node.as_ref()).collect();
            Node::new("import", names(imported).into_iter().chain([Node::new("from", vec![Node::atom(path.join("."))])]).collect())
        }
        StatementKind::Print(parameters) => Node::new("print", parameters.iter().map(of_parameter).collect()),
        StatementKind::View { mode, parameters } => {
            Node::new("view", std::iter::once(of_name(mode)).chain(parameters.iter().map(of_parameter)).collect())
        }
        StatementKind::Export { place, medium, path } => {
            Node::new("export", vec![of_expr(place), Node::new(of_medium(*medium), vec![quoted(path)])])
        }
        StatementKind::Vary(value) => Node::new("vary", vec![of_expr(value)]),
        StatementKind::Tag(value) => Node::new("tag", vec![of_expr(value)]),
    };
    node.at(statement.span)
}

fn of_binding(head: &str, binding: &Binding) -> Node {
    let mut children = vec![of_name(&binding.name), of_expr(&binding.value)];
    children.extend(binding.non_strict.map(|span| Node::atom("?").at(span)));
    children.extend(binding.resources.as_deref().map(of_resources));
    Node::new(head, children)
}

fn of_resources(resources: &Resources) -> Node {
    let walltime = resources.walltime.as_ref().map(|time| Node::new("for", vec![of_measure(time)]));
    let cores = resources.cores.as_ref().map(of_cores);
    Node::new("resources", walltime.into_iter().chain(cores).collect()).at(resources.span)
}

fn of_cores(cores: &Cores) -> Node {
    let memory = cores.memory.as_ref().map(|memory| Node::new("with", vec![of_measure(memory)]));
    Node::new("on", std::iter::once(Node::atom(cores.count.node.as_ref()).at(cores.count.span)).chain(memory).collect()).at(cores.span)
}

fn of_measure(measure: &Measure) -> Node {
    let number = Node::atom(measure.number.as_ref());
    match &measure.unit {
        Some(unit) => Node::new("quantity", vec![number, of_unit("unit", unit)]).at(measure.span),
        None => number.at(measure.span),
    }
}

fn of_parameter(parameter: &Parameter) -> Node {
    let value = of_expr(&parameter.value);
    match &parameter.unit {
        Some(unit) => Node::new("convert", vec![value, of_unit("to", unit)]),
        None => value,
    }
}

fn of_unit(head: &str, unit: &UnitExpr) -> Node {
    Node::new(head, unit.factors.iter().map(of_factor).collect()).at(unit.span)
}

fn of_factor(factor: &UnitFactor) -> Node {
    let divide = if factor.divide { "/" } else { "" };
    let (UnitBase::Name(base) | UnitBase::Number(base)) = &factor.base;
    let exponent = factor.exponent.as_ref().map_or_else(String::new, |exponent| format!("**{}", exponent.node));
    Node::atom(format!("{divide}{base}{exponent}")).at(factor.span)
}

fn of_name(name: &Name) -> Node {
    Node::atom(name.node.as_ref()).at(name.span)
}

fn names(names: &[Name]) -> Vec<Node> {
    names.iter().map(of_name).collect()
}

fn quoted(name: &Name) -> Node {
    Node::atom(format!("{:?}", name.node)).at(name.span)
}

fn of_expr(expr: &Expr) -> Node {
    of_kind(&expr.kind).at(expr.span)
}

fn all(exprs: &[Expr]) -> Vec<Node> {
    exprs.iter().map(of_expr).collect()
}

fn of_kind(kind: &ExprKind) -> Node {
    match kind {
        ExprKind::Number { number, uncertainty, unit } => of_number(number, uncertainty.as_deref(), unit.as_deref()),
        ExprKind::String(text) => Node::atom(format!("{text:?}")),
        ExprKind::Bool(value) => Node::atom(value.to_string()),
        ExprKind::Null => Node::atom("null"),
        ExprKind::Reference(name) => Node::atom(name.as_ref()),
        ExprKind::Reuse { name, uuid } => Node::new("reuse", vec![Node::atom(name.as_ref()), Node::atom(uuid.as_ref())]),
        ExprKind::Key(of, key) => Node::new("key", vec![of_expr(of), quoted(key)]),
        ExprKind::Index(of, index) => Node::new("index", vec![of_expr(of), Node::atom(index.node.as_ref()).at(index.span)]),
        ExprKind::Slice(of, slice) => Node::new("slice", vec![of_expr(of), of_slice(slice)]),
        ExprKind::Property(of, property) => Node::new("property", vec![of_expr(of), of_property(property.node).at(property.span)]),
        ExprKind::Call { function, arguments } => Node::new("call", std::iter::once(of_name(function)).chain(all(arguments)).collect()),
        ExprKind::Sign(Sign::Plus, operand) => Node::new("+", vec![of_expr(operand)]),
        ExprKind::Sign(Sign::Minus, operand) => Node::new("-", vec![of_expr(operand)]),
        ExprKind::Sum(first, rest) => chain("sum", first, rest, |operator| match operator {
            AddOp::Add => "+",
            AddOp::Subtract => "-",
        }),
        ExprKind::Product(first, rest) => chain("product", first, rest, |operator| match operator {
            MulOp::Multiply => "*",
            MulOp::Divide => "/",
        }),
        ExprKind::Power(base, exponent) => Node::new("**", vec![of_expr(base), of_expr(exponent)]),
        ExprKind::Comparison(left, operator, right) => Node::new(of_comparison(operator.node), vec![of_expr(left), of_expr(right)]),
        ExprKind::Membership(element, set) => Node::new("in", vec![of_expr(element), of_expr(set)]),
        ExprKind::Not(operand) => Node::new("not", vec![of_expr(operand)]),
        ExprKind::And(operands) => Node::new("and", all(operands)),
        ExprKind::Or(operands) => Node::new("or", all(operands)),
        ExprKind::If { condition, then, otherwise } => Node::new("if", vec![of_expr(condition), of_expr(then), of_expr(otherwise)]),
        ExprKind::Group(inner) => Node::new("group", vec![of_expr(inner)]),
        ExprKind::Tuple(items) => Node::new("tuple", all(items)),
        ExprKind::Series { name, elements, unit } => {
            Node::new("series", joined([vec![quoted(name)], all(elements), units(unit.as_deref())]))
        }
        ExprKind::Table(columns) => Node::new("table", all(columns)),
        ExprKind::Dict(entries) => {
            Node::new("dict", entries.iter().map(|(key, value)| Node::new("entry", vec![quoted(key), of_expr(value)])).collect())
        }
        ExprKind::Array { elements, unit } => Node::new("array", joined([all(elements), units(unit.as_deref())])),
        ExprKind::Iterate { kind, function, inputs, chunks } => {
            let chunks = chunks.iter().map(|count| Node::new("chunks", vec![Node::atom(count.node.as_ref()).at(count.span)])).collect();
            Node::new(of_iterate(*kind), joined([vec![of_callee(function)], all(inputs), chunks]))
        }
        ExprKind::Aggregate(aggregate, arguments) => Node::new(of_aggregate(*aggregate), all(arguments)),
        ExprKind::Part(Part::Real, of) => Node::new("real", vec![of_expr(of)]),
        ExprKind::Part(Part::Imaginary, of) => Node::new("imag", vec![of_expr(of)]),
        ExprKind::Range { start, stop, step } => Node::new("range", vec![of_expr(start), of_expr(stop), of_expr(step)]),
        ExprKind::Info { value, detail } => {
            let detail = detail.iter().map(|detail| Node::new("detail", vec![of_name(detail)]));
            Node::new("info", std::iter::once(of_expr(value)).chain(detail).collect())
        }
        ExprKind::Source { kind, medium, path } => {
            Node::new("source", vec![Node::atom(of_source(kind.node)).at(kind.span), Node::new(of_medium(*medium), vec![of_expr(path)])])
        }
        ExprKind::Query { source, select, condition } => {
            let select = select.iter().map(|keys| Node::new("select", keys.iter().map(quoted).collect())).collect();
            let condition = condition.iter().map(|condition| Node::new("where", vec![of_expr(condition)])).collect();
            Node::new("query", joined([vec![of_expr(source)], select, condition]))
        }
        ExprKind::Column(name) => Node::new("column", vec![quoted(name)]),
    }
}

/// Lists of nodes one after the other.
fn joined<const N: usize>(lists: [Vec<Node>; N]) -> Vec<Node> {
    lists.into_iter().flatten().collect()
}

fn chain<Op: Copy>(head: &str, first: &Expr, rest: &[(Op, Expr)], sign: impl Fn(Op) -> &'static str) -> Node {
    let rest = rest.iter().map(|(operator, operand)| Node::new(sign(*operator), vec![of_expr(operand)]));
    Node::new(head, std::iter::once(of_expr(first)).chain(rest).collect())
}

fn of_number(number: &Number, uncertainty: Option<&Expr>, unit: Option<&UnitExpr>) -> Node {
    let magnitude = match number {
        Number::Int(digits) | Number::Float(digits) => Node::atom(digits.as_ref()),
        Number::Complex { real, imaginary } => {
            Node::new("complex", vec![Node::atom(format!("{real:?}")), Node::atom(format!("{imaginary:?}"))])
        }
    };
    if uncertainty.is_none() && unit.is_none() {
        return magnitude;
    }
    let uncertainty = uncertainty.map(|uncertainty| Node::new("+/-", vec![of_expr(uncertainty)]));
    Node::new("number", joined([vec![magnitude], uncertainty.into_iter().collect(), units(unit)]))
}

fn units(unit: Option<&UnitExpr>) -> Vec<Node> {
    unit.map(|unit| of_unit("unit", unit)).into_iter().collect()
}

fn of_slice(slice: &Slice) -> Node {
    let part = |part: &Option<Name>| part.as_ref().map_or("", |text| text.node.as_ref()).to_owned();
    Node::atom(format!("{}:{}:{}", part(&slice.start), part(&slice.stop), part(&slice.step)))
}

fn of_callee(callee: &Callee) -> Node {
    match callee {
        Callee::Name(name) => of_name(name),
        Callee::Lambda { span, parameters, body } => {
            Node::new("lambda", vec![Node::new("parameters", names(parameters)), of_expr(body)]).at(*span)
        }
    }
}

fn of_property(property: Property) -> Node {
    Node::atom(match property {
        Property::Name => "name",
        Property::Array => "array",
        Property::Columns => "columns",
    })
}

fn of_comparison(operator: CompareOp) -> &'static str {
    match operator {
        CompareOp::Equal => "==",
        CompareOp::NotEqual => "!=",
        CompareOp::Less => "<",
        CompareOp::LessEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterEqual => ">=",
    }
}

fn of_iterate(kind: Iterate) -> &'static str {
    match kind {
        Iterate::Map => "map",
        Iterate::Filter => "filter",
        Iterate::Reduce => "reduce",
    }
}

fn of_aggregate(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Sum => "sum-of",
        Aggregate::Any => "any-of",
        Aggregate::All => "all-of",
    }
}

fn of_medium(medium: Medium) -> &'static str {
    match medium {
        Medium::File => "file",
        Medium::Url => "url",
    }
}

fn of_source(kind: SourceKind) -> String {
    format!("{kind:?}")
}
