//! Turns the rows of a trace into rocprofv3's records. Rows without a valid end are omitted.

use std::io;

use rtl_schema::table::{Allocation, ApiArgument, ApiCall, Copy, Counter, Dispatch, Range, Shape};
use rtl_schema::{AgentId, Id, NameId, ProcessId, Tables};

use super::devices::Devices;
use super::kernels::{Kernel, Kernels};
use super::kinds::{self, Kind, List, Operations};
use crate::rows::RowCounts;

/// The first correlation id of ranges without one: above any id that a runtime assigns, and exact as a double. The
/// name of a range is found by this id.
const FIRST_OWN_ID: Id = 1 << 52;

/// The objects to which the records of one process refer.
#[derive(Debug, Default)]
pub struct ProcessState {
    pub devices: Devices,
    pub kernels: Kernels,
    /// Counters by name and agent; the number of a counter is its position from 1.
    pub counters: Vec<(NameId, Option<AgentId>)>,
    /// The first start and the last end of the records in ns.
    pub span: Option<(i64, i64)>,
    dispatches: i64,
}

impl ProcessState {
    fn counter(&mut self, value: &Counter) -> usize {
        let key = (value.name, value.agent);
        let position = self.counters.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.counters.push(key);
            self.counters.len() - 1
        });
        position + 1
    }

    /// A record of which only the process and the times are known.
    #[inline]
    fn record<'a>(
        &'a mut self,
        process: ProcessId,
        tables: &'a Tables,
        (start, end): (i64, i64),
    ) -> Record<'a> {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
        Record {
            process,
            state: self,
            tables,
            kind: 0,
            operation: 0,
            start,
            end,
            tid: None,
            correlation: 0,
            parent: 0,
            stream: None,
        }
    }

    #[inline]
    fn launch<'a>(
        &'a mut self,
        row: Dispatch,
        number: i64,
        end: i64,
        tables: &'a Tables,
    ) -> (Record<'a>, Launch<'a>) {
        let track = tables.tracks.get(row.track);
        let position = self.kernels.position(&row, tables);
        let record = Record {
            kind: kinds::KERNEL_DISPATCH,
            operation: kinds::DISPATCH_COMPLETE,
            tid: row.tid,
            correlation: row.correlation,
            parent: row.correlation,
            stream: track.stream,
            ..self.record(track.process, tables, (row.start, end))
        };
        let kernel = &record.state.kernels.rows[position];
        (record, Launch { row, number, position, kernel })
    }
}

#[derive(Debug, Clone, std::marker::Copy)]
pub struct Record<'a> {
    pub process: ProcessId,
    pub state: &'a ProcessState,
    /// The batch that the row belongs to.
    pub tables: &'a Tables,
    pub kind: Kind,
    /// The number of the operation within the kind.
    pub operation: usize,
    /// In ns.
    pub start: i64,
    /// In ns, not before the start.
    pub end: i64,
    pub tid: Option<i64>,
    /// Never 0 for ranges.
    pub correlation: Id,
    /// The id of the enclosing call; 0 is none.
    pub parent: Id,
    pub stream: Option<i64>,
}

#[derive(Debug)]
pub struct Launch<'a> {
    pub row: Dispatch,
    /// The id in the trace, else the position among the dispatches of the process, from 1.
    pub number: i64,
    /// In [`ProcessState::kernels`].
    pub position: usize,
    pub kernel: &'a Kernel,
}

impl Launch<'_> {
    /// Empty where unknown.
    #[inline]
    pub fn shape(&self, tables: &Tables) -> Shape {
        self.row.shape.map_or(Shape::default(), |shape| tables.shapes.get(shape))
    }
}

/// Receives the records of one process in the order of the trace.
///
/// Every method fails where the output cannot grow.
#[expect(clippy::missing_errors_doc, reason = "the same for all of them")]
pub trait RecordSink {
    /// The calls of one list come one after the other. `row` is the position among the calls.
    fn call(&mut self, record: &Record<'_>, list: List, row: u32, call: &ApiCall) -> io::Result<()>;

    fn dispatch(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()>;

    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()>;

    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()>;

    /// An allocation or scratch event.
    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()>;

    /// Each counter comes with its number.
    fn counters(
        &mut self,
        record: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()>;
}

/// Visits the rows of a trace in batches and passes them to a sink for each process.
pub struct RecordVisitor<S, F> {
    /// Rows that became records.
    pub rows: RowCounts,
    pub operations: Operations,
    /// By process, where it has records.
    processes: Vec<Option<Box<(ProcessState, S)>>>,
    sink: F,
    own_ids: Id,
}

impl<S: RecordSink, F: FnMut(ProcessId, &Tables) -> io::Result<S>> RecordVisitor<S, F> {
    /// `sink` makes the sink of a process.
    pub fn new(sink: F) -> Self {
        let (rows, operations) = (RowCounts::default(), Operations::default());
        Self { rows, operations, processes: Vec::new(), sink, own_ids: 0 }
    }

    pub fn batch(&mut self, tables: &Tables) -> io::Result<()> {
        self.calls(tables)?;
        self.dispatches(tables)?;
        self.copies(tables)?;
        self.ranges(tables)?;
        self.allocations(tables)?;
        self.counters(tables)?;
        let barriers = tables.barriers.len() as u64;
        self.rows.all += barriers;
        self.rows.unsupported += barriers;
        Ok(())
    }

    /// The processes in the order of the trace, with the kernels that were loaded but never launched; a trace without records has one
    /// process.
    pub fn finish(&mut self, tables: &Tables) -> io::Result<Vec<(ProcessId, ProcessState, S)>> {
        if self.processes.is_empty() {
            self.process(ProcessId(0), tables)?;
        }
        let processes = (0..).map(ProcessId).zip(self.processes.drain(..));
        let loaded = processes.filter_map(|(id, process)| {
            let (mut state, sink) = *process?;
            state.kernels.add_loaded(id, tables);
            Some((id, state, sink))
        });
        Ok(loaded.collect())
    }

    #[inline]
    fn process(&mut self, id: ProcessId, tables: &Tables) -> io::Result<&mut (ProcessState, S)> {
        if self.processes.len() <= id.index() {
            self.processes.resize_with(id.index() + 1, || None);
        }
        let process = match &mut self.processes[id.index()] {
            Some(process) => process,
            none => none.insert(Box::new((ProcessState::default(), (self.sink)(id, tables)?))),
        };
        process.0.devices.register(id, tables);
        Ok(process)
    }

    fn calls(&mut self, tables: &Tables) -> io::Result<()> {
        let calls = &tables.api_calls;
        let mut lists: Vec<Vec<(u32, Kind, usize)>> =
            vec![Vec::new(); tables.processes.len() * List::ALL.len()];
        for row in 0..calls.len() {
            if self.rows.end(calls.start[row], calls.duration.get(row)).is_some() {
                let (kind, operation) =
                    self.operations.of_call(calls.domain.get(row), calls.name[row], &tables.strings);
                let process = calls.process.get(row).index();
                let list = &mut lists[process * List::ALL.len() + List::of(kind) as usize];
                list.push((row as u32, kind, operation));
            }
        }
        for (place, rows) in lists.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let process = ProcessId((place / List::ALL.len()) as u32);
            let list = List::ALL[place % List::ALL.len()];
            let (state, sink) = self.process(process, tables)?;
            for &(row, kind, operation) in rows {
                let call = calls.get(row as usize);
                let (start, end) = (call.start, call.start + call.duration.unwrap_or(0));
                let record = Record {
                    kind,
                    operation,
                    tid: call.tid,
                    correlation: call.correlation,
                    parent: call.parent,
                    stream: call.stream,
                    ..state.record(process, tables, (start, end))
                };
                sink.call(&record, list, row, &call)?;
            }
        }
        Ok(())
    }

    fn dispatches(&mut self, tables: &Tables) -> io::Result<()> {
        for row in 0..tables.dispatches.len() {
            let row = tables.dispatches.get(row);
            if let Some(end) = self.rows.end(row.start, row.duration) {
                let (state, sink) = self.process(tables.tracks.get(row.track).process, tables)?;
                state.dispatches += 1;
                let number = if row.id == 0 { state.dispatches } else { row.id };
                let (record, launch) = state.launch(row, number, end, tables);
                sink.dispatch(&record, &launch)?;
            }
        }
        Ok(())
    }

    fn copies(&mut self, tables: &Tables) -> io::Result<()> {
        for copy in &tables.copies {
            let Some(end) = self.rows.end(copy.start, copy.duration) else { continue };
            let track = tables.tracks.get(copy.track);
            let (state, sink) = self.process(track.process, tables)?;
            let record = Record {
                kind: kinds::MEMORY_COPY,
                operation: kinds::copy_operation(copy.direction),
                tid: copy.tid,
                correlation: copy.correlation,
                parent: copy.correlation,
                stream: track.stream,
                ..state.record(track.process, tables, (copy.start, end))
            };
            sink.copy(&record, copy)?;
        }
        Ok(())
    }

    fn ranges(&mut self, tables: &Tables) -> io::Result<()> {
        for range in &tables.ranges {
            // A marker is an instant whether its end is known or not.
            let duration = if range.is_marker() { Some(0) } else { range.duration };
            let Some(end) = self.rows.end(range.start, duration) else { continue };
            let correlation = match range.correlation {
                0 => {
                    self.own_ids += 1;
                    FIRST_OWN_ID + self.own_ids
                }
                known => known,
            };
            let (state, sink) = self.process(range.process, tables)?;
            let record = Record {
                kind: kinds::MARKER_RANGE,
                operation: kinds::range_operation(range),
                tid: range.tid,
                correlation,
                ..state.record(range.process, tables, (range.start, end))
            };
            sink.range(&record, range)?;
        }
        Ok(())
    }

    fn allocations(&mut self, tables: &Tables) -> io::Result<()> {
        for allocation in &tables.allocations {
            let Some(end) = self.rows.end(allocation.start, allocation.duration) else { continue };
            let (kind, operation) = kinds::allocation_operation(allocation);
            let (state, sink) = self.process(allocation.process, tables)?;
            let record = Record {
                kind,
                operation,
                tid: allocation.tid,
                correlation: allocation.correlation,
                stream: allocation.stream,
                ..state.record(allocation.process, tables, (allocation.start, end))
            };
            sink.allocation(&record, allocation)?;
        }
        Ok(())
    }

    /// The values of one dispatch are consecutive rows. Values whose dispatch is in another batch (RPD stores ops
    /// earlier) have no record.
    fn counters(&mut self, tables: &Tables) -> io::Result<()> {
        if tables.counters.is_empty() {
            return Ok(());
        }
        let mut rows = rustc_hash::FxHashMap::default();
        for (row, dispatch) in tables.dispatches.iter().enumerate() {
            rows.entry((tables.tracks.get(dispatch.track).process, dispatch.id)).or_insert(row);
        }
        let key = |counter: &Counter| (counter.process, counter.dispatch);
        for values in tables.counters.chunk_by(|one, other| key(one) == key(other)) {
            let count = values.len() as u64;
            self.rows.all += count;
            let row = rows.get(&key(&values[0])).map(|&row| tables.dispatches.get(row));
            let ended = row.and_then(|row| {
                let end = row.start.checked_add(row.duration.filter(|&length| length >= 0)?)?;
                Some((row, end))
            });
            let Some((row, end)) = ended else {
                self.rows.unsupported += count;
                continue;
            };
            let (state, sink) = self.process(values[0].process, tables)?;
            let values: Vec<_> = values.iter().map(|value| (state.counter(value), *value)).collect();
            let (record, launch) = state.launch(row, row.id, end, tables);
            sink.counters(&record, &launch, &values)?;
        }
        Ok(())
    }
}

/// The named arguments of the call in that row.
pub fn arguments(row: u32, tables: &Tables) -> &[ApiArgument] {
    let all = &tables.api_calls.arguments;
    let first = all.partition_point(|argument| argument.call < row);
    let count = all[first..].iter().take_while(|argument| argument.call == row).count();
    &all[first..first + count]
}

/// Empty where there is none.
pub fn text(id: NameId, tables: &Tables) -> &str {
    if id.is_some() { tables.strings.get(id) } else { "" }
}
