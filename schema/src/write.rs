//! The writer of whole native files: merge, convert, fixtures and the generator use it.
//!
//! [`NativeWriter::push_tables`] writes a whole [`Tables`]; [`TraceImport`] takes a trace that comes in pieces, so that memory does not
//! grow with its rows; who produces rows one by one uses [`NativeWriter::push_op`], [`NativeWriter::push_call`] and [`NativeWriter::push_metadata`].
//! The file appears under its name only with [`NativeWriter::finish`]; a writer that is dropped leaves nothing behind.

mod checkpoint;
mod extras;
mod import;
mod layout;
mod mapping;
mod metadata;
mod numbering;
mod output;
mod rocpd;
mod rows;
mod rpd;
mod secondary_tables;

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::btree::{Builder, Datum, TableId};
use crate::table::{Agent, OpaqueTable, Process};
use crate::{Id, Result, Tables};
pub use atomic_file::IfExists;
pub use checkpoint::StringLog;
pub(crate) use extras::add as add_extras;
pub use import::TraceImport;
use layout::Table;
pub(crate) use layout::{statement, views};
pub use mapping::{ClockCorrection, TraceMapping};
use numbering::Queues;
pub(crate) use output::OutputFile;
pub use rocpd::{
    AgentInfo, Argument, CounterInfo, Event, KernelDispatch, KernelInfo, MemoryAllocation, MemoryCopy,
    ProcessIdentity, ProcessInfo, Region, RocpdWriter, TableSetId,
};
pub(crate) use rows::{CALL_COLUMNS_OF_ITS_OWN, OP_COLUMNS_OF_ITS_OWN, call_row, op_row};
pub use rows::{Call, NO_SYMBOL, Op, OpKind, StringId};
pub use rpd::RpdWriter;
pub(crate) use rpd::{EXECUTED, LAUNCHES, UNRECORDED};

/// The version of the native layout, metadata tag `rtl_schema`.
pub const VERSION: &str = "1";

/// A native file in the making. Memory is bounded by its distinct strings, never by its rows.
#[derive(Debug)]
pub struct NativeWriter {
    builder: Builder,
    tables: [Option<TableId>; Table::COUNT],
    strings: FxHashMap<Box<str>, StringId>,
    output: OutputFile,
    /// What only SQLite itself can write waits for the end.
    opaque_tables: Vec<OpaqueTable>,
    queues: Queues,
    /// How many ranges were numbered, and the numbers of those that parts to come may name, by their id space and
    /// their number there.
    ranges: i64,
    range_numbers: FxHashMap<(u32, Id), i64>,
}

impl NativeWriter {
    /// Starts a file that will be at `path`, in a temporary one beside it.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if the target exists and must stay;
    /// [`Error::Io`](crate::Error::Io) if its folder cannot be written.
    pub fn create(path: impl AsRef<Path>, if_exists: IfExists) -> Result<Self> {
        Self::start(OutputFile::create(path.as_ref(), if_exists)?)
    }

    /// Fills the empty file at `place`, which the caller gives the name `path`.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if it cannot be written.
    pub fn within(place: &Path, path: &Path) -> Result<Self> {
        Self::start(OutputFile::given(place, path)?)
    }

    fn start((output, file): (OutputFile, std::fs::File)) -> Result<Self> {
        let builder = Builder::create(file).map_err(|source| output.io(source))?;
        let mut writer = Self {
            builder,
            tables: [None; Table::COUNT],
            strings: FxHashMap::default(),
            output,
            opaque_tables: Vec::new(),
            queues: Queues::default(),
            ranges: 0,
            range_numbers: FxHashMap::default(),
        };
        for table in [Table::String, Table::Metadata, Table::Op] {
            writer.table(table);
        }
        writer.intern("")?;
        for kind in OpKind::ALL {
            writer.intern(kind.label())?;
        }
        writer.push_metadata("rtl_schema", VERSION)?;
        Ok(writer)
    }

    #[inline]
    fn table(&mut self, table: Table) -> TableId {
        let builder = &mut self.builder;
        *self.tables[table as usize]
            .get_or_insert_with(|| builder.table(table.name(), statement(table.name())))
    }

    /// The id of `text`, which is written when it is new.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the file cannot grow; so for all that follow.
    pub fn intern(&mut self, text: &str) -> Result<StringId> {
        if let Some(&id) = self.strings.get(text) {
            return Ok(id);
        }
        let id = StringId(self.row(Table::String, &[text.into()])?);
        self.strings.insert(text.into(), id);
        Ok(id)
    }

    /// Writes a metadata row; rows keep their order and a tag may repeat.
    pub fn push_metadata(&mut self, tag: &str, value: &str) -> Result<()> {
        self.row(Table::Metadata, &[tag.into(), value.into()])?;
        Ok(())
    }

    /// Writes who a process is; `number` is what pid columns hold for it.
    pub fn push_process(&mut self, process: &Process, number: i64) -> Result<()> {
        metadata::process(self, process, Some(number))
    }

    /// Writes what an agent is; `number` is what gpuId columns hold for it, `process` what pid columns hold for the one
    /// that listed it.
    pub fn push_agent(&mut self, agent: &Agent, process: Option<i64>, number: Option<i64>) -> Result<()> {
        metadata::agent(self, agent, process, number)
    }

    /// Writes an op, range or marker and returns its id; ids count from 1.
    #[inline]
    pub fn push_op(&mut self, op: &Op) -> Result<i64> {
        let table = self.table(Table::Op);
        self.builder.integers(table, &op_row(op)).map_err(|source| self.output.io(source))
    }

    /// Writes an API call and returns its id; ids count from 1.
    #[inline]
    pub fn push_call(&mut self, call: &Call) -> Result<i64> {
        let table = self.table(Table::Api);
        self.builder.integers(table, &call_row(call)).map_err(|source| self.output.io(source))
    }

    /// The file's number for a range of a part.
    #[inline]
    fn range_number(&mut self, space: u32, range: Id) -> i64 {
        *self.range_numbers.entry((space, range)).or_insert_with(|| {
            self.ranges += 1;
            self.ranges
        })
    }

    /// Writes a row behind its id and returns that.
    fn row(&mut self, table: Table, row: &[Datum<'_>]) -> Result<i64> {
        let table = self.table(table);
        self.builder.row(table, row).map_err(|source| self.output.io(source))
    }

    /// Writes a row with this id, greater than that of all rows before.
    fn row_at(&mut self, table: Table, id: i64, row: &[Datum<'_>]) -> Result<()> {
        let table = self.table(table);
        self.builder.row_at(table, id, row).map_err(|source| self.output.io(source))
    }

    /// Writes all of `tables`. Ops get new ids, in the order of their old ones where those were read; calls
    /// and ranges too. Everything else reads back as it was.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the file cannot grow.
    pub fn push_tables(&mut self, tables: &Tables) -> Result<()> {
        let mut import = TraceImport::default();
        import.push(self, tables)?;
        import.finish(self, tables)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) if meanwhile another file has the name and must stay.
    pub fn finish(self) -> Result<()> {
        let views: Vec<(&str, &str)> = views().collect();
        self.builder.finish(&views).map_err(|source| self.output.io(source))?;
        add_extras(&self.output, &self.opaque_tables, "")?;
        self.output.finish()
    }
}
