//! Which variables an expression uses, and which of them certainly.
//!
//! Certain is what evaluation looks at in any case. Of a call that is an argument which the function looks at in any case. The body
//! of a lambda counts as certain: of an empty series more is computed than needed, which does no harm.

use std::collections::HashMap;

use super::Need;
use crate::model::{AggregateKind, Child, Expr, ExprKind, Function, FunctionId, Output, VarId};

/// Uses of variables, remembered for functions.
#[derive(Debug)]
pub struct Uses<'m> {
    functions: &'m [Function],
    known: HashMap<FunctionId, FunctionUses>,
}

#[derive(Clone, Debug, Default)]
struct FunctionUses {
    variables: Vec<(VarId, Need)>,
    certain_parameters: Vec<bool>,
}

/// The variables that an expression uses, sorted.
pub fn uses_of(expr: &Expr, functions: &[Function]) -> Vec<VarId> {
    Uses::new(functions).of(expr).into_iter().map(|(id, _)| id).collect()
}

impl<'m> Uses<'m> {
    /// Uses of variables through these functions.
    pub fn new(functions: &'m [Function]) -> Self {
        Uses { functions, known: HashMap::new() }
    }

    /// The variables that an expression uses, sorted, each once.
    pub fn of(&mut self, expr: &Expr) -> Vec<(VarId, Need)> {
        let mut found = FunctionUses::default();
        self.walk(expr, Need::Certain, 0, &mut found);
        sorted(found.variables)
    }

    /// The variables that a statement uses, sorted, each once.
    pub fn of_output(&mut self, output: &Output) -> Vec<(VarId, Need)> {
        sorted(output.exprs().flat_map(|expr| self.of(expr)).collect())
    }

    fn of_function(&mut self, id: FunctionId) -> FunctionUses {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let function = &self.functions[id.index()];
        let mut found = FunctionUses { variables: Vec::new(), certain_parameters: vec![false; function.parameters.len()] };
        self.walk(&function.body, Need::Certain, 0, &mut found);
        found.variables = sorted(found.variables);
        self.known.insert(id, found.clone());
        found
    }

    /// `lambdas` counts the lambdas around the expression; a parameter that many scopes out is the function's.
    fn walk(&mut self, expr: &Expr, need: Need, lambdas: u32, found: &mut FunctionUses) {
        match &expr.kind {
            ExprKind::Variable(id) => found.variables.push((*id, need)),
            ExprKind::Local { depth, index } if *depth == lambdas && need == Need::Certain => {
                if let Some(certain) = found.certain_parameters.get_mut(*index as usize) {
                    *certain = true;
                }
            }
            ExprKind::If(condition, then, otherwise) => {
                self.walk(condition, need, lambdas, found);
                self.walk(then, Need::Perhaps, lambdas, found);
                self.walk(otherwise, Need::Perhaps, lambdas, found);
            }
            ExprKind::And(operands) | ExprKind::Or(operands) | ExprKind::Aggregate(AggregateKind::Any | AggregateKind::All, operands) => {
                for (position, operand) in operands.iter().enumerate() {
                    let need = if position == 0 { need } else { Need::Perhaps };
                    self.walk(operand, need, lambdas, found);
                }
            }
            ExprKind::Call(id, arguments) => {
                let callee = self.of_function(*id);
                found.variables.extend(callee.variables.iter().map(|(id, inner)| (*id, need.max(*inner))));
                for (argument, certain) in arguments.iter().zip(callee.certain_parameters) {
                    self.walk(argument, if certain { need } else { Need::Perhaps }, lambdas, found);
                }
            }
            _ => expr.children(&mut |child| match child {
                Child::Expr(expr) => self.walk(expr, need, lambdas, found),
                Child::Lambda(body) => self.walk(body, need, lambdas + 1, found),
                Child::Function(id, _) => {
                    let callee = self.of_function(id);
                    found.variables.extend(callee.variables.iter().map(|(id, inner)| (*id, need.max(*inner))));
                }
                Child::Native(_) => {}
            }),
        }
    }
}

/// Each variable once; certain when it is certain anywhere.
fn sorted(mut variables: Vec<(VarId, Need)>) -> Vec<(VarId, Need)> {
    variables.sort_unstable();
    variables.dedup_by_key(|(id, _)| *id);
    variables
}
