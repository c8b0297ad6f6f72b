//! Names and times of ops, read without the rest of the trace.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::kinds::{Kinds, OpKind};
use super::{Header, NO_GPU, Names, Variant};
use crate::column::ESCAPE;
use crate::input::Input;
use crate::sqlite::{AddRows, Database, FastRow, RUN, Row, SharedScan};
use crate::table::{Barrier, Copy, Dispatch};
use crate::{NameId, Result, Strings, Tables};

/// Of the GPU the sign is enough in most rows: a negative one may be no agent.
const COLUMNS: [&str; 5] = ["gpuId", "start", "end", "opType_id", "description_id"];
const NAME: usize = COLUMNS.len() - 1;

/// The names and times of the ops of a trace, which threads read in pieces of some thousand rows. Nothing else of the trace is
/// in memory, and each piece only where it is read to: see [`crate::Trace::into_op_times`].
#[derive(Debug)]
pub struct OpTimes {
    scan: SharedScan<{ COLUMNS.len() }>,
    variant: Variant,
    names: Names,
    strings: Strings,
    /// Dispatches that were in flight at the end of the recording: the last piece.
    open: Vec<Dispatch>,
    /// How many pieces were read.
    read: AtomicUsize,
    /// The files behind the database.
    _inputs: Vec<Input>,
}

/// The leaves of a piece: 20,000 to 50,000 rows.
const PIECE: usize = 512;
/// No row has this type.
const NO_TYPE: i64 = i64::MIN;

/// The columns of [`OpTimes`] that are read besides durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeColumns {
    /// The names.
    pub name: bool,
    /// The starts.
    pub start: bool,
    /// Copies and barriers beside dispatches, with their names and times.
    pub other_ops: bool,
}

impl TimeColumns {
    /// The columns of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            name: self.name | other.name,
            start: self.start | other.start,
            other_ops: self.other_ops | other.other_ops,
        }
    }
}

impl Header {
    /// Of the database whose header it is; the database comes back where only SQLite can read it.
    pub(crate) fn into_op_times(
        self,
        database: Database,
        inputs: Vec<Input>,
    ) -> Result<std::result::Result<OpTimes, (Database, Vec<Input>)>> {
        let Self { variant, names, references, tables } = self;
        let scan = match database.into_scan("rocpd_op", COLUMNS, PIECE)? {
            Ok(scan) => scan,
            Err(database) => return Ok(Err((database, inputs))),
        };
        let open = references.open_dispatches.into_iter().map(|open| open.row).collect();
        let strings = tables.strings;
        let read = AtomicUsize::new(0);
        Ok(Ok(OpTimes { scan, variant, names, strings, open, read, _inputs: inputs }))
    }
}

impl OpTimes {
    /// The strings of the trace, to which names refer.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// How many pieces there are. Each is read once.
    pub fn pieces(&self) -> usize {
        self.scan.pieces() + usize::from(!self.open.is_empty())
    }

    /// Replaces the dispatches, copies and barriers of `into`, which is empty or was read to with the same columns, by those of a piece.
    /// All columns that are not read have their default.
    ///
    /// # Errors
    /// Where SQLite cannot read the table, or it has changed since the first piece.
    pub fn read(&self, piece: usize, columns: TimeColumns, into: &mut Tables) -> Result<()> {
        into.dispatches.restart(columns.name, columns.start);
        into.copies.clear();
        into.barriers.clear();
        let mut part = Part::new(self, columns, into);
        if piece == self.scan.pieces() {
            self.open.iter().for_each(|open| part.push(open.name, open.start, open.duration));
        } else {
            self.scan.read(piece, &mut part)?;
        }
        into.dispatches.complete_times();
        if self.read.fetch_add(1, Ordering::AcqRel) + 1 == self.pieces() { self.scan.check() } else { Ok(()) }
    }
}

/// The rows of a piece so far.
struct Part<'a> {
    of: &'a OpTimes,
    columns: TimeColumns,
    into: &'a mut Tables,
    kinds: Kinds,
    /// A type of dispatches, once one was met.
    kernel_type: i64,
    run: Box<Run>,
}

/// Rows that are added at once.
struct Run {
    durations: [u32; RUN],
    starts: [i64; RUN],
    names: [NameId; RUN],
    /// Durations that do not fit, by their positions.
    long: Vec<(usize, Option<i64>)>,
}

impl<'a> Part<'a> {
    fn new(of: &'a OpTimes, columns: TimeColumns, into: &'a mut Tables) -> Self {
        let run = Run { durations: [0; RUN], starts: [0; RUN], names: [NameId::NONE; RUN], long: Vec::new() };
        Self { of, columns, into, kinds: Kinds::default(), kernel_type: NO_TYPE, run: Box::new(run) }
    }

    /// Adds a dispatch.
    fn push(&mut self, name: NameId, start: i64, duration: Option<i64>) {
        let dispatches = &mut self.into.dispatches;
        dispatches.duration.push(duration);
        if self.columns.start {
            dispatches.start.push(start);
        }
        if self.columns.name {
            dispatches.name.push(name);
        }
    }
}

/// Adds an op that is no dispatch, if it is a copy or a barrier.
#[cold]
fn push_other(
    into: &mut Tables,
    columns: TimeColumns,
    kind: OpKind,
    (name, start, duration): (NameId, i64, Option<i64>),
) {
    let name = if columns.name { name } else { NameId::NONE };
    let start = if columns.start { start } else { 0 };
    match kind {
        OpKind::Copy(_) => into.copies.push(Copy { name, start, duration, ..Copy::default() }),
        OpKind::Barrier => into.barriers.push(Barrier { name, start, duration, ..Barrier::default() }),
        _ => {}
    }
}

impl AddRows<{ COLUMNS.len() }> for Part<'_> {
    type Facts = ();

    fn facts(&self, _: &Row<'_>) -> Option<()> {
        Some(())
    }

    #[inline(always)]
    fn add_fast<'a>(&mut self, rows: impl Iterator<Item = FastRow<'a, { COLUMNS.len() }, ()>>) -> bool {
        match (self.columns.name, self.columns.start) {
            (false, false) => self.add_run::<false, false>(rows),
            (false, true) => self.add_run::<false, true>(rows),
            (true, false) => self.add_run::<true, false>(rows),
            (true, true) => self.add_run::<true, true>(rows),
        }
        true
    }

    fn add(&mut self, row: &Row<'_>) {
        self.add_row(row);
    }
}

impl Part<'_> {
    /// Adds fast rows with their names or starts, if these are read.
    #[inline(always)]
    fn add_run<'a, const NAMES: bool, const STARTS: bool>(
        &mut self,
        rows: impl Iterator<Item = FastRow<'a, { COLUMNS.len() }, ()>>,
    ) {
        let Self { of, columns, into, kinds, kernel_type, run } = self;
        let OpTimes { names, strings, variant, .. } = of;
        let mut count = 0;
        for row in rows {
            let [start, end, op_type] = std::array::from_fn(|at| row.int(1 + at));
            if op_type != *kernel_type {
                let (kind, type_name) = kinds.get(Some(op_type), names, strings);
                if !kind.is_dispatch(NO_GPU) {
                    if columns.other_ops {
                        let name = variant.name(names.get(Some(row.int(NAME))), type_name, strings);
                        push_other(into, *columns, kind, (name, start, end.checked_sub(start)));
                    }
                    continue;
                }
                *kernel_type = op_type;
            }
            run.durations[count] = match end.checked_sub(start) {
                Some(duration) if (duration as u64) < u64::from(ESCAPE) => duration as u32,
                other => run.unusual_duration(count, other),
            };
            if STARTS {
                run.starts[count] = start;
            }
            if NAMES {
                let mut name = names.get(Some(row.int(NAME)));
                if variant.ops_named_by_type {
                    let (_, type_name) = kinds.get(Some(op_type), names, strings);
                    name = variant.name(name, type_name, strings);
                }
                run.names[count] = name;
            }
            count += 1;
        }
        let dispatches = &mut into.dispatches;
        dispatches.duration.extend(&run.durations[..count], run.long.drain(..));
        if STARTS {
            dispatches.start.extend_from_slice(&run.starts[..count]);
        }
        if NAMES {
            dispatches.name.extend_from_slice(&run.names[..count]);
        }
    }

    #[cold]
    fn add_row(&mut self, row: &Row<'_>) {
        let [gpu, start, end, op_type, name] = std::array::from_fn(|at| row.int(at));
        let OpTimes { names, strings, variant, .. } = self.of;
        let (kind, type_name) = self.kinds.get(op_type, names, strings);
        let Some(start) = start else { return };
        let duration = end.and_then(|end| end.checked_sub(start));
        let name = variant.name(names.get(name), type_name, strings);
        if kind.is_dispatch(gpu.unwrap_or(NO_GPU)) {
            self.push(name, start, duration);
        } else if self.columns.other_ops {
            push_other(self.into, self.columns, kind, (name, start, duration));
        }
    }
}

impl Run {
    #[cold]
    fn unusual_duration(&mut self, row: usize, duration: Option<i64>) -> u32 {
        let short =
            duration.and_then(|duration| u32::try_from(duration).ok()).filter(|short| *short != ESCAPE);
        short.unwrap_or_else(|| {
            self.long.push((row, duration));
            ESCAPE
        })
    }
}
