//! YAML as PyYAML reads and writes it.
//!
//! A parser of events reads the syntax; what a plain scalar is (`yes`, `0x10`, `1.0e-05`) is decided by the rules of YAML 1.1 that
//! PyYAML follows, which differ from those of YAML 1.2. Nothing here recurses over the document, and what aliases add up to is
//! bounded.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::fault;
use super::node::{Fields, MAX_DEPTH, Node};
use crate::diagnostic::Fault;

pub use write::write;

mod resolve;
mod write;

/// How many pieces of data all aliases of a document may stand for.
const MAX_ALIASED: usize = 1_000_000;

/// Plain data from a document.
pub fn read(text: &str) -> Result<Node, Fault> {
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| of_scanner(&error))?;
        builder.event(event, span)?;
    }
    builder.root.ok_or_else(|| fault::malformed("YAML", (1, 1), "the file is empty"))
}

/// Puts nodes together from events.
#[derive(Default)]
struct Builder {
    /// Lists and objects that have begun and not ended, outermost first.
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    /// Pieces of data that aliases stood for.
    aliased: usize,
}

struct Open {
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    /// With the key whose value follows.
    Map(Fields, Option<String>),
}

impl Builder {
    fn event(&mut self, event: Event, span: Span) -> Result<(), Fault> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => Err(malformed(span, "only one document may stand in a file")),
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::Scalar(text, style, anchor, tag) => {
                let node = scalar(&text, style, tag.as_deref()).map_err(|detail| malformed(span, detail))?;
                self.anchored(node, anchor, span)
            }
            Event::SequenceStart(anchor, tag) => self.begin(anchor, Content::List(Vec::new()), tag, "seq", span),
            Event::MappingStart(anchor, tag) => self.begin(anchor, Content::Map(Fields::new(), None), tag, "map", span),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
        }
    }

    fn begin(&mut self, anchor: usize, content: Content, tag: Option<Cow<Tag>>, allowed: &str, span: Span) -> Result<(), Fault> {
        if let Some(tag) = tag.filter(|tag| core_tag(tag) != Some(allowed)) {
            return Err(malformed(span, format!("the tag '{tag}' is not supported here")));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(fault::too_deep(MAX_DEPTH));
        }
        self.open.push(Open { anchor, content });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else { return Err(malformed(span, "something ends that did not begin")) };
        let node = match open.content {
            Content::List(items) => Node::List(items),
            Content::Map(fields, _) => fields.into(),
        };
        self.anchored(node, open.anchor, span)
    }

    /// Anchors count from 1; 0 is none.
    fn anchored(&mut self, node: Node, anchor: usize, span: Span) -> Result<(), Fault> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.add(node, span)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Fault> {
        let node = self.anchors.get(&anchor).ok_or_else(|| malformed(span, "an alias stands inside what it refers to"))?;
        self.aliased += node.size();
        if self.aliased > MAX_ALIASED {
            return Err(malformed(span, format!("the aliases stand for more than {MAX_ALIASED} pieces of data")));
        }
        if self.open.len() + node.depth() > MAX_DEPTH {
            return Err(fault::too_deep(MAX_DEPTH));
        }
        self.add(node.clone(), span)
    }

    /// Of a key that stands twice the last one counts.
    fn add(&mut self, node: Node, span: Span) -> Result<(), Fault> {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map(fields, key)) => match key.take() {
                Some(key) => {
                    fields.insert(key, node);
                }
                None => match node {
                    Node::Str(text) => *key = Some(text),
                    _ => return Err(malformed(span, "a key must be a string")),
                },
            },
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Node, String> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => resolve::plain(text).map_err(str::to_owned),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted | ScalarStyle::Literal | ScalarStyle::Folded => Ok(text.into()),
        };
    };
    let node = resolve::plain(text)?;
    match (core_tag(tag), node) {
        (Some("str"), _) => Ok(text.into()),
        (Some("float"), Node::Int(int)) => Ok(Node::Float(int as f64)),
        (Some("float"), node @ Node::Float(_))
        | (Some("int"), node @ Node::Int(_))
        | (Some("bool"), node @ Node::Bool(_))
        | (Some("null"), node @ Node::Null) => Ok(node),
        _ => Err(format!("the tag '{tag}' does not go with '{text}'")),
    }
}

/// The name of a tag of YAML itself, such as `str`.
fn core_tag(tag: &Tag) -> Option<&str> {
    match (tag.handle.as_str(), tag.suffix.as_str()) {
        ("", "!") | ("!", "") => Some("str"),
        _ if tag.is_yaml_core_schema() => Some(&tag.suffix),
        _ => None,
    }
}

fn malformed(span: Span, detail: impl std::fmt::Display) -> Fault {
    fault::malformed("YAML", (span.start.line(), span.start.col() + 1), detail)
}

fn of_scanner(error: &ScanError) -> Fault {
    fault::malformed("YAML", (error.marker().line(), error.marker().col() + 1), error.info())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<Node> {
        match read(text).unwrap() {
            Node::List(items) => items,
            other => panic!("not a list: {other:?}"),
        }
    }

    #[test]
    fn lists_and_objects_nest() {
        let node = read("b:\n- - - meter\n    - 1\n- []\na: {x: 'y', z: null}\n").unwrap();
        let Node::Map(fields) = node else { panic!("not an object") };
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["b", "a"]);
        let unit = Node::List(vec!["meter".into(), Node::Int(1)]);
        assert_eq!(fields["b"], Node::List(vec![Node::List(vec![unit]), Node::List(vec![])]));
    }

    #[test]
    fn aliases_are_what_they_refer_to() {
        assert_eq!(list("- &id001 [meter, 1]\n- *id001\n")[1], Node::List(vec!["meter".into(), Node::Int(1)]));
        assert!(read("&a [*a]").is_err());
        assert!(read("[*a]").is_err());
    }

    #[test]
    fn aliases_cannot_blow_up() {
        let mut text = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            text += &format!("- &a{level} [{}]\n", [alias.as_str(); 10].join(", "));
        }
        assert!(read(&text).unwrap_err().message.contains("aliases"));
    }

    #[test]
    fn depth_is_bounded() {
        let flow = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(&flow).is_err());
        assert_eq!(read(&"- ".repeat(100_000)).unwrap_err().code, "E0619");
    }

    #[test]
    fn tags_of_yaml_itself_are_understood() {
        assert_eq!(list("[!!str 1, !!float 1, ! 1]"), ["1".into(), Node::Float(1.0), "1".into()]);
        for text in ["!!python/tuple [1]", "!!binary aGFsbG8=", "!x 1", "!!int a", "!!map [1]"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for text in ["", "# only a comment\n", "a: [1", "--- 1\n--- 2\n", "1: 2", "? [a]\n: 1", "<<: {a: 1}", "\"a"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("a: 1\nb: [1\n").unwrap_err().code, "E0606");
    }
}
