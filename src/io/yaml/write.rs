//! YAML in blocks, laid out as PyYAML does: a list in an object is not indented, and each list in a list begins on the line of the
//! outer one. Strings are quoted as soon as any reader might take them for something else; long lines are not broken.

use std::fmt::Write;

use super::super::node::Node;
use super::resolve;
use crate::value::print::Float;

/// Keys beyond this must say that they are keys; readers look no further than 1024 characters for the colon.
const MAX_SIMPLE_KEY: usize = 120;

/// A document.
pub fn write(node: &Node) -> String {
    let mut out = String::new();
    block(node, 0, Place::Line, &mut out);
    if matches!(node, Node::Null | Node::Bool(_) | Node::Int(_) | Node::Float(_)) || is_plain(node) {
        // Marks the end of a plain scalar, which could go on in the next line.
        out.push_str("...\n");
    }
    out
}

/// What stands before a node in its line.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Only the indentation, or the dash of an item.
    Line,
    /// The key of a field.
    Key,
}

/// A node, up to the end of its last line; further lines are indented by `indent`.
fn block(node: &Node, indent: usize, place: Place, out: &mut String) {
    match node {
        Node::List(items) if !items.is_empty() => {
            begin(place, out);
            for (i, item) in items.iter().enumerate() {
                margin(if i == 0 && place == Place::Line { 0 } else { indent }, out);
                out.push_str("- ");
                block(item, indent + 2, Place::Line, out);
            }
        }
        Node::Map(fields) if !fields.is_empty() => {
            begin(place, out);
            let indent = indent + if place == Place::Key { 2 } else { 0 };
            for (i, (name, field)) in fields.iter().enumerate() {
                margin(if i == 0 && place == Place::Line { 0 } else { indent }, out);
                key(name, indent, out);
                block(field, indent, Place::Key, out);
            }
        }
        scalar_or_empty => {
            out.push_str(if place == Place::Key { " " } else { "" });
            scalar(scalar_or_empty, out);
            out.push('\n');
        }
    }
}

/// After a key, a list or object begins on the next line.
fn begin(place: Place, out: &mut String) {
    out.push_str(if place == Place::Key { "\n" } else { "" });
}

fn margin(width: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', width));
}

fn key(name: &str, indent: usize, out: &mut String) {
    if name.len() <= MAX_SIMPLE_KEY {
        string(name, out);
        return out.push(':');
    }
    out.push_str("? ");
    string(name, out);
    out.push('\n');
    margin(indent, out);
    out.push(':');
}

fn scalar(node: &Node, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Node::Int(int) => push(out, format_args!("{int}")),
        Node::Float(value) => float(*value, out),
        Node::Str(text) => string(text, out),
        Node::List(_) => out.push_str("[]"),
        Node::Map(_) => out.push_str("{}"),
    }
}

fn float(float: f64, out: &mut String) {
    match float {
        _ if float.is_nan() => out.push_str(".nan"),
        f64::INFINITY => out.push_str(".inf"),
        f64::NEG_INFINITY => out.push_str("-.inf"),
        _ => {
            let text = Float(float).to_string();
            // Without a point it would be a string in YAML 1.1.
            out.push_str(&if text.contains('.') { text } else { text.replace('e', ".0e") });
        }
    }
}

fn string(text: &str, out: &mut String) {
    if is_plain_text(text) {
        out.push_str(text);
    } else if text.chars().all(|c| (' '..='~').contains(&c)) {
        push(out, format_args!("'{}'", text.replace('\'', "''")));
    } else {
        double_quoted(text, out);
    }
}

fn is_plain(node: &Node) -> bool {
    matches!(node, Node::Str(text) if is_plain_text(text))
}

/// Whether a string needs no quotes: only harmless characters, and neither a number nor a word nor (with a space) a date to any reader.
fn is_plain_text(text: &str) -> bool {
    // Units and complex numbers begin with digits too.
    let has_more = text.contains(' ') || text.ends_with('j');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || "(_/".contains(c) || (c.is_ascii_digit() && has_more));
    let harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || " _./()+*=-^%$;<>~".contains(c));
    let is_text = resolve::plain(text).is_ok_and(|node| node == text.into());
    begins && harmless && is_text && !text.ends_with(' ')
}

fn double_quoted(text: &str, out: &mut String) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(char),
            '\0'..='\u{ff}' => push(out, format_args!("\\x{:02X}", u32::from(char))),
            '\u{100}'..='\u{ffff}' => push(out, format_args!("\\u{:04X}", u32::from(char))),
            _ => push(out, format_args!("\\U{:08X}", u32::from(char))),
        }
    }
    out.push('"');
}

fn push(out: &mut String, text: std::fmt::Arguments) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn written(text: &str) -> String {
        write(&text.into())
    }

    #[test]
    fn strings_are_quoted_when_they_must_be() {
        assert_eq!(written("plain text"), "plain text\n...\n");
        assert_eq!(written("1 / second"), "1 / second\n...\n");
        for text in ["true", "12", "1e5", "1.5", "", " a", "a ", "null", "2020-01-01", "a: b", "a #b", "- a", "{a}", "yes", "0x1"] {
            assert_eq!(written(text), format!("'{text}'\n"));
        }
        assert_eq!(written("it's"), "'it''s'\n");
        assert_eq!(written("grüße\n☃😀"), "\"gr\\xFC\\xDFe\\n\\u2603\\U0001F600\"\n");
    }

    #[test]
    fn long_keys_are_read_back() {
        let key = "k".repeat(5000);
        let inner = super::super::Fields::from_iter([(key.clone(), Node::List(vec![Node::Int(1)])), ("b".to_owned(), Node::Null)]);
        let outer = Node::from(super::super::Fields::from_iter([(key, Node::from(inner))]));
        assert_eq!(read(&write(&outer)).unwrap(), outer);
    }
}
