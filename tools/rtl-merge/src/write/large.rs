//! Traces that threads read and encode in pieces, one trace after the other.

use rtl_schema::{Error, OpenTrace, PieceSink, PreparedTrace, Select, Tables, Trace};
use rtl_write::{EncodedPiece, NativeWriter, PieceImport, TraceImport};

use super::{Merge, is_another};
use crate::checkpoint::{Checkpoint, MergeState};
use crate::errors::MergeError;
use crate::input::Input;
use crate::rows::Rows;

/// A checkpoint is saved as soon as this many bytes of traces are merged since the last one: the work of a second.
const UNSAVED: u64 = 256 << 20;

impl Merge<'_> {
    /// Writes these traces, which follow each other.
    pub(super) fn write_large(
        &self,
        state: &mut MergeState,
        checkpoint: &Checkpoint,
        group: &[usize],
    ) -> Result<(), MergeError> {
        let (mut next, mut unsaved) = (None, 0);
        for (position, &at) in group.iter().enumerate() {
            let input = &self.inputs[at];
            let opened = next.take().unwrap_or_else(|| open(input));
            let follower = group.get(position + 1).map(|&at| &self.inputs[at]);
            let follower = follower.map(|input| Box::new(|| open(input)) as OpenTrace<'_>);
            next = self.write_pieces(state, at, opened, follower)?;
            unsaved += input.bytes();
            if unsaved >= UNSAVED {
                checkpoint.save(state, at + 1)?;
                unsaved = 0;
            }
        }
        Ok(())
    }

    /// Writes a trace. Then the next one is open, which `follower` opens.
    fn write_pieces(
        &self,
        state: &mut MergeState,
        at: usize,
        opened: Result<PreparedTrace, Error>,
        follower: Option<OpenTrace<'_>>,
    ) -> Result<Option<Result<PreparedTrace, Error>>, MergeError> {
        let input = &self.inputs[at];
        self.write_source(state, at)?;
        let (rows, has_changed, is_written) = (Rows::default(), false, true);
        let (writer, import) = (&mut state.writer, self.import(at));
        let mut source = Source { writer, import, input, rows, has_changed, is_written };
        let written = opened.and_then(|trace| trace.stream_to(follower, &mut source));
        let Source { import, mut rows, is_written, .. } = source;
        let (last, next) = written
            .map_err(|error| if is_written { MergeError::input(input, error) } else { error.into() })?;
        rows.add_last(&last);
        self.check(at, &last, &rows)?;
        self.end(state, at, (import, &last), &rows)?;
        Ok(next)
    }
}

fn open(input: &Input) -> Result<PreparedTrace, Error> {
    Trace::open(&input.path)?.prepare(&Select::everything())
}

/// An input on its way into the merged trace.
struct Source<'a> {
    writer: &'a mut NativeWriter,
    import: TraceImport,
    input: &'a Input,
    rows: Rows,
    /// Whether it is not what it was when it was read first: then nothing more of it is written.
    has_changed: bool,
    /// Whether the file could grow.
    is_written: bool,
}

impl PieceSink for Source<'_> {
    type Task = Box<PieceImport>;
    type Output = Box<EncodedPiece>;
    type Error = Error;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Self::Task>, Error> {
        self.rows.add(piece);
        self.has_changed |= is_another(self.input, piece);
        let piece = (!self.has_changed).then(|| self.import.begin(self.writer, piece));
        Ok(piece.map(Box::new).into_iter().collect())
    }

    fn work(piece: Self::Task) -> Self::Output {
        Box::new(piece.encode())
    }

    fn end(&mut self, piece: Self::Output) -> Result<Vec<Self::Task>, Error> {
        let written = self.import.end(self.writer, *piece);
        self.is_written = written.is_ok();
        written.map(|()| Vec::new())
    }
}
