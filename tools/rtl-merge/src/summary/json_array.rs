//! JSON arrays on disk, so that memory does not grow with the number of traces.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};

use serde::Serialize;

/// Elements of an array as JSON, on the way to its file.
#[derive(Debug, Default)]
pub(crate) struct Elements(Vec<u8>);

impl Elements {
    /// Adds an element.
    ///
    /// # Errors
    /// Where it has no JSON.
    pub(crate) fn push(&mut self, element: &impl Serialize) -> serde_json::Result<()> {
        self.0.extend(if self.0.is_empty() { "\n" } else { ",\n" }.as_bytes());
        serde_json::to_writer(&mut self.0, element)
    }
}

/// Bytes that are copied at a time: calls to the system take as long as copies of a few KiB.
const COPIED: usize = 1 << 18;

/// A JSON array, in a file without a name.
#[derive(Debug)]
pub(crate) struct JsonArrayFile {
    file: BufWriter<File>,
    is_empty: bool,
}

impl JsonArrayFile {
    /// An array without elements.
    ///
    /// # Errors
    /// Where temporary files cannot be created.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile()?), is_empty: true })
    }

    /// Adds elements.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn append(&mut self, Elements(elements): &Elements) -> io::Result<()> {
        if elements.is_empty() {
            return Ok(());
        }
        if !self.is_empty {
            self.file.write_all(b",")?;
        }
        self.is_empty = false;
        self.file.write_all(elements)
    }

    /// Writes the array.
    ///
    /// # Errors
    /// Those of the disk and of `out`.
    pub(crate) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        out.write_all(b"[")?;
        io::copy(&mut BufReader::with_capacity(COPIED, file), out)?;
        out.write_all(if self.is_empty { b"]" } else { b"\n]" })
    }
}
