//! The ops in pieces: all threads read them, and their rows join the tables in the order of the pieces.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fast_ops::OpReaders;
use super::join::Join;
use super::ops::{Context, OpPart};
use crate::sqlite::Leaves;
use crate::{PieceSink, Result, Tables};

/// Reads the ops of leaves.
pub(super) struct OpPieces<'a> {
    leaves: Leaves<'a>,
    context: Context<'a>,
    readers: Option<OpReaders>,
    /// Parts whose rows have joined the tables. All that they have met comes before the rows that they take next, so that ids do not
    /// depend on which part takes which rows.
    joined: Mutex<Vec<OpPart>>,
}

/// A piece that is read: the number of its rows and their part; nothing where only the library can read them.
type ReadPiece = Option<(u64, Box<OpPart>)>;

/// A piece on its way to the sink.
enum Step<'l, T> {
    Read(&'l [u32]),
    /// The rest of the work on a piece whose rows have joined the tables.
    Task(T),
}

/// The result of a [`Step`].
enum Done<O> {
    Part(ReadPiece),
    Output(O),
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

    /// Reads the pieces; their rows go to `sink`, behind the `tasks` of the calls. `Err` has the number of rows before those that only the
    /// library can read.
    pub(super) fn join<S: PieceSink>(
        &self,
        join: &mut Join<'_>,
        tables: &mut Tables,
        tasks: Vec<S::Task>,
        sink: &mut S,
    ) -> Result<std::result::Result<(), u64>, S::Error> {
        let work = |step| match step {
            Step::Read(share) => Done::Part(self.read(share)),
            Step::Task(task) => Done::Output(S::work(task)),
        };
        let (mut given, is_whole) = (0, Cell::new(true));
        let consume = |done| -> Result<Vec<Step<'_, S::Task>>, S::Error> {
            let tasks = match done {
                Done::Output(output) => sink.end(output)?,
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
            for share in self.leaves.shares() {
                if !is_whole.get() {
                    break;
                }
                pipeline.push(Step::Read(share))?;
            }
            Ok(())
        })?;
        Ok(if is_whole.get() { Ok(()) } else { Err(given) })
    }
}
