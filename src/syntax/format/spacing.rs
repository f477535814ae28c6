//! Where a blank stands between two tokens of a statement.

use crate::syntax::lexer::Lexeme;
use crate::syntax::token::Token;

/// For each token of a statement, whether a blank stands before it if it is on the line of the token before.
pub fn blanks(tokens: &[Lexeme]) -> Vec<bool> {
    let mut open = Vec::new();
    let mut blanks = Vec::with_capacity(tokens.len());
    for (at, lexeme) in tokens.iter().enumerate() {
        // units and indices are written without blanks
        let tight = matches!(open.last(), Some(Token::OpenUnit | Token::OpenTarget | Token::OpenIndex));
        blanks.push(!tight && before(tokens, at) && after_previous(tokens, at));
        if lexeme.token.opens() {
            open.push(lexeme.token);
        } else if lexeme.token.closes() {
            open.pop();
        }
    }
    blanks
}

/// Whether the token bears a blank before it.
fn before(tokens: &[Lexeme], at: usize) -> bool {
    use Token::*;
    match tokens[at].token {
        Comma | SelectComma | CloseParen | CloseBracket | CloseBrace | Colon | PropertyColon | Dot | Power | OpenIndex => false,
        OpenCall => is_set_off(tokens, at),
        Plus | Minus => token(tokens, at, 1) != Some(RealPart),
        _ => true,
    }
}

/// Whether the token before bears a blank after it.
fn after_previous(tokens: &[Lexeme], at: usize) -> bool {
    use Token::*;
    match token(tokens, at, 1) {
        None | Some(Dot | Power | PropertyColon | LiteralSign) => false,
        Some(Colon) => token(tokens, at, 2) == Some(Key),
        Some(Plus | Minus) => is_between_operands(tokens, at - 1),
        Some(previous) => !previous.opens(),
    }
}

/// `Table (…)` and `view mode (…)` are written with a blank, other calls without.
fn is_set_off(tokens: &[Lexeme], at: usize) -> bool {
    token(tokens, at, 1) == Some(Token::Table) || token(tokens, at, 2) == Some(Token::View)
}

/// Whether the sign adds or subtracts. It does not within a complex number, nor behind the `for` or `on` of an annotation, which unlike
/// those that are names follow an operand.
fn is_between_operands(tokens: &[Lexeme], at: usize) -> bool {
    match token(tokens, at, 1) {
        Some(Token::For | Token::On) => {
            !token(tokens, at, 2).is_some_and(|token| token.ends_operand() || token == Token::Question || token == Token::Core)
        }
        Some(previous) => previous.ends_operand(),
        None => false,
    }
}

/// The token that stands so many before.
fn token(tokens: &[Lexeme], at: usize, back: usize) -> Option<Token> {
    Some(tokens.get(at.checked_sub(back)?)?.token)
}
