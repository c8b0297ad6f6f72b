//! One input on its way into the merged trace, whether it is read at once or in pieces.

use cli::{Failure, Progress};
use rtl_schema::layout::tags;
use rtl_schema::{Dialect, Error, PieceSink, Select, Tables, Trace};
use rtl_write::{ClockCorrection, EncodedPiece, NativeWriter, PieceImport, TraceImport};
use serde_json::json;

use super::checkpoint::MergeState;
use crate::errors::MergeError;
use crate::output::MERGED;
use crate::plan::Plan;
use crate::read::{Input, Rows};

/// The rows of a trace that is read at once, at most: some MB.
const SMALL: u64 = 20_000;

/// The inputs of a merge and their numbers in the merged trace.
pub(super) struct Sources<'a> {
    pub(super) inputs: &'a [Input],
    pub(super) plan: &'a Plan,
    pub(super) progress: &'a Progress,
}

impl<'a> Sources<'a> {
    /// A small trace is read at once, while others are, because its pieces are too few for all threads.
    pub(super) fn is_small(&self, at: usize) -> bool {
        self.inputs[at].rows.all() <= SMALL
    }

    pub(super) fn source(&self, at: usize) -> Source<'a> {
        let (input, numbers, progress) = (&self.inputs[at], &self.plan.parts[at], self.progress);
        let import = TraceImport::with_mapping(numbers.clone());
        Source { at, input, clock: &numbers.clock, progress, import, rows: Rows::default() }
    }

    /// Passes over the first `done` inputs, which an interrupted merge has written but for their opaque tables.
    pub(super) fn skip(&self, writer: &mut NativeWriter, done: usize) -> Result<(), MergeError> {
        for input in &self.inputs[..done] {
            if input.has_opaque_tables {
                let opened = Trace::open(&input.path).and_then(|trace| {
                    trace.stream(&Select::everything(), |chunk| {
                        writer.push_extra_tables(chunk);
                        Ok::<(), Error>(())
                    })
                });
                opened.map_err(|error| MergeError::input(input, error))?;
            }
            self.progress.advance_file(input.bytes());
        }
        Ok(())
    }
}

/// An input that is written next, or is being written.
pub(super) struct Source<'a> {
    at: usize,
    input: &'a Input,
    clock: &'a ClockCorrection,
    progress: &'a Progress,
    import: TraceImport,
    rows: Rows,
}

impl<'a> Source<'a> {
    /// Writes the trace piece by piece.
    pub(super) fn write_pieces(mut self, state: &mut MergeState) -> Result<(), MergeError> {
        let input = self.input;
        self.write_description(&mut state.writer)?;
        let writer = &mut state.writer;
        let mut pieces = Pieces { writer, source: &mut self, has_changed: false, is_written: true };
        let read =
            Trace::open(&input.path).and_then(|trace| trace.stream_to(&Select::everything(), &mut pieces));
        let is_written = pieces.is_written;
        let last =
            read.map_err(|error| if is_written { MergeError::input(input, error) } else { error.into() })?;
        self.check(&last)?;
        self.finish(state, &last)?;
        Ok(())
    }

    /// Numbers the rows of the trace, which was read as a whole. They are to be encoded.
    pub(super) fn number(
        mut self,
        state: &mut MergeState,
        read: Result<Tables, Error>,
    ) -> Result<(NumberedSource<'a>, PieceImport), MergeError> {
        let mut last = read.map_err(|error| MergeError::input(self.input, error))?;
        self.rows.add(&last);
        self.check(&last)?;
        let piece = self.import.begin_whole(&mut state.writer, &mut last);
        Ok((NumberedSource { source: self, last }, piece))
    }

    /// Checks that the trace is what it was when it was read first, by its `last` tables and its rows.
    fn check(&self, last: &Tables) -> Result<(), MergeError> {
        if self.is_another(last) || self.rows.ops() != self.input.rows.ops() {
            let what = format!("{} changed while it was merged", self.input.path.display());
            let failure = Failure::input(anyhow::anyhow!(what));
            let failure = failure.with_hint("merge traces when their programs have ended");
            return Err(MergeError::input(self.input, failure));
        }
        Ok(())
    }

    /// The program of the trace may have started processes since it was read first.
    fn is_another(&self, chunk: &Tables) -> bool {
        chunk.processes.len() > self.input.processes.len() || chunk.agents.len() > self.input.agents.len()
    }

    /// Writes the metadata row that describes the trace, which comes before its rows.
    fn write_description(&self, writer: &mut NativeWriter) -> Result<(), Error> {
        let Self { at, input, clock, .. } = self;
        let row = json!({
            "source": at,
            "file": input.name(),
            "dialect": input.info.dialect.label(),
            "tool": input.info.tool,
            "toolVersion": input.info.tool_version,
            "mode": input.info.mode,
            "ranks": input.ranks(),
            "added": clock.knots(),
        });
        writer.push_metadata(MERGED, &row.to_string())
    }

    /// Writes the rows that are known only with the `last` tables of the trace.
    fn finish(mut self, state: &mut MergeState, last: &Tables) -> Result<(), Error> {
        self.rows.add_last(last);
        self.import.finish(&mut state.writer, last)?;
        copy_metadata(&mut state.writer, self.at, last)?;
        state.rows.append(&self.rows);
        self.progress.advance_file(self.input.bytes());
        Ok(())
    }
}

/// An input whose rows have their numbers and are being encoded.
pub(super) struct NumberedSource<'a> {
    source: Source<'a>,
    /// The tables of the trace without the rows that became a piece.
    last: Tables,
}

impl NumberedSource<'_> {
    pub(super) fn write(mut self, state: &mut MergeState, piece: EncodedPiece) -> Result<(), Error> {
        self.source.write_description(&mut state.writer)?;
        self.source.import.end(&mut state.writer, piece)?;
        self.source.finish(state, &self.last)
    }
}

/// The pieces of an input on their way into the merged trace.
struct Pieces<'a, 's> {
    writer: &'a mut NativeWriter,
    source: &'a mut Source<'s>,
    /// Nothing more is written of a trace that is not what it was when it was read first.
    has_changed: bool,
    /// False where the file could not grow; any other error is one of the input.
    is_written: bool,
}

impl PieceSink for Pieces<'_, '_> {
    type Task = Box<PieceImport>;
    type Output = Box<EncodedPiece>;
    type Error = Error;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Self::Task>, Error> {
        self.source.rows.add(piece);
        self.has_changed |= self.source.is_another(piece);
        let piece = (!self.has_changed).then(|| self.source.import.begin(self.writer, piece));
        Ok(piece.map(Box::new).into_iter().collect())
    }

    fn work(piece: Self::Task) -> Self::Output {
        Box::new(piece.encode())
    }

    fn end(&mut self, piece: Self::Output) -> Result<Vec<Self::Task>, Error> {
        let written = self.source.import.end(self.writer, *piece);
        self.is_written = written.is_ok();
        written.map(|()| Vec::new())
    }
}

/// The metadata of an input, except for rows that are tables of the merged trace.
fn copy_metadata(writer: &mut NativeWriter, at: usize, last: &Tables) -> Result<(), Error> {
    let rows = [tags::KERNEL, tags::QUEUE, tags::THREAD, tags::OPEN_CALL, tags::OPEN_DISPATCH];
    let native = last.info.dialect == Dialect::Native;
    for (tag, value) in &last.info.metadata {
        if !(native && rows.contains(&tag.as_str())) {
            writer.push_metadata(&format!("source:{at}:{tag}"), value)?;
        }
    }
    Ok(())
}
