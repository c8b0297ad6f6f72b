//! Text that is written later.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use tempfile::SpooledTempFile;

/// Rendered records that follow text that still grows: in memory while they are short, then in a temporary file.
#[derive(Debug)]
pub struct SpillBuffer {
    is_empty: bool,
    /// Not in the file yet.
    bytes: Vec<u8>,
    file: SpooledTempFile,
}

/// Bytes of a write, and bytes in memory.
const SHORT: usize = 64 << 10;

impl SpillBuffer {
    /// The temporary file would be in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self { is_empty: true, bytes: Vec::new(), file: SpooledTempFile::new_in(SHORT, folder) }
    }

    /// Appends a record, after a comma and a new line unless it is the first.
    pub fn record(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        if !std::mem::take(&mut self.is_empty) {
            self.bytes.extend_from_slice(b",\n");
        }
        write(&mut self.bytes);
        if self.bytes.len() >= SHORT {
            self.file.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    pub fn copy_to(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        io::copy(&mut self.file, out)?;
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
            let records: Vec<String> = (0..length).map(|number| number.to_string()).collect();
            for record in &records {
                spill.record(|bytes| bytes.extend_from_slice(record.as_bytes())).expect("room");
            }
            assert!(spill.bytes.len() < SHORT);
            let mut out = Vec::new();
            spill.copy_to(&mut out).expect("memory");
            assert_eq!(String::from_utf8(out).expect("text"), records.join(",\n"));
        }
    }
}
