//! Turns the rows of a trace into rocprofv3's records. Rows without a valid end are omitted.

use std::io;

use rtl_schema::table::{Allocation, ApiCall, Copy, Counter, Dispatch, Range, Shape};
use rtl_schema::{AgentId, Id, NameId, ProcessId, Tables};

use super::devices::Devices;
use super::kernels::{Kernel, Kernels};
use super::kinds::{self, Kind, List, Operations};
use super::per_process::PerProcess;
use crate::names::NameStyle;
use crate::rows::RowCounts;

/// The first correlation id of ranges without one: above any id that a runtime assigns, and exact as a double. The
/// name of a range is found by this id.
const FIRST_OWN_ID: Id = 1 << 52;

/// What the records of one process refer to.
#[derive(Debug, Default)]
pub struct ProcessState {
    /// Its agents.
    pub devices: Devices,
    /// Its kernels.
    pub kernels: Kernels,
    /// Its counters by name and agent; the number of a counter is its position from 1.
    pub counters: Vec<(NameId, Option<AgentId>)>,
    /// First start and last end of its records in ns.
    pub span: Option<(i64, i64)>,
    dispatches: i64,
}

impl ProcessState {
    /// The number of a counter.
    fn counter(&mut self, value: &Counter) -> usize {
        let key = (value.name, value.agent);
        let position = self.counters.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.counters.push(key);
            self.counters.len() - 1
        });
        position + 1
    }
}

/// What every record states.
#[derive(Debug, Clone, std::marker::Copy)]
pub struct Record<'a> {
    /// The process.
    pub process: ProcessId,
    /// What its records refer to.
    pub state: &'a ProcessState,
    /// The batch that the row belongs to.
    pub tables: &'a Tables,
    /// The kind.
    pub kind: Kind,
    /// The number of the operation within the kind.
    pub operation: usize,
    /// Start in ns.
    pub start: i64,
    /// End in ns, not before the start.
    pub end: i64,
    /// The thread.
    pub tid: Option<i64>,
    /// The correlation id; of ranges never 0.
    pub correlation: Id,
    /// The correlation id of the enclosing call; 0 is none.
    pub parent: Id,
    /// The HIP stream.
    pub stream: Option<i64>,
}

/// A kernel dispatch.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The row.
    pub row: Dispatch,
    /// Its dispatch id; where the trace has none, its position among the dispatches of the process, from 1.
    pub number: i64,
    /// The position of the kernel in [`ProcessState::kernels`].
    pub position: usize,
    /// The kernel.
    pub kernel: &'a Kernel,
}

impl Launch<'_> {
    /// Its launch shape, empty where unknown.
    #[inline]
    pub fn shape(&self, tables: &Tables) -> Shape {
        self.row.shape.map_or(Shape::default(), |shape| tables.shapes.get(shape))
    }
}

/// Receives records in the order of the trace.
///
/// Every method fails where the output cannot grow.
#[expect(clippy::missing_errors_doc, reason = "the same for all of them")]
pub trait RecordSink {
    /// A call; the calls of one list of one process come one after the other. `row` is its position among the calls.
    fn call(&mut self, record: &Record<'_>, list: List, row: u32, call: &ApiCall) -> io::Result<()>;

    /// A dispatch.
    fn dispatch(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()>;

    /// A copy or fill.
    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()>;

    /// A range or marker.
    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()>;

    /// An allocation or scratch event.
    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()>;

    /// The counters of a dispatch, each with its number.
    fn counters(
        &mut self,
        record: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()>;
}

/// Visits the rows of a trace in batches.
#[derive(Debug, Default)]
pub struct RecordVisitor {
    /// Style of kernel names.
    pub names: NameStyle,
    /// How many rows became records.
    pub rows: RowCounts,
    /// The kinds and numbers of all functions.
    pub operations: Operations,
    states: PerProcess<ProcessState>,
    own_ids: Id,
}

impl RecordVisitor {
    /// A visitor of a whole trace.
    #[must_use]
    pub fn new(names: NameStyle) -> Self {
        Self { names, ..Self::default() }
    }

    /// Passes the rows of a batch to `out`.
    ///
    /// # Errors
    /// `out` fails.
    pub fn batch(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        self.calls(tables, out)?;
        self.dispatches(tables, out)?;
        self.copies(tables, out)?;
        self.ranges(tables, out)?;
        self.allocations(tables, out)?;
        self.counters(tables, out)?;
        let barriers = tables.barriers.len() as u64;
        self.rows.all += barriers;
        self.rows.unsupported += barriers;
        Ok(())
    }

    /// Adds the kernels that were loaded but never launched; a trace without records has one process.
    pub fn finish(&mut self, tables: &Tables) {
        if self.states.iter().next().is_none() {
            state(&mut self.states, ProcessId(0), tables);
        }
        let used: Vec<ProcessId> = self.states.iter().map(|(id, _)| id).collect();
        for id in used {
            self.states.slot(id).get_or_insert_default().kernels.add_loaded(id, tables);
        }
    }

    /// The processes that have records, in the order of the trace.
    pub fn processes(&self) -> impl Iterator<Item = (ProcessId, &ProcessState)> {
        self.states.iter()
    }

    /// What the records of a process refer to, if it has any.
    pub fn process(&self, id: ProcessId) -> Option<&ProcessState> {
        self.states.get(id)
    }

    fn calls(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        let calls = &tables.api_calls;
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); tables.processes.len() * List::ALL.len()];
        for row in 0..calls.len() {
            if self.rows.end(calls.start[row], calls.duration.get(row)).is_some() {
                let (kind, _) =
                    self.operations.of_call(calls.domain.get(row), calls.name[row], &tables.strings);
                let process = calls.process.get(row).index();
                lists[process * List::ALL.len() + List::of(kind) as usize].push(row as u32);
            }
        }
        for (place, rows) in lists.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let process = ProcessId((place / List::ALL.len()) as u32);
            let list = List::ALL[place % List::ALL.len()];
            for &row in rows {
                let call = calls.get(row as usize);
                let (start, end) = (call.start, call.start + call.duration.unwrap_or(0));
                let (kind, operation) = self.operations.of_call(call.domain, call.name, &tables.strings);
                let record = Record {
                    kind,
                    operation: operation as usize,
                    tid: call.tid,
                    correlation: call.correlation,
                    parent: call.parent,
                    stream: call.stream,
                    ..record(state(&mut self.states, process, tables), process, tables, (start, end))
                };
                out.call(&record, list, row, &call)?;
            }
        }
        Ok(())
    }

    fn dispatches(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        for row in 0..tables.dispatches.len() {
            let row = tables.dispatches.get(row);
            if let Some(end) = self.rows.end(row.start, row.duration) {
                let state = state(&mut self.states, tables.tracks.get(row.track).process, tables);
                state.dispatches += 1;
                let number = if row.id == 0 { state.dispatches } else { row.id };
                let (record, launch) = launch(state, row, number, end, tables);
                out.dispatch(&record, &launch)?;
            }
        }
        Ok(())
    }

    fn copies(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        for copy in &tables.copies {
            let Some(end) = self.rows.end(copy.start, copy.duration) else { continue };
            let track = tables.tracks.get(copy.track);
            let record = Record {
                kind: kinds::MEMORY_COPY,
                operation: kinds::copy_operation(copy.direction),
                tid: copy.tid,
                correlation: copy.correlation,
                parent: copy.correlation,
                stream: track.stream,
                ..record(
                    state(&mut self.states, track.process, tables),
                    track.process,
                    tables,
                    (copy.start, end),
                )
            };
            out.copy(&record, copy)?;
        }
        Ok(())
    }

    fn ranges(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
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
            let record = Record {
                kind: kinds::MARKER_RANGE,
                operation: kinds::range_operation(range),
                tid: range.tid,
                correlation,
                ..record(
                    state(&mut self.states, range.process, tables),
                    range.process,
                    tables,
                    (range.start, end),
                )
            };
            out.range(&record, range)?;
        }
        Ok(())
    }

    fn allocations(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        for allocation in &tables.allocations {
            let Some(end) = self.rows.end(allocation.start, allocation.duration) else { continue };
            let (kind, operation) = kinds::allocation_operation(allocation);
            let record = Record {
                kind,
                operation,
                tid: allocation.tid,
                correlation: allocation.correlation,
                stream: allocation.stream,
                ..record(
                    state(&mut self.states, allocation.process, tables),
                    allocation.process,
                    tables,
                    (allocation.start, end),
                )
            };
            out.allocation(&record, allocation)?;
        }
        Ok(())
    }

    /// The values of one dispatch are consecutive rows. Values whose dispatch is in another batch (RPD stores ops
    /// earlier) have no record.
    fn counters(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
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
            let state = state(&mut self.states, values[0].process, tables);
            let values: Vec<_> = values.iter().map(|value| (state.counter(value), *value)).collect();
            let number = row.id;
            let (record, launch) = launch(state, row, number, end, tables);
            out.counters(&record, &launch, &values)?;
        }
        Ok(())
    }
}

/// The state of a process, which knows the agents of this batch.
#[inline]
fn state<'a>(
    states: &'a mut PerProcess<ProcessState>,
    process: ProcessId,
    tables: &Tables,
) -> &'a mut ProcessState {
    let state = states.slot(process).get_or_insert_default();
    state.devices.register(process, tables);
    state
}

/// A record of which only the process and the times are known.
#[inline]
fn record<'a>(
    state: &'a mut ProcessState,
    process: ProcessId,
    tables: &'a Tables,
    (start, end): (i64, i64),
) -> Record<'a> {
    let (first, last) = state.span.unwrap_or((start, end));
    state.span = Some((first.min(start), last.max(end)));
    Record {
        process,
        state,
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
    state: &'a mut ProcessState,
    row: Dispatch,
    number: i64,
    end: i64,
    tables: &'a Tables,
) -> (Record<'a>, Launch<'a>) {
    let track = tables.tracks.get(row.track);
    let position = state.kernels.of(&row, tables);
    let record = Record {
        kind: kinds::KERNEL_DISPATCH,
        operation: kinds::DISPATCH_COMPLETE,
        tid: row.tid,
        correlation: row.correlation,
        parent: row.correlation,
        stream: track.stream,
        ..record(state, track.process, tables, (row.start, end))
    };
    let kernel = record.state.kernels.get(position);
    (record, Launch { row, number, position, kernel })
}

/// The text behind an id, empty where there is none.
pub fn text(id: NameId, tables: &Tables) -> &str {
    if id.is_some() { tables.strings.get(id) } else { "" }
}
