//! A fast hash for small keys: places, exponents, names. Whoever chooses them with ill intent slows down only their own program.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map with the fast hash.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fast>>;

/// A set with the fast hash.
pub type Set<K> = HashSet<K, BuildHasherDefault<Fast>>;

/// Multiplies and rotates, a word at a time.
#[derive(Default)]
pub struct Fast(u64);

impl Fast {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Fast {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.add(rest.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte)));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.add(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.add(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    /// The high bits are the well mixed ones; the map takes its bucket from the low ones.
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
