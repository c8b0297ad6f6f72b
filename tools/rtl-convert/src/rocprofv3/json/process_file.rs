use std::io::{self, BufWriter};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rtl_schema::table::Counter;
use tempfile::NamedTempFile;

use crate::output_file::OutputWriter;
use crate::rocprofv3::devices::Devices;
use crate::rocprofv3::files;
use crate::rocprofv3::spill_buffer::SpillBuffer;
use crate::rocprofv3::text::WriteBuffer;

/// The file of one process while its records are written.
pub(super) struct ProcessFile {
    pub(super) file: NamedTempFile,
    pub(super) content: OutputWriter,
    pub(super) pages: WriteBuffer,
    /// The list that is being written, and those that are complete.
    pub(super) lists: Vec<&'static str>,
    pub(super) devices: Devices,
    pub(super) copies: SpillBuffer,
    pub(super) markers: SpillBuffer,
    /// What ranges and markers are called, by their correlation ids.
    pub(super) texts: SpillBuffer,
    pub(super) allocations: SpillBuffer,
    pub(super) scratch: SpillBuffer,
    pub(super) counters: SpillBuffer,
    /// The counters that have values; the handle of one is its position from 1.
    pub(super) counter_kinds: Vec<Counter>,
    pub(super) dispatched: i64,
    /// First start and last end in ns.
    pub(super) span: Option<(i64, i64)>,
}

impl ProcessFile {
    pub(super) fn create(folder: &Path, compressed: bool) -> io::Result<Self> {
        let file = files::temporary(folder)?;
        let handle = file.as_file().try_clone()?;
        let content = match compressed {
            true => OutputWriter::Gzip(Box::new(GzEncoder::new(handle, Compression::new(1)))),
            false => OutputWriter::Plain(BufWriter::new(handle)),
        };
        let mut pages = WriteBuffer::new();
        pages.bytes.extend_from_slice(b"{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{");
        let spill = || SpillBuffer::new(folder);
        Ok(Self {
            file,
            content,
            pages,
            lists: Vec::new(),
            devices: Devices::default(),
            copies: spill(),
            markers: spill(),
            texts: spill(),
            allocations: spill(),
            scratch: spill(),
            counters: spill(),
            counter_kinds: Vec::new(),
            dispatched: 0,
            span: None,
        })
    }

    /// Where the next record of a list goes. The lists come one after the other.
    #[inline]
    pub(super) fn record(&mut self, list: &'static str) -> &mut Vec<u8> {
        if self.lists.last() == Some(&list) {
            self.pages.bytes.extend_from_slice(b",\n");
        } else {
            self.begin(list);
        }
        &mut self.pages.bytes
    }

    #[cold]
    pub(super) fn begin(&mut self, list: &'static str) {
        let bytes = &mut self.pages.bytes;
        let before: &[u8] = if self.lists.is_empty() { b"\"" } else { b"],\n\"" };
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(list.as_bytes());
        bytes.extend_from_slice(b"\":[");
        self.lists.push(list);
    }

    #[inline]
    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        self.pages.flush_if_full(&mut self.content)
    }

    #[inline]
    pub(super) fn extend_span(&mut self, start: i64, end: i64) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }

    /// The handle of a value's counter: one for each name and agent.
    pub(super) fn counter(&mut self, value: &Counter) -> u64 {
        let same = |known: &Counter| (known.name, known.agent) == (value.name, value.agent);
        let position = self.counter_kinds.iter().position(same).unwrap_or_else(|| {
            self.counter_kinds.push(*value);
            self.counter_kinds.len() - 1
        });
        position as u64 + 1
    }
}
