//! Traces that are read one after the other, without a pause between them.

use crate::dialect::{Next, OpPieces, Prepared, PreparedOps, ReadPiece, Reader, registry};
use crate::{PieceSink, Result, Select, Tables, Trace};

/// Opens a trace, on any thread.
pub type OpenTrace<'a> = Box<dyn FnOnce() -> Result<PreparedTrace> + Send + 'a>;

/// A trace of which only the ops are left to read, where its rows can be streamed: see [`Trace::prepare`].
#[derive(Debug)]
pub struct PreparedTrace {
    trace: Trace,
    select: Select,
    ops: Option<Box<PreparedOps>>,
}

impl Trace {
    /// Reads what comes before the ops. The file keeps its state until the result is dropped.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn prepare(self, select: &Select) -> Result<PreparedTrace> {
        let ops = match (registry::reader(self.dialect), &self.database) {
            (Reader::Ops { header, .. }, Some(database)) => {
                database.hold()?;
                Some(Box::new(PreparedOps::of(header(database, select)?, database, select)?))
            }
            _ => None,
        };
        Ok(PreparedTrace { trace: self, select: *select, ops })
    }
}

impl PreparedTrace {
    /// As [`Trace::stream_to`], where `next` opens the trace that is read after this one: threads to which this one has nothing left to
    /// give begin to read that. It is the second result.
    ///
    /// # Errors
    /// As [`Trace::stream_to`]; those of `next` are part of the result.
    pub fn stream_to<S: PieceSink>(
        self,
        next: Option<OpenTrace<'_>>,
        sink: &mut S,
    ) -> Result<(Tables, Option<Result<Self>>), S::Error> {
        let Self { trace, select, ops } = self;
        let next = Next::new(next);
        let last = match (ops, &trace.database) {
            (Some(ops), Some(database)) => trace.stream_ops((*ops, database), &next, sink)?,
            _ => trace.stream_to(&select, sink)?,
        };
        let next = next.finish().map(|next| next.map(|(trace, pieces)| trace.with_pieces(pieces)));
        Ok((last, next))
    }

    /// The same with its first pieces.
    fn with_pieces(self, pieces: Vec<ReadPiece>) -> Self {
        Self { ops: self.ops.map(|ops| Box::new(ops.with_pieces(pieces))), ..self }
    }
}

impl Prepared for PreparedTrace {
    fn op_pieces(&self) -> Option<OpPieces<'_>> {
        self.ops.as_ref()?.pieces(self.trace.database.as_ref()?)
    }
}
