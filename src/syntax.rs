//! From text to tree.
//!
//! ```text
//! text ──lexer──▶ tokens ──layout──▶ pieces of finer tokens ──parser──▶ statements
//! ```
//!
//! Nothing here fails: a statement with a fault is left out of the tree and has one [`Diagnostic`], and the others are parsed all the
//! same. The grammar is `grammar/scl.lalrpop`; the parser that is made of it is known to `parser` only.

mod allow;
pub mod ast;
mod build;
mod depth;
mod diagnostics;
pub mod dump;
mod explain;
pub mod format;
pub mod layout;
pub mod lexer;
mod parser;
pub mod token;

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

use ast::{Ast, Expr, Parameter, Statement};
use build::{Builder, Entry};
use layout::{Layout, Piece};
use lexer::Lexeme;
use parser::{Misfit, Start};
use token::Token;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, clippy::unwrap_used, missing_docs, unused_imports, unused_parens, unused_qualifications)]
    scl
);

/// How many diagnostics of one text are shown.
const SHOWN: usize = 50;

/// Parses a program. Statements with faults are left out; each has one diagnostic, in the order of the text.
pub fn parse(file: FileId, text: &str) -> (Ast, Vec<Diagnostic>) {
    let layout = layout::layout(text);
    let reader = Reader::new(file, text, &layout);
    let mut ast = Ast { statements: Vec::with_capacity(layout.pieces.len()), allowances: Vec::new() };
    let mut faults = Vec::new();
    let mut more = Vec::new();
    for piece in &layout.pieces {
        match reader.statement(piece) {
            Ok(statement) => ast.statements.push(*statement),
            Err(flaw) if faults.len() < SHOWN => faults.push(reader.explain(piece, Start::Statement, flaw)),
            Err(_) => more.push(reader.span(piece.tokens.clone())),
        }
    }
    ast.allowances = allow::allowances(file, text, &ast.statements);
    faults.extend(more.first().map(|next| diagnostics::more(more.len(), *next)));
    if u32::try_from(text.len()).is_err() {
        faults.push(diagnostics::too_long(Span::new(file, text.len(), text.len())));
    }
    (ast, faults)
}

/// Whether a session should read another line before it takes the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// It is a program, a bare expression or nothing.
    Complete,
    /// A longer text may be one.
    Incomplete {
        /// Where the next line is best begun, in characters: behind the innermost open bracket, else behind the first `=`.
        indent: usize,
    },
    /// No longer text can be one.
    Invalid,
}

/// Tells whether a text is complete.
pub fn completeness(text: &str) -> Completeness {
    let layout = layout::layout(text);
    // whatever stands on the lines behind an open quote is part of the string
    let open = layout.tokens.iter().find(|lexeme| lexeme.token == Token::UnterminatedString).map(|open| open.end as usize);
    if let Some(begun) = open.and_then(|end| text.get(..end)).filter(|begun| begun.len() < text.trim_end().len()) {
        return completeness(begun);
    }
    let reader = Reader::new(FileId::default(), text, &layout);
    let last = layout.pieces.len().saturating_sub(1);
    let bare = layout.pieces.len() == 1;
    layout
        .pieces
        .iter()
        .enumerate()
        .map(|(index, piece)| reader.completeness(piece, index == last, bare))
        .max()
        .unwrap_or(Completeness::Complete)
}

/// Parses what may stand in `print`: an expression and the unit to convert it to.
pub fn parse_parameter(file: FileId, text: &str) -> (Option<Parameter>, Vec<Diagnostic>) {
    let layout = layout::layout(text);
    let reader = Reader::new(file, text, &layout);
    let fault = match layout.pieces.as_slice() {
        [] => diagnostics::no_expression(Span::new(file, 0, text.len())),
        [piece] => match reader.expression(piece) {
            Ok(parameter) => return (Some(*parameter), Vec::new()),
            Err(flaw) => reader.explain(piece, Start::Expression, flaw),
        },
        [_, second, ..] => diagnostics::second_expression(reader.span(second.tokens.clone())),
    };
    (None, vec![fault])
}

/// Parses a bare expression.
pub fn parse_expression(file: FileId, text: &str) -> (Option<Expr>, Vec<Diagnostic>) {
    let (parameter, faults) = parse_parameter(file, text);
    match parameter {
        Some(Parameter { unit: Some(unit), .. }) => (None, vec![diagnostics::unit_of_value(unit.span)]),
        parameter => (parameter.map(|parameter| parameter.value), faults),
    }
}

/// What is wrong with a piece; its explanation costs more than parsing it.
enum Flaw {
    Known(Box<Diagnostic>),
    Misfit(Misfit),
}

/// Turns pieces into trees or diagnostics.
struct Reader<'t> {
    text: &'t str,
    file: FileId,
    layout: &'t Layout,
    builder: Builder<'t>,
}

impl<'t> Reader<'t> {
    fn new(file: FileId, text: &'t str, layout: &'t Layout) -> Self {
        Reader { text, file, layout, builder: Builder::new(file, text) }
    }

    fn statement(&self, piece: &Piece) -> Result<Box<Statement>, Flaw> {
        match self.entry(piece, Start::Statement)? {
            Entry::Statement(statement) => Ok(statement),
            Entry::Expression(parameter) => Err(Flaw::Known(Box::new(diagnostics::expression_as_statement(&parameter.value)))),
        }
    }

    fn expression(&self, piece: &Piece) -> Result<Box<Parameter>, Flaw> {
        match self.entry(piece, Start::Expression)? {
            Entry::Expression(parameter) => Ok(parameter),
            Entry::Statement(statement) => Err(Flaw::Known(Box::new(diagnostics::no_expression(statement.span)))),
        }
    }

    fn entry(&self, piece: &Piece, start: Start) -> Result<Entry, Flaw> {
        let tokens = &self.layout.tokens[piece.tokens.clone()];
        if let Some(fault) = self.unfit(piece, tokens) {
            return Err(Flaw::Known(Box::new(fault)));
        }
        let entry = parser::parse_piece(&self.builder, tokens, start);
        let fault = self.builder.take_faults().into_iter().next();
        match (entry, fault) {
            (Err(misfit), _) => Err(Flaw::Misfit(misfit)),
            (Ok(_), Some(fault)) => Err(Flaw::Known(Box::new(fault))),
            (Ok(entry), None) => Ok(entry),
        }
    }

    /// What forbids to parse the piece at all.
    fn unfit(&self, piece: &Piece, tokens: &[Lexeme]) -> Option<Diagnostic> {
        explain::unsupported(self.file, self.text, tokens)
            .or_else(|| explain::faulty_token(self.file, self.text, tokens))
            .or_else(|| piece.too_deep.map(|at| diagnostics::too_deep(self.span(at..at + 1))))
    }

    fn explain(&self, piece: &Piece, start: Start, flaw: Flaw) -> Diagnostic {
        let misfit = match flaw {
            Flaw::Known(fault) => return *fault,
            Flaw::Misfit(misfit) => misfit,
        };
        let tokens = &self.layout.tokens[piece.tokens.clone()];
        if start == Start::Statement
            && let Ok(Entry::Expression(parameter)) = parser::parse_piece(&self.builder, tokens, Start::Expression)
        {
            return diagnostics::expression_as_statement(&parameter.value);
        }
        explain::explain(self.file, self.text, tokens, &misfit)
    }

    /// Of one piece; a `bare` one may be an expression.
    fn completeness(&self, piece: &Piece, is_last: bool, bare: bool) -> Completeness {
        let tokens = &self.layout.tokens[piece.tokens.clone()];
        if self.unfit(piece, tokens).is_some() {
            let first = tokens.iter().position(|lexeme| lexeme.token.is_faulty());
            let open = |at: usize| matches!(tokens[at].token, Token::UnterminatedComment | Token::UnterminatedString);
            let only_open = first.is_some_and(|first| first + 1 == tokens.len() && open(first));
            return if only_open && is_last { Completeness::Incomplete { indent: 0 } } else { Completeness::Invalid };
        }
        let Err(misfit) = parser::parse_piece(&self.builder, tokens, Start::Statement) else { return Completeness::Complete };
        let expression = bare.then(|| parser::parse_piece(&self.builder, tokens, Start::Expression).map_err(|misfit| misfit.at));
        match expression {
            Some(Ok(_)) => Completeness::Complete,
            Some(Err(at)) if at == tokens.len() => self.incomplete(tokens),
            _ if is_last && misfit.at == tokens.len() => self.incomplete(tokens),
            _ => Completeness::Invalid,
        }
    }

    fn incomplete(&self, tokens: &[Lexeme]) -> Completeness {
        let column = |lexeme: Lexeme| {
            let before = self.text.get(..lexeme.end as usize).unwrap_or("");
            before.rsplit('\n').next().map_or(0, |line| line.chars().count())
        };
        let definition = tokens.iter().find(|lexeme| matches!(lexeme.token, Token::Define | Token::Update));
        let indent = match explain::innermost_open(tokens, tokens.len()) {
            Some(bracket) => column(bracket),
            None => definition.map_or(0, |lexeme| column(*lexeme) + 1),
        };
        Completeness::Incomplete { indent }
    }

    fn span(&self, tokens: Range<usize>) -> Span {
        let tokens = self.layout.tokens.get(tokens).unwrap_or_default();
        let (start, end) = (tokens.first().map_or(0, |lexeme| lexeme.start), tokens.last().map_or(0, |lexeme| lexeme.end));
        Span { file: self.file, start, end }
    }
}
