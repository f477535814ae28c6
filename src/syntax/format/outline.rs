//! What a text consists of: statements, comments, and where lines are left empty.

use std::iter::Peekable;
use std::ops::Range;

use crate::syntax::layout::{Layout, Piece};
use crate::syntax::lexer::{self, Lexeme};
use crate::syntax::token::Token;

/// A comment of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// First byte.
    pub start: usize,
    /// Without blanks at its end.
    pub text: String,
    /// Whether something else stands before it on its line.
    pub trails: bool,
    /// Whether nothing but comments stands behind it on its line.
    pub ends_line: bool,
}

/// A statement or comment that begins a line of the formatted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whether the author left lines empty before it; never for the first.
    pub blank: bool,
    /// What it is.
    pub item: Item,
}

/// See [`Entry`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// On lines of its own.
    Comment(Comment),
    /// With the comments that belong to it.
    Statement {
        /// Which tokens of the layout.
        piece: Range<usize>,
        /// Between its tokens, each with the token that it follows, counted within the statement.
        within: Vec<(usize, Comment)>,
        /// Behind its last token.
        behind: Vec<Comment>,
    },
}

/// All of a text, in its order.
pub fn entries(text: &str, layout: &Layout) -> Vec<Entry> {
    let lexemes: Vec<Lexeme> = lexer::lex(text).collect();
    let ends_line = ends_of_lines(&lexemes);
    let reader = Reader { text, ends_line, layout, pieces: layout.pieces.iter().peekable(), entries: Vec::new(), gap: Gap::default() };
    reader.read(&lexemes)
}

/// What was read since the last comment or token.
#[derive(Default)]
struct Gap {
    newlines: usize,
    semicolon: bool,
}

/// For each lexeme, whether nothing but comments stands behind it on its line.
fn ends_of_lines(lexemes: &[Lexeme]) -> Vec<bool> {
    let mut ends = vec![true; lexemes.len()];
    for at in (1..lexemes.len()).rev() {
        ends[at - 1] = match lexemes[at].token {
            Token::Comment | Token::BlockComment | Token::Semicolon => ends[at],
            token => token == Token::Newline,
        };
    }
    ends
}

struct Reader<'t> {
    text: &'t str,
    /// See [`ends_of_lines`].
    ends_line: Vec<bool>,
    layout: &'t Layout,
    /// Those that have not begun yet.
    pieces: Peekable<std::slice::Iter<'t, Piece>>,
    entries: Vec<Entry>,
    gap: Gap,
}

impl Reader<'_> {
    fn read(mut self, lexemes: &[Lexeme]) -> Vec<Entry> {
        let mut end = 0;
        for (at, lexeme) in lexemes.iter().enumerate() {
            match lexeme.token {
                Token::Newline => self.gap.newlines += 1,
                Token::Semicolon => self.gap = Gap { newlines: 0, semicolon: true },
                Token::Comment | Token::BlockComment if lexeme.range().start < end => self.within(self.comment(*lexeme, at)),
                Token::Comment | Token::BlockComment => self.between(self.comment(*lexeme, at)),
                _ => {
                    end = self.statement(*lexeme, end);
                    self.gap = Gap::default();
                }
            }
        }
        self.entries
    }

    /// Takes the statement that begins with the token unless that is within one, which ends at `end`; gives the end of its statement.
    fn statement(&mut self, lexeme: Lexeme, end: usize) -> usize {
        let Some(piece) = self.pieces.next_if(|_| lexeme.range().start >= end) else { return end };
        self.push(Item::Statement { piece: piece.tokens.clone(), within: Vec::new(), behind: Vec::new() });
        self.layout.tokens[piece.tokens.clone()].last().map_or(end, |last| last.range().end)
    }

    fn push(&mut self, item: Item) {
        let blank = self.gap.newlines > 1 && !self.entries.is_empty();
        self.entries.push(Entry { blank, item });
        self.gap = Gap::default();
    }

    fn comment(&self, lexeme: Lexeme, at: usize) -> Comment {
        let text = lexeme.text(self.text).trim_end().to_owned();
        Comment { start: lexeme.range().start, text, trails: self.gap.newlines == 0, ends_line: self.ends_line[at] }
    }

    fn within(&mut self, comment: Comment) {
        if let Some(Entry { item: Item::Statement { piece, within, .. }, .. }) = self.entries.last_mut() {
            let before = self.layout.tokens[piece.clone()].partition_point(|token| token.range().start < comment.start);
            within.push((before.saturating_sub(1), comment));
        }
        self.gap.newlines = 0;
    }

    /// A comment belongs to the statement before it on its line, unless a semicolon and another statement show that it does not.
    fn between(&mut self, comment: Comment) {
        let belongs = comment.trails && (!self.gap.semicolon || comment.ends_line);
        match self.entries.last_mut() {
            Some(Entry { item: Item::Statement { behind, .. }, .. }) if belongs => behind.push(comment),
            _ => self.push(Item::Comment(comment)),
        }
    }
}
