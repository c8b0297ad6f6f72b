//! The driver of analyses over a trace that arrives in chunks.

use rtl_schema::table::Direction;
use rtl_schema::{NameId, Tables, TrackId};
use rustc_hash::FxHashMap;

use super::window::{Pass, Timed, Window};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OpKey {
    /// A dispatch of a kernel.
    Kernel(NameId),
    /// A copy or fill.
    Copy(Direction),
}

pub(crate) trait Accumulator {
    /// Where ops of one key on one track are added.
    type Entry: Copy;

    /// The entry of a key that is new.
    fn entry(&mut self, chunk: &Tables, track: TrackId, key: OpKey) -> Self::Entry;

    /// Adds an op in order of rows, once; returns its place for [`Self::add_in_order`].
    fn add(&mut self, entry: Self::Entry, duration: i64) -> u32;

    fn add_in_order(&mut self, op: Timed);
}

/// Feeds the ops of a trace to an accumulator, in order of rows and in order of start.
#[derive(Debug)]
pub(crate) struct OpStream<A: Accumulator> {
    pub(crate) accumulator: A,
    entries: FxHashMap<(TrackId, OpKey), A::Entry>,
    window: Window,
    ops: u32,
}

impl<A: Accumulator> OpStream<A> {
    pub(crate) fn new(accumulator: A) -> Self {
        Self { accumulator, entries: FxHashMap::default(), window: Window::default(), ops: 0 }
    }

    /// Adds the rows of a chunk, as [`rtl_schema::Trace::stream`] gives it out.
    pub(crate) fn add_chunk(&mut self, chunk: &Tables) {
        let dispatches = &chunk.dispatches;
        let copies =
            chunk.copies.iter().filter_map(|copy| Some((copy, copy.duration.filter(|&ns| ns >= 0)?)));
        let mut copies = copies.peekable();
        for row in 0..dispatches.len() {
            let Some(duration) = dispatches.duration.valid(row) else { continue };
            let start = dispatches.start[row];
            // Copies have a table of their own, but ran in between.
            while let Some((copy, duration)) = copies.next_if(|(copy, _)| copy.start <= start) {
                self.op(chunk, (copy.track, OpKey::Copy(copy.direction)), copy.start, duration);
            }
            self.op(chunk, (dispatches.track[row], OpKey::Kernel(dispatches.name[row])), start, duration);
        }
        for (copy, duration) in copies {
            self.op(chunk, (copy.track, OpKey::Copy(copy.direction)), copy.start, duration);
        }
    }

    #[inline]
    fn op(&mut self, chunk: &Tables, key: (TrackId, OpKey), start: i64, duration: i64) {
        let entry = match self.entries.get(&key) {
            Some(&entry) => entry,
            None => self.new_entry(chunk, key),
        };
        let place = self.accumulator.add(entry, duration);
        let timed = Timed { start, row: self.ops, place, length: duration };
        self.ops = self.ops.wrapping_add(1);
        self.window.add(timed, |op| self.accumulator.add_in_order(op));
    }

    #[cold]
    fn new_entry(&mut self, chunk: &Tables, (track, key): (TrackId, OpKey)) -> A::Entry {
        let entry = self.accumulator.entry(chunk, track, key);
        self.entries.insert((track, key), entry);
        entry
    }

    pub(crate) fn end_pass(&mut self) -> Pass {
        self.ops = 0;
        self.window.end_pass(|op| self.accumulator.add_in_order(op))
    }
}
