//! The writer of native rows, for files that are complete at the end: see `recording` for those that are valid before.

use std::fs::File;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::output::OutputFile;

use super::layout::{Table, views};
use super::mapping::TraceMapping;
use super::numbering::Queues;
use super::opaque_tables::add;
use super::rows::{Call, Op, OpKind, StringId, call_row, op_row};
use super::string_ids::StringIds;
use crate::btree::{Block, Database, Datum, Pattern, TableId, Target};
use rtl_schema::layout::tags;
use rtl_schema::table::OpaqueTable;
use rtl_schema::{Id, ProcessId, Result};

/// The version of the native layout, metadata tag `rtl_schema`.
const VERSION: &str = "1";

/// A writer of rows of the native layout. Memory is bounded by the distinct strings, never by the rows.
#[derive(Debug)]
pub struct NativeWriter<T = File> {
    pub(super) database: Database<T>,
    pub(super) tables: [Option<TableId>; Table::COUNT],
    pub(super) strings: StringIds,
    /// Written by SQLite itself, at the end.
    pub(super) opaque_tables: Vec<OpaqueTable>,
    pub(super) queues: Queues,
    /// The greatest range id, and the ids of ranges that later traces may name, by their id space and their number there.
    pub(super) ranges: i64,
    pub(super) range_ids: FxHashMap<(u32, Id), i64>,
    /// Rows that are numbered and not in the file yet, by table.
    pub(super) begun: [i64; Table::COUNT],
}

impl NativeWriter {
    /// Starts a file at `path`, in the place of one that is there.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if it cannot be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let output = OutputFile::new(path.as_ref(), path.as_ref());
        let file = File::create(path).map_err(|source| output.io(source))?;
        Self::start(output, file, None)
    }

    /// Fills the empty file at `place`, which the caller gives the name `path`.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if it cannot be written.
    pub fn within(place: &Path, path: &Path) -> Result<Self> {
        let output = OutputFile::new(place, path);
        let file = output.open()?;
        Self::start(output, file, None)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io), or [`Error::Sqlite`](rtl_schema::Error::Sqlite) for tables of other tools.
    pub fn finish(mut self) -> Result<()> {
        self.database.publish(views(), None)?;
        let output = self.database.close();
        add(&output, &self.opaque_tables, "")
    }
}

impl<T: Target> NativeWriter<T> {
    /// Starts with the tables, strings and metadata that every file has.
    pub(crate) fn start(output: OutputFile, target: T, limit: Option<u64>) -> Result<Self> {
        let mut database = Database::create(output, target, limit)?;
        let mut tables = [None; Table::COUNT];
        for table in Table::ALWAYS {
            tables[table as usize] = Some(table.create(&mut database));
        }
        let mut writer = Self {
            database,
            tables,
            strings: StringIds::default(),
            opaque_tables: Vec::new(),
            queues: Queues::default(),
            ranges: 0,
            range_ids: FxHashMap::default(),
            begun: [0; Table::COUNT],
        };
        writer.intern("")?;
        for label in OpKind::LABELS {
            writer.intern(label)?;
        }
        writer.push_metadata(tags::RTL_SCHEMA, VERSION)?;
        Ok(writer)
    }

    #[inline]
    pub(super) fn table(&mut self, table: Table) -> TableId {
        if let Some(id) = table.always() {
            return id;
        }
        let database = &mut self.database;
        *self.tables[table as usize].get_or_insert_with(|| table.create(database))
    }

    /// The id of `text`, which is added when it is new. Memory grows with the distinct strings.
    ///
    /// # Errors
    /// [`Error::Full`](rtl_schema::Error::Full) if the row exceeds the size limit; [`Error::Io`](rtl_schema::Error::Io) if
    /// the file cannot grow, and from then on. The same holds for all other rows.
    pub fn intern(&mut self, text: &str) -> Result<StringId> {
        if let Some(id) = self.strings.permanent(text) {
            return Ok(id);
        }
        let id = self.push_string(text)?;
        self.strings.insert_permanent(text, id);
        Ok(id)
    }

    /// The id of a string that may be one of millions, as the arguments of calls are. It is remembered as long as it comes
    /// again soon: memory does not grow, and a string can be in the file more than once.
    pub fn intern_transient(&mut self, text: &str) -> Result<StringId> {
        if let Some(id) = self.strings.transient(text) {
            return Ok(id);
        }
        let id = self.push_string(text)?;
        self.strings.insert_transient(text.into(), id);
        Ok(id)
    }

    fn push_string(&mut self, text: &str) -> Result<StringId> {
        self.row(Table::String, &[text.into()]).map(StringId)
    }

    /// Adds a metadata row; rows keep their order and a tag may repeat.
    pub fn push_metadata(&mut self, tag: &str, value: &str) -> Result<()> {
        self.row(Table::Metadata, &[tag.into(), value.into()])?;
        Ok(())
    }

    /// Adds an op, range or marker and returns its id; ids count from 1.
    #[inline]
    pub fn push_op(&mut self, op: &Op) -> Result<i64> {
        let table = self.table(Table::Op);
        self.database.push_integers(table, &op_row(op))
    }

    /// Adds an API call and returns its id; ids count from 1.
    #[inline]
    pub fn push_call(&mut self, call: &Call) -> Result<i64> {
        let table = self.table(Table::Api);
        self.database.push_integers(table, &call_row(call))
    }

    #[inline]
    pub(super) fn push_pattern<const N: usize>(
        &mut self,
        table: Table,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
    ) -> Result<i64> {
        let table = self.table(table);
        self.database.push_pattern(table, pattern, numbers)
    }

    /// Adds a row behind its id and returns the id.
    pub(super) fn row(&mut self, table: Table, row: &[Datum<'_>]) -> Result<i64> {
        let table = self.table(table);
        self.database.push_row(table, row)
    }

    /// Adds a row with this id, greater than that of all rows before.
    pub(super) fn row_at(&mut self, table: Table, id: i64, row: &[Datum<'_>]) -> Result<()> {
        let table = self.table(table);
        self.database.push_row_at(table, id, row)
    }

    pub(super) fn append(&mut self, table: Table, block: Block) -> Result<()> {
        if block.is_empty() {
            return Ok(());
        }
        let table = self.table(table);
        self.database.append(table, block)
    }

    /// The id of the last row of a table; 0 without rows.
    pub(super) fn rows(&self, table: Table) -> i64 {
        self.tables[table as usize].map_or(0, |id| self.database.rows(id))
    }

    /// Keeps range ids up to `last` for blocks: see [`TraceMapping::ranges`]. The ranges of others get later ones.
    pub fn keep_range_ids(&mut self, last: i64) {
        self.ranges = self.ranges.max(last);
    }

    #[inline]
    pub(super) fn range_id(&mut self, mapping: &TraceMapping, process: ProcessId, range: Id) -> i64 {
        let block = mapping.ranges.get(process.index()).copied().flatten();
        block.and_then(|block| block.get(range)).unwrap_or_else(|| {
            let space = mapping.spaces.get(process.index()).copied().unwrap_or_default();
            *self.range_ids.entry((space, range)).or_insert_with(|| {
                self.ranges += 1;
                self.ranges
            })
        })
    }
}
