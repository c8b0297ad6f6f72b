//! The writer of rocprofv3's rocpd database, schema 3.0.0.
//!
//! Each process has a set of tables of its own, whose names end in its guid; views without that ending show all sets
//! together. Records are written as they come, what they refer to at the end. Everything that the views join a record
//! with is there, so that they lose none: an unknown thread is thread 0, an unknown stream or queue the default one.

mod info;
mod records;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::btree::{Database, Datum, TableId};
use crate::output::OutputFile;
use rtl_schema::Result;

pub use info::{AgentInfo, CounterInfo, KernelInfo, ProcessInfo};
pub use records::{Argument, Event, KernelDispatch, MemoryAllocation, MemoryCopy, ProcessIdentity, Region};

const RECORDS: &str = include_str!("../../../sql/rocprofv3/records.sql");
const INFO: &str = include_str!("../../../sql/rocprofv3/info.sql");
const VIEWS: &str = include_str!("../../../sql/rocprofv3/views.sql");

/// The tables that grow with the records, in the order of [`RECORDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    Track,
    Event,
    Argument,
    Counter,
    Region,
    Sample,
    Dispatch,
    Copy,
    Allocation,
}

/// The set of a process; sets are in the order of their addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableSetId(usize);

/// The tables of one process.
#[derive(Debug)]
struct Set {
    origin: ProcessIdentity,
    uuid: String,
    tables: Vec<TableId>,
    texts: FxHashMap<Box<str>, i64>,
    threads: FxHashSet<i64>,
    queues: BTreeSet<i64>,
    streams: BTreeSet<i64>,
    tracks: FxHashMap<(i64, i64), i64>,
    /// The place that was last noted, which the next record most often has too.
    recent: Option<(i64, i64, i64)>,
}

/// A database in the making. Memory grows with the distinct texts and threads.
#[derive(Debug)]
pub struct RocpdWriter {
    database: Database<File>,
    output: OutputFile,
    sets: Vec<Set>,
    /// What SQLite keeps of the ids of each table.
    sequence: TableId,
}

impl RocpdWriter {
    /// Fills the empty file at `place`, which the caller gives the name `path`.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if it cannot be written.
    pub fn within(place: &Path, path: &Path) -> Result<Self> {
        Self::start(OutputFile::given(place, path)?)
    }

    fn start((output, file): (OutputFile, File)) -> Result<Self> {
        let mut database = Database::create(file, None).map_err(|source| output.io(source))?;
        let sequence = database.table("sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)", true);
        Ok(Self { database, output, sets: Vec::new(), sequence })
    }

    /// Adds the tables of a process.
    pub fn add_process(&mut self, origin: ProcessIdentity) -> TableSetId {
        let uuid = format!("_{}", origin.guid.replace('-', "_"));
        let tables = statements(RECORDS).map(|(name, sql)| {
            self.database.table(format!("{name}{uuid}"), filled(sql, &uuid, &origin.guid), true)
        });
        let tables = tables.collect();
        self.sets.push(Set {
            origin,
            uuid,
            tables,
            texts: FxHashMap::default(),
            threads: FxHashSet::default(),
            queues: BTreeSet::from([0]),
            streams: BTreeSet::from([0]),
            tracks: FxHashMap::default(),
            recent: None,
        });
        let id = TableSetId(self.sets.len() - 1);
        // The views ask for the name of a region that no kernel has.
        self.text(id, "");
        id
    }

    /// The id of a text, which is added when it is new.
    pub fn text(&mut self, set: TableSetId, text: &str) -> i64 {
        let texts = &mut self.sets[set.0].texts;
        if let Some(&id) = texts.get(text) {
            return id;
        }
        let id = texts.len() as i64 + 1;
        texts.insert(text.into(), id);
        id
    }

    /// Writes an event and returns its id.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if the file cannot grow; so for all that follow.
    #[inline]
    pub fn event(&mut self, set: TableSetId, event: &Event<'_>) -> Result<i64> {
        let category = self.text(set, event.category);
        let row = [category.into(), event.correlation.into(), event.parent.into(), 0.into()];
        let Some(message) = event.message else { return self.row(set, Table::Event, &row) };
        let message = serde_json::json!({ "message": message }).to_string();
        let [category, stack, parent, external] = row;
        let row = [category, stack, parent, external, "{}".into(), "{}".into(), message.as_str().into()];
        self.row(set, Table::Event, &row)
    }

    /// Writes a launch and returns the id of its event.
    #[inline]
    pub fn launch(&mut self, set: TableSetId, event: &Event<'_>, row: &KernelDispatch) -> Result<i64> {
        let event = self.event(set, event)?;
        let tid = self.note(set, row.tid, row.queue, row.stream.unwrap_or(0));
        let [x, y, z] = row.workgroup.map(i64::from);
        let [width, height, depth] = row.items.map(|items| items as i64);
        let origin = &self.sets[set.0].origin;
        let cells = [
            origin.node.into(),
            origin.pid.into(),
            tid.into(),
            row.agent.into(),
            row.kernel.into(),
            row.dispatch.into(),
            row.queue.into(),
            row.stream.unwrap_or(0).into(),
            row.start.into(),
            row.end.into(),
            row.scratch.map(i64::from).into(),
            row.lds.map(i64::from).into(),
            x.into(),
            y.into(),
            z.into(),
            width.into(),
            height.into(),
            depth.into(),
            1.into(),
            event.into(),
        ];
        self.row(set, Table::Dispatch, &cells)?;
        Ok(event)
    }

    /// Writes a copy.
    pub fn copy(&mut self, set: TableSetId, event: &Event<'_>, row: &MemoryCopy<'_>) -> Result<()> {
        let event = self.event(set, event)?;
        let name = self.text(set, row.name);
        let tid = self.note(set, row.tid, 0, row.stream.unwrap_or(0));
        let address = |address: Option<u64>| Datum::from(address.map(|address| address as i64));
        let origin = &self.sets[set.0].origin;
        let cells = [
            origin.node.into(),
            origin.pid.into(),
            tid.into(),
            row.start.into(),
            row.end.into(),
            name.into(),
            row.destination.into(),
            address(row.destination_address),
            row.source.into(),
            address(row.source_address),
            (row.bytes as i64).into(),
            Datum::Null,
            row.stream.into(),
            Datum::Null,
            event.into(),
        ];
        self.row(set, Table::Copy, &cells)?;
        Ok(())
    }

    /// Writes a call or range and returns the id of its event.
    pub fn region(&mut self, set: TableSetId, event: &Event<'_>, row: &Region<'_>) -> Result<i64> {
        let event = self.event(set, event)?;
        let name = self.text(set, row.name);
        let tid = self.note(set, row.tid, 0, 0);
        let origin = &self.sets[set.0].origin;
        let cells = [
            origin.node.into(),
            origin.pid.into(),
            tid.into(),
            row.start.into(),
            row.end.into(),
            name.into(),
            event.into(),
        ];
        self.row(set, Table::Region, &cells)?;
        Ok(event)
    }

    /// Writes an instant; its track is named as the category of its event.
    pub fn sample(
        &mut self,
        set: TableSetId,
        event: &Event<'_>,
        tid: Option<i64>,
        moment: i64,
    ) -> Result<()> {
        let number = self.event(set, event)?;
        let category = self.text(set, event.category);
        let tid = self.note(set, tid, 0, 0);
        let track = match self.sets[set.0].tracks.get(&(category, tid)) {
            Some(&track) => track,
            None => {
                let origin = &self.sets[set.0].origin;
                let cells = [origin.node.into(), origin.pid.into(), tid.into(), category.into()];
                let track = self.row(set, Table::Track, &cells)?;
                self.sets[set.0].tracks.insert((category, tid), track);
                track
            }
        };
        self.row(set, Table::Sample, &[track.into(), moment.into(), number.into()])?;
        Ok(())
    }

    /// Writes an argument of the call of that event.
    pub fn argument(&mut self, set: TableSetId, event: i64, row: &Argument<'_>) -> Result<()> {
        let cells = [event.into(), row.position.into(), row.kind.into(), row.name.into(), row.value.into()];
        self.row(set, Table::Argument, &cells)?;
        Ok(())
    }

    /// Writes an allocation or scratch event.
    pub fn allocation(
        &mut self,
        set: TableSetId,
        event: &Event<'_>,
        row: &MemoryAllocation<'_>,
    ) -> Result<()> {
        let event = self.event(set, event)?;
        let tid = self.note(set, row.tid, row.queue.unwrap_or(0), row.stream.unwrap_or(0));
        // rocprofv3 stores flags as text.
        let flags = row.flags.map(|flags| serde_json::json!({ "flags": flags.to_string() }).to_string());
        let origin = &self.sets[set.0].origin;
        let cells = [
            origin.node.into(),
            origin.pid.into(),
            tid.into(),
            row.agent.into(),
            row.kind.into(),
            row.level.into(),
            row.start.into(),
            row.end.into(),
            row.address.map(|address| address as i64).into(),
            (row.bytes as i64).into(),
            row.queue.into(),
            row.stream.into(),
            event.into(),
            flags.as_deref().into(),
        ];
        self.row(set, Table::Allocation, &cells)?;
        Ok(())
    }

    /// Writes the value of a counter during the launch of that event.
    pub fn counter(&mut self, set: TableSetId, event: i64, counter: i64, value: f64) -> Result<()> {
        self.row(set, Table::Counter, &[event.into(), counter.into(), value.into()])?;
        Ok(())
    }

    /// Writes what the records of each set refer to, in the order of the sets, and completes the file.
    ///
    /// # Errors
    /// As [`Self::event`], or [`Error::Sqlite`](rtl_schema::Error::Sqlite).
    pub fn finish(mut self, infos: &[ProcessInfo<'_>]) -> Result<()> {
        for set in 0..self.sets.len() {
            for (at, (name, _)) in statements(RECORDS).enumerate() {
                let rows = self.database.rows(self.sets[set].tables[at]);
                if rows > 0 {
                    let name = format!("{name}{}", self.sets[set].uuid);
                    // Here the first column is stored, in the place of an id.
                    let added = self.database.push_cells(self.sequence, &[name.as_str().into(), rows.into()]);
                    added.map_err(|error| self.output.push(error))?;
                }
            }
        }
        let views = info::views(&self.sets);
        let views = views.iter().map(|(name, sql)| (name.as_str(), sql.as_str()));
        self.database.publish(views, None).map_err(|source| self.output.io(source))?;
        drop(self.database);
        info::write(&self.output, &self.sets, infos).map_err(|source| self.output.sqlite(source))?;
        self.output.finish()
    }

    /// Remembers where a record stands, for the rows that the views join it with; returns the id of its thread.
    #[inline]
    fn note(&mut self, set: TableSetId, tid: Option<i64>, queue: i64, stream: i64) -> i64 {
        let set = &mut self.sets[set.0];
        let place = (tid.unwrap_or(0), queue, stream);
        if set.recent != Some(place) {
            set.recent = Some(place);
            set.threads.insert(place.0);
            set.queues.insert(queue);
            set.streams.insert(stream);
        }
        place.0
    }

    /// Writes a row behind its id and its guid.
    #[inline]
    fn row(&mut self, set: TableSetId, table: Table, cells: &[Datum<'_>]) -> Result<i64> {
        let set = &self.sets[set.0];
        let mut row = [Datum::Null; 24];
        row[0] = set.origin.guid.as_str().into();
        let end = cells.len() + 1;
        row[1..end].copy_from_slice(cells);
        let added = self.database.push_row(set.tables[table as usize], &row[..end]);
        added.map_err(|error| self.output.push(error))
    }
}

/// The names and statements of all tables of a script.
fn statements(script: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    script.split(";\n").filter_map(|part| {
        let sql = &part[part.find("CREATE TABLE ")?..];
        Some((sql["CREATE TABLE ".len()..].split('{').next()?, sql))
    })
}

/// A statement for one set.
fn filled(sql: &str, uuid: &str, guid: &str) -> String {
    sql.replace("{uuid}", uuid).replace("{guid}", guid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_has_its_table() {
        let names: Vec<&str> = statements(RECORDS).map(|(name, _)| name).collect();
        assert_eq!(names.len(), Table::Allocation as usize + 1);
        assert_eq!(names[Table::Track as usize], "rocpd_track");
        assert_eq!(names[Table::Counter as usize], "rocpd_pmc_event");
        assert_eq!(names[Table::Dispatch as usize], "rocpd_kernel_dispatch");
        assert_eq!(names[Table::Allocation as usize], "rocpd_memory_allocate");
    }
}
