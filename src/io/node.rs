//! Plain data: what JSON and YAML have in common.

use indexmap::IndexMap;

/// Levels of lists and objects inside each other, beyond which a document is refused, so that recursion is bounded.
pub const MAX_DEPTH: usize = 200;

/// An object in the order of the file.
pub type Fields = IndexMap<String, Node>;

/// A piece of plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A number with a point or an exponent, NaN, an infinity.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    List(Vec<Node>),
    /// An object.
    Map(Box<Fields>),
}

impl Node {
    /// How many levels it has: 1 for a scalar and for an empty list.
    pub fn depth(&self) -> usize {
        1 + self.children().map(Node::depth).max().unwrap_or(0)
    }

    /// How many pieces of data it is.
    pub fn size(&self) -> usize {
        1 + self.children().map(Node::size).sum::<usize>()
    }

    fn children(&self) -> Box<dyn Iterator<Item = &Node> + '_> {
        match self {
            Node::List(items) => Box::new(items.iter()),
            Node::Map(fields) => Box::new(fields.values()),
            Node::Null | Node::Bool(_) | Node::Int(_) | Node::Float(_) | Node::Str(_) => Box::new(std::iter::empty()),
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Node::Str(text.to_owned())
    }
}

impl From<Fields> for Node {
    fn from(fields: Fields) -> Self {
        Node::Map(Box::new(fields))
    }
}
