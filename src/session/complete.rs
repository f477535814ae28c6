//! What Tab offers: what may stand at a place of an unfinished text, and begins as it does.
//!
//! The tokens before the cursor tell what kind of thing is wanted: a magic, a file, a unit, a column, something to import, or a name
//! or word.

use super::vocabulary::Vocabulary;
use super::{input, magic};
use crate::builtin;
use crate::diagnostic::pages;
use crate::syntax::layout::layout;
use crate::syntax::lexer::{Lexeme, comments};
use crate::syntax::token::Token;

mod files;
mod units;

/// Something that may stand at the place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// As it is listed.
    pub shown: String,
    /// What replaces the text from the start of the completion to the cursor.
    pub inserted: String,
}

/// All candidates for a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the word begins that is completed, as a byte offset.
    pub start: usize,
    /// In the order in which they are listed.
    pub candidates: Vec<Candidate>,
}

/// Words that begin or join statements and expressions.
const WORDS: &[&str] = &[
    "BoolArray",
    "ComplexArray",
    "FloatArray",
    "IntArray",
    "Quantity",
    "Series",
    "StrArray",
    "String",
    "Table",
    "all",
    "and",
    "any",
    "chunks",
    "column",
    "default",
    "else",
    "false",
    "filter",
    "from",
    "if",
    "imag",
    "in",
    "info",
    "map",
    "not",
    "null",
    "or",
    "print",
    "range",
    "real",
    "reduce",
    "select",
    "step",
    "sum",
    "tag",
    "to",
    "true",
    "use",
    "vary",
    "view",
    "where",
    "with",
];

/// What may stand at a place of a text, given as a byte offset on the border of a character.
pub fn complete(text: &str, at: usize, vocabulary: &Vocabulary) -> Completion {
    let before = text.get(..at).unwrap_or(text);
    if input::is_magic(before) {
        return of_magic(before);
    }
    if comments(before).last().is_some_and(|comment| comment.end == before.len() && !before.ends_with("\"\"\"")) {
        return Completion::default();
    }
    let layout = layout(before);
    let piece = layout.pieces.last().map_or(&[][..], |piece| &layout.tokens[piece.tokens.clone()]);
    Place::new(before, piece).complete(vocabulary)
}

impl Completion {
    /// The sorted names that begin with the text from `start` on.
    fn of<'n>(before: &str, start: usize, names: impl IntoIterator<Item = &'n str>) -> Completion {
        let partial = before.get(start..).unwrap_or_default();
        let mut fitting: Vec<&str> = names.into_iter().filter(|name| name.starts_with(partial)).collect();
        fitting.sort_unstable();
        fitting.dedup();
        Completion { start, candidates: fitting.into_iter().map(Candidate::plain).collect() }
    }
}

impl Candidate {
    fn plain(name: &str) -> Candidate {
        Candidate { shown: name.to_owned(), inserted: name.to_owned() }
    }
}

/// Of a line that begins with `%`: its name, then what it takes.
fn of_magic(before: &str) -> Completion {
    let start = before.len() - before.trim_start().len() + input::MAGIC.len_utf8();
    let Some(name_end) = before.get(start..).and_then(|rest| rest.find(char::is_whitespace)).map(|end| start + end) else {
        return Completion::of(before, start, magic::names());
    };
    let argument = before.len() - before.get(name_end..).unwrap_or_default().trim_start().len();
    match before.get(start..name_end) {
        Some("help") => {
            // an empty word would offer them all
            let codes = pages::pages().map(|page| page.code).filter(|_| argument < before.len());
            Completion::of(before, argument, super::help::names().chain(all_imports()).chain(codes))
        }
        Some("load") => files::complete(before, argument),
        _ => Completion::default(),
    }
}

/// The end of an unfinished text.
struct Place<'t> {
    before: &'t str,
    /// The tokens of the last statement before the word.
    head: &'t [Lexeme],
    /// Where the word begins that is to be completed.
    start: usize,
}

impl<'t> Place<'t> {
    fn new(before: &'t str, piece: &'t [Lexeme]) -> Self {
        let is_word = |last: &Lexeme| last.end as usize == before.len() && (last.token.is_word() || is_part_of_word(last.token));
        match piece.split_last() {
            Some((last, head)) if is_word(last) => Place { before, head, start: last.start as usize },
            Some(_) | None => Place { before, head: piece, start: before.len() },
        }
    }

    fn partial(&self) -> &'t str {
        self.before.get(self.start..).unwrap_or_default()
    }

    fn text(&self, lexeme: Lexeme) -> &'t str {
        lexeme.text(self.before)
    }

    fn complete(&self, vocabulary: &Vocabulary) -> Completion {
        match self.head {
            [.., before, last] if last.token == Token::UnterminatedString => match before.token {
                Token::File => files::complete(self.before, last.start as usize),
                _ => Completion::default(),
            },
            [.., last] if last.token == Token::UnterminatedString => Completion::default(),
            [first, ..] if matches!(first.token, Token::Use | Token::From) => self.import(),
            _ if matches!(self.innermost_open(), Some(Token::OpenUnit | Token::OpenTarget)) => units::complete(self.before, self.start),
            [.., name, dot] if dot.token == Token::Dot => {
                let members = vocabulary.members(self.text(*name)).iter().map(AsRef::as_ref);
                Completion::of(self.before, self.start, members)
            }
            _ => self.name(vocabulary),
        }
    }

    /// Names of the model, and words once something was typed: an empty word would offer everything.
    fn name(&self, vocabulary: &Vocabulary) -> Completion {
        let names = vocabulary.names.keys().map(AsRef::as_ref);
        let words = WORDS.iter().copied().filter(|_| !self.partial().is_empty());
        Completion::of(self.before, self.start, names.chain(words))
    }

    /// `use names from module`, `from module use names`, `use module.name`
    fn import(&self) -> Completion {
        let position = |token| self.head.iter().rposition(|lexeme| lexeme.token == token);
        match (position(Token::Use), position(Token::From)) {
            (Some(used), Some(from)) if used > from => self.names_of(self.joined(from + 1..used)),
            (_, Some(from)) => self.module(from + 1, builtin::modules()),
            (Some(used), None) if self.head.last().is_some_and(|last| last.token == Token::Dot) => {
                self.names_of(self.joined(used + 1..self.head.len() - 1))
            }
            (Some(_), None) if self.partial().is_empty() => Completion::default(),
            (Some(_), None) => Completion::of(self.before, self.start, all_imports().chain(builtin::modules()).chain(["from"])),
            (None, None) => Completion::default(),
        }
    }

    fn names_of(&self, module: &str) -> Completion {
        Completion::of(self.before, self.start, builtin::names(module))
    }

    /// A module's name may have dots, so it begins with the first token behind `from`.
    fn module(&self, first: usize, modules: impl Iterator<Item = &'static str>) -> Completion {
        let start = self.head.get(first).map_or(self.start, |lexeme| lexeme.start as usize);
        Completion::of(self.before, start, modules)
    }

    fn joined(&self, tokens: std::ops::Range<usize>) -> &'t str {
        let tokens = self.head.get(tokens).unwrap_or_default();
        let range = tokens.first().zip(tokens.last()).map(|(first, last)| first.start as usize..last.end as usize);
        range.and_then(|range| self.before.get(range)).unwrap_or_default()
    }

    fn innermost_open(&self) -> Option<Token> {
        let mut open = Vec::new();
        for lexeme in self.head {
            if lexeme.token.opens() {
                open.push(lexeme.token);
            } else if lexeme.token.closes() {
                open.pop();
            }
        }
        open.last().copied()
    }
}

/// Whether a word can begin with it that is none of the usual ones: `°C`.
fn is_part_of_word(token: Token) -> bool {
    matches!(token, Token::Degree | Token::Key | Token::Imaginary | Token::IfCall | Token::InChunks)
}

/// Everything that can be imported from somewhere.
fn all_imports() -> impl Iterator<Item = &'static str> {
    builtin::modules().flat_map(builtin::names)
}

#[cfg(test)]
mod tests;
