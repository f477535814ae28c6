//! Comments that silence warnings: `# allow(W0604)`, or several codes with commas between them.
//!
//! Such a comment is about the statements on its line; on a line without any, about those on the next line that holds more than a
//! comment.

use std::ops::Range;
use std::sync::Arc;

use super::ast::{Allowance, Statement};
use super::lexer;
use crate::source::{FileId, Span, Spanned};

/// All of a text, in its order, as are the statements that they are about.
pub(super) fn allowances(file: FileId, text: &str, statements: &[Statement]) -> Vec<Allowance> {
    if !text.contains(BEGIN) {
        return Vec::new();
    }
    let mut allowances = Vec::new();
    // from the last on, as one on a line of its own may be about the same as the next
    let mut below = None;
    for comment in lexer::comments(text).into_iter().rev() {
        let Some(codes) = codes(file, text, comment.clone()) else { continue };
        let line = text[..comment.start].rfind('\n').map_or(0, |end| end + 1);
        let within = meant(text, line, statements, below).unwrap_or(Span::new(file, comment.start, comment.start));
        below = Some((line, within));
        allowances.push(Allowance { codes, within });
    }
    allowances.reverse();
    allowances
}

const BEGIN: &str = "allow(";

/// The codes of a comment that begins with `allow(`.
fn codes(file: FileId, text: &str, comment: Range<usize>) -> Option<Vec<Spanned<Arc<str>>>> {
    let list = text.get(comment.clone())?.strip_prefix('#')?.trim_start().strip_prefix(BEGIN)?;
    let mut at = comment.end - list.len();
    let (list, _) = list.split_once(')')?;
    let codes = list.split(',').filter_map(|part| {
        let code = part.trim();
        let start = at + (part.len() - part.trim_start().len());
        at += part.len() + ",".len();
        (!code.is_empty()).then(|| Spanned::new(code.into(), Span::new(file, start, start + code.len())))
    });
    Some(codes.collect())
}

/// From the first to the last statement that a comment on the line from `start` on is about; `below` is the line of the next such
/// comment, and what that is about.
fn meant(text: &str, mut start: usize, statements: &[Statement], below: Option<(usize, Span)>) -> Option<Span> {
    while let Some(line) = text[start..].split_inclusive('\n').next() {
        if let Some((_, within)) = below.filter(|(below, _)| *below == start) {
            return Some(within);
        }
        let end = start + line.len();
        let first = statements.partition_point(|statement| statement.span.range().end <= start);
        let on_line = statements[first..].iter().take_while(|statement| statement.span.range().start < end);
        match (statements.get(first), on_line.last()) {
            (Some(first), Some(last)) => return Some(first.span.to(last.span)),
            _ if line.trim_start().starts_with('#') => start = end,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    /// The codes of each comment with the text that it is about.
    fn allowed(text: &str) -> Vec<(Vec<String>, &str)> {
        let (ast, faults) = parse(FileId::default(), text);
        assert_eq!(faults, []);
        let shown = |allowance: &Allowance| {
            for code in &allowance.codes {
                assert_eq!(&text[code.span.range()], &*code.node);
            }
            (allowance.codes.iter().map(|code| code.node.to_string()).collect(), &text[allowance.within.range()])
        };
        ast.allowances.iter().map(shown).collect()
    }

    fn one<'t>(code: &str, about: &'t str) -> Vec<(Vec<String>, &'t str)> {
        vec![(vec![code.to_owned()], about)]
    }

    #[test]
    fn a_comment_is_about_the_statements_of_its_line() {
        assert_eq!(allowed("a = 1\nb = 2 # allow(W1)\nc = 3"), one("W1", "b = 2"));
        assert_eq!(allowed("a = 1; b = 2 #allow(W1)\nc = 3"), one("W1", "a = 1; b = 2"));
        assert_eq!(allowed("a = (1, # allow(W1)\n  2)\nc = 3"), one("W1", "a = (1, # allow(W1)\n  2)"));
        assert_eq!(allowed("a = (1,\n  2) # allow(W1)"), one("W1", "a = (1,\n  2)"));
    }

    #[test]
    fn a_comment_on_a_line_of_its_own_is_about_the_next() {
        assert_eq!(allowed("a = 1\n# allow(W1)\nb = 2\nc = 3"), one("W1", "b = 2"));
        assert_eq!(allowed("a = 1\r\n  # allow(W1) because\r\n# more\r\nb = 2; c = 3\r\n"), one("W1", "b = 2; c = 3"));
        assert_eq!(allowed("# allow(W1)\n\nb = 2"), one("W1", ""));
        assert_eq!(allowed("b = 2\n# allow(W1)"), one("W1", ""));
    }

    #[test]
    fn there_may_be_several_codes_and_what_else_looks_alike_is_no_list() {
        assert_eq!(allowed("a = 1 # allow( W1 ,w2,, é) x")[0].0, ["W1", "w2", "é"]);
        assert_eq!(allowed("a = 'allow(W1)' # see allow(W1)\n\"\"\" # allow(W1) \"\"\"\n# allow(W1\n# allow()"), [(vec![], "")]);
    }
}
