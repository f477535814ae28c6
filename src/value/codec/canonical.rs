//! The content of a value as one stream of bytes, whatever lies behind it in memory.
//!
//! Every item begins with a tag and, where its length varies, with the length, so that no two values have one stream. Arrow's
//! offsets, slices and the bytes under nulls do not enter it; all NaNs are one. Where the stream is what lies in memory anyway, as of
//! numbers of which none is missing, that goes to the hasher at once.

use arrow_array::Array as _;
use arrow_buffer::{ArrowNativeType, ToByteSlice};
use sha2::{Digest, Sha256};

use super::unit_text;
use crate::units::Unit;
use crate::value::{Array, Column, Number, NumberKind, Quantity, Range, Series, Uncertain, Value, complex_at, complex_parts};

/// A digest of the content.
pub fn digest(value: &Value) -> [u8; 32] {
    let mut stream = Stream { hasher: Sha256::new(), pending: Vec::with_capacity(CHUNK + 64) };
    stream.value(value);
    stream.flush();
    stream.hasher.finalize().into()
}

/// Bytes are handed to the hasher in pieces of about this size, since items are short.
const CHUNK: usize = 1 << 14;

/// So many elements of a range are hashed at once.
const RANGE: usize = 1024;

struct Stream {
    hasher: Sha256,
    pending: Vec<u8>,
}

impl Stream {
    fn flush(&mut self) {
        self.hasher.update(&self.pending);
        self.pending.clear();
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= CHUNK {
            self.flush();
        }
    }

    fn tag(&mut self, tag: u8) {
        self.bytes(&[tag]);
    }

    fn len(&mut self, len: usize) {
        self.bytes(&(len as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.len(text.len());
        self.bytes(text.as_bytes());
    }

    fn float(&mut self, float: f64) {
        let bits = if float.is_nan() { f64::NAN.to_bits() } else { float.to_bits() };
        self.bytes(&bits.to_le_bytes());
    }

    fn unit(&mut self, unit: Unit) {
        self.text(&unit_text(unit));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.tag(0),
            Value::Bool(bool) => self.bytes(&[1, u8::from(*bool)]),
            Value::Str(string) => {
                self.tag(2);
                self.text(string);
            }
            Value::Quantity(quantity) => self.quantity(quantity),
            Value::Tuple(members) => {
                self.tag(4);
                self.len(members.len());
                members.iter().for_each(|member| self.value(member));
            }
            Value::Dict(fields) => {
                self.tag(5);
                self.len(fields.len());
                for (key, field) in fields.iter() {
                    self.text(key);
                    self.value(field);
                }
            }
            Value::Series(series) => self.series(series),
            Value::Table(table) => {
                self.tag(7);
                self.len(table.columns().len());
                table.columns().iter().for_each(|column| self.series(column));
            }
            Value::Array(array) => self.array(array),
            Value::Function(name) => {
                self.tag(9);
                self.text(name);
            }
        }
    }

    fn quantity(&mut self, quantity: &Quantity) {
        self.tag(3);
        self.number(&quantity.number);
        self.unit(quantity.unit);
    }

    fn number(&mut self, number: &Number) {
        match number {
            Number::Null => self.tag(0),
            Number::Int(int) => {
                self.tag(1);
                self.bytes(&int.to_le_bytes());
            }
            Number::Float(float) => {
                self.tag(2);
                self.float(*float);
            }
            Number::Complex(complex) => {
                self.tag(3);
                self.float(complex.re);
                self.float(complex.im);
            }
            Number::Uncertain(uncertain) => self.uncertain(uncertain),
        }
    }

    fn uncertain(&mut self, uncertain: &Uncertain) {
        self.tag(4);
        self.float(uncertain.nominal);
        self.len(uncertain.terms.len());
        for (variable, term) in uncertain.terms.iter() {
            self.bytes(&variable.to_le_bytes());
            self.float(*term);
        }
    }

    fn series(&mut self, series: &Series) {
        self.tag(6);
        self.text(&series.name);
        self.unit(series.unit);
        match series.data.range() {
            Some(range) => self.range(range),
            None => self.column(&series.data),
        }
    }

    /// As the column of the range, which is not built for it.
    fn range(&mut self, range: &Range) {
        let parts = (0..range.len()).step_by(RANGE).map(|start| (start, RANGE.min(range.len() - start)));
        match range.kind() {
            NumberKind::Int => {
                self.head(3, true, range.len());
                let mut ints = [0; RANGE];
                for (start, len) in parts {
                    range.fill_ints(start, &mut ints[..len]);
                    self.plain(&ints[..len]);
                }
            }
            NumberKind::Float | NumberKind::Complex | NumberKind::Uncertain => {
                self.head(4, true, range.len());
                let mut floats = [0.0; RANGE];
                for (start, len) in parts {
                    range.fill_floats(start, &mut floats[..len]);
                    self.floats(&floats[..len]);
                }
            }
        }
    }

    fn array(&mut self, array: &Array) {
        self.tag(8);
        self.len(array.shape.len());
        array.shape.iter().for_each(|axis| self.len(*axis));
        self.unit(array.unit);
        self.column(&array.data);
    }

    fn column(&mut self, column: &Column) {
        match column {
            Column::Null(_) => self.items(0, column, |_, _| {}),
            Column::Bool(array) => self.items(1, column, |stream, i| stream.tag(u8::from(array.value(i)))),
            Column::Str(array) => self.items(2, column, |stream, i| stream.text(array.value(i))),
            Column::Int(array) if array.null_count() == 0 => {
                self.head(3, true, array.len());
                self.plain(array.values());
            }
            Column::Float(array) if array.null_count() == 0 => {
                self.head(4, true, array.len());
                self.floats(array.values());
            }
            Column::Complex(array) if array.null_count() == 0 => {
                self.head(5, true, array.len());
                self.floats(complex_parts(array).values());
            }
            Column::Int(array) => self.items(3, column, |stream, i| stream.bytes(&array.value(i).to_le_bytes())),
            Column::Float(array) => self.items(4, column, |stream, i| stream.float(array.value(i))),
            Column::Complex(array) => self.items(5, column, |stream, i| {
                let complex = complex_at(array, i);
                stream.float(complex.re);
                stream.float(complex.im);
            }),
            Column::Object(values) => self.items(6, column, |stream, i| stream.value(&values[i])),
        }
    }

    fn head(&mut self, tag: u8, complete: bool, len: usize) {
        self.bytes(&[tag, u8::from(complete)]);
        self.len(len);
    }

    fn floats(&mut self, floats: &[f64]) {
        // looked for in all of them rather than up to the first, which is faster
        match floats.iter().fold(false, |found, float| found | float.is_nan()) {
            true => floats.iter().for_each(|float| self.float(*float)),
            false => self.plain(floats),
        }
    }

    /// Numbers as they are in memory, which is the order of bytes of the stream on every machine that this program runs on.
    fn plain<T: ArrowNativeType>(&mut self, numbers: &[T]) {
        const { assert!(cfg!(target_endian = "little")) };
        self.flush();
        self.hasher.update(numbers.to_byte_slice());
    }

    /// The length of a column, which elements are there, if not all, and those.
    fn items(&mut self, tag: u8, column: &Column, item: impl Fn(&mut Stream, usize)) {
        let complete = column.null_count() == 0;
        self.head(tag, complete, column.len());
        if !complete {
            (0..column.len()).for_each(|i| self.tag(u8::from(column.is_null(i))));
        }
        (0..column.len()).filter(|i| complete || !column.is_null(*i)).for_each(|i| item(self, i));
    }
}
