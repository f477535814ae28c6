//! Series and tables as Arrow IPC files.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, NullArray, RecordBatch, make_array};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Block, Footer, root_as_footer};
use arrow_schema::{ArrowError, Field, Schema};
use sha2::{Digest, Sha256};

use super::{VERSION, check, checksum, hex, unit_text};
use crate::diagnostic::Fault;
use crate::units::Unit;
use crate::value::{Column, Series, Table, Value, fault};

/// The first bytes of an Arrow IPC file.
pub const MAGIC: &[u8] = b"ARROW1";

const KIND: &str = "scl.value";
const FORMAT: &str = "scl.version";
const UNIT: &str = "scl.unit";
const CHECKSUM: &str = "scl.sha256";
/// The length of the trailer: the footer's length and the magic.
const TRAILER: usize = 10;

/// A file of columns, which are written from where they are.
#[derive(Debug)]
pub struct File {
    batch: RecordBatch,
    /// What follows the columns.
    tail: Vec<u8>,
    /// The number of bytes before that.
    body: usize,
}

impl File {
    /// A file, and the SHA-256 of its bytes. They are hashed once; the two digests differ only in what follows the columns.
    fn new(batch: RecordBatch) -> Result<(File, [u8; 32]), ArrowError> {
        let mut writer = FileWriter::try_new(Scan::default(), &batch.schema())?;
        writer.write_metadata(CHECKSUM, "0".repeat(64));
        writer.write(&batch)?;
        writer.get_mut().is_body_over = true;
        let Scan { mut hasher, body, mut tail, .. } = writer.into_inner()?;
        let place = checksum_place(&tail).ok_or_else(|| ArrowError::IpcError("no checksum".to_owned()))?;
        let checksum = hex(hasher.clone().chain_update(&tail));
        tail[place].copy_from_slice(checksum.as_bytes());
        hasher.update(&tail);
        Ok((File { batch, tail, body }, hasher.finalize().into()))
    }

    /// The number of bytes.
    pub fn size(&self) -> usize {
        self.body + self.tail.len()
    }

    /// Writes the bytes.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = FileWriter::try_new(&mut *out, &self.batch.schema()).map_err(into_io)?;
        writer.write(&self.batch).map_err(into_io)?;
        drop(writer);
        out.write_all(&self.tail)
    }
}

/// Hashes what is written, and keeps what follows the columns.
#[derive(Default)]
struct Scan {
    hasher: Sha256,
    body: usize,
    is_body_over: bool,
    tail: Vec<u8>,
}

impl Write for Scan {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_body_over {
            self.tail.extend_from_slice(bytes);
        } else {
            self.hasher.update(bytes);
            self.body += bytes.len();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn into_io(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

/// The file of a series or table of Arrow columns, with the SHA-256 of its bytes; `None` for any other value.
pub fn encode(value: &Value) -> Option<(File, [u8; 32])> {
    let columns = match value {
        Value::Series(series) => std::slice::from_ref(series),
        Value::Table(table) => table.columns(),
        Value::Null
        | Value::Bool(_)
        | Value::Str(_)
        | Value::Quantity(_)
        | Value::Tuple(_)
        | Value::Dict(_)
        | Value::Array(_)
        | Value::Function(_) => {
            return None;
        }
    };
    let arrays: Vec<ArrayRef> = columns.iter().map(|series| array(&series.data)).collect::<Option<_>>()?;
    let fields = columns.iter().zip(&arrays).map(|(series, array)| field(series, array));
    let kind = value.type_name().to_lowercase();
    let metadata = HashMap::from([(KIND.to_owned(), kind), (FORMAT.to_owned(), VERSION.to_string())]);
    let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata);
    File::new(RecordBatch::try_new(Arc::new(schema), arrays).ok()?).ok()
}

/// The series or table of these bytes; columns keep the buffer.
pub fn decode(bytes: &Buffer) -> Result<Value, Fault> {
    let place = checksum_place(bytes).ok_or_else(|| fault::damaged("no footer with a checksum"))?;
    let found = std::str::from_utf8(&bytes[place.clone()]).unwrap_or("");
    check(found, &checksum_without(bytes, place))?;
    decode_verified(bytes)
}

/// The same of bytes that are known to be right.
pub fn decode_verified(bytes: &Buffer) -> Result<Value, Fault> {
    let batch = read(bytes).map_err(fault::damaged)?;
    let schema = batch.schema();
    let text = |key: &str| schema.metadata().get(key).map(String::as_str);
    if text(FORMAT) != Some(VERSION.to_string().as_str()) {
        return Err(fault::damaged("another version"));
    }
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| series(field, array).map(Arc::new));
    let mut columns: Vec<Arc<Series>> = columns.collect::<Result<_, Fault>>()?;
    match (text(KIND), columns.len()) {
        (Some("series"), 1) => columns.pop().map(Value::Series).ok_or_else(|| fault::damaged("no column")),
        (Some("table"), _) => Ok(Table::new(columns)?.into()),
        _ => Err(fault::damaged("neither a series nor a table")),
    }
}

fn array(column: &Column) -> Option<ArrayRef> {
    match column {
        Column::Null(len) => Some(Arc::new(NullArray::new(*len))),
        _ => column.arrow().map(|array| make_array(array.to_data())),
    }
}

fn field(series: &Series, array: &ArrayRef) -> Field {
    let metadata = HashMap::from([(UNIT.to_owned(), unit_text(series.unit))]);
    Field::new(&*series.name, array.data_type().clone(), true).with_metadata(metadata)
}

fn series(field: &Field, array: &ArrayRef) -> Result<Series, Fault> {
    let unit = field.metadata().get(UNIT).ok_or_else(|| fault::damaged("a column without unit"))?;
    let unit = Unit::parse(unit).map_err(fault::damaged)?;
    let data = Column::from_arrow(array).ok_or_else(|| fault::damaged("a column of an unknown type"))?;
    Ok(Series::new(field.name().as_str(), data, unit))
}

fn read(bytes: &Buffer) -> Result<RecordBatch, ArrowError> {
    let missing = |what: &str| ArrowError::IpcError(format!("no {what}"));
    let (footer, _) = footer(bytes).ok_or_else(|| missing("footer"))?;
    let schema = try_fb_to_schema(footer.schema().ok_or_else(|| missing("schema"))?)?;
    let block = footer.recordBatches().filter(|blocks| blocks.len() == 1).map(|blocks| *blocks.get(0));
    let block = block.ok_or_else(|| missing("single record batch"))?;
    let range = block_range(&block, bytes.len()).ok_or_else(|| missing("record batch in the file"))?;
    let data = bytes.slice_with_length(range.start, range.len());
    let batch = FileDecoder::new(Arc::new(schema), footer.version()).read_record_batch(&block, &data)?;
    batch.ok_or_else(|| missing("record batch"))
}

fn block_range(block: &Block, len: usize) -> Option<Range<usize>> {
    let start = usize::try_from(block.offset()).ok()?;
    let metadata = usize::try_from(block.metaDataLength()).ok()?;
    let end = start.checked_add(metadata)?.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
    (end <= len).then_some(start..end)
}

/// The footer and where it begins; only its inner structure has been verified.
fn footer(bytes: &[u8]) -> Option<(Footer<'_>, usize)> {
    let end = bytes.len().checked_sub(TRAILER)?;
    let length = read_footer_length(bytes[end..].try_into().ok()?).ok()?;
    let start = end.checked_sub(length)?;
    Some((root_as_footer(&bytes[start..end]).ok()?, start))
}

/// Where in the file the digits of the checksum stand.
fn checksum_place(bytes: &[u8]) -> Option<Range<usize>> {
    let (footer, _) = footer(bytes)?;
    let entries = footer.custom_metadata()?;
    let digits = entries.iter().find(|entry| entry.key() == Some(CHECKSUM))?.value()?;
    // The text is a part of `bytes`, so the distance of the addresses is its place.
    let start = (digits.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize)?;
    (digits.len() == 64).then_some(start..start + 64)
}

fn checksum_without(bytes: &[u8], place: Range<usize>) -> String {
    checksum(&[&bytes[..place.start], &[b'0'; 64], &bytes[place.end..]])
}
