//! The bytes of a value, for job directories and for digests.
//!
//! A series or table whose columns are all Arrow arrays becomes an Arrow IPC file, with units in the metadata of its fields, that
//! other tools can read and a reader may map. Everything else becomes JSON, in which numbers are text, so that every bit survives.
//!
//! Both carry a checksum of all their bytes. Arrow's reader trusts the offsets that it finds in a file; nothing is handed to it
//! before the checksum has been seen to be right, so damaged bytes give a fault. In the Arrow file the checksum stands in the footer
//! and is computed with its own place filled with zeros.

use std::sync::Arc;

use arrow_buffer::Buffer;
use sha2::{Digest, Sha256};

use super::{Value, fault};
use crate::diagnostic::Fault;
use crate::units::Unit;

mod arrow;
mod canonical;
mod json;

#[cfg(test)]
mod tests;

/// The version of both forms; a reader refuses any other.
const VERSION: u32 = 1;

/// The bytes of a value: an Arrow IPC file or JSON.
pub fn encode(value: &Value) -> Vec<u8> {
    arrow::encode(value).unwrap_or_else(|| json::encode(value))
}

/// The value of these bytes; a fault when they are damaged or of another version.
pub fn decode(bytes: &[u8]) -> Result<Value, Fault> {
    decode_buffer(Buffer::from(bytes))
}

/// As [`decode`], but without copying what is an Arrow column: the value keeps the buffer.
pub fn decode_buffer(bytes: Buffer) -> Result<Value, Fault> {
    if bytes.starts_with(arrow::MAGIC) { arrow::decode(&bytes) } else { json::decode(&bytes) }
}

/// Whether these bytes are an Arrow IPC file, as against JSON.
pub fn is_arrow(bytes: &[u8]) -> bool {
    bytes.starts_with(arrow::MAGIC)
}

/// The usual suffix of a file with these bytes, without the point.
pub fn suffix(bytes: &[u8]) -> &'static str {
    if is_arrow(bytes) { "arrow" } else { "json" }
}

/// A digest of the content of a value: equal for the same value however its columns are laid out in memory.
pub fn digest(value: &Value) -> [u8; 32] {
    canonical::digest(value)
}

/// A unit with its factors in the order of writing, on which the last digits of conversions depend, unlike its printed form.
fn unit_text(unit: Unit) -> String {
    let factor = |(name, exponent): &(Arc<str>, f64)| if *exponent == 1.0 { name.to_string() } else { format!("{name} ** {exponent}") };
    unit.factors().iter().map(factor).collect::<Vec<_>>().join(" * ")
}

/// Lower-case hexadecimal digits of a checksum of the parts.
fn checksum(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(found: &str, expected: &str) -> Result<(), Fault> {
    if found == expected { Ok(()) } else { Err(fault::damaged("the checksum does not agree")) }
}
