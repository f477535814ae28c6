//! Which format a file has, by the suffixes of its name; bytes to plain data and back.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::node::Node;
use super::{fault, json, yaml};
use crate::diagnostic::Fault;

/// What can be read and written, for messages.
pub const SUFFIXES: &str = ".json, .yaml, .yml";

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
    Json,
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
            Syntax::Yaml
        } else if has("json") {
            Syntax::Json
        } else {
            return None;
        };
        Some(Format { syntax, compressed: has("zz") })
    }

    /// Plain data from the bytes of a file.
    pub fn parse(self, bytes: &[u8]) -> Result<Node, Fault> {
        let inflated;
        let bytes = if self.compressed {
            inflated = inflate(bytes)?;
            &inflated
        } else {
            bytes
        };
        let text = text(bytes)?;
        match self.syntax {
            Syntax::Json => json::read(text),
            Syntax::Yaml => yaml::read(text),
        }
    }

    /// The bytes of a file with plain data.
    pub fn render(self, node: &Node) -> Vec<u8> {
        let text = match self.syntax {
            Syntax::Json => json::write(node),
            Syntax::Yaml => yaml::write(node),
        };
        if self.compressed { deflate(text.as_bytes()) } else { text.into_bytes() }
    }
}

/// A well-known format that cannot be read or written yet, by the suffixes of the file name.
pub fn foreign(path: &Path) -> Option<&'static str> {
    suffixes(path).into_iter().find_map(|suffix| match suffix {
        "csv" | "tsv" => Some("CSV"),
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
