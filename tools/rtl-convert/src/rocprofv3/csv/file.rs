//! One CSV file while it is written: texts quoted, numbers bare, what is unknown empty.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::rocprofv3::files;
use crate::rocprofv3::text::{WriteBuffer, signed};

/// A file and its newest rows.
pub(super) struct CsvFile {
    file: NamedTempFile,
    out: File,
    pages: WriteBuffer,
}

impl CsvFile {
    /// A file with these columns.
    pub(super) fn create(folder: &Path, columns: &[&str]) -> io::Result<Self> {
        let file = files::temporary(folder)?;
        let mut sheet = Self { out: file.as_file().try_clone()?, file, pages: WriteBuffer::new() };
        let mut row = sheet.row();
        columns.iter().for_each(|column| row.text(column));
        row.end();
        Ok(sheet)
    }

    /// The next row.
    #[inline]
    pub(super) fn row(&mut self) -> Row<'_> {
        Row { bytes: &mut self.pages.bytes }
    }

    /// Writes finished rows if they are many.
    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        self.pages.flush_if_full(&mut self.out)
    }

    pub(super) fn finish(mut self) -> io::Result<NamedTempFile> {
        self.pages.flush(&mut self.out)?;
        Ok(self.file)
    }
}

/// A row; each cell ends with the comma before the next.
pub(super) struct Row<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
}

impl Row<'_> {
    #[inline]
    pub(super) fn number(&mut self, value: i64) {
        signed(value, self.bytes);
        self.bytes.push(b',');
    }

    #[inline]
    pub(super) fn known(&mut self, value: Option<i64>) {
        if let Some(value) = value {
            signed(value, self.bytes);
        }
        self.bytes.push(b',');
    }

    /// A text; quotes in it are doubled, which rocprofv3 forgets.
    pub(super) fn text(&mut self, text: &str) {
        quoted(text, self.bytes);
    }

    /// A cell, or several with their commas, as they stand.
    #[inline]
    pub(super) fn plain(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
    }

    #[inline]
    pub(super) fn end(self) {
        if let Some(last) = self.bytes.last_mut() {
            *last = b'\n';
        }
    }
}

/// A text as a cell.
pub(super) fn quoted(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            bytes.extend_from_slice(b"\"\"");
        }
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.extend_from_slice(b"\",");
}

/// A number as a cell, empty where unknown.
pub(super) fn cell(value: Option<impl ToString>, bytes: &mut Vec<u8>) {
    if let Some(value) = value {
        bytes.extend_from_slice(value.to_string().as_bytes());
    }
    bytes.push(b',');
}
