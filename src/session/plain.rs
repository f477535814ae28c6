//! Inputs from a pipe or a file: plain lines, without prompts.

use std::io::{self, BufRead};

use super::input::{self, Input};
use super::{Lines, Next, Session, faults};
use crate::source::FileId;
use crate::syntax::Completeness;
use crate::syntax::lexer::lex;
use crate::syntax::token::Token;

/// After so many lines an input that has an open bracket is not looked at after each.
const FEW_LINES: usize = 64;

/// Lines of a reader, joined as long as they are no complete input.
#[derive(Debug)]
pub struct Plain<R> {
    reader: R,
}

impl<R: BufRead> Plain<R> {
    /// The lines of a reader.
    pub fn new(reader: R) -> Self {
        Plain { reader }
    }

    /// The next input. While a bracket or a string is open there is none, and only whether there can be one is to be found out: of a long literal
    /// that is done ever more rarely, for its effort grows with the text.
    fn read(&mut self) -> io::Result<Option<String>> {
        let mut text = String::new();
        let (mut begin, mut lines) = (0, 0_usize);
        let mut open = Some(0);
        while self.reader.read_line(&mut text)? > 0 {
            lines += 1;
            let line = text.get(begin..).unwrap_or_default();
            open = match open {
                Some(before) => open_brackets(line).map(|here| before + here),
                // only a quote can end a string or a comment
                None if line.contains(['\'', '"']) => open_brackets(&text),
                None => None,
            };
            begin = text.len();
            let is_open = open.is_none_or(|open| open > 0);
            let is_looked_at = !is_open || lines <= FEW_LINES || lines.is_power_of_two();
            if is_looked_at && !matches!(input::completeness(&text), Completeness::Incomplete { .. }) {
                return Ok(Some(text));
            }
        }
        // what is missing at the end is said of the text as it is
        Ok((!text.is_empty()).then_some(text))
    }
}

/// The inputs that a text consists of which was typed or pasted as one. It is one if it can be; otherwise it is as many as a pipe would
/// make of it, provided that each of them is sound by itself: so statements and bare expressions may be pasted together.
pub fn split(text: &str) -> Vec<String> {
    let is_sound = |text: &str| match input::read(FileId::default(), text) {
        Input::Faulty(_) => false,
        Input::Magic => !text.trim().contains('\n'),
        Input::Nothing | Input::Program(_) => true,
    };
    if is_sound(text) {
        return vec![text.to_owned()];
    }
    let mut plain = Plain::new(text.as_bytes());
    let parts: Vec<String> = std::iter::from_fn(|| plain.read().ok().flatten()).collect();
    if parts.iter().all(|part| is_sound(part)) { parts } else { vec![text.to_owned()] }
}

/// How many brackets are open at the end of a line, less those that it closes of others; nothing when a string or comment goes on.
fn open_brackets(line: &str) -> Option<isize> {
    lex(line).try_fold(0, |open, lexeme| match lexeme.token {
        Token::UnterminatedString | Token::UnterminatedComment => None,
        token => Some(open + isize::from(token.opens()) - isize::from(token.closes())),
    })
}

impl<R: BufRead> Lines for Plain<R> {
    fn next(&mut self, _: &Session) -> Next {
        match self.read() {
            Ok(Some(text)) => Next::Text(text),
            Ok(None) => Next::End,
            Err(error) => Next::Trouble(Box::new(faults::unreadable_input(&error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(text: &str) -> Vec<String> {
        let mut plain = Plain::new(text.as_bytes());
        std::iter::from_fn(|| plain.read().expect("it is text")).collect()
    }

    #[test]
    fn lines_are_joined_to_inputs() {
        let parts =
            ["a = 1\n", "\n", "b = (1,\n\n 2)\n", "c = 1 +\n 2\n", "d = 'one\n(two'\n", "%load 'open\n", "e = (1 2,\n", "3)\n", "f = [1,"];
        assert_eq!(inputs(&parts.concat()), parts);
    }

    #[test]
    fn a_long_literal_is_one_input() {
        let long = |separator: &str| (0..1000).map(|number| format!("{number}{separator}\n")).collect::<String>();
        let parts = [
            format!("a = (x: \n{}1)\n", long(",")),
            "a\n".to_owned(),
            format!("b = (\"\"\" (\n{}\"\"\" 1\n)\n", long("(")),
            "b\n".to_owned(),
        ];
        assert_eq!(inputs(&parts.concat()), parts);
    }

    #[test]
    fn what_was_pasted_is_as_few_inputs_as_possible() {
        for (text, parts) in [
            ("a = 1\nb = 2", &["a = 1\nb = 2"][..]),
            ("a = 1\nb = (2,\n3)\na + b\n%hist", &["a = 1\n", "b = (2,\n3)\n", "a + b\n", "%hist"]),
            ("a = 1\n  on 1 core", &["a = 1\n  on 1 core"]),
            ("a = 1\na\nb = * 2", &["a = 1\na\nb = * 2"]),
            ("%new\na = 1", &["%new\n", "a = 1"]),
            ("", &[""]),
        ] {
            assert_eq!(split(text), parts, "{text}");
        }
    }

    #[test]
    fn a_fault_ends_a_long_literal() {
        let text = format!("a = (x: \n{}1 2,\n{}", "1,\n".repeat(100), "1,\n".repeat(1000));
        assert_eq!(inputs(&text)[0].lines().count(), 128);
    }
}
