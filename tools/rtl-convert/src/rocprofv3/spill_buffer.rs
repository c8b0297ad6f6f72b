//! Text that is written later.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Rendered text that follows text that still grows: in memory while it is short, then in a temporary file.
#[derive(Debug, Default)]
pub struct SpillBuffer {
    folder: PathBuf,
    /// The bytes that are not in the file.
    bytes: Vec<u8>,
    file: Option<File>,
}

/// Bytes in memory.
const SHORT: usize = 64 << 10;

impl SpillBuffer {
    /// An empty buffer; its temporary file would be in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), bytes: Vec::new(), file: None }
    }

    /// The place of the next record of a list, after a comma and a new line unless it is the first.
    pub fn record(&mut self) -> &mut Vec<u8> {
        if !self.is_empty() {
            self.bytes.extend_from_slice(b",\n");
        }
        &mut self.bytes
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.file.is_none()
    }

    /// Moves the bytes to the file if they are many.
    ///
    /// # Errors
    /// The file cannot be created or grow.
    #[inline]
    pub fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() < SHORT {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        file.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Appends everything to `out`.
    ///
    /// # Errors
    /// The file cannot be read, or `out` cannot grow.
    pub fn copy_to(mut self, out: &mut impl Write) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(0))?;
            io::copy(file, out)?;
        }
        out.write_all(&self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_however_much_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        for length in [0, 10, SHORT] {
            let mut spill = SpillBuffer::new(folder.path());
            assert!(spill.is_empty());
            let records: Vec<String> = (0..length).map(|number| number.to_string()).collect();
            for record in &records {
                spill.record().extend_from_slice(record.as_bytes());
                spill.flush_if_full().expect("room");
            }
            assert_eq!(spill.is_empty(), length == 0);
            assert!(spill.bytes.len() < SHORT);
            let mut out = Vec::new();
            spill.copy_to(&mut out).expect("memory");
            assert_eq!(String::from_utf8(out).expect("text"), records.join(",\n"));
        }
    }
}
