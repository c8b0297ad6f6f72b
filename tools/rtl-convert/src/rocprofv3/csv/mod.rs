//! rocprofv3's CSV files: one for each kind of record in the trace, and the statistics of each.

mod agents;
mod columns;
mod file;
mod process_files;
mod stats;

use std::io;

use atomic_file::Destination;
use rtl_schema::table::{Allocation, ApiCall, Copy, Counter, Range};
use rtl_schema::{NameId, ProcessId, Tables};

use self::columns::{AllocationRow, CallRow, CopyRow, ScratchRow};
use self::process_files::{NamedFiles, ProcessFiles};
use super::kinds::{self, List};
use super::per_process::PerProcess;
use super::visitor::{Launch, Record, RecordSink, RecordVisitor};
use crate::names::NameStyle;

/// The files of a conversion.
pub struct Csv {
    destination: Destination,
    names: NameStyle,
    processes: PerProcess<ProcessFiles>,
}

impl Csv {
    /// Files beside `destination`; they get their names at the end.
    pub fn new(destination: Destination, names: NameStyle) -> Self {
        Self { destination, names, processes: PerProcess::default() }
    }

    #[inline]
    fn files(&mut self, record: &Record<'_>) -> &mut ProcessFiles {
        let create = || Box::new(ProcessFiles::new(&self.destination, self.names));
        self.processes.slot(record.process).get_or_insert_with(create)
    }

    /// The complete files of each process with their contents (`kernel_trace`).
    ///
    /// # Errors
    /// A file cannot grow.
    pub fn finish(
        mut self,
        visitor: &RecordVisitor,
        tables: &Tables,
    ) -> io::Result<Vec<(ProcessId, NamedFiles)>> {
        let finish = |(id, state)| {
            let files = self.processes.slot(id).take();
            let files = files.unwrap_or_else(|| Box::new(ProcessFiles::new(&self.destination, self.names)));
            Ok((id, files.finish(state, tables)?))
        };
        visitor.processes().map(finish).collect()
    }
}

/// The number of an operation in the place of a name.
fn operation(record: &Record<'_>) -> NameId {
    NameId(record.operation as u32)
}

impl RecordSink for Csv {
    fn call(&mut self, record: &Record<'_>, list: List, _: u32, call: &ApiCall) -> io::Result<()> {
        self.files(record).row(list.label(), record, call.name, CallRow(record, call.name))
    }

    #[inline]
    fn dispatch(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()> {
        self.files(record).kernel(record, launch)
    }

    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()> {
        self.files(record).row("memory_copy", record, operation(record), CopyRow(record, copy))
    }

    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()> {
        self.files(record).row(List::Marker.label(), record, range.name, CallRow(record, range.name))
    }

    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()> {
        let (files, name) = (self.files(record), operation(record));
        if record.kind == kinds::SCRATCH_MEMORY {
            files.row("scratch_memory", record, name, ScratchRow(record, allocation))
        } else {
            files.row("memory_allocation", record, name, AllocationRow(record, allocation))
        }
    }

    fn counters(
        &mut self,
        record: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()> {
        self.files(record).counters(record, launch, values)
    }
}
