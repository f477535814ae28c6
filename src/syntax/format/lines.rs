//! The lines of one statement.
//!
//! A line ends after a comma within brackets only. A bracket is broken if it does not fit, up to where the next line could end; if the
//! author began a line with each of its elements; or if a comment stands between them. Then each element begins a line below the
//! first, but elements without lists of their own, numbers most of the time, fill the lines instead if there is not such a reason.

use std::ops::Range;

use super::spacing;
use crate::syntax::lexer::Lexeme;
use crate::syntax::token::Token;

/// The widest line, if it can be helped.
pub const WIDTH: usize = 100;

/// The widest indentation, however far to the right a bracket begins.
const DEEPEST: usize = 60;

/// A comment between two elements of a bracket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// First byte.
    pub start: usize,
    /// Without blanks at its end.
    pub text: String,
    /// Whether it is on the line of the comma before it.
    pub trails: bool,
}

/// A place of the source that begins a line both there and in what is written, for comments to keep their column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// First byte of the source.
    pub start: usize,
    /// In characters.
    pub column: usize,
}

/// A statement as written.
pub struct Block {
    /// Without an end of line.
    pub text: String,
    /// The beginning of the last line, if it began a line before.
    pub anchor: Option<Anchor>,
}

/// A statement to be written.
pub struct Statement<'t> {
    source: &'t str,
    tokens: &'t [Lexeme],
    blanks: Vec<bool>,
    /// Where each token would stand if all were on one line.
    flat: Vec<Range<usize>>,
    brackets: Vec<Option<Bracket>>,
    /// For each token the remarks behind it.
    remarks: Vec<Vec<Remark>>,
    /// For each token the next comma, itself or behind it, where a line can end; else the last token.
    next_break: Vec<usize>,
}

/// Of an opening bracket.
#[derive(Clone, Debug, Default)]
struct Bracket {
    close: usize,
    /// Where lines can end.
    commas: Vec<usize>,
    /// Whether it is broken even if it fits.
    forced: bool,
    /// Whether a bracket with commas is in it.
    nested: bool,
}

/// What is done at a bracket's commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Flat,
    Fill,
    Lines,
}

/// A bracket that is being written.
struct Frame {
    open: usize,
    mode: Mode,
    indent: usize,
}

impl<'t> Statement<'t> {
    /// Of its tokens.
    pub fn new(source: &'t str, tokens: &'t [Lexeme]) -> Self {
        let blanks = spacing::blanks(tokens);
        let mut end = 0;
        let flat = tokens.iter().zip(&blanks).map(|(lexeme, blank)| {
            let start = end + usize::from(*blank);
            end = start + lexeme.text(source).chars().count();
            start..end
        });
        let flat = flat.collect();
        let brackets = brackets(tokens);
        let next_break = next_breaks(tokens.len(), &brackets);
        Statement { source, tokens, blanks, flat, brackets, remarks: vec![Vec::new(); tokens.len()], next_break }
    }

    /// Adds a comment behind a token; `false` if no line can end there.
    pub fn remark(&mut self, behind: usize, remark: Remark) -> bool {
        let fits = self.next_break[behind] == behind && behind + 1 < self.tokens.len();
        if fits {
            self.remarks[behind].push(remark);
        }
        fits
    }

    /// Writes it.
    pub fn write(&mut self) -> Block {
        self.force();
        Writer::new(self, true).write()
    }

    /// Writes it on one line however long that is, unless there are remarks.
    pub fn write_flat(&self) -> Option<Block> {
        self.remarks.iter().all(Vec::is_empty).then(|| Writer::new(self, false).write())
    }

    /// A bracket that is broken breaks those around it.
    fn force(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.tokens.len() {
            if let Some(bracket) = &mut self.brackets[at] {
                let kept = !bracket.commas.is_empty() && bracket.commas.iter().all(|comma| self.tokens[comma + 1].first);
                bracket.forced = kept || bracket.commas.iter().any(|comma| !self.remarks[*comma].is_empty());
                open.push(at);
            } else if self.tokens[at].token.closes() {
                let inner = open.pop().and_then(|inner| self.brackets[inner].as_ref());
                let Some((forced, nested)) = inner.map(|inner| (inner.forced, inner.nested || !inner.commas.is_empty())) else { continue };
                if let Some(outer) = open.last().and_then(|outer| self.brackets[*outer].as_mut()) {
                    outer.forced |= forced;
                    outer.nested |= nested;
                }
            }
        }
    }

    /// The width of tokens on one line.
    fn width(&self, first: usize, last: usize) -> usize {
        self.flat[last].end - self.flat[first].start
    }

    /// Whether a bracket, written from this column on, fits with all behind it up to where the next line can end.
    fn fits(&self, open: usize, close: usize, column: usize) -> bool {
        column + self.width(open, self.next_break[close]) <= WIDTH
    }
}

/// Brackets by their first token.
fn brackets(tokens: &[Lexeme]) -> Vec<Option<Bracket>> {
    let mut brackets = vec![None; tokens.len()];
    let mut open: Vec<(usize, Bracket)> = Vec::new();
    for (at, lexeme) in tokens.iter().enumerate() {
        if lexeme.token.opens() {
            open.push((at, Bracket::default()));
        } else if lexeme.token.closes() {
            if let Some((first, bracket)) = open.pop() {
                brackets[first] = Some(Bracket { close: at, ..bracket });
            }
        } else if lexeme.token == Token::Comma
            && let Some((first, bracket)) = open.last_mut()
            && tokens.get(at + 1).is_some_and(|next| !next.token.closes())
            && !is_lambda(tokens, *first)
        {
            bracket.commas.push(at);
        }
    }
    brackets
}

/// Parameters of a lambda stay on one line.
fn is_lambda(tokens: &[Lexeme], open: usize) -> bool {
    let before = |back: usize| Some(tokens.get(open.checked_sub(back)?)?.token);
    tokens[open].token == Token::OpenParen
        && before(1) == Some(Token::OpenCall)
        && matches!(before(2), Some(Token::Map | Token::Filter | Token::Reduce))
}

fn next_breaks(count: usize, brackets: &[Option<Bracket>]) -> Vec<usize> {
    let mut next: Vec<usize> = vec![count.saturating_sub(1); count];
    for comma in brackets.iter().flatten().flat_map(|bracket| &bracket.commas) {
        next[*comma] = *comma;
    }
    for at in (1..count).rev() {
        if next[at - 1] != at - 1 {
            next[at - 1] = next[at];
        }
    }
    next
}

struct Writer<'s, 't> {
    statement: &'s Statement<'t>,
    out: String,
    /// Characters of the line so far.
    column: usize,
    frames: Vec<Frame>,
    anchor: Option<Anchor>,
    /// Whether lines may end.
    breaks: bool,
}

impl<'s, 't> Writer<'s, 't> {
    fn new(statement: &'s Statement<'t>, breaks: bool) -> Self {
        Writer { statement, out: String::new(), column: 0, frames: Vec::new(), anchor: None, breaks }
    }

    fn write(mut self) -> Block {
        for at in 0..self.statement.tokens.len() {
            self.gap(at);
            let lexeme = self.statement.tokens[at];
            let begin = self.column;
            self.push(lexeme.text(self.statement.source));
            if lexeme.token.opens() {
                self.open(at, begin);
            } else if lexeme.token.closes() {
                self.frames.pop();
            }
        }
        Block { text: self.out, anchor: self.anchor }
    }

    /// Writes what stands before a token.
    fn gap(&mut self, at: usize) {
        match self.indent(at) {
            Some(indent) => self.end_line(at, indent),
            None if at == 0 => self.set_anchor(at),
            None if self.statement.blanks[at] => self.push(" "),
            None => {}
        }
    }

    /// Where the token begins if it begins a line.
    fn indent(&self, at: usize) -> Option<usize> {
        let statement = self.statement;
        let (comma, frame) = (at.checked_sub(1)?, self.frames.last()?);
        let bracket = statement.brackets[frame.open].as_ref()?;
        let place = bracket.commas.binary_search(&comma).ok()?;
        let last = bracket.commas.get(place + 1).copied().unwrap_or(statement.next_break[bracket.close]);
        let breaks = match frame.mode {
            Mode::Flat => false,
            Mode::Fill => self.column + 1 + statement.width(at, last) > WIDTH,
            Mode::Lines => true,
        };
        breaks.then_some(frame.indent)
    }

    fn end_line(&mut self, at: usize, indent: usize) {
        let statement = self.statement;
        for (place, remark) in statement.remarks[at - 1].iter().enumerate() {
            match (remark.trails, place) {
                (true, 0) => {
                    let column = column(statement.source, self.anchor, remark.start);
                    self.push(&" ".repeat(column.saturating_sub(self.column).max(1)));
                }
                (true, _) => self.push(" "),
                (false, _) => self.begin_line(indent),
            }
            self.push(&remark.text);
        }
        self.begin_line(indent);
        self.set_anchor(at);
    }

    fn begin_line(&mut self, indent: usize) {
        self.push("\n");
        self.push(&" ".repeat(indent));
    }

    fn set_anchor(&mut self, at: usize) {
        let lexeme = self.statement.tokens[at];
        self.anchor = lexeme.first.then_some(Anchor { start: lexeme.range().start, column: self.column });
    }

    /// Decides how the bracket is written, which began at this column.
    fn open(&mut self, at: usize, begin: usize) {
        let statement = self.statement;
        let Some(bracket) = &statement.brackets[at] else { return };
        let mode = match bracket {
            Bracket { commas, .. } if commas.is_empty() || !self.breaks => Mode::Flat,
            Bracket { forced: false, close, .. } if statement.fits(at, *close, begin) => Mode::Flat,
            Bracket { forced: false, nested: false, .. } => Mode::Fill,
            Bracket { .. } => Mode::Lines,
        };
        // elements of a series stand below the first, not below its name
        let named =
            statement.tokens[at].token == Token::OpenParen && statement.tokens.get(at + 1).is_some_and(|next| next.token == Token::Key);
        let first = if named { at + 3 } else { at + 1 };
        let indent = begin + statement.flat.get(first).map_or(1, |first| first.start - statement.flat[at].start);
        self.frames.push(Frame { open: at, mode, indent: indent.min(DEEPEST) });
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, line)) => line.chars().count(),
            None => self.column + text.chars().count(),
        };
    }
}

/// The column that a comment had relative to the beginning of its line; 0 if the line was another.
pub fn column(source: &str, anchor: Option<Anchor>, comment: usize) -> usize {
    let Some(Anchor { start, column }) = anchor else { return 0 };
    let line = source.get(start..comment).filter(|line| !line.contains('\n'));
    line.map_or(0, |line| column + line.chars().count())
}
