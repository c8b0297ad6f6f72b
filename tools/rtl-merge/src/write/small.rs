//! Traces that are read at once, many at a time.

use std::collections::VecDeque;

use rtl_schema::{Error, Select, Tables, Trace};
use rtl_write::{EncodedPiece, PieceImport, TraceImport};

use super::Merge;
use crate::checkpoint::{Checkpoint, MergeState};
use crate::errors::MergeError;
use crate::input::Input;
use crate::rows::Rows;

/// The bytes of traces after which a checkpoint is saved, when none of them is on the way: with few of them, threads would wait for the
/// last ones. Test builds have several.
const BATCH: u64 = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 20 };

/// Work on one trace.
enum Step {
    Read(usize),
    Encode(Box<PieceImport>),
}

/// What a [`Step`] has come to.
enum Done {
    Read(usize, Box<Result<Tables, Error>>),
    Encoded(Box<EncodedPiece>),
}

/// A trace whose rows have their numbers.
struct Begun {
    at: usize,
    import: TraceImport,
    /// Without its rows.
    last: Tables,
    rows: Rows,
}

impl Merge<'_> {
    /// Writes these traces, which follow each other.
    pub(super) fn write_small(
        &self,
        state: &mut MergeState,
        checkpoint: &Checkpoint,
        mut group: &[usize],
    ) -> Result<(), MergeError> {
        while let Some(&first) = group.first() {
            let mut bytes = 0;
            let is_last = |&at: &usize| {
                bytes += self.inputs[at].bytes();
                bytes >= BATCH
            };
            let count = group.iter().position(is_last).map_or(group.len(), |last| last + 1);
            let (batch, rest) = group.split_at(count);
            self.write_batch(state, batch)?;
            checkpoint.save(state, first + count)?;
            group = rest;
        }
        Ok(())
    }

    fn write_batch(&self, state: &mut MergeState, batch: &[usize]) -> Result<(), MergeError> {
        let (mut begun, inputs) = (VecDeque::new(), self.inputs);
        let work = |step| match step {
            Step::Read(at) => Done::Read(at, Box::new(read(&inputs[at]))),
            Step::Encode(piece) => Done::Encoded(Box::new(piece.encode())),
        };
        let consume = |done| match done {
            Done::Read(at, tables) => {
                let (trace, piece) = self.begin(state, at, *tables)?;
                begun.push_back(trace);
                Ok(Some(Step::Encode(Box::new(piece))))
            }
            Done::Encoded(piece) => {
                if let Some(Begun { at, mut import, last, rows }) = begun.pop_front() {
                    self.write_source(state, at)?;
                    import.end(&mut state.writer, *piece)?;
                    self.end(state, at, (import, &last), &rows)?;
                }
                Ok::<_, MergeError>(None)
            }
        };
        threads::pipeline(threads::Results::Large, work, consume, |pipeline| {
            batch.iter().try_for_each(|&at| pipeline.push(Step::Read(at)))
        })
    }

    fn begin(
        &self,
        state: &mut MergeState,
        at: usize,
        tables: Result<Tables, Error>,
    ) -> Result<(Begun, PieceImport), MergeError> {
        let mut tables = tables.map_err(|error| MergeError::input(&self.inputs[at], error))?;
        let mut rows = Rows::default();
        rows.add(&tables);
        rows.add_last(&tables);
        self.check(at, &tables, &rows)?;
        let mut import = self.import(at);
        let piece = import.begin_whole(&mut state.writer, &mut tables);
        Ok((Begun { at, import, last: tables, rows }, piece))
    }
}

fn read(input: &Input) -> Result<Tables, Error> {
    Trace::open(&input.path)?.read(&Select::everything())
}
