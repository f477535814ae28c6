//! The only place that knows LALRPOP: one function from the tokens of a piece to a tree, or to the token that did not fit.

use lalrpop_util::ParseError;

use super::build::{Builder, Entry};
use super::lexer::Lexeme;
use super::scl::EntryParser;
use super::token::Token;

/// What a piece is parsed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Statement,
    Expression,
}

/// Where the grammar could not go on.
#[derive(Debug)]
pub(super) struct Misfit {
    /// The index of the token among those of the piece; their number when more was expected.
    pub(super) at: usize,
    /// What would have fitted, as the grammar spells its tokens.
    pub(super) expected: Vec<String>,
}

/// Parses the tokens of one piece.
pub(super) fn parse_piece(builder: &Builder<'_>, tokens: &[Lexeme], start: Start) -> Result<Entry, Misfit> {
    let marker = match start {
        Start::Statement => Token::StartStatement,
        Start::Expression => Token::StartExpression,
    };
    let from = tokens.first().map_or(0, |lexeme| lexeme.start);
    let marker = std::iter::once((from, marker, from));
    let rest = tokens.iter().map(|lexeme| (lexeme.start, lexeme.token, lexeme.end));
    EntryParser::new().parse(builder, marker.chain(rest).map(Ok::<_, ()>)).map_err(|error| misfit(tokens, error))
}

fn misfit(tokens: &[Lexeme], error: ParseError<u32, Token, ()>) -> Misfit {
    let index = |start: u32| tokens.partition_point(|lexeme| lexeme.start < start);
    match error {
        ParseError::UnrecognizedToken { token, expected } => Misfit { at: index(token.0), expected },
        ParseError::ExtraToken { token } => Misfit { at: index(token.0), expected: Vec::new() },
        ParseError::UnrecognizedEof { expected, .. } => Misfit { at: tokens.len(), expected },
        ParseError::InvalidToken { location } => Misfit { at: index(location), expected: Vec::new() },
        ParseError::User { error: () } => Misfit { at: tokens.len(), expected: Vec::new() },
    }
}
