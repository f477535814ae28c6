//! Colours of an input while it is typed.
//!
//! The text stays as it is, with escape sequences between: keywords, numbers, strings, units, comments and magics have a colour each,
//! the bracket at the cursor and its partner are bold, and what cannot be right whatever follows is red.

use std::ops::Range;

use super::input;
use crate::syntax::layout::layout;
use crate::syntax::lexer::{Lexeme, comments};
use crate::syntax::token::Token;

/// The colour of a part; nothing else is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Keyword,
    Number,
    Text,
    Unit,
    Comment,
    Magic,
    Partner,
    Wrong,
}

impl Colour {
    fn sequence(self) -> &'static str {
        match self {
            Colour::Keyword => "\x1b[34m",
            Colour::Number => "\x1b[36m",
            Colour::Text => "\x1b[32m",
            Colour::Unit => "\x1b[33m",
            Colour::Comment => "\x1b[90m",
            Colour::Magic => "\x1b[35m",
            Colour::Partner => "\x1b[1m",
            Colour::Wrong => "\x1b[31m",
        }
    }
}

/// The end of any colour.
const PLAIN: &str = "\x1b[0m";

/// A text with colours, for a terminal on which the cursor stands at a byte offset.
pub fn highlight(text: &str, cursor: usize) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for (range, colour) in parts(text, cursor) {
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(colour.sequence());
        out.push_str(text.get(range.clone()).unwrap_or_default());
        out.push_str(PLAIN);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The coloured parts in the order of the text.
fn parts(text: &str, cursor: usize) -> Vec<(Range<usize>, Colour)> {
    if input::is_magic(text) {
        let start = text.len() - text.trim_start().len();
        let end = text.get(start..).and_then(|magic| magic.find(char::is_whitespace)).map_or(text.len(), |end| start + end);
        return vec![(start..end, Colour::Magic)];
    }
    let tokens = layout(text).tokens;
    let partners = partners(&tokens, cursor);
    let mut in_unit = false;
    let mut parts: Vec<(Range<usize>, Colour)> = comments(text).into_iter().map(|range| (range, Colour::Comment)).collect();
    for (place, lexeme) in tokens.iter().enumerate() {
        in_unit = match lexeme.token {
            Token::OpenUnit | Token::OpenTarget => true,
            token => in_unit && !token.closes(),
        };
        let colour = if partners.contains(&Some(place)) { Some(Colour::Partner) } else { colour(&tokens, place, in_unit) };
        parts.extend(colour.map(|colour| (lexeme.range(), colour)));
    }
    // an unterminated comment is both a comment and a token
    parts.sort_by_key(|(range, _)| range.start);
    parts.dedup_by_key(|(range, _)| range.start);
    parts
}

fn colour(tokens: &[Lexeme], place: usize, in_unit: bool) -> Option<Colour> {
    let token = tokens[place].token;
    let next = tokens.get(place + 1).map(|lexeme| lexeme.token);
    let previous = place.checked_sub(1).map(|previous| tokens[previous].token);
    match token {
        Token::Str | Token::UnterminatedString => Some(Colour::Text),
        Token::Invalid | Token::MalformedReuse => Some(Colour::Wrong),
        Token::Name | Token::Degree if in_unit => Some(Colour::Unit),
        Token::RealPart | Token::Imaginary => Some(Colour::Number),
        // words that are names elsewhere
        Token::On | Token::For => next.is_some_and(Token::is_number).then_some(Colour::Keyword),
        Token::Core => previous.is_some_and(Token::is_number).then_some(Colour::Keyword),
        Token::File | Token::Url => matches!(previous, Some(Token::From | Token::To)).then_some(Colour::Keyword),
        Token::IfCall | Token::InChunks => Some(Colour::Keyword),
        token if token.is_number() => Some(Colour::Number),
        token if token.is_reserved() => Some(Colour::Keyword),
        _ => None,
    }
}

/// The bracket at the cursor, or just before it, and its partner; both or none.
fn partners(tokens: &[Lexeme], cursor: usize) -> [Option<usize>; 2] {
    let is_bracket = |lexeme: &Lexeme| lexeme.token.opens() || lexeme.token.closes();
    let at = |offset: usize| tokens.iter().position(|lexeme| is_bracket(lexeme) && lexeme.start as usize == offset);
    let Some(one) = at(cursor).or_else(|| at(cursor.checked_sub(1)?)) else { return [None, None] };
    let forward = tokens[one].token.opens();
    let mut depth = 0_usize;
    let mut places: Box<dyn Iterator<Item = usize>> = if forward { Box::new(one..tokens.len()) } else { Box::new((0..=one).rev()) };
    let other = places.find(|place| {
        let token = tokens[*place].token;
        if token.opens() == forward && is_bracket(&tokens[*place]) {
            depth += 1;
        } else if is_bracket(&tokens[*place]) {
            depth -= 1;
        }
        depth == 0
    });
    if other.is_some() { [Some(one), other] } else { [None, None] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part between marks of its colour; letters stand for colours.
    fn marked(text: &str, cursor: usize) -> String {
        let mut out = highlight(text, cursor);
        for (colour, mark) in [
            (Colour::Keyword, "k<"),
            (Colour::Number, "n<"),
            (Colour::Text, "s<"),
            (Colour::Unit, "u<"),
            (Colour::Comment, "c<"),
            (Colour::Magic, "m<"),
            (Colour::Partner, "b<"),
            (Colour::Wrong, "w<"),
        ] {
            out = out.replace(colour.sequence(), mark);
        }
        out.replace(PLAIN, ">")
    }

    #[test]
    fn each_kind_has_its_colour() {
        let end = usize::MAX;
        assert_eq!(marked("print(v [km/h])  # fast", end), "k<print>(v [u<km>/u<h>])  c<# fast>");
        assert_eq!(marked("a = if(true, 1.5 [m], -2) # x", end), "a = k<if>(k<true>, n<1.5> [u<m>], -n<2>) c<# x>");
        assert_eq!(marked("s = 'text' + \"open", end), "s = s<'text'> + s<\"open>");
        assert_eq!(marked("x = y on 2 cores for 1 [min]", end), "x = y k<on> n<2> k<cores> k<for> n<1> [u<min>]");
        assert_eq!(marked("on = 2; file = on", end), "on = n<2>; file = on");
        assert_eq!(marked("t from file 'a'", end), "t k<from> k<file> s<'a'>");
        assert_eq!(marked("a ^ b", end), "a w<^> b");
        assert_eq!(marked("\"\"\" open", end), "c<\"\"\" open>");
        assert_eq!(marked("z = 2+1 j", end), "z = n<2>+n<1> n<j>");
        assert_eq!(marked("%help units", end), "m<%help> units");
        assert_eq!(marked("é = 'ü' [", end), "é = s<'ü'> [");
    }

    #[test]
    fn the_bracket_at_the_cursor_is_shown_with_its_partner() {
        assert_eq!(marked("f((a), b)", 1), "fb<(>(a), bb<)>");
        assert_eq!(marked("f((a), b)", 9), "fb<(>(a), bb<)>");
        assert_eq!(marked("f((a), b)", 5), "f(b<(>ab<)>, b)");
        assert_eq!(marked("f((a)", 1), "f((a)");
        assert_eq!(marked(")", 0), ")");
    }
}
