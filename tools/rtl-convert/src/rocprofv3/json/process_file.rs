use std::io;

use atomic_file::Destination;

use crate::labelled_enum::labelled_enum;
use crate::rocprofv3::page_file::PageFile;
use crate::rocprofv3::spill_buffer::SpillBuffer;

labelled_enum! {
    /// These lists wait as text, because other lists still grow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Waiting {
        Markers = "marker_api",
        Copies = "memory_copy",
        Allocations = "memory_allocation",
        Scratch = "scratch_memory",
        Counters = "counter_collection",
        /// The names of ranges and markers, by their correlation ids.
        Texts = "marker_api",
    }
}

pub(super) struct ProcessFile {
    pub(super) page: PageFile,
    /// The lists that have a beginning; the last one is open.
    pub(super) lists: Vec<&'static str>,
    waiting: [SpillBuffer; Waiting::ALL.len()],
}

impl ProcessFile {
    pub(super) fn create(destination: &Destination) -> io::Result<Self> {
        let mut page = PageFile::create(destination)?;
        page.bytes.extend_from_slice(b"{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{");
        let waiting = Waiting::ALL.map(|_| SpillBuffer::new(page.folder()));
        Ok(Self { page, lists: Vec::new(), waiting })
    }

    /// The records of a list come one after the other.
    #[inline]
    pub(super) fn record(&mut self, list: &'static str, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        if self.lists.last() == Some(&list) {
            self.page.bytes.extend_from_slice(b",\n");
        } else {
            self.begin(list);
        }
        write(&mut self.page.bytes);
        self.page.flush_if_full()
    }

    pub(super) fn wait(&mut self, list: Waiting, write: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.waiting[list as usize].record(write)
    }

    #[cold]
    pub(super) fn begin(&mut self, list: &'static str) {
        let before: &[u8] = if self.lists.is_empty() { b"\"" } else { b"],\n\"" };
        self.page.bytes.extend_from_slice(before);
        self.page.bytes.extend_from_slice(list.as_bytes());
        self.page.bytes.extend_from_slice(b"\":[");
        self.lists.push(list);
    }

    pub(super) fn append(&mut self, list: Waiting) -> io::Result<()> {
        self.waiting[list as usize].copy_to(self.page.flush()?)
    }
}
