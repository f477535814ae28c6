//! Warnings of what is sound and yet hardly meant: a rule a file, the words of all in [`warnings`].
//!
//! Two rules of precedence ([`lower`](super::lower)) and what has no effect are said wherever a program is checked; the rules here
//! only of a whole program, as a session goes on and may use tomorrow what it does not use today.

use crate::diagnostic::Diagnostic;
use crate::syntax::ast::Ast;

mod allowances;
mod warnings;

pub(super) use allowances::silence;

/// What is suspicious about a program without errors, in the order of the rules.
pub(super) fn lint(ast: &Ast) -> Vec<Diagnostic> {
    allowances::faulty(ast)
}
