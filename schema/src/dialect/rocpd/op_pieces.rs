//! The ops in pieces: all threads read them, and their rows join the tables in the order of the pieces.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fast_ops::{FastOps, OpReaders};
use super::join::Join;
use super::ops::{Context, OpPart};
use crate::sqlite::Leaves;
use crate::table::{ReservedRows, TakenRows};
use crate::{PieceSink, Result, Tables};

/// Bytes of a short op. A table whose ids leave more rows than have room is sparse: these get no memory beforehand.
const SHORT_OP: u64 = 32;

/// Reads the ops of leaves.
pub(super) struct OpPieces<'a> {
    leaves: &'a Leaves<'a>,
    context: &'a Context<'a>,
    readers: Option<OpReaders>,
    /// Parts whose rows have joined the tables. All that they have met comes before the rows that they take next, so that ids do not
    /// depend on which part takes which rows.
    joined: Mutex<Vec<OpPart>>,
}

/// A piece on its way to the sink.
enum Step<'l, 'r, T> {
    /// Its leaves.
    Read(&'l [u32]),
    /// Its columns with a place of their own, and that.
    Copy(Box<OpPart>, TakenRows<'r>),
    /// What is left to do when its rows have joined the tables.
    Task(T),
}

/// What a [`Step`] has come to.
enum Done<O> {
    /// The number of rows and their part; nothing where only the library can read them.
    Part(Option<(u64, Box<OpPart>)>),
    Copied,
    Output(O),
}

impl<'a> OpPieces<'a> {
    pub(super) fn new(leaves: &'a Leaves<'a>, context: &'a Context<'a>) -> Self {
        let readers = OpReaders::of(context, leaves);
        Self { leaves, context, readers, joined: Mutex::default() }
    }

    fn joined(&self) -> MutexGuard<'_, Vec<OpPart>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, share: &[u32]) -> Option<(u64, Box<OpPart>)> {
        let Self { leaves, context, readers, .. } = self;
        let mut part: Box<OpPart> = Box::new(self.joined().pop().unwrap_or_default());
        let rows = match readers {
            Some(OpReaders::Basic(readers)) => FastOps::read(&mut part, context, leaves, share, readers),
            Some(OpReaders::Detailed(readers)) => FastOps::read(&mut part, context, leaves, share, readers),
            None => leaves.scan(share, |row| part.push(row, context)),
        }?;
        Some((rows, part))
    }

    /// Reads the pieces; their rows go to `sink`, behind the `tasks` of the calls. Where they stay in the tables, these have `most` at
    /// most. `Err` has the number of rows before those that only the library can read.
    pub(super) fn join<S: PieceSink>(
        &self,
        join: &mut Join<'_>,
        (tables, most): (&mut Tables, impl FnOnce() -> u64),
        tasks: Vec<S::Task>,
        sink: &mut S,
    ) -> Result<std::result::Result<(), u64>, S::Error> {
        let shares = self.leaves.shares();
        let most = if join.keeps_rows && shares.len() > 1 { most() } else { 0 };
        let copies_apart = (1..=self.leaves.bytes() / SHORT_OP).contains(&most);
        let mut reserved = ReservedRows::of(if copies_apart { most as usize } else { 0 });
        let mut free = reserved.free();
        let work = |step| match step {
            Step::Read(share) => Done::Part(self.read(share)),
            Step::Copy(mut part, rows) => {
                rows.copy(&mut part.dispatches, &part.joined.tracks, &part.joined.shapes);
                self.joined().push(*part);
                Done::Copied
            }
            Step::Task(task) => Done::Output(S::work(task)),
        };
        let (mut given, is_whole) = (0, Cell::new(true));
        let consume = |done| -> Result<Vec<Step<'_, '_, S::Task>>, S::Error> {
            let tasks = match done {
                Done::Copied => Vec::new(),
                Done::Output(output) => sink.end(output)?,
                Done::Part(Some((rows, mut part))) if is_whole.get() && copies_apart => {
                    let place = join.join_apart(&mut part, tables, &mut free);
                    is_whole.set(place.is_some());
                    let Some(place) = place else { return Ok(Vec::new()) };
                    given += rows;
                    return Ok(vec![Step::Copy(part, place)]);
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
        let tasks = tasks.into_iter().map(Step::Task);
        let steps = shares.iter().copied().map(Step::Read);
        threads::pipeline(threads::Results::Large, work, consume, |pipeline| {
            tasks.chain(steps).take_while(|_| is_whole.get()).try_for_each(|step| pipeline.push(step))
        })?;
        if copies_apart {
            let taken = free.taken();
            reserved.fill(taken, &mut tables.dispatches);
        }
        Ok(if is_whole.get() { Ok(()) } else { Err(given) })
    }
}
