//! The writer of rocprofv3's rocpd database, schema 3.0.0.
//!
//! Each process has a set of tables of its own, whose names end in its guid; views without that ending show all sets
//! together. Records are written as they come, what they refer to at the end. Everything that the views join a record
//! with is there, so that they lose none: an unknown thread is thread 0, an unknown stream or queue the default one.

mod info;
mod records;
mod set;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use self::set::{RECORDS, Set, filled};
use crate::btree::{Database, Datum, TableId};
use crate::output::OutputFile;
use crate::script::tables_of;
use rtl_schema::Result;

pub use info::{AgentInfo, CounterInfo, KernelInfo, ProcessInfo};
pub use records::{Argument, Event, KernelDispatch, MemoryAllocation, MemoryCopy, ProcessIdentity};
pub use set::TableSetId;

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

/// Writes a rocpd database. Memory grows with the distinct texts and threads.
#[derive(Debug)]
pub struct RocpdWriter {
    database: Database<File>,
    sets: Vec<Set>,
    /// SQLite's table of the last id of each table.
    sequence: TableId,
}

impl RocpdWriter {
    /// Fills the empty file at `place`, which the caller gives the name `path`.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if it cannot be written.
    pub fn within(place: &Path, path: &Path) -> Result<Self> {
        let output = OutputFile::new(place, path);
        let file = output.open()?;
        let mut database = Database::create(output, file, None)?;
        let sequence = database.table("sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)", true);
        Ok(Self { database, sets: Vec::new(), sequence })
    }

    /// Adds the tables of a process.
    pub fn add_process(&mut self, origin: ProcessIdentity) -> TableSetId {
        let uuid = format!("_{}", origin.guid.replace('-', "_"));
        let tables = tables_of(RECORDS).map(|(name, sql)| {
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
        // Times, thread and stream are columns of the record.
        let &Event { category, correlation, parent, message, tid: _, start: _, end: _, stream: _ } = event;
        let category = self.text(set, category);
        let message = message.map(|message| serde_json::json!({ "message": message }).to_string());
        let empty: Datum<'_> = message.as_ref().map(|_| "{}").into();
        let cells = [
            category.into(),
            correlation.into(),
            parent.into(),
            0.into(),
            empty,
            empty,
            message.as_deref().into(),
        ];
        self.row(set, Table::Event, &cells)
    }

    /// Writes a launch and returns the id of its event.
    #[inline]
    pub fn launch(&mut self, set: TableSetId, event: &Event<'_>, row: &KernelDispatch) -> Result<i64> {
        let id = self.event(set, event)?;
        let stream = event.stream.unwrap_or(0);
        let &KernelDispatch { agent, kernel, dispatch, queue, scratch, lds, workgroup, items } = row;
        let [x, y, z] = workgroup.map(i64::from);
        let [width, height, depth] = items.map(|items| items as i64);
        let cells = [
            agent.into(),
            kernel.into(),
            dispatch.into(),
            queue.into(),
            stream.into(),
            event.start.into(),
            event.end.into(),
            scratch.map(i64::from).into(),
            lds.map(i64::from).into(),
            x.into(),
            y.into(),
            z.into(),
            width.into(),
            height.into(),
            depth.into(),
            1.into(),
            id.into(),
        ];
        self.record(set, Table::Dispatch, (event.tid, queue, stream), &cells)?;
        Ok(id)
    }

    /// Writes a copy.
    pub fn copy(&mut self, set: TableSetId, event: &Event<'_>, row: &MemoryCopy<'_>) -> Result<()> {
        let id = self.event(set, event)?;
        let &MemoryCopy { name, destination, destination_address, source, source_address, bytes } = row;
        let cells = [
            event.start.into(),
            event.end.into(),
            self.text(set, name).into(),
            destination.into(),
            destination_address.map(|address| address as i64).into(),
            source.into(),
            source_address.map(|address| address as i64).into(),
            (bytes.unwrap_or(0) as i64).into(),
            Datum::Null,
            event.stream.into(),
            Datum::Null,
            id.into(),
            // The column of the size must have a value.
            if bytes.is_some() { "{}" } else { r#"{"size":null}"# }.into(),
        ];
        self.record(set, Table::Copy, (event.tid, 0, event.stream.unwrap_or(0)), &cells)?;
        Ok(())
    }

    /// Writes a call or range of this name and returns the id of its event.
    pub fn region(&mut self, set: TableSetId, event: &Event<'_>, name: &str) -> Result<i64> {
        let id = self.event(set, event)?;
        let cells = [event.start.into(), event.end.into(), self.text(set, name).into(), id.into()];
        self.record(set, Table::Region, (event.tid, 0, 0), &cells)?;
        Ok(id)
    }

    /// Writes an instant, the start of its event; its track is named as the category of that.
    pub fn sample(&mut self, set: TableSetId, event: &Event<'_>) -> Result<()> {
        let id = self.event(set, event)?;
        let category = self.text(set, event.category);
        let key = (category, event.tid.unwrap_or(0));
        let track = match self.sets[set.0].tracks.get(&key) {
            Some(&track) => track,
            None => {
                let track = self.record(set, Table::Track, (event.tid, 0, 0), &[category.into()])?;
                self.sets[set.0].tracks.insert(key, track);
                track
            }
        };
        self.row(set, Table::Sample, &[track.into(), event.start.into(), id.into()])?;
        Ok(())
    }

    /// Writes an argument of the call of that event.
    pub fn argument(&mut self, set: TableSetId, event: i64, row: &Argument<'_>) -> Result<()> {
        let &Argument { position, kind, name, value } = row;
        let cells = [event.into(), position.into(), kind.into(), name.into(), value.into()];
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
        let id = self.event(set, event)?;
        let &MemoryAllocation { agent, kind, level, address, bytes, queue, flags } = row;
        // rocprofv3 stores flags as text.
        let flags = flags.map(|flags| serde_json::json!({ "flags": flags.to_string() }).to_string());
        let cells = [
            agent.into(),
            kind.into(),
            level.into(),
            event.start.into(),
            event.end.into(),
            address.map(|address| address as i64).into(),
            (bytes as i64).into(),
            queue.into(),
            event.stream.into(),
            id.into(),
            flags.as_deref().into(),
        ];
        let place = (event.tid, queue.unwrap_or(0), event.stream.unwrap_or(0));
        self.record(set, Table::Allocation, place, &cells)?;
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
        for set in &self.sets {
            for ((name, _), &table) in tables_of(RECORDS).zip(&set.tables) {
                let rows = self.database.rows(table);
                if rows > 0 {
                    let name = format!("{name}{}", set.uuid);
                    // Here the first column is stored, in the place of an id.
                    self.database.push_cells(self.sequence, &[name.as_str().into(), rows.into()])?;
                }
            }
        }
        let views = info::views(&self.sets);
        let views = views.iter().map(|(name, sql)| (name.as_str(), sql.as_str()));
        self.database.publish(views, None)?;
        let output = self.database.close();
        info::write(&output, &self.sets, infos).map_err(|source| output.sqlite(source))
    }

    /// Writes a row of a thread, and remembers that with its queue and stream: the views join it with their rows.
    #[inline]
    fn record(
        &mut self,
        set: TableSetId,
        table: Table,
        (tid, queue, stream): (Option<i64>, i64, i64),
        cells: &[Datum<'_>],
    ) -> Result<i64> {
        let tid = tid.unwrap_or(0);
        let own = &mut self.sets[set.0];
        if own.recent != Some((tid, queue, stream)) {
            own.recent = Some((tid, queue, stream));
            own.threads.insert(tid);
            own.queues.insert(queue);
            own.streams.insert(stream);
        }
        let head = [own.origin.node, own.origin.pid, tid].map(Datum::from);
        self.parts(set, table, [&head, cells])
    }

    /// Writes a row behind its id and its guid.
    #[inline]
    fn row(&mut self, set: TableSetId, table: Table, cells: &[Datum<'_>]) -> Result<i64> {
        self.parts(set, table, [&[], cells])
    }

    #[inline]
    fn parts(&mut self, set: TableSetId, table: Table, [head, cells]: [&[Datum<'_>]; 2]) -> Result<i64> {
        let set = &self.sets[set.0];
        let mut row = [Datum::Null; 24];
        row[0] = set.origin.guid.as_str().into();
        let (start, end) = (1 + head.len(), 1 + head.len() + cells.len());
        row[1..start].copy_from_slice(head);
        row[start..end].copy_from_slice(cells);
        self.database.push_row(set.tables[table as usize], &row[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_has_its_table() {
        let names: Vec<&str> = tables_of(RECORDS).map(|(name, _)| name).collect();
        assert_eq!(names.len(), Table::Allocation as usize + 1);
        assert_eq!(names[Table::Track as usize], "rocpd_track");
        assert_eq!(names[Table::Counter as usize], "rocpd_pmc_event");
        assert_eq!(names[Table::Dispatch as usize], "rocpd_kernel_dispatch");
        assert_eq!(names[Table::Allocation as usize], "rocpd_memory_allocate");
    }
}
