//! The ops in pieces: all threads read them, and their rows join the tables in the order of the pieces.

use std::cell::{Cell, OnceCell, RefCell};
use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fast_ops::OpReaders;
use super::join::Join;
use super::ops::{Context, OpPart};
use crate::sqlite::Leaves;
use crate::{PieceSink, Result, Tables};

/// Reads the ops of leaves.
pub(crate) struct OpPieces<'a> {
    leaves: Leaves<'a>,
    context: Context<'a>,
    readers: Option<OpReaders>,
    /// Parts whose rows have joined the tables. All that they have met comes before the rows that they take next, so that ids do not
    /// depend on which part takes which rows.
    joined: Mutex<Vec<OpPart>>,
}

/// A piece that is read: the number of its rows and their part; nothing where only the library can read them.
pub(crate) type ReadPiece = Option<(u64, Box<OpPart>)>;

/// A piece on its way to the sink.
enum Step<'l, T, P> {
    /// Its leaves.
    Read(&'l [u32]),
    /// It is read already.
    Take(ReadPiece),
    /// What is left to do when its rows have joined the tables.
    Task(T),
    /// The trace that comes next.
    Open(Open<'l, P>),
    /// Leaves of that.
    ReadAhead(&'l OpPieces<'l>, &'l [u32]),
}

/// What a [`Step`] has come to.
enum Done<O, P> {
    Part(ReadPiece),
    Output(O),
    Opened(Box<Result<P>>),
    ReadAhead(ReadPiece),
}

/// The trace that comes next, which threads without a piece of this one begin to read.
pub(crate) struct Next<'n, P> {
    /// Opens it.
    open: RefCell<Option<Open<'n, P>>>,
    opened: OnceCell<Result<P>>,
    /// Its first pieces.
    read: RefCell<Vec<ReadPiece>>,
}

type Open<'n, P> = Box<dyn FnOnce() -> Result<P> + Send + 'n>;

/// A trace whose ops may be read before it is its turn.
pub(crate) trait Prepared: Send {
    /// What reads the ops in pieces, where that is not for SQLite.
    fn op_pieces(&self) -> Option<OpPieces<'_>>;
}

impl<'n, P: Prepared> Next<'n, P> {
    pub(crate) fn new(open: Option<Open<'n, P>>) -> Self {
        Self { open: RefCell::new(open), opened: OnceCell::new(), read: RefCell::default() }
    }

    /// The trace and its first pieces.
    pub(crate) fn finish(self) -> Option<Result<(P, Vec<ReadPiece>)>> {
        let opened = self.opened.into_inner().or_else(|| self.open.into_inner().map(|open| open()))?;
        Some(opened.map(|trace| (trace, self.read.into_inner())))
    }
}

impl Prepared for Infallible {
    fn op_pieces(&self) -> Option<OpPieces<'_>> {
        match *self {}
    }
}

impl<'a> OpPieces<'a> {
    pub(super) fn new(leaves: Leaves<'a>, context: Context<'a>) -> Self {
        let readers = OpReaders::new(&context, &leaves);
        Self { leaves, context, readers, joined: Mutex::default() }
    }

    fn joined(&self) -> MutexGuard<'_, Vec<OpPart>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, share: &[u32]) -> ReadPiece {
        let Self { leaves, context, readers, .. } = self;
        let mut part: Box<OpPart> = Box::new(self.joined().pop().unwrap_or_default());
        let rows = match readers {
            Some(readers) => readers.read(&mut part, context, leaves, share),
            None => leaves.scan(share, |row| part.push(row, context)),
        }?;
        Some((rows, part))
    }

    /// Reads the pieces, of which the first ones may be `read` already; their rows go to `sink`, behind the `tasks` of the calls. `Err` has the number of rows before those that only the library can read.
    pub(super) fn join<S: PieceSink, P: Prepared>(
        &self,
        join: &mut Join<'_>,
        tables: &mut Tables,
        (tasks, read): (Vec<S::Task>, Vec<ReadPiece>),
        next: &Next<'_, P>,
        sink: &mut S,
    ) -> Result<std::result::Result<(), u64>, S::Error> {
        let shares = self.leaves.shares();
        let work = |step| match step {
            Step::Read(share) => Done::Part(self.read(share)),
            Step::Take(piece) => Done::Part(piece),
            Step::Task(task) => Done::Output(S::work(task)),
            Step::Open(open) => Done::Opened(Box::new(open())),
            Step::ReadAhead(pieces, share) => Done::ReadAhead(pieces.read(share)),
        };
        let pieces_of_next = OnceCell::new();
        let (mut given, is_whole) = (0, Cell::new(true));
        let consume = |done| -> Result<Vec<Step<'_, S::Task, P>>, S::Error> {
            let tasks = match done {
                Done::Output(output) => sink.end(output)?,
                Done::Opened(opened) => {
                    if let Ok(trace) = next.opened.get_or_init(|| *opened)
                        && let Some(pieces) = trace.op_pieces()
                    {
                        pieces_of_next.get_or_init(|| pieces);
                    }
                    Vec::new()
                }
                Done::ReadAhead(piece) => {
                    next.read.borrow_mut().push(piece);
                    Vec::new()
                }
                Done::Part(Some((rows, mut part))) if is_whole.get() => {
                    join.join(&mut part, tables);
                    given += rows;
                    self.joined().push(*part);
                    sink.begin(tables)?
                }
                Done::Part(_) => {
                    is_whole.set(false);
                    Vec::new()
                }
            };
            Ok(tasks.into_iter().map(Step::Task).collect())
        };
        threads::pipeline(threads::Results::Large, work, consume, |pipeline| {
            tasks.into_iter().try_for_each(|task| pipeline.push(Step::Task(task)))?;
            // One thread has no time for another trace.
            let ahead = if threads::limit() > 1 { 2 * threads::limit() } else { 0 };
            let (begun, steps) = (read.len(), read.into_iter().map(Step::Take));
            let steps = steps.chain(shares[begun..].iter().copied().map(Step::Read));
            for (step, left) in steps.zip((1..=shares.len()).rev()) {
                if !is_whole.get() {
                    return Ok(());
                }
                // When the last of as many are on the way, it is open.
                if left <= ahead
                    && let Some(open) = next.open.take()
                {
                    pipeline.push(Step::Open(open))?;
                }
                pipeline.push(step)?;
            }
            pipeline.consume_to(shares.len().min(ahead))?;
            let Some(pieces) = pieces_of_next.get() else { return Ok(()) };
            let shares = pieces.leaves.shares();
            shares.into_iter().take(ahead).try_for_each(|share| pipeline.push(Step::ReadAhead(pieces, share)))
        })?;
        Ok(if is_whole.get() { Ok(()) } else { Err(given) })
    }
}
