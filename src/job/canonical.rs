//! The digest of a tree without its places.
//!
//! A serializer that feeds a hash: what is hashed is what serde sees, so that a new field of an expression is part of every key
//! the day it is written. Every value begins with a tag and strings carry their length, so that no two trees give the same
//! bytes. A [`Span`](crate::source::Span), known by its name, leaves only a dot: moving a statement does not change it. Doubles
//! are hashed by their bits, for JSON would make one `null` of all that are not finite.

use std::fmt;

use serde::Serialize;
use serde::ser::{self, Serializer};
use sha2::{Digest as _, Sha256};

use super::digest::Digest;

/// The name under which serde sees a place in a text.
const PLACE: &str = "Span";

/// A tree that cannot be serialized.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unserializable(String);

impl ser::Error for Unserializable {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Unserializable(message.to_string())
    }
}

/// The digest of a tree; trees that differ only in places have the same.
pub fn digest(tree: &impl Serialize) -> Result<Digest, Unserializable> {
    let mut hash = Sha256::new();
    tree.serialize(Sink { hash: &mut hash })?;
    Ok(Digest(hash.finalize().into()))
}

type Done = Result<(), Unserializable>;

struct Sink<'a> {
    hash: &'a mut Sha256,
}

impl<'a> Sink<'a> {
    fn put(self, tag: u8, bytes: &[u8]) -> Done {
        self.hash.update([tag]);
        self.hash.update(bytes);
        Ok(())
    }

    fn text(self, tag: u8, text: &[u8]) -> Done {
        self.hash.update([tag]);
        self.hash.update((text.len() as u64).to_le_bytes());
        self.hash.update(text);
        Ok(())
    }

    /// The parts that follow belong together until `close`.
    fn open(self, tag: u8, name: &str, close: u8) -> Result<Parts<'a>, Unserializable> {
        Sink { hash: self.hash }.text(tag, name.as_bytes())?;
        Ok(Parts { hash: self.hash, close, silent: false })
    }
}

/// Parts of a list, map or structure.
struct Parts<'a> {
    hash: &'a mut Sha256,
    close: u8,
    silent: bool,
}

impl Parts<'_> {
    fn part(&mut self, value: &(impl Serialize + ?Sized)) -> Done {
        if self.silent { Ok(()) } else { value.serialize(Sink { hash: self.hash }) }
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Done {
        self.part(name)?;
        self.part(value)
    }

    fn finish(self) -> Done {
        self.hash.update([self.close]);
        Ok(())
    }
}

impl<'a> Serializer for Sink<'a> {
    type Ok = ();
    type Error = Unserializable;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    fn serialize_bool(self, value: bool) -> Done {
        self.put(b'b', &[u8::from(value)])
    }

    fn serialize_i8(self, value: i8) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i16(self, value: i16) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i32(self, value: i32) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i64(self, value: i64) -> Done {
        self.serialize_i128(value.into())
    }

    fn serialize_i128(self, value: i128) -> Done {
        self.put(b'i', &value.to_le_bytes())
    }

    fn serialize_u8(self, value: u8) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u16(self, value: u16) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u32(self, value: u32) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u64(self, value: u64) -> Done {
        self.serialize_u128(value.into())
    }

    fn serialize_u128(self, value: u128) -> Done {
        self.put(b'u', &value.to_le_bytes())
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Done {
        self.put(b'f', &value.to_bits().to_le_bytes())
    }

    fn serialize_char(self, value: char) -> Done {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Done {
        self.text(b's', value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.text(b'y', value)
    }

    fn serialize_none(self) -> Done {
        self.put(b'n', &[])
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.hash.update(b"o");
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.put(b'0', &[])
    }

    fn serialize_unit_struct(self, name: &'static str) -> Done {
        self.text(b'0', name.as_bytes())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.text(b'v', variant.as_bytes())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(self, _: &'static str, _: u32, variant: &'static str, value: &T) -> Done {
        Sink { hash: self.hash }.text(b'w', variant.as_bytes())?;
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, Unserializable> {
        self.open(b'[', "", b']')
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, Unserializable> {
        self.open(b'[', "", b']')
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Parts<'a>, Unserializable> {
        self.open(b'[', name, b']')
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Parts<'a>, Unserializable> {
        self.open(b'(', variant, b')')
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, Unserializable> {
        self.open(b'{', "", b'}')
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Parts<'a>, Unserializable> {
        if name == PLACE { Ok(Parts { hash: self.hash, close: b'.', silent: true }) } else { self.open(b'{', name, b'}') }
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Parts<'a>, Unserializable> {
        self.open(b'<', variant, b'>')
    }
}

macro_rules! parts {
    ($($part:ident $method:ident),+) => { $(
        impl ser::$part for Parts<'_> {
            type Ok = ();
            type Error = Unserializable;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                self.part(value)
            }

            fn end(self) -> Done {
                self.finish()
            }
        }
    )+ };
}

macro_rules! fields {
    ($($part:ident),+) => { $(
        impl ser::$part for Parts<'_> {
            type Ok = ();
            type Error = Unserializable;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
                self.field(name, value)
            }

            fn end(self) -> Done {
                self.finish()
            }
        }
    )+ };
}

parts!(SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Unserializable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.part(value)
    }

    fn end(self) -> Done {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::source::{FileId, Span, Spanned};

    use super::*;

    fn of(tree: impl Serialize) -> Digest {
        digest(&tree).expect("a plain tree")
    }

    #[test]
    fn places_do_not_matter() {
        let here = Spanned::new("x", Span::new(FileId(0), 1, 2));
        let there = Spanned::new("x", Span::new(FileId(3), 40, 50));
        assert_eq!(of(here), of(there));
        assert_ne!(of(here), of(Spanned::new("y", here.span)));
        assert_ne!(of(("x", "x")), of(here));
    }

    #[test]
    fn different_trees_have_different_digests() {
        let mut digests = vec![
            of(("ab", "c")),
            of(("a", "bc")),
            of(vec![vec![1, 2], vec![]]),
            of(vec![vec![1], vec![2]]),
            of(0.0),
            of(-0.0),
            of(f64::INFINITY),
            of(f64::NAN),
            of(None::<f64>),
            of(0_u8),
            of(0_i8),
            of(Some(0_u8)),
            of(i128::MAX),
            of(""),
            of(()),
            of(true),
        ];
        let count = digests.len();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), count);
    }
}
