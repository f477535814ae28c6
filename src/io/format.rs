//! Which format a file has, by the suffixes of its name; bytes to values and back.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::node::Node;
use super::{decode, encode, fault, json, separated, yaml};
use crate::diagnostic::Fault;
use crate::model::LoadKind;
use crate::value::Value;

/// What can be read and written, for messages.
pub const SUFFIXES: &str = ".json, .yaml, .yml and, for tables and series, .csv and .tsv";

/// Compressed data that grow beyond this are taken for an attack or an accident.
const MAX_INFLATED: u64 = 1 << 32;

/// The syntax and whether it is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    syntax: Syntax,
    compressed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Tree(Tree),
    /// Cells separated by this byte.
    Separated(u8),
}

/// A syntax for plain data of any form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// `.json`
    Json,
    /// `.yaml`, `.yml`
    Yaml,
}

impl Format {
    /// The format of a file name; `None` when no suffix tells.
    ///
    /// Any suffix counts, not only the last: `a.yaml.bak` is YAML for the reference too.
    pub fn of(path: &Path) -> Option<Format> {
        let suffixes = suffixes(path);
        let has = |suffix: &str| suffixes.contains(&suffix);
        let syntax = if has("yaml") || has("yml") {
            Syntax::Tree(Tree::Yaml)
        } else if has("json") {
            Syntax::Tree(Tree::Json)
        } else if has("csv") {
            Syntax::Separated(b',')
        } else if has("tsv") {
            Syntax::Separated(b'\t')
        } else {
            return None;
        };
        Some(Format { syntax, compressed: has("zz") })
    }

    /// A value of a kind from the bytes of a file.
    pub fn load(self, bytes: &[u8], kind: LoadKind) -> Result<Value, Fault> {
        let bytes = self.unpacked(bytes)?;
        match self.syntax {
            Syntax::Tree(tree) => decode::typed(tree.parse(text(&bytes)?)?, kind),
            Syntax::Separated(delimiter) => separated::read(text(&bytes)?, delimiter, kind),
        }
    }

    /// The bytes of a file with a value.
    pub fn save(self, value: &Value) -> Result<Vec<u8>, Fault> {
        let bytes = match self.syntax {
            Syntax::Tree(tree) => tree.render(&encode::document(value)?).into_bytes(),
            Syntax::Separated(delimiter) => separated::write(value, delimiter)?,
        };
        Ok(if self.compressed { deflate(&bytes) } else { bytes })
    }

    /// A value of whichever type a file holds.
    pub fn document(self, bytes: &[u8]) -> Result<Value, Fault> {
        let bytes = self.unpacked(bytes)?;
        match self.syntax {
            Syntax::Tree(tree) => decode::document(tree.parse(text(&bytes)?)?),
            Syntax::Separated(delimiter) => separated::read(text(&bytes)?, delimiter, LoadKind::Table),
        }
    }

    /// Plain data from the bytes of a file.
    #[cfg(test)]
    pub fn node(self, bytes: &[u8]) -> Result<Node, Fault> {
        match self.syntax {
            Syntax::Tree(tree) => tree.parse(text(&self.unpacked(bytes)?)?),
            Syntax::Separated(_) => Err(fault::separated_kind()),
        }
    }

    fn unpacked(self, bytes: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
        if self.compressed { inflate(bytes).map(Cow::Owned) } else { Ok(Cow::Borrowed(bytes)) }
    }
}

impl Tree {
    /// Plain data from a text.
    pub fn parse(self, text: &str) -> Result<Node, Fault> {
        match self {
            Tree::Json => json::read(text),
            Tree::Yaml => yaml::read(text),
        }
    }

    /// The text of plain data.
    pub fn render(self, node: &Node) -> String {
        match self {
            Tree::Json => json::write(node),
            Tree::Yaml => yaml::write(node),
        }
    }
}

/// A well-known format that cannot be read or written yet, by the suffixes of the file name.
pub fn foreign(path: &Path) -> Option<&'static str> {
    suffixes(path).into_iter().find_map(|suffix| match suffix {
        "hdf5" | "h5" | "hdf" | "he5" | "he2" | "h4" | "hdf4" => Some("HDF5"),
        "parquet" => Some("Parquet"),
        "xyz" | "cif" => Some("a file of atomic structures"),
        _ => None,
    })
}

/// What follows each dot of the file name, a leading dot aside.
fn suffixes(path: &Path) -> Vec<&str> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.trim_start_matches('.').split('.').skip(1).collect()
}

/// Text without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        fault::not_utf8(1 + before.iter().filter(|byte| **byte == b'\n').count())
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn inflate(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut inflated = Vec::new();
    let mut decoder = ZlibDecoder::new(bytes).take(MAX_INFLATED);
    decoder.read_to_end(&mut inflated).map_err(fault::bad_compression)?;
    if decoder.limit() == 0 {
        return Err(fault::bad_compression(format!("more than {MAX_INFLATED} bytes")));
    }
    Ok(inflated)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory cannot fail")
}
