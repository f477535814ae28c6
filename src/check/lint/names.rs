//! Imports that nothing uses, and parameters that hide a name of the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::warnings;
use crate::check::names::{Meaning, Names};
use crate::diagnostic::Diagnostic;
use crate::hash::Set;
use crate::source::Span;
use crate::syntax::ast::{Ast, Callee, Expr, ExprKind, Name, StatementKind};

/// Warns of both, which one walk finds.
pub fn imports_and_parameters(ast: &Ast, names: &Names) -> Vec<Diagnostic> {
    let imports = ast.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Import { names, .. } => Some(names),
        _ => None,
    });
    let unused = imports.clone().flatten().map(|name| name.node.as_ref()).collect();
    let mut walk = Walk { names, scopes: Vec::new(), unused, hidden: BTreeMap::new(), warnings: Vec::new() };
    for statement in &ast.statements {
        match &statement.kind {
            StatementKind::Function { parameters, body, .. } => walk.scoped(parameters, body),
            kind => kind.exprs().into_iter().for_each(|expr| walk.expr(expr)),
        }
        walk.finish_statement();
    }
    let unused = imports.flatten().filter(|name| walk.unused.contains(name.node.as_ref()));
    walk.warnings.extend(unused.map(warnings::unused_import));
    walk.warnings
}

struct Walk<'a> {
    names: &'a Names,
    /// Parameters, the innermost last.
    scopes: Vec<&'a [Name]>,
    /// Imports that were not met so far.
    unused: Set<&'a str>,
    /// Of the statement: the first parameter of each name that hides another, and what that is.
    hidden: BTreeMap<&'a str, (Span, &'static str, Span)>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Walk<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Reference(name) => self.reference(name),
            ExprKind::Call { function, .. } => self.reference(&function.node),
            ExprKind::Iterate { function, inputs, .. } => {
                match &**function {
                    Callee::Lambda { parameters, body, .. } => self.scoped(parameters, body),
                    Callee::Name(name) => self.reference(&name.node),
                }
                return inputs.iter().for_each(|input| self.expr(input));
            }
            _ => {}
        }
        expr.children(&mut |child| self.expr(child));
    }

    fn scoped(&mut self, parameters: &'a [Name], body: &'a Expr) {
        for parameter in parameters {
            if let Some((what, span)) = self.meaning(&parameter.node) {
                self.hidden.entry(&parameter.node).or_insert((parameter.span, what, span));
            }
        }
        self.scopes.push(parameters);
        self.expr(body);
        self.scopes.pop();
    }

    fn reference(&mut self, name: &'a Arc<str>) {
        if self.parameter(name).is_none() {
            self.unused.remove(name.as_ref());
        }
    }

    fn parameter(&self, name: &str) -> Option<&'a Name> {
        self.scopes.iter().rev().copied().flatten().find(|parameter| parameter.node.as_ref() == name)
    }

    /// What a name stands for before a parameter hides it, and where that is defined.
    fn meaning(&self, name: &str) -> Option<(&'static str, Span)> {
        if let Some(outer) = self.parameter(name) {
            return Some(("another parameter", outer.span));
        }
        let definition = self.names.get(name)?;
        let what = match definition.meaning {
            Meaning::Variable(_) => "a variable",
            Meaning::Function(_) => "a function",
            Meaning::Native(_) | Meaning::Constant(_) | Meaning::Unknown => "an import",
            Meaning::Varied => return None,
        };
        Some((what, definition.span))
    }

    fn finish_statement(&mut self) {
        let hidden = std::mem::take(&mut self.hidden);
        self.warnings.extend(hidden.into_iter().map(|(name, (span, what, outer))| warnings::shadowed(name, span, what, outer)));
    }
}
