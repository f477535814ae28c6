//! JSON as Python reads and writes it.
//!
//! Python's dialect has `NaN`, `Infinity` and `-Infinity` and whole numbers of any size, which `serde_json` can neither read nor
//! write as what they are; so this room reads by itself. Whole numbers beyond 128 bits are refused rather than rounded.

use std::fmt::Write;

use super::fault;
use super::node::{Fields, MAX_DEPTH, Node};
use crate::diagnostic::Fault;
use crate::value::print::Float;

/// Plain data from a document.
pub fn read(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() { Err(reader.malformed("nothing may follow the value")) } else { Ok(node) }
}

/// A document on one line, in ASCII.
pub fn write(node: &Node) -> String {
    let mut out = String::new();
    write_node(node, &mut out);
    out
}

struct Reader<'t> {
    text: &'t str,
    /// The next byte, always at the start of a character.
    at: usize,
}

/// What stands for itself.
const WORDS: [(&str, Node); 6] = [
    ("null", Node::Null),
    ("true", Node::Bool(true)),
    ("false", Node::Bool(false)),
    ("NaN", Node::Float(f64::NAN)),
    ("Infinity", Node::Float(f64::INFINITY)),
    ("-Infinity", Node::Float(f64::NEG_INFINITY)),
];

impl<'t> Reader<'t> {
    /// The value here, `outer` levels deep.
    fn value(&mut self, outer: usize) -> Result<Node, Fault> {
        if outer >= MAX_DEPTH {
            return Err(fault::too_deep(MAX_DEPTH));
        }
        self.skip_space();
        match self.rest().bytes().next() {
            None => Err(self.malformed("a value is missing")),
            Some(b'{') => self.object(outer),
            Some(b'[') => self.list(outer),
            Some(b'"') => self.string().map(Node::Str),
            Some(_) => match WORDS.iter().find(|(word, _)| self.eat(word)) {
                Some((_, node)) => Ok(node.clone()),
                None => self.number(),
            },
        }
    }

    fn list(&mut self, outer: usize) -> Result<Node, Fault> {
        let mut items = Vec::new();
        self.eat("[");
        while self.goes_on(items.is_empty(), "]")? {
            items.push(self.value(outer + 1)?);
        }
        Ok(Node::List(items))
    }

    /// Of a key that stands twice the last one counts.
    fn object(&mut self, outer: usize) -> Result<Node, Fault> {
        let mut fields = Fields::new();
        self.eat("{");
        while self.goes_on(fields.is_empty(), "}")? {
            self.skip_space();
            if !self.rest().starts_with('"') {
                return Err(self.malformed("a key in double quotes is missing"));
            }
            let key = self.string()?;
            self.skip_space();
            if !self.eat(":") {
                return Err(self.malformed("':' is missing after a key"));
            }
            fields.insert(key, self.value(outer + 1)?);
        }
        Ok(fields.into())
    }

    /// Whether another element follows: after a comma, or at once if it is the first.
    fn goes_on(&mut self, first: bool, end: &str) -> Result<bool, Fault> {
        self.skip_space();
        if self.eat(end) {
            return Ok(false);
        }
        if first || self.eat(",") { Ok(true) } else { Err(self.malformed(format!("',' or '{end}' is missing"))) }
    }

    fn number(&mut self) -> Result<Node, Fault> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        let text = &rest[..end];
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let leading_zero = whole > 1 && digits.starts_with('0');
        if whole == 0 || leading_zero || digits.contains(".e") || digits.contains(".E") || digits.ends_with('.') {
            return Err(self.malformed("a value is missing"));
        }
        let node = if whole == digits.len() {
            Node::Int(text.parse().map_err(|_| self.malformed("a whole number has more than 128 bits"))?)
        } else {
            Node::Float(text.parse().map_err(|_| self.malformed(format!("'{text}' is no number")))?)
        };
        self.at += end;
        Ok(node)
    }

    fn string(&mut self) -> Result<String, Fault> {
        let mut string = String::new();
        self.eat("\"");
        loop {
            let rest = self.rest();
            let end = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            string.push_str(&rest[..end]);
            self.at += end;
            match self.rest().bytes().next() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(_) => return Err(self.malformed("a control character stands in a string")),
                None => return Err(self.malformed("a string does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        const SHORT: [(&str, char); 8] =
            [("\"", '"'), ("\\", '\\'), ("/", '/'), ("b", '\u{8}'), ("f", '\u{c}'), ("n", '\n'), ("r", '\r'), ("t", '\t')];
        self.eat("\\");
        if let Some((_, char)) = SHORT.iter().find(|(letter, _)| self.eat(letter)) {
            return Ok(*char);
        }
        let first = self.code_unit()?;
        // Characters outside the basic plane are two units, each an escape of its own.
        let second = if (0xd800..0xdc00).contains(&first) && self.eat("\\") { Some(self.code_unit()?) } else { None };
        let mut chars = char::decode_utf16(std::iter::once(first).chain(second));
        match (chars.next(), chars.next()) {
            (Some(Ok(char)), None) => Ok(char),
            _ => Err(self.malformed("an escape is half of a character")),
        }
    }

    fn code_unit(&mut self) -> Result<u16, Fault> {
        let digits = self.rest().strip_prefix('u').and_then(|rest| rest.get(..4));
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()).ok_or_else(|| self.malformed("an unknown escape"))?;
        self.at += 5;
        Ok(unit)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn malformed(&self, detail: impl std::fmt::Display) -> Fault {
        let before = &self.text[..self.at];
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let place = (1 + before.matches('\n').count(), 1 + before[line..].chars().count());
        fault::malformed("JSON", place, detail)
    }
}

fn write_node(node: &Node, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Node::Int(int) => push(out, format_args!("{int}")),
        Node::Float(float) => write_float(*float, out),
        Node::Str(string) => write_string(string, out),
        Node::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_node(item, out);
            }
            out.push(']');
        }
        Node::Map(fields) => {
            out.push('{');
            for (i, (key, field)) in fields.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { ", " });
                write_string(key, out);
                out.push_str(": ");
                write_node(field, out);
            }
            out.push('}');
        }
    }
}

fn write_float(float: f64, out: &mut String) {
    match float {
        _ if float.is_nan() => out.push_str("NaN"),
        f64::INFINITY => out.push_str("Infinity"),
        f64::NEG_INFINITY => out.push_str("-Infinity"),
        _ => push(out, format_args!("{}", Float(float))),
    }
}

fn write_string(string: &str, out: &mut String) {
    out.push('"');
    for char in string.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(char),
            _ => {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    push(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

fn push(out: &mut String, text: std::fmt::Arguments) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(text).unwrap_err().message
    }

    #[test]
    fn numbers_keep_their_kind() {
        let text = "[1, -1, 0, 1.0, 1e5, -2.5E-3, NaN, Infinity, -Infinity, 170141183460469231731687303715884105727]";
        let Node::List(items) = read(text).unwrap() else { panic!("not a list") };
        assert_eq!(items[0..6], [1, -1, 0].map(Node::Int).into_iter().chain([1.0, 1e5, -2.5e-3].map(Node::Float)).collect::<Vec<_>>());
        assert!(matches!(items[6], Node::Float(nan) if nan.is_nan()));
        assert_eq!(items[7..9], [f64::INFINITY, f64::NEG_INFINITY].map(Node::Float));
        assert_eq!(items[9], Node::Int(i128::MAX));
    }

    #[test]
    fn faults_say_where() {
        assert_eq!(message("[1,\n  2 3]"), "not well-formed JSON: line 2, column 5: ',' or ']' is missing");
        assert_eq!(message("{\"ä\": nul}"), "not well-formed JSON: line 1, column 7: a value is missing");
        assert!(message("170141183460469231731687303715884105728").ends_with("more than 128 bits"));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "[",
            "[1,]",
            "{1: 2}",
            "{\"a\" 1}",
            "'a'",
            "\"a",
            "\"\n\"",
            "01",
            "1.",
            ".5",
            "1.e5",
            "+1",
            "1 2",
            "nan",
            "1e",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\u+123\"",
            "--1",
            "-",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn strings_are_escaped_and_read_back() {
        let string = Node::from("a\"\\/\n\t\u{8}ü☃😀\u{7f}");
        let text = write(&string);
        assert_eq!(text, r#""a\"\\/\n\t\u0008\u00fc\u2603\ud83d\ude00\u007f""#);
        assert_eq!(read(&text).unwrap(), string);
        assert_eq!(read(r#""\/\b\f""#).unwrap(), Node::from("/\u{8}\u{c}"));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(read(&nested(MAX_DEPTH + 1)).unwrap_err().code, "E0619");
        assert_eq!(read(&nested(1_000_000)).unwrap_err().code, "E0619");
    }
}
