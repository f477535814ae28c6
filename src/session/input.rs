//! What a text is: a magic, a program, or an expression that is to be printed.

use crate::diagnostic::{Diagnostic, has_errors};
use crate::source::FileId;
use crate::syntax::ast::{Ast, Parameter, Statement, StatementKind};
use crate::syntax::layout::layout;
use crate::syntax::lexer::lex;
use crate::syntax::token::Token;
use crate::syntax::{self, Completeness};

/// What begins a magic.
pub const MAGIC: char = '%';

/// An input as it was understood.
#[derive(Debug)]
pub enum Input {
    /// Blanks and comments.
    Nothing,
    /// Something for the session itself.
    Magic,
    /// Statements; a bare expression is a print of it.
    Program(Ast),
    /// None of them.
    Faulty(Vec<Diagnostic>),
}

/// Whether another line is to be read before a text is taken; a magic is a line.
pub fn completeness(text: &str) -> Completeness {
    if is_magic(text) { Completeness::Complete } else { syntax::completeness(text) }
}

/// Whether somebody who types wants another line, and if so, with how many blanks it begins when the first line stands behind a prompt
/// of some width, and the others behind nothing. An empty line ends what is not complete.
pub fn next_line(text: &str, prompt: usize) -> Option<usize> {
    // what the prompt takes on the screen
    let shifted = format!("{}{text}", " ".repeat(prompt));
    let Completeness::Incomplete { indent } = completeness(&shifted) else { return None };
    let open = lex(text).map(|lexeme| lexeme.token).find(|token| matches!(token, Token::UnterminatedString | Token::UnterminatedComment));
    match (text.rsplit_once('\n'), open) {
        (Some((_, last)), None | Some(Token::UnterminatedString)) if last.trim().is_empty() => None,
        // blanks would be part of it
        (_, Some(_)) => Some(0),
        (_, None) => Some(indent.max(prompt)),
    }
}

/// Whether a text is for the session itself.
pub fn is_magic(text: &str) -> bool {
    text.trim_start().starts_with(MAGIC)
}

/// Understands a text.
pub fn read(file: FileId, text: &str) -> Input {
    if is_magic(text) {
        return Input::Magic;
    }
    let (program, faults) = syntax::parse(file, text);
    if !has_errors(&faults) {
        return if program.statements.is_empty() { Input::Nothing } else { Input::Program(program) };
    }
    match syntax::parse_parameter(file, text) {
        (Some(parameter), _) => Input::Program(Ast { statements: vec![print(parameter)], ..program }),
        (None, others) => Input::Faulty(clearer(text, faults, others)),
    }
}

fn print(parameter: Parameter) -> Statement {
    let value = parameter.value.span;
    let span = parameter.unit.as_ref().map_or(value, |unit| value.to(unit.span));
    Statement { span, kind: StatementKind::Print(vec![parameter]) }
}

/// Of one piece of text the reading that goes further before it fails says better what is wrong.
fn clearer(text: &str, statement: Vec<Diagnostic>, expression: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let place = |faults: &[Diagnostic]| faults.first().map(|fault| fault.span().start);
    let alone = layout(text).pieces.len() == 1;
    if alone && place(&expression) > place(&statement) { expression } else { statement }
}
