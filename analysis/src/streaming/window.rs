//! Ops in order of start, with a bounded number of them in memory.
//!
//! Recorders write ops about when they end, so within a window most traces are in order. A trace that is not takes
//! several passes: each gives the next ops by start, as many as fit.

use std::collections::VecDeque;

/// How many ops the window holds, while rows are about in order and when they are not: more cost memory, fewer cost
/// passes.
#[cfg(not(test))]
const CAPACITY: [usize; 2] = [3 << 14, 1 << 17];
#[cfg(test)]
const CAPACITY: [usize; 2] = [2, 4];

/// How many ops come to a window that is about in order at a time, at least.
#[cfg(not(test))]
const BATCH: usize = 1 << 11;
#[cfg(test)]
const BATCH: usize = 2;

/// An op: all times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timed {
    pub(crate) start: i64,
    /// Position among all ops of the trace, which makes the order of equal starts the same in each pass.
    pub(crate) row: u32,
    /// Where it ran, as the accumulator numbers it.
    pub(crate) place: u32,
    pub(crate) length: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Window {
    /// While rows are about in order, ops by start, in runs of bounded length: what is larger, the allocator would map and unmap.
    runs: VecDeque<Vec<Timed>>,
    unused: Vec<Vec<Timed>>,
    /// How many ops of earlier batches started after the first one of the last batch.
    displaced: usize,
    /// Ops in order of rows: then those that come next, else all.
    ops: Vec<Timed>,
    last: Option<Timed>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Rows are about in order.
    #[default]
    First,
    /// They are not: ops that left the window do not count.
    Failed,
    /// The next ops by start; whether more of them exist than fit.
    Next { more: bool },
}

impl Window {
    /// Adds an op; calls `each` for the ops that leave the window, by start.
    #[inline]
    pub(crate) fn add(&mut self, op: Timed, each: impl FnMut(Timed)) {
        match self.state {
            State::Failed => return,
            State::First if self.last.is_some_and(|last| op.start < last.start) => {
                *self = Self { state: State::Failed, ..Self::default() };
                return;
            }
            State::Next { .. } if self.last.is_some_and(|last| op <= last) => return,
            State::First | State::Next { .. } => self.ops.push(op),
        }
        let most = match self.state {
            // As many ops come as are sorted again for them.
            State::First => self.displaced.min(CAPACITY[0] / 2).max(BATCH),
            _ => 2 * CAPACITY[1],
        };
        if self.ops.len() >= most {
            self.flush(each);
        }
    }

    #[cold]
    fn flush(&mut self, each: impl FnMut(Timed)) {
        if let State::Next { more } = &mut self.state {
            *more = true;
            self.keep_earliest();
        } else {
            self.sort_batch();
            self.release(CAPACITY[0], each);
        }
    }

    /// Moves the ops that have come to their places among those before, of which few start later.
    fn sort_batch(&mut self) {
        let Some(&first) = self.ops.iter().min() else { return };
        let batch = self.ops.len();
        while let Some(run) = self.runs.back_mut()
            && run.last().is_some_and(|last| *last > first)
        {
            let later = run.partition_point(|op| *op < first);
            self.ops.reserve_exact(run.len() - later);
            self.ops.extend(run.drain(later..));
            if run.is_empty() {
                self.unused.extend(self.runs.pop_back());
            }
        }
        self.displaced = self.ops.len() - batch;
        // Runs that are in order already cost little.
        self.ops.sort();
        let mut empty = || self.unused.pop().unwrap_or_else(|| Vec::with_capacity(BATCH));
        if self.ops.len() <= 2 * BATCH {
            self.runs.push_back(std::mem::replace(&mut self.ops, empty()));
        } else {
            self.runs.extend(self.ops.chunks(BATCH).map(|run| {
                let mut copy = empty();
                copy.extend_from_slice(run);
                copy
            }));
            self.ops.clear();
        }
    }

    /// Gives the earliest ops out, so that no more than this number and those of a run are left.
    fn release(&mut self, most: usize, mut each: impl FnMut(Timed)) {
        let mut kept: usize = self.runs.iter().map(Vec::len).sum();
        while let Some(mut run) = self.runs.pop_front_if(|run| kept >= most + run.len()) {
            kept -= run.len();
            self.last = run.last().copied();
            run.drain(..).for_each(&mut each);
            self.unused.push(run);
        }
    }

    /// Drops all but as many as fit: another pass gives the others.
    fn keep_earliest(&mut self) {
        if self.ops.len() > CAPACITY[1] {
            self.ops.select_nth_unstable(CAPACITY[1]);
            self.ops.truncate(CAPACITY[1]);
        }
    }

    /// Empties the window at the end of a pass.
    pub(crate) fn end_pass(&mut self, each: impl FnMut(Timed)) -> Pass {
        if self.state == (State::Next { more: true }) {
            self.keep_earliest();
        }
        if self.state == State::First {
            self.sort_batch();
            self.release(0, each);
        } else {
            self.ops.sort_unstable();
            self.last = self.ops.last().copied().or(self.last);
            self.ops.drain(..).for_each(each);
        }
        match self.state {
            State::First | State::Next { more: false } => Pass::Complete,
            State::Failed => {
                (self.state, self.last) = (State::Next { more: false }, None);
                Pass::Restart
            }
            State::Next { more: true } => {
                self.state = State::Next { more: false };
                Pass::More
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// All ops left the window in order.
    Complete,
    /// Rows are not in order: ops so far do not count, and another pass gives the first ones.
    Restart,
    /// Another pass gives the next ones.
    More,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The starts in order of leaving the window, and the number of passes.
    fn in_order(starts: &[i64]) -> (Vec<i64>, usize) {
        let (mut window, mut last, mut passes) = (Window::default(), Vec::new(), 0);
        loop {
            passes += 1;
            for (row, &start) in (0..).zip(starts) {
                window.add(Timed { start, row, place: 0, length: 0 }, |op| last.push(op.start));
            }
            match window.end_pass(|op| last.push(op.start)) {
                Pass::Complete => return (last, passes),
                Pass::Restart => last.clear(),
                Pass::More => {}
            }
        }
    }

    #[test]
    fn rows_that_are_about_in_order_take_one_pass() {
        let starts: Vec<i64> = (0..48).map(|at| at ^ 1).collect();
        assert_eq!(in_order(&starts), ((0..48).collect(), 1));
    }

    #[test]
    fn rows_in_any_order_take_several_passes() {
        // The first pass finds out, the next two give four each, and the rest fits into the last.
        let starts: Vec<i64> = (0..14).rev().collect();
        assert_eq!(in_order(&starts), ((0..14).collect(), 4));
    }

    proptest! {
        #[test]
        fn every_op_leaves_the_window_once_in_order_of_start(starts in prop::collection::vec(0_i64..30, 0..60)) {
            let mut expected = starts.clone();
            expected.sort_unstable();
            prop_assert_eq!(in_order(&starts).0, expected);
        }
    }
}
