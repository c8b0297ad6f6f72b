//! One CSV file while it is written: texts quoted, numbers bare, unknown values empty.

use std::fs::File;
use std::io;

use atomic_file::{AtomicFile, Destination};

use crate::names::RenderCache;
use crate::text::{WriteBuffer, number};

/// A row that declares its columns.
pub(super) trait CsvRow {
    /// Passes every column with its value to `out`.
    fn columns(&mut self, out: &mut impl Columns);
}

/// Receives the columns of a row: a header takes the names, a row the values.
pub(super) trait Columns {
    /// A quoted text.
    fn text(&mut self, name: &str, value: &str);

    /// A number, empty where unknown.
    fn number(&mut self, name: &str, value: Option<impl itoa::Integer>);

    /// A value as it is.
    fn plain(&mut self, name: &str, value: &str);

    /// Columns whose values follow from `key`; rows render them once for each key.
    fn cached(&mut self, cache: &mut RenderCache, key: usize, columns: impl FnOnce(&mut Self));
}

/// Cells, each with a comma behind it.
#[derive(Default)]
struct Values(Vec<u8>);

impl Columns for Values {
    fn text(&mut self, _: &str, value: &str) {
        quoted(value, &mut self.0);
    }

    #[inline]
    fn number(&mut self, _: &str, value: Option<impl itoa::Integer>) {
        if let Some(value) = value {
            number(value, &mut self.0);
        }
        self.0.push(b',');
    }

    fn plain(&mut self, _: &str, value: &str) {
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(b',');
    }

    #[inline]
    fn cached(&mut self, cache: &mut RenderCache, key: usize, columns: impl FnOnce(&mut Self)) {
        self.0.extend_from_slice(cache.get(key, |bytes| {
            let mut values = Self::default();
            columns(&mut values);
            *bytes = values.0;
        }));
    }
}

/// The names of columns, each with a comma behind it.
struct Header(Vec<u8>);

impl Columns for Header {
    fn text(&mut self, name: &str, _: &str) {
        quoted(name, &mut self.0);
    }

    fn number(&mut self, name: &str, _: Option<impl itoa::Integer>) {
        quoted(name, &mut self.0);
    }

    fn plain(&mut self, name: &str, _: &str) {
        quoted(name, &mut self.0);
    }

    fn cached(&mut self, _: &mut RenderCache, _: usize, columns: impl FnOnce(&mut Self)) {
        columns(self);
    }
}

/// A file and its newest rows.
pub(super) struct CsvFile {
    file: AtomicFile,
    out: File,
    buffer: WriteBuffer,
}

impl CsvFile {
    /// A file with the columns of `row`.
    pub(super) fn create(destination: &Destination, row: &mut impl CsvRow) -> io::Result<Self> {
        let file = AtomicFile::start(destination.clone()).map_err(io::Error::other)?;
        let mut buffer = WriteBuffer::new();
        let mut header = Header(std::mem::take(&mut buffer.bytes));
        row.columns(&mut header);
        buffer.bytes = header.0;
        end_line(&mut buffer.bytes);
        Ok(Self { out: file.file().try_clone()?, file, buffer })
    }

    /// Writes a row.
    #[inline]
    pub(super) fn write(&mut self, row: &mut impl CsvRow) -> io::Result<()> {
        let mut values = Values(std::mem::take(&mut self.buffer.bytes));
        row.columns(&mut values);
        self.buffer.bytes = values.0;
        end_line(&mut self.buffer.bytes);
        self.buffer.flush_if_full(&mut self.out)
    }

    pub(super) fn finish(mut self) -> io::Result<AtomicFile> {
        self.buffer.flush(&mut self.out)?;
        Ok(self.file)
    }
}

#[inline]
fn end_line(bytes: &mut [u8]) {
    if let Some(last) = bytes.last_mut() {
        *last = b'\n';
    }
}

/// A text as a cell. Quotes in it are doubled, which rocprofv3 forgets.
fn quoted(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            bytes.extend_from_slice(b"\"\"");
        }
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.extend_from_slice(b"\",");
}
