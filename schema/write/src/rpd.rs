//! The writer of RPD's files, schema 3.
//!
//! RPD's tables know an op's thread, process, shape and bytes only by the call that asked for it, and its tools show
//! nothing of an op without one. So an op whose call was not recorded gets one named `(not recorded)` at the moment the
//! op starts; reading the file back leaves those calls out.

mod calls;
mod launches;
mod layout;
mod ops;
mod secondary_tables;
mod state;
mod texts;

use std::fs::File;
use std::path::Path;

use crate::btree::{Database, Datum};
use crate::native::numbering::{Places, Queues, RenumberedOps};
use crate::native::opaque_tables::add;
use crate::output::OutputFile;
use crate::script::views_of;
use layout::{FINISH, Table, VIEWS};
use rtl_schema::{Id, NameId, Result, Tables};
use state::{Calls, GPU_STRIDE, Launches, Numbers, PID_STRIDE};
use texts::Texts;

/// Writes a file of RPD's. It takes a trace as [`Trace::stream`](rtl_schema::Trace::stream) gives it out. Memory grows
/// with the distinct strings and the API calls.
#[derive(Debug)]
pub struct RpdWriter {
    database: Database<File>,
    names: Texts,
    arguments: Texts,
    places: Places,
    queues: Queues,
    numbers: Numbers,
    calls: Calls,
    launches: Launches,
    ops: RenumberedOps,
    /// Links of ops to further calls: an op may come after its links.
    links: Vec<(Id, Id)>,
    left_out: u64,
}

impl RpdWriter {
    /// Fills the empty file at `place`, which the caller gives the name `path`.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if it cannot be written.
    pub fn within(place: &Path, path: &Path) -> Result<Self> {
        let output = OutputFile::new(place, path);
        let file = output.open()?;
        let mut database = Database::create(output, file, None)?;
        Table::create_all(&mut database);
        let mut rpd = Self {
            names: Texts::names(&mut database)?,
            arguments: Texts::arguments(&mut database)?,
            database,
            places: Places::default(),
            queues: Queues::default(),
            numbers: Numbers::default(),
            calls: Calls::default(),
            launches: Launches::default(),
            ops: RenumberedOps::default(),
            links: Vec::new(),
            left_out: 0,
        };
        let [gpus, pids] = [GPU_STRIDE, PID_STRIDE].map(|stride| stride.to_string());
        // With a session RPD's tracer appends to the file under ids of its own.
        for (tag, value) in [
            ("gpu_stride", gpus.as_str()),
            ("pid_stride", &pids),
            ("schema_version", "3"),
            ("session_count", "1"),
        ] {
            rpd.metadata(tag, value)?;
        }
        Ok(rpd)
    }

    /// Writes the rows of a piece.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if the file cannot grow.
    pub fn push(&mut self, piece: &Tables) -> Result<()> {
        self.places.extend(piece, &mut self.queues);
        self.numbers.extend(piece);
        self.names.extend(piece);
        self.arguments.extend(piece);
        self.api_calls(piece)?;
        self.ranges(piece)?;
        self.all_ops(piece)?;
        self.links.extend_from_slice(&piece.extra_links);
        self.ops.sort();
        self.secondary_tables(piece)
    }

    /// Writes the rows that are known only at the end and completes the file. `last` is what is left when all pieces were given. The
    /// result says how many rows were left out because they have no end.
    ///
    /// # Errors
    /// As [`Self::push`], or [`Error::Sqlite`](rtl_schema::Error::Sqlite).
    pub fn finish(mut self, last: &Tables) -> Result<u64> {
        self.held_launches(last)?;
        for (op, call) in std::mem::take(&mut self.links) {
            if let (Some(op), Some(call)) = (self.ops.get(0, op), self.calls.ids.get(0, call)) {
                self.link(call, op)?;
            }
        }
        self.source(last)?;
        self.database.publish(views_of(VIEWS), None)?;
        let output = self.database.close();
        add(&output, &[], FINISH)?;
        Ok(self.left_out)
    }

    fn link(&mut self, call: i64, op: i64) -> Result<()> {
        self.integers(Table::ApiOps, [call, op])?;
        Ok(())
    }

    #[inline]
    fn name(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        self.names.id(&mut self.database, tables, name)
    }

    fn argument(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        self.arguments.id(&mut self.database, tables, name)
    }

    fn metadata(&mut self, tag: &str, value: &str) -> Result<()> {
        self.row(Table::Metadata, &[tag.into(), value.into()])?;
        Ok(())
    }

    #[inline]
    fn integers<const N: usize>(&mut self, table: Table, row: [i64; N]) -> Result<i64> {
        self.database.push_integers(table.id(), &row.map(Some))
    }

    fn row(&mut self, table: Table, row: &[Datum<'_>]) -> Result<i64> {
        self.database.push_row(table.id(), row)
    }

    fn row_at(&mut self, table: Table, id: i64, row: &[Datum<'_>]) -> Result<()> {
        self.database.push_row_at(table.id(), id, row)
    }
}
