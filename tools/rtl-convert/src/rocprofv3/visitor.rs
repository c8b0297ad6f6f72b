//! The rows of a trace as rocprofv3's records: those of one process together, those without a valid end left out.

use std::io;

use rtl_schema::table::{Allocation, ApiCall, Copy, Counter, Dispatch, Range};
use rtl_schema::{Id, NameId, ProcessId, Tables};

use super::kernels::{Kernel, Kernels};
use super::kinds::{Kind, List, Operations};
use crate::names::NameStyle;
use crate::rows::RowCounts;

/// Correlation ids of ranges that have none begin here, far above any that a runtime counts to and still exact as a
/// double: what a range is called is looked up by this id.
const FIRST_OWN_ID: Id = 1 << 52;

/// A call with what rocprofv3 says of it.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its position among the calls.
    pub row: u32,
    /// As it was read.
    pub call: ApiCall,
    /// The end in ns.
    pub end: i64,
    /// Its kind.
    pub kind: Kind,
    /// Its number among the operations of that kind.
    pub operation: u32,
}

/// Where records go. All rows given have an end that is not before their start.
pub trait RecordSink {
    /// All calls of one list of one process.
    ///
    /// # Errors
    /// Where the output cannot grow; so for all others.
    fn calls(
        &mut self,
        process: ProcessId,
        list: List,
        calls: &mut dyn Iterator<Item = Call>,
        tables: &Tables,
    ) -> io::Result<()>;

    /// A dispatch of the kernel at that position in the process.
    fn dispatch(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        kernel: (usize, &Kernel),
        tables: &Tables,
    ) -> io::Result<()>;

    /// A copy or fill.
    fn copy(&mut self, copy: &Copy, end: i64, tables: &Tables) -> io::Result<()>;

    /// A range or marker; its correlation id is never 0.
    fn range(&mut self, range: &Range, end: i64, tables: &Tables) -> io::Result<()>;

    /// An allocation or scratch event.
    fn allocation(&mut self, allocation: &Allocation, end: i64, tables: &Tables) -> io::Result<()>;

    /// What was counted during a dispatch.
    fn counters(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        kernel: (usize, &Kernel),
        values: &[Counter],
        tables: &Tables,
    ) -> io::Result<()>;
}

/// What is known of the rows seen so far.
#[derive(Debug, Default)]
pub struct RecordVisitor {
    /// How kernels are shown.
    pub names: NameStyle,
    /// What became of them.
    pub rows: RowCounts,
    /// The kernels of each process.
    pub kernels: Vec<Kernels>,
    /// The kinds and numbers of all functions.
    pub operations: Operations,
    ranges: Id,
}

impl RecordVisitor {
    /// Nothing seen yet; kernels will be shown like that.
    #[must_use]
    pub fn new(names: NameStyle) -> Self {
        Self { names, ..Self::default() }
    }

    /// Passes the rows of a batch to `out`.
    ///
    /// # Errors
    /// What `out` fails with.
    pub fn batch(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        self.kernels.resize_with(tables.processes.len(), Kernels::default);
        self.calls(tables, out)?;
        self.dispatches(tables, out)?;
        for copy in &tables.copies {
            if let Some(end) = self.rows.end(copy.start, copy.duration) {
                out.copy(copy, end, tables)?;
            }
        }
        self.ranges(tables, out)?;
        for allocation in &tables.allocations {
            if let Some(end) = self.rows.end(allocation.start, allocation.duration) {
                out.allocation(allocation, end, tables)?;
            }
        }
        self.counters(tables, out)?;
        let barriers = tables.barriers.len() as u64;
        self.rows.all += barriers;
        self.rows.unsupported += barriers;
        Ok(())
    }

    /// Adds what no row refers to.
    pub fn finish(&mut self, tables: &Tables) {
        self.kernels.resize_with(tables.processes.len(), Kernels::default);
        for (process, kernels) in (0..).map(ProcessId).zip(&mut self.kernels) {
            kernels.add_loaded(process, tables);
        }
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
            let operations = &mut self.operations;
            let mut calls = rows.iter().map(|&row| {
                let call = calls.get(row as usize);
                let (kind, operation) = operations.of_call(call.domain, call.name, &tables.strings);
                let end = call.start + call.duration.unwrap_or(0);
                Call { row, call, end, kind, operation }
            });
            out.calls(process, List::ALL[place % List::ALL.len()], &mut calls, tables)?;
        }
        Ok(())
    }

    fn dispatches(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        for row in 0..tables.dispatches.len() {
            let dispatch = tables.dispatches.get(row);
            if let Some(end) = self.rows.end(dispatch.start, dispatch.duration) {
                let kernels = &mut self.kernels[tables.tracks.get(dispatch.track).process.index()];
                let position = kernels.of(&dispatch, tables);
                out.dispatch(&dispatch, end, (position, kernels.get(position)), tables)?;
            }
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
                    self.ranges += 1;
                    FIRST_OWN_ID + self.ranges
                }
                known => known,
            };
            out.range(&Range { correlation, ..*range }, end, tables)?;
        }
        Ok(())
    }

    /// Values of one dispatch come one after the other. A value whose dispatch is not in the same piece (RPD's, whose
    /// ops come earlier) has no record to stand in.
    fn counters(&mut self, tables: &Tables, out: &mut impl RecordSink) -> io::Result<()> {
        if tables.counters.is_empty() {
            return Ok(());
        }
        let mut rows = rustc_hash::FxHashMap::default();
        for (row, dispatch) in tables.dispatches.iter().enumerate() {
            rows.entry((tables.tracks.get(dispatch.track).process, dispatch.id)).or_insert(row);
        }
        let same =
            |one: &Counter, other: &Counter| (one.process, one.dispatch) == (other.process, other.dispatch);
        for values in tables.counters.chunk_by(same) {
            let count = values.len() as u64;
            self.rows.all += count;
            let key = (values[0].process, values[0].dispatch);
            let dispatch = rows.get(&key).map(|&row| tables.dispatches.get(row));
            let ended = dispatch.and_then(|row| {
                let end = row.start.checked_add(row.duration.filter(|&length| length >= 0)?)?;
                Some((row, end))
            });
            let Some((dispatch, end)) = ended else {
                self.rows.unsupported += count;
                continue;
            };
            let kernels = &mut self.kernels[key.0.index()];
            let position = kernels.of(&dispatch, tables);
            out.counters(&dispatch, end, (position, kernels.get(position)), values, tables)?;
        }
        Ok(())
    }
}

/// The text behind an id, empty where there is none.
pub fn text(id: NameId, tables: &Tables) -> &str {
    if id.is_some() { tables.strings.get(id) } else { "" }
}
