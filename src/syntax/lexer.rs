//! Text to tokens; it never fails.
//!
//! What is no token becomes one of the faulty kinds ([`Token::is_faulty`]), so that a fault spoils one statement and not the file.

use logos::Logos;

use super::token::Token;

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    /// What it is.
    pub token: Token,
    /// Whether a line ends between it and the token before.
    pub first: bool,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Lexeme {
    /// Its text.
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }

    /// Its place as indices into the text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// All tokens, comments and line ends included. Texts of 4 GiB and more are cut there.
pub fn lex(text: &str) -> impl Iterator<Item = Lexeme> {
    let mut first = true;
    Token::lexer(text).spanned().map_while(move |(token, range)| {
        let token = token.unwrap_or(Token::Invalid);
        let lexeme = Lexeme { token, first, start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? };
        first = match token {
            Token::Newline => true,
            Token::BlockComment => first || lexeme.text(text).contains('\n'),
            _ => false,
        };
        Some(lexeme)
    })
}

/// The places of all comments, in their order.
pub fn comments(text: &str) -> Vec<std::ops::Range<usize>> {
    let comment = |lexeme: &Lexeme| matches!(lexeme.token, Token::Comment | Token::BlockComment | Token::UnterminatedComment);
    lex(text).filter(comment).map(Lexeme::range).collect()
}

/// The tokens that mean something: without comments and line ends, words that were glued to `column` taken apart.
pub(super) fn meaningful(text: &str) -> Vec<Lexeme> {
    let mut lexemes = Vec::with_capacity(text.len() / 4);
    for lexeme in lex(text).filter(|lexeme| !matches!(lexeme.token, Token::Newline | Token::Comment | Token::BlockComment)) {
        if lexeme.token == Token::Colon {
            unglue(&mut lexemes, text);
        }
        lexemes.push(lexeme);
    }
    lexemes
}

/// Takes the last token apart if it is `andcolumn` or `orcolumn` after an operand, or `notcolumn` where an operand is due: the
/// reference implementation asks for no blank there.
fn unglue(lexemes: &mut Vec<Lexeme>, text: &str) {
    let [.., before, last] = lexemes.as_slice() else { return };
    let wanted = matches!(before.token, Token::Where | Token::And | Token::Or);
    let (word, fits) = match last.text(text) {
        "andcolumn" => (Token::And, before.token.ends_operand()),
        "orcolumn" => (Token::Or, before.token.ends_operand()),
        "notcolumn" => (Token::Not, wanted),
        _ => return,
    };
    if fits {
        let whole = *last;
        let middle = whole.end - "column".len() as u32;
        lexemes.pop();
        lexemes.push(Lexeme { token: word, end: middle, ..whole });
        lexemes.push(Lexeme { token: Token::Column, start: middle, first: false, ..whole });
    }
}
