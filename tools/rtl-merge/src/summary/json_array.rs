//! JSON arrays on disk, so that memory does not grow with the number of traces.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use serde::Serialize;

/// The elements of a JSON array, in a file without a name.
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

    /// Adds an element.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn push(&mut self, element: &impl Serialize) -> io::Result<()> {
        self.file.write_all(if self.is_empty { b"\n" } else { b",\n" })?;
        self.is_empty = false;
        serde_json::to_writer(&mut self.file, element)?;
        Ok(())
    }

    /// Writes the array.
    ///
    /// # Errors
    /// Those of the disk and of `out`.
    pub(crate) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        out.write_all(b"[")?;
        io::copy(&mut file, out)?;
        out.write_all(if self.is_empty { b"]" } else { b"\n]" })
    }
}
