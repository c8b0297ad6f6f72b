use std::io;

use atomic_file::{AtomicFile, Destination, Writer};

use crate::rocprofv3::spill_buffer::SpillBuffer;
use crate::text::WriteBuffer;

/// The file of one process while its records are written.
pub(super) struct ProcessFile {
    file: AtomicFile,
    out: Writer,
    buffer: WriteBuffer,
    /// The lists that were begun; the last one is open.
    pub(super) lists: Vec<&'static str>,
    pub(super) copies: SpillBuffer,
    pub(super) markers: SpillBuffer,
    /// The names of ranges and markers, by their correlation ids.
    pub(super) texts: SpillBuffer,
    pub(super) allocations: SpillBuffer,
    pub(super) scratch: SpillBuffer,
    pub(super) counters: SpillBuffer,
}

impl ProcessFile {
    pub(super) fn create(destination: &Destination) -> io::Result<Self> {
        let file = AtomicFile::start(destination.clone()).map_err(io::Error::other)?;
        let out = file.writer()?;
        let mut buffer = WriteBuffer::new();
        buffer.bytes.extend_from_slice(b"{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{");
        let spill = || SpillBuffer::new(file.folder());
        Ok(Self {
            copies: spill(),
            markers: spill(),
            texts: spill(),
            allocations: spill(),
            scratch: spill(),
            counters: spill(),
            lists: Vec::new(),
            file,
            out,
            buffer,
        })
    }

    /// The place of the next record of a list. The records of a list come one after the other.
    #[inline]
    pub(super) fn record(&mut self, list: &'static str) -> &mut Vec<u8> {
        if self.lists.last() == Some(&list) {
            self.buffer.bytes.extend_from_slice(b",\n");
        } else {
            self.begin(list);
        }
        &mut self.buffer.bytes
    }

    #[cold]
    pub(super) fn begin(&mut self, list: &'static str) {
        let before: &[u8] = if self.lists.is_empty() { b"\"" } else { b"],\n\"" };
        self.buffer.bytes.extend_from_slice(before);
        self.buffer.bytes.extend_from_slice(list.as_bytes());
        self.buffer.bytes.extend_from_slice(b"\":[");
        self.lists.push(list);
    }

    /// The bytes that are not written yet.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.buffer.bytes
    }

    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        self.buffer.flush_if_full(&mut self.out)
    }

    /// Appends text that waited for its place.
    pub(super) fn append(&mut self, spill: SpillBuffer) -> io::Result<()> {
        self.buffer.flush(&mut self.out)?;
        spill.copy_to(&mut self.out)
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> io::Result<AtomicFile> {
        self.buffer.flush(&mut self.out)?;
        self.out.finish()?;
        Ok(self.file)
    }
}
