//! Walking over expressions.

use super::{Callee, Condition, Expr, ExprKind, FunctionId, NativeName, Operand, Set};
use crate::source::Span;

/// A part of an expression, in the order of evaluation.
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// The body of a lambda, one scope further in.
    Lambda(&'a Expr),
    /// A user's function that is passed by name.
    Function(FunctionId, Span),
    /// A native function that is passed by name.
    Native(&'a NativeName),
}

impl Expr {
    /// The direct parts.
    pub fn children<'a>(&'a self, each: &mut dyn FnMut(Child<'a>)) {
        let list = |exprs: &'a [Expr], each: &mut dyn FnMut(Child<'a>)| exprs.iter().for_each(|expr| each(Child::Expr(expr)));
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Uncertain { .. } | ExprKind::Variable(_) | ExprKind::Local { .. } => {}
            ExprKind::Negate(a)
            | ExprKind::Plus(a)
            | ExprKind::Not(a)
            | ExprKind::Key(a, _)
            | ExprKind::Index(a, _)
            | ExprKind::Slice(a, _)
            | ExprKind::Property(a, _)
            | ExprKind::Part(_, a)
            | ExprKind::Info { value: a, .. }
            | ExprKind::Source { path: a, .. } => each(Child::Expr(a)),
            ExprKind::Sum(first, rest) => {
                each(Child::Expr(first));
                rest.iter().for_each(|(_, term)| each(Child::Expr(term)));
            }
            ExprKind::Product(first, rest) => {
                each(Child::Expr(first));
                rest.iter().for_each(|(_, factor)| each(Child::Expr(factor)));
            }
            ExprKind::Power(a, b) | ExprKind::Compare(_, a, b) => {
                each(Child::Expr(a));
                each(Child::Expr(b));
            }
            ExprKind::In(item, set) => {
                each(Child::Expr(item));
                set.children(each);
            }
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|expr| each(Child::Expr(expr))),
            ExprKind::Range { start, stop, step, .. } => [start, stop, step].into_iter().for_each(|expr| each(Child::Expr(expr))),
            ExprKind::And(exprs)
            | ExprKind::Or(exprs)
            | ExprKind::Tuple(exprs)
            | ExprKind::Table(exprs)
            | ExprKind::Call(_, exprs)
            | ExprKind::Native(_, exprs)
            | ExprKind::Aggregate(_, exprs)
            | ExprKind::Series { elements: exprs, .. } => list(exprs, each),
            ExprKind::Dict(members) => members.iter().for_each(|(_, member)| each(Child::Expr(member))),
            ExprKind::Map { function, inputs, .. } => {
                list(inputs, each);
                each(function.child());
            }
            ExprKind::Filter { function, input, .. } | ExprKind::Reduce { function, input } => {
                each(Child::Expr(input));
                each(function.child());
            }
            ExprKind::Query { source, condition, .. } => {
                each(Child::Expr(source));
                if let Some(condition) = condition {
                    condition.children(each);
                }
            }
        }
    }

    /// This expression and all within it, also the bodies of its lambdas.
    pub fn visit<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        each(self);
        self.children(&mut |child| match child {
            Child::Expr(expr) | Child::Lambda(expr) => expr.visit(each),
            Child::Function(..) | Child::Native(_) => {}
        });
    }

    /// This expression and all within it, for change; each before its parts.
    pub fn visit_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        each(self);
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::Uncertain { .. } | ExprKind::Variable(_) | ExprKind::Local { .. } => {}
            ExprKind::Negate(a)
            | ExprKind::Plus(a)
            | ExprKind::Not(a)
            | ExprKind::Key(a, _)
            | ExprKind::Index(a, _)
            | ExprKind::Slice(a, _)
            | ExprKind::Property(a, _)
            | ExprKind::Part(_, a)
            | ExprKind::Info { value: a, .. }
            | ExprKind::Source { path: a, .. } => a.visit_mut(each),
            ExprKind::Sum(first, rest) => {
                first.visit_mut(each);
                rest.iter_mut().for_each(|(_, term)| term.visit_mut(each));
            }
            ExprKind::Product(first, rest) => {
                first.visit_mut(each);
                rest.iter_mut().for_each(|(_, factor)| factor.visit_mut(each));
            }
            ExprKind::Power(a, b) | ExprKind::Compare(_, a, b) => [a, b].into_iter().for_each(|expr| expr.visit_mut(each)),
            ExprKind::In(item, set) => {
                item.visit_mut(each);
                set.visit_mut(each);
            }
            ExprKind::If(a, b, c) => [a, b, c].into_iter().for_each(|expr| expr.visit_mut(each)),
            ExprKind::Range { start, stop, step, .. } => [start, stop, step].into_iter().for_each(|expr| expr.visit_mut(each)),
            ExprKind::And(exprs)
            | ExprKind::Or(exprs)
            | ExprKind::Tuple(exprs)
            | ExprKind::Table(exprs)
            | ExprKind::Call(_, exprs)
            | ExprKind::Native(_, exprs)
            | ExprKind::Aggregate(_, exprs)
            | ExprKind::Series { elements: exprs, .. } => exprs.iter_mut().for_each(|expr| expr.visit_mut(each)),
            ExprKind::Dict(members) => members.iter_mut().for_each(|(_, member)| member.visit_mut(each)),
            ExprKind::Map { function, inputs, .. } => {
                inputs.iter_mut().for_each(|input| input.visit_mut(each));
                function.visit_mut(each);
            }
            ExprKind::Filter { function, input, .. } | ExprKind::Reduce { function, input } => {
                input.visit_mut(each);
                function.visit_mut(each);
            }
            ExprKind::Query { source, condition, .. } => {
                source.visit_mut(each);
                if let Some(condition) = condition {
                    condition.visit_mut(each);
                }
            }
        }
    }

    /// How deep its parts nest.
    pub fn depth(&self) -> u32 {
        let mut deepest = 0;
        self.children(&mut |child| match child {
            Child::Expr(expr) | Child::Lambda(expr) => deepest = deepest.max(expr.depth()),
            Child::Function(..) | Child::Native(_) => {}
        });
        deepest + 1
    }
}

impl Callee {
    fn visit_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        if let Callee::Lambda { body, .. } = self {
            body.visit_mut(each);
        }
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Callee::Lambda { span, .. } | Callee::Function(_, span) | Callee::Native(_, span) => *span,
        }
    }

    fn child(&self) -> Child<'_> {
        match self {
            Callee::Lambda { body, .. } => Child::Lambda(body),
            Callee::Function(id, span) => Child::Function(*id, *span),
            Callee::Native(name, _) => Child::Native(name),
        }
    }
}

impl Set {
    fn visit_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        match self {
            Set::Series(series) => series.visit_mut(each),
            Set::Values(values) => values.iter_mut().for_each(|value| value.visit_mut(each)),
        }
    }

    fn children<'a>(&'a self, each: &mut dyn FnMut(Child<'a>)) {
        match self {
            Set::Series(series) => each(Child::Expr(series)),
            Set::Values(values) => values.iter().for_each(|value| each(Child::Expr(value))),
        }
    }
}

impl Condition {
    fn visit_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        match self {
            Condition::Compare(_, _, left, right) => {
                for operand in [left, right] {
                    if let Operand::Value(expr) = operand {
                        expr.visit_mut(each);
                    }
                }
            }
            Condition::In(_, _, set) => set.visit_mut(each),
            Condition::Not(inner) => inner.visit_mut(each),
            Condition::And(parts) | Condition::Or(parts) => parts.iter_mut().for_each(|part| part.visit_mut(each)),
            Condition::Constant(expr) => expr.visit_mut(each),
        }
    }

    fn children<'a>(&'a self, each: &mut dyn FnMut(Child<'a>)) {
        match self {
            Condition::Compare(_, _, left, right) => {
                for operand in [left, right] {
                    if let Operand::Value(expr) = operand {
                        each(Child::Expr(expr));
                    }
                }
            }
            Condition::In(_, _, set) => set.children(each),
            Condition::Not(inner) => inner.children(each),
            Condition::And(parts) | Condition::Or(parts) => parts.iter().for_each(|part| part.children(each)),
            Condition::Constant(expr) => each(Child::Expr(expr)),
        }
    }
}
