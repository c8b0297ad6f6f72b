//! Ops in order of start, of which only so many are in memory at once.
//!
//! Recorders write ops about when they end, so within a window most traces are in order. One that is not is read
//! again: each reading gives the next ops by start, as many as fit.

/// How many ops wait until they are in order, while rows are about in order and when they are not: more of them cost
/// memory, fewer cost readings.
#[cfg(not(test))]
const HELD: [usize; 2] = [1 << 15, 1 << 17];
#[cfg(test)]
const HELD: [usize; 2] = [2, 4];

/// An op: all times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timed {
    pub(crate) start: i64,
    /// Its place among all ops of the trace: what makes the order of equal starts the same in each reading.
    pub(crate) row: u32,
    /// Where it ran, as the caller numbers it.
    pub(crate) place: u32,
    pub(crate) length: i64,
}

/// The window over one trace.
#[derive(Debug, Default)]
pub(crate) struct Window {
    held: Vec<Timed>,
    /// The last op that was given out.
    given: Option<Timed>,
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Reading {
    /// Rows are about in order.
    #[default]
    First,
    /// They are not: what was given out does not count.
    Failed,
    /// The next ops by start; whether there are more than fit.
    Next { more: bool },
}

impl Window {
    /// Takes an op and gives out earlier ones by start.
    #[inline]
    pub(crate) fn add(&mut self, op: Timed, each: impl FnMut(Timed)) {
        match self.reading {
            Reading::Failed => return,
            Reading::First if self.given.is_some_and(|given| op.start < given.start) => {
                self.reading = Reading::Failed;
                self.held.clear();
                return;
            }
            Reading::Next { .. } if self.given.is_some_and(|given| op <= given) => return,
            Reading::First | Reading::Next { .. } => self.held.push(op),
        }
        if self.held.len() >= 2 * self.room() {
            self.make_room(each);
        }
    }

    #[inline]
    fn room(&self) -> usize {
        HELD[usize::from(self.reading != Reading::First)]
    }

    #[cold]
    fn make_room(&mut self, each: impl FnMut(Timed)) {
        if let Reading::Next { more } = &mut self.reading {
            *more = true;
            self.keep_earliest();
        } else {
            // Runs that are in order already cost little.
            self.held.sort();
            let room = self.room();
            self.given = self.held.get(room - 1).copied();
            self.held.drain(..room).for_each(each);
        }
    }

    /// Drops all but as many as fit: another reading gives the others.
    fn keep_earliest(&mut self) {
        let room = self.room();
        if self.held.len() > room {
            self.held.select_nth_unstable(room);
            self.held.truncate(room);
        }
    }

    /// Gives out what is left when the trace was read to its end. Whether it must be read again, and before that whether
    /// what was given out so far does not count.
    pub(crate) fn end(&mut self, each: impl FnMut(Timed)) -> Outcome {
        if self.reading == (Reading::Next { more: true }) {
            self.keep_earliest();
        }
        self.held.sort_unstable();
        self.given = self.held.last().copied().or(self.given);
        self.held.drain(..).for_each(each);
        match self.reading {
            Reading::First | Reading::Next { more: false } => Outcome::Complete,
            Reading::Failed => {
                (self.reading, self.given) = (Reading::Next { more: false }, None);
                Outcome::Anew
            }
            Reading::Next { more: true } => {
                self.reading = Reading::Next { more: false };
                Outcome::More
            }
        }
    }
}

/// What a reading has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All ops were given out.
    Complete,
    /// Those that were do not count: another reading gives the first ones.
    Anew,
    /// Another reading gives the next ones.
    More,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is given out of a trace with these starts, and how often it is read.
    fn given(starts: &[i64]) -> (Vec<i64>, usize) {
        let (mut window, mut given, mut readings) = (Window::default(), Vec::new(), 0);
        loop {
            readings += 1;
            for (row, &start) in (0..).zip(starts) {
                window.add(Timed { start, row, place: 0, length: 0 }, |op| given.push(op.start));
            }
            match window.end(|op| given.push(op.start)) {
                Outcome::Complete => return (given, readings),
                Outcome::Anew => given.clear(),
                Outcome::More => {}
            }
        }
    }

    #[test]
    fn rows_that_are_about_in_order_are_read_once() {
        let starts: Vec<i64> = (0..48).map(|at| at ^ 1).collect();
        assert_eq!(given(&starts), ((0..48).collect(), 1));
    }

    #[test]
    fn rows_in_any_order_are_read_again_and_again() {
        // The first reading finds out, the next two give four each, and the rest fits into the last.
        let starts: Vec<i64> = (0..14).rev().collect();
        assert_eq!(given(&starts), ((0..14).collect(), 4));
    }

    proptest! {
        #[test]
        fn every_op_is_given_out_once_in_order_of_start(starts in prop::collection::vec(0_i64..30, 0..60)) {
            let mut expected = starts.clone();
            expected.sort_unstable();
            prop_assert_eq!(given(&starts).0, expected);
        }
    }
}
