//! Walking over trees.

use super::{Callee, Expr, ExprKind, StatementKind};

impl Expr {
    /// The direct parts, in the order of the text; among them the bodies of lambdas.
    pub fn children<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::String(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Reference(_)
            | ExprKind::Reuse { .. }
            | ExprKind::Column(_) => {}
            ExprKind::Number { uncertainty, .. } => uncertainty.iter().for_each(|expr| each(expr)),
            ExprKind::Key(inner, _)
            | ExprKind::Index(inner, _)
            | ExprKind::Slice(inner, _)
            | ExprKind::Property(inner, _)
            | ExprKind::Sign(_, inner)
            | ExprKind::Not(inner)
            | ExprKind::Group(inner)
            | ExprKind::Part(_, inner)
            | ExprKind::Info { value: inner, .. }
            | ExprKind::Source { path: inner, .. } => each(inner),
            ExprKind::Sum(first, rest) => {
                each(first);
                rest.iter().for_each(|(_, term)| each(term));
            }
            ExprKind::Product(first, rest) => {
                each(first);
                rest.iter().for_each(|(_, factor)| each(factor));
            }
            ExprKind::Power(left, right) | ExprKind::Comparison(left, _, right) | ExprKind::Membership(left, right) => {
                each(left);
                each(right);
            }
            ExprKind::If { condition: a, then: b, otherwise: c } | ExprKind::Range { start: a, stop: b, step: c } => {
                [a, b, c].into_iter().for_each(|expr| each(expr));
            }
            ExprKind::Call { arguments: exprs, .. }
            | ExprKind::And(exprs)
            | ExprKind::Or(exprs)
            | ExprKind::Tuple(exprs)
            | ExprKind::Series { elements: exprs, .. }
            | ExprKind::Table(exprs)
            | ExprKind::Array { elements: exprs, .. }
            | ExprKind::Aggregate(_, exprs) => exprs.iter().for_each(each),
            ExprKind::Dict(members) => members.iter().for_each(|(_, member)| each(member)),
            ExprKind::Iterate { function, inputs, .. } => {
                if let Callee::Lambda { body, .. } = &**function {
                    each(body);
                }
                inputs.iter().for_each(each);
            }
            ExprKind::Query { source, condition, .. } => {
                each(source);
                condition.iter().for_each(|condition| each(condition));
            }
        }
    }
}

impl StatementKind {
    /// The expressions of a statement, in the order of the text.
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            StatementKind::Variable(binding) | StatementKind::Update(binding) => vec![&binding.value],
            StatementKind::Function { body: expr, .. }
            | StatementKind::Export { place: expr, .. }
            | StatementKind::Vary(expr)
            | StatementKind::Tag(expr) => vec![expr],
            StatementKind::Print(parameters) | StatementKind::View { parameters, .. } => {
                parameters.iter().map(|parameter| &parameter.value).collect()
            }
            StatementKind::Import { .. } => Vec::new(),
        }
    }
}
