//! Names and times of dispatches, read without the rest of the trace.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::kinds::Kinds;
use super::{Header, NO_GPU, Names, Variant};
use crate::column::ESCAPE;
use crate::input::Input;
use crate::sqlite::{AddRows, Database, RUN, Row, SharedScan};
use crate::table::{Dispatch, Dispatches};
use crate::{NameId, Result, Strings};

/// Of the GPU the sign is enough in most rows: a negative one may be no agent.
const COLUMNS: [&str; 5] = ["gpuId", "start", "end", "opType_id", "description_id"];
/// Columns of the others.
const TIMES: usize = 3;
const NAMED: usize = 4;

/// The names and times of the dispatches of a trace, which threads read in pieces of some thousand rows. Nothing else of the trace is
/// in memory, and each piece only where it is read to: see [`crate::Trace::into_dispatch_times`].
#[derive(Debug)]
pub struct DispatchTimes {
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

/// The columns of [`DispatchTimes`] that are read besides durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeColumns {
    /// The names.
    pub name: bool,
    /// The starts.
    pub start: bool,
}

impl TimeColumns {
    /// The columns of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { name: self.name | other.name, start: self.start | other.start }
    }
}

impl Header {
    /// Of the database whose header it is; the database comes back where only SQLite can read it.
    pub(crate) fn into_dispatch_times(
        self,
        database: Database,
        inputs: Vec<Input>,
    ) -> Result<std::result::Result<DispatchTimes, (Database, Vec<Input>)>> {
        let Self { variant, names, references, tables } = self;
        let scan = match database.into_scan("rocpd_op", COLUMNS, PIECE)? {
            Ok(scan) => scan,
            Err(database) => return Ok(Err((database, inputs))),
        };
        let open = references.open_dispatches.into_iter().map(|open| open.row).collect();
        let strings = tables.strings;
        let read = AtomicUsize::new(0);
        Ok(Ok(DispatchTimes { scan, variant, names, strings, open, read, _inputs: inputs }))
    }
}

impl DispatchTimes {
    /// The strings of the trace, to which names refer.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    /// How many pieces there are. Each is read once.
    pub fn pieces(&self) -> usize {
        self.scan.pieces() + usize::from(!self.open.is_empty())
    }

    /// Replaces the rows of `into` by those of a piece, of which all columns that are not read have their default.
    ///
    /// # Errors
    /// Where SQLite cannot read the table, or it has changed since the first piece.
    pub fn read(&self, piece: usize, columns: TimeColumns, into: &mut Dispatches) -> Result<()> {
        into.restart();
        if piece == self.scan.pieces() {
            self.open.iter().for_each(|open| into.push(*open));
        } else {
            let mut part = Part::new(self, columns, into);
            match columns.name {
                true => self.scan.read::<NAMED>(piece, &mut part)?,
                false => self.scan.read::<TIMES>(piece, &mut part)?,
            }
            into.complete_times();
        }
        if self.read.fetch_add(1, Ordering::AcqRel) + 1 == self.pieces() { self.scan.check() } else { Ok(()) }
    }
}

/// The rows of a piece so far.
struct Part<'a> {
    of: &'a DispatchTimes,
    columns: TimeColumns,
    rows: &'a mut Dispatches,
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
    fn new(of: &'a DispatchTimes, columns: TimeColumns, rows: &'a mut Dispatches) -> Self {
        let run = Run { durations: [0; RUN], starts: [0; RUN], names: [NameId::NONE; RUN], long: Vec::new() };
        Self { of, columns, rows, kinds: Kinds::default(), kernel_type: NO_TYPE, run: Box::new(run) }
    }

    #[inline(always)]
    fn add_run(&mut self, rows: impl Iterator<Item = [i64; NAMED]>) {
        let Self { of, columns, rows: into, kinds, kernel_type, run } = self;
        let DispatchTimes { names, strings, variant, .. } = of;
        let mut count = 0;
        for [start, end, op_type, name] in rows {
            if op_type != *kernel_type {
                let (kind, _) = kinds.get(Some(op_type), names, strings);
                if !kind.is_dispatch(NO_GPU) {
                    continue;
                }
                *kernel_type = op_type;
            }
            let duration = end.wrapping_sub(start) as u64;
            // The difference of times of both signs may not fit.
            run.durations[count] = match duration < u64::from(ESCAPE) && (start ^ end) >= 0 {
                true => duration as u32,
                false => run.unusual_duration(count, end.checked_sub(start)),
            };
            if columns.start {
                run.starts[count] = start;
            }
            if columns.name {
                let mut name = names.get(Some(name));
                if variant.ops_named_by_type {
                    let (_, type_name) = kinds.get(Some(op_type), names, strings);
                    name = variant.name(name, type_name, strings);
                }
                run.names[count] = name;
            }
            count += 1;
        }
        into.duration.extend(&run.durations[..count], run.long.drain(..));
        if columns.start {
            into.start.extend_from_slice(&run.starts[..count]);
        }
        if columns.name {
            into.name.extend_from_slice(&run.names[..count]);
        }
    }
}

impl AddRows<NAMED> for Part<'_> {
    fn add_usual(&mut self, rows: impl Iterator<Item = [i64; NAMED]>) {
        self.add_run(rows);
    }

    fn add(&mut self, row: &Row<'_>) {
        self.add_row(row);
    }
}

impl AddRows<TIMES> for Part<'_> {
    fn add_usual(&mut self, rows: impl Iterator<Item = [i64; TIMES]>) {
        self.add_run(rows.map(|[start, end, op_type]| [start, end, op_type, 0]));
    }

    fn add(&mut self, row: &Row<'_>) {
        self.add_row(row);
    }
}

impl Part<'_> {
    #[cold]
    fn add_row(&mut self, row: &Row<'_>) {
        let [gpu, start, end, op_type, name] = std::array::from_fn(|at| row.int(at));
        let DispatchTimes { names, strings, variant, .. } = self.of;
        let (kind, type_name) = self.kinds.get(op_type, names, strings);
        let Some(start) = start.filter(|_| kind.is_dispatch(gpu.unwrap_or(NO_GPU))) else { return };
        self.rows.duration.push(end.and_then(|end| end.checked_sub(start)));
        if self.columns.start {
            self.rows.start.push(start);
        }
        if self.columns.name {
            self.rows.name.push(variant.name(names.get(name), type_name, strings));
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
