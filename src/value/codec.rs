//! The bytes of a value, for job directories and for digests.
//!
//! A series or table whose columns are all Arrow arrays becomes an Arrow IPC file, with units in the metadata of its fields, that
//! other tools can read and a reader may map. Everything else becomes JSON, in which numbers are text, so that every bit survives.
//!
//! Both carry a checksum of all their bytes. Arrow's reader trusts the offsets that it finds in a file; nothing is handed to it
//! before the checksum, or that of the whole file, has been seen to be right, so damaged bytes give a fault. In the Arrow file the checksum stands in the footer
//! and is computed with its own place filled with zeros.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_buffer::Buffer;
use bytes::Bytes;
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

/// A value on its way into a file. The columns of an Arrow file are not copied for it.
#[derive(Debug)]
pub struct Encoded {
    form: Form,
    sha256: [u8; 32],
}

#[derive(Debug)]
enum Form {
    Arrow(arrow::File),
    Json(Vec<u8>),
}

impl Encoded {
    /// The file of a value.
    pub fn of(value: &Value) -> Self {
        if let Some((file, sha256)) = arrow::encode(value) {
            return Encoded { form: Form::Arrow(file), sha256 };
        }
        let bytes = json::encode(value);
        Encoded { sha256: Sha256::digest(&bytes).into(), form: Form::Json(bytes) }
    }

    /// The usual suffix of its name, without the point.
    pub fn suffix(&self) -> &'static str {
        match self.form {
            Form::Arrow(_) => "arrow",
            Form::Json(_) => "json",
        }
    }

    /// The SHA-256 of its bytes.
    pub fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// The number of its bytes.
    pub fn size(&self) -> usize {
        match &self.form {
            Form::Arrow(file) => file.size(),
            Form::Json(bytes) => bytes.len(),
        }
    }

    /// Writes its bytes.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.form {
            Form::Arrow(file) => file.write_to(out),
            Form::Json(bytes) => out.write_all(bytes),
        }
    }
}

/// The bytes of a value: an Arrow IPC file or JSON.
pub fn encode(value: &Value) -> Vec<u8> {
    let encoded = Encoded::of(value);
    let mut bytes = Vec::with_capacity(encoded.size());
    encoded.write_to(&mut bytes).expect("memory takes all that is written");
    bytes
}

/// The value of these bytes; a fault when they are damaged or of another version.
pub fn decode(bytes: &[u8]) -> Result<Value, Fault> {
    if is_arrow(bytes) { arrow::decode(&Buffer::from(bytes)) } else { json::decode(bytes) }
}

/// The value of bytes whose SHA-256 was seen to be that of an [`Encoded`], so that the checksum of an Arrow file, which is of the same
/// bytes, need not be computed once more. Its columns are not copied: the value keeps the bytes.
pub fn decode_verified(bytes: impl AsRef<[u8]> + Send + 'static) -> Result<Value, Fault> {
    let bytes = Buffer::from(Bytes::from_owner(bytes));
    if is_arrow(&bytes) { arrow::decode_verified(&bytes) } else { json::decode(&bytes) }
}

/// Whether these bytes are an Arrow IPC file, as against JSON.
pub fn is_arrow(bytes: &[u8]) -> bool {
    bytes.starts_with(arrow::MAGIC)
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
    hex(hasher)
}

fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(found: &str, expected: &str) -> Result<(), Fault> {
    if found == expected { Ok(()) } else { Err(fault::damaged("the checksum does not agree")) }
}
