//! A scan of the names and times of ops, which are not kept.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use duckdb::{Chunk, Scan};
use rtl_schema::{OpTimes, TimeColumns};
use tables::{CHUNK, Loaded, Table};

use crate::failure;
use crate::source::{Times, Trace};
use crate::vector::{self, Dictionaries};

/// Reads traces piece by piece; each thread passes on a piece of its own, a chunk at a time.
pub(crate) struct TimesScan {
    table: &'static Table,
    columns: Vec<usize>,
    times: TimeColumns,
    traces: Vec<TimedTrace>,
    pieces: usize,
    next: AtomicUsize,
    /// Pieces between two chunks, and the memory of those that were passed on.
    begun: Mutex<Vec<Piece>>,
}

struct TimedTrace {
    label: String,
    ops: OpTimes,
    dictionaries: Arc<Dictionaries>,
    /// The number of its first piece.
    first: usize,
}

struct Piece {
    /// The position of its trace.
    of: usize,
    rows: Trace,
    /// How many rows were passed on.
    passed: usize,
}

impl TimesScan {
    pub(crate) fn new(
        table: &'static Table,
        columns: Vec<usize>,
        times: TimeColumns,
        traces: Vec<Times>,
    ) -> Self {
        let mut pieces = 0;
        let traces = traces.into_iter().map(|Times { label, ops }| {
            let first = pieces;
            pieces += ops.pieces();
            TimedTrace { label, ops, dictionaries: Arc::default(), first }
        });
        let traces = traces.collect();
        Self { table, columns, times, traces, pieces, next: AtomicUsize::new(0), begun: Mutex::default() }
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Piece>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the next piece that has rows, into the memory of another one. `None` after the last.
    fn read(&self, mut memory: Option<Piece>) -> Result<Option<Piece>, String> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.pieces {
                return Ok(None);
            }
            let of = self.traces.partition_point(|trace| trace.first <= number) - 1;
            let TimedTrace { label, ops, dictionaries, first } = &self.traces[of];
            let mut piece = match memory.take() {
                Some(piece) if piece.of == of => Piece { passed: 0, ..piece },
                _ => {
                    let loaded = Loaded::of_times(label, ops.strings());
                    Piece { of, rows: Trace { loaded, dictionaries: Arc::clone(dictionaries) }, passed: 0 }
                }
            };
            let read = piece.rows.loaded.read_times(ops, number - first, self.times);
            read.map_err(failure::of_trace)?;
            if self.table.rows(&piece.rows.loaded) > 0 {
                return Ok(Some(piece));
            }
            memory = Some(piece);
        }
    }
}

impl Scan for TimesScan {
    fn threads(&self) -> usize {
        self.pieces
    }

    fn next(&self, out: &mut Chunk<'_>) -> Result<(), String> {
        let begun = self.begun().pop();
        let left = |piece: &Piece| self.table.rows(&piece.rows.loaded) - piece.passed;
        let piece = match begun {
            Some(piece) if left(&piece) > 0 => Some(piece),
            memory => self.read(memory)?,
        };
        let Some(mut piece) = piece else {
            out.set_len(0);
            return Ok(());
        };
        let end = piece.passed + left(&piece).min(CHUNK);
        let rows = (&piece.rows.loaded, &*piece.rows.dictionaries);
        vector::fill(out, self.table, &self.columns, rows, piece.passed..end);
        piece.passed = end;
        self.begun().push(piece);
        Ok(())
    }
}
