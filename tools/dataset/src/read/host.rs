//! Reads the tables of the host: calls, operators, ranges and allocations, as far as they are selected.

use rtl_schema::table::{
    Allocation, AllocationKind, AllocationLevel, ApiCall, MemoryEvent, Operator, PythonFrame, Range,
    RangeKind,
};
use rtl_schema::{NameId, Result};

use super::Reading;
use super::rows::{Column, Group};

impl Reading<'_> {
    pub(super) fn host(&mut self) -> Result<()> {
        let select = self.select;
        if select.api {
            self.each("api_calls", Self::api_calls)?;
        }
        if select.operators {
            self.each("operators", Self::operators)?;
        }
        if select.ranges {
            self.each("ranges", Self::ranges)?;
        }
        if select.memory || select.secondary {
            self.each("allocations", Self::allocations)?;
        }
        if select.memory {
            self.each("memory_events", Self::memory_events)?;
        }
        if select.python {
            self.each("python_frames", Self::python_frames)?;
        }
        Ok(())
    }

    fn api_calls(&mut self, group: &Group<'_>) -> Result<()> {
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let strings = &mut self.tables.strings;
        let (names, domains) = (group.names("name", strings)?, group.names("domain", strings)?);
        let args = if self.select.args { group.names("arguments", strings)? } else { Vec::new() };
        let (pids, tids) = (group.integers("pid")?, group.integers("tid")?);
        let (correlations, parents) = (group.integers("correlation_id")?, group.integers("parent_id")?);
        let (streams, results) = (group.integers("stream")?, group.integers("result")?);
        let ids = group.integers_if(self.select.ids, "id")?;
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            self.tables.api_calls.push(ApiCall {
                id: ids.id(row),
                process: self.places.process(group, &pids, row)?,
                tid: tids.get(row),
                name: names[row],
                domain: domains[row],
                category: NameId::NONE,
                args: args.get(row).copied().unwrap_or(NameId::NONE),
                start,
                duration,
                correlation: correlations.id(row),
                parent: parents.id(row),
                stream: streams.get(row),
                result: results.id(row),
            });
        }
        Ok(())
    }

    fn operators(&mut self, group: &Group<'_>) -> Result<()> {
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let strings = &mut self.tables.strings;
        let names = group.names("name", strings)?;
        let (shapes, types) = (group.names("shapes", strings)?, group.names("types", strings)?);
        let (pids, tids) = (group.integers("pid")?, group.integers("tid")?);
        let (sequences, forward) = (group.integers("sequence")?, group.integers("forward_thread")?);
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            self.tables.operators.push(Operator {
                process: self.places.process(group, &pids, row)?,
                tid: tids.get(row),
                name: names[row],
                start,
                duration,
                shapes: shapes[row],
                types: types[row],
                strides: NameId::NONE,
                values: NameId::NONE,
                sequence: sequences.as_type(row),
                forward_thread: forward.as_type(row).unwrap_or(0),
                id: 0,
            });
        }
        Ok(())
    }

    fn ranges(&mut self, group: &Group<'_>) -> Result<()> {
        const KINDS: [(&str, RangeKind); 3] =
            [("thread", RangeKind::Thread), ("process", RangeKind::Process), ("marker", RangeKind::Marker)];
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let strings = &mut self.tables.strings;
        let (names, categories) = (group.names("name", strings)?, group.names("category", strings)?);
        let kinds = group.texts("type")?;
        let (pids, tids) = (group.integers("pid")?, group.integers("tid")?);
        let (correlations, ids) = (group.integers("correlation_id")?, group.integers("id")?);
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            self.tables.ranges.push(Range {
                id: ids.id(row),
                process: self.places.process(group, &pids, row)?,
                tid: tids.get(row),
                name: names[row],
                category: categories[row],
                kind: value(&KINDS, &kinds, row).unwrap_or_default(),
                start,
                duration,
                correlation: correlations.id(row),
            });
        }
        Ok(())
    }

    fn python_frames(&mut self, group: &Group<'_>) -> Result<()> {
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let names = group.names("name", &mut self.tables.strings)?;
        let (pids, tids) = (group.integers("pid")?, group.integers("tid")?);
        let (numbers, callers) = (group.integers("number")?, group.integers("caller")?);
        let (modules, ids) = (group.integers("module")?, group.integers_if(self.select.ids, "id")?);
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            self.tables.python_frames.push(PythonFrame {
                id: ids.id(row),
                process: self.places.process(group, &pids, row)?,
                tid: tids.get(row),
                name: names[row],
                start,
                duration,
                number: numbers.as_type(row),
                caller: callers.as_type(row),
                module: modules.as_type(row),
            });
        }
        Ok(())
    }

    fn memory_events(&mut self, group: &Group<'_>) -> Result<()> {
        let (times, bytes) = (group.integers("time")?, group.integers("bytes")?);
        let (addresses, gpus) = (group.integers("address")?, group.integers("gpu")?);
        let (allocated, reserved) = (group.integers("allocated")?, group.integers("reserved")?);
        let (pids, tids, ids) = (group.integers("pid")?, group.integers("tid")?, group.integers("id")?);
        for row in 0..group.rows {
            self.tables.memory_events.push(MemoryEvent {
                id: ids.id(row),
                process: self.places.process(group, &pids, row)?,
                tid: tids.get(row),
                agent: self.places.gpu(group, &gpus, row)?,
                time: times.id(row),
                address: addresses.bits(row),
                bytes: bytes.id(row),
                allocated: allocated.bits(row),
                reserved: reserved.bits(row),
            });
        }
        Ok(())
    }

    fn allocations(&mut self, group: &Group<'_>) -> Result<()> {
        let kind_words = [
            AllocationKind::Allocate,
            AllocationKind::Free,
            AllocationKind::Reallocate,
            AllocationKind::Reclaim,
        ]
        .map(|kind| (kind.label(), kind));
        let level_words = [AllocationLevel::Real, AllocationLevel::Virtual, AllocationLevel::Scratch]
            .map(|level| (level.label(), level));
        let starts = group.starts()?;
        let durations = group.durations(&starts)?;
        let (kinds, levels) = (group.texts("type")?, group.texts("level")?);
        let (bytes, addresses) = (group.integers("bytes")?, group.integers("address")?);
        let (gpus, queues) = (group.integers("gpu")?, group.integers("queue")?);
        let (streams, tids) = (group.integers("stream")?, group.integers("tid")?);
        let (pids, correlations) = (group.integers("pid")?, group.integers("correlation_id")?);
        for (row, (&start, &duration)) in starts.iter().zip(&durations).enumerate() {
            self.tables.allocations.push(Allocation {
                process: self.places.process(group, &pids, row)?,
                tid: tids.get(row),
                agent: self.places.gpu(group, &gpus, row)?,
                queue: queues.get(row),
                stream: streams.get(row),
                kind: value(&kind_words, &kinds, row).unwrap_or_default(),
                level: value(&level_words, &levels, row).unwrap_or_default(),
                start,
                duration,
                address: addresses.bits(row),
                bytes: bytes.bits(row).unwrap_or(0),
                correlation: correlations.id(row),
                id: 0,
                flags: None,
            });
        }
        Ok(())
    }
}

fn value<T: Copy>(words: &[(&str, T)], column: &Column<columnar::Text>, row: usize) -> Option<T> {
    let text = column.get(row)?;
    words.iter().find(|(word, _)| text.as_str() == Some(word)).map(|(_, value)| *value)
}
