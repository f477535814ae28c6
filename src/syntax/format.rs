//! One way to write a program.
//!
//! It works on tokens, not on the tree: what is between two tokens of a statement follows from the two and the bracket that they are
//! in, so literals, names of units and comments keep their spelling. Each statement is read again, and stays as it was written if it
//! has not the same tokens any more, or comments where no line can end.
//!
//! ```text
//! b=2 ;a = f( x,y )*2[ m ]    →    b = 2
//!                                  a = f(x, y) * 2 [m]
//! ```

mod lines;
mod outline;
mod spacing;

use super::layout::{self, Layout};
use super::lexer::Lexeme;
use crate::diagnostic::{Diagnostic, has_errors};
use crate::source::FileId;

use lines::{Anchor, Block, Remark};
use outline::{Comment, Entry, Item};

/// Formats a program; one with errors in its syntax is refused with its diagnostics.
///
/// The result has the same statements and comments in the same order, and formatting it again changes nothing.
pub fn format(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, diagnostics) = super::parse(file, text);
    if has_errors(&diagnostics) {
        return Err(diagnostics);
    }
    let layout = layout::layout(text);
    let entries = outline::entries(text, &layout);
    let mut written: Vec<Written> = entries.iter().map(|entry| Written::new(text, &layout, entry)).collect();
    separate(&mut written);
    align(&mut written);
    Ok(written.iter().map(Written::lines).collect())
}

/// Some lines of the formatted text.
struct Written {
    /// Whether an empty line stands before them.
    blank: bool,
    /// A statement, or nothing.
    code: String,
    /// What stands behind it, or alone.
    comments: String,
    /// Where the comments stood.
    column: usize,
    /// Whether more than a blank was left before them.
    apart: bool,
}

impl Written {
    fn new(text: &str, layout: &Layout, entry: &Entry) -> Written {
        let blank = entry.blank;
        match &entry.item {
            Item::Comment(comment) => Written { blank, code: String::new(), comments: comment.text.clone(), column: 0, apart: false },
            Item::Statement { piece, within, behind } => {
                let block = block(text, &layout.tokens[piece.clone()], within);
                let column = behind.first().map_or(0, |first| lines::column(text, block.anchor, first.start));
                let apart = behind.first().is_some_and(|first| is_apart(text, first));
                let comments: Vec<&str> = behind.iter().map(|comment| comment.text.as_str()).collect();
                Written { blank, code: block.text, comments: comments.join(" "), column, apart }
            }
        }
    }

    /// Whether its comment stands below one of a statement on the line before.
    fn is_below(&self, other: &Written) -> bool {
        let joined = !self.blank && !self.code.contains('\n') && !other.comments.contains('\n');
        let commented = |written: &Written| !written.code.is_empty() && !written.comments.is_empty();
        joined && commented(self) && commented(other) && self.column == other.column && self.column > 0
    }

    /// The first column that is free behind a blank.
    fn free(&self) -> usize {
        self.code.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1
    }

    fn lines(&self) -> String {
        let blank = if self.blank { "\n" } else { "" };
        let behind = !self.code.is_empty() && !self.comments.is_empty();
        let gap = if behind { self.column.saturating_sub(self.free()) + 1 } else { 0 };
        [blank, &self.code, &" ".repeat(gap), &self.comments, "\n"].concat()
    }
}

fn is_apart(text: &str, comment: &Comment) -> bool {
    let before = text.get(..comment.start).unwrap_or_default();
    before.len() - before.trim_end().len() > 1
}

/// Comments that stood below each other still do, where the longest of their lines leaves room. One by itself keeps its column only if
/// that looks intended.
fn align(written: &mut [Written]) {
    for run in written.chunk_by_mut(|above, below| below.is_below(above)) {
        if let [line] = run
            && !line.apart
        {
            line.column = 0;
        }
        // a line that is too wide leaves the others where they are
        let free = run.iter().map(Written::free).filter(|free| *free <= lines::WIDTH).max().unwrap_or(0);
        run.iter_mut().for_each(|line| line.column = line.column.max(free));
    }
}

/// A new line separates statements, save a few that would go on with the one before; those need a semicolon.
fn separate(written: &mut [Written]) {
    let mut before: Option<usize> = None;
    for at in 0..written.len() {
        if written[at].code.is_empty() {
            continue;
        }
        if let Some(before) = before.replace(at)
            && layout::layout(&format!("{}\n{}", written[before].code, written[at].code)).pieces.len() < 2
        {
            written[before].code.push(';');
        }
    }
}

/// A statement, formatted if that is safe.
fn block(text: &str, tokens: &[Lexeme], within: &[(usize, Comment)]) -> Block {
    let mut statement = lines::Statement::new(text, tokens);
    let placed = within.iter().all(|(behind, comment)| {
        let remark = Remark { start: comment.start, text: comment.text.clone(), trails: comment.trails };
        comment.ends_line && statement.remark(*behind, remark)
    });
    let is_safe = |block: &Block| is_same(text, tokens, &block.text);
    // the last line of an export, if it is broken, can look like an export of its own
    let formatted = if placed { Some(statement.write()).filter(is_safe).or_else(|| statement.write_flat().filter(is_safe)) } else { None };
    formatted.unwrap_or_else(|| as_written(text, tokens))
}

/// Whether a statement has the same tokens in another text of it.
fn is_same(text: &str, tokens: &[Lexeme], other: &str) -> bool {
    let layout = layout::layout(other);
    let same = |(left, right): (&Lexeme, &Lexeme)| left.token == right.token && left.text(text) == right.text(other);
    layout.pieces.len() == 1 && layout.tokens.len() == tokens.len() && tokens.iter().zip(&layout.tokens).all(same)
}

fn as_written(text: &str, tokens: &[Lexeme]) -> Block {
    let (start, end) = (tokens.first().map_or(0, |first| first.range().start), tokens.last().map_or(0, |last| last.range().end));
    let code = text.get(start..end).unwrap_or_default();
    let begins_line = tokens.first().is_some_and(|first| first.first);
    let anchor = match code.rfind('\n') {
        Some(line) => Some(Anchor { start: start + line + 1, column: 0 }),
        None => begins_line.then_some(Anchor { start, column: 0 }),
    };
    Block { text: code.to_owned(), anchor }
}
