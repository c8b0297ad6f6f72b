//! The open calls of a thread, which the recorder may read at any moment.
//!
//! There is a place for each depth. The thread writes the number of a call last and removes it first. A reader that finds the
//! same number before and after it has read the rest has read one call, because no number is given twice (a sequence lock whose
//! sequence is the calls' own).

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

use crate::base::call_interface::Function;

/// Depth of nested calls that have places. Deeper ones are recorded only when they have returned.
const DEEPEST: usize = 8;

/// A call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Never 0.
    pub correlation: u64,
    /// The number of the call that it was made from; 0 for none.
    pub parent: u64,
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    pub function: Function,
}

/// The open calls of a thread, which alone changes them.
#[derive(Debug, Default)]
pub struct OpenCalls([Place; DEEPEST]);

/// A call, or none where its number is 0.
#[derive(Debug, Default)]
struct Place {
    correlation: AtomicU64,
    parent: AtomicU64,
    start: AtomicI64,
    function: AtomicU32,
}

impl OpenCalls {
    #[inline]
    pub fn enter(&self, depth: &mut usize, call: &OpenCall) {
        if let Some(place) = self.0.get(*depth) {
            place.put(call);
        }
        *depth += 1;
    }

    /// Removes this call, and those within it that did not return because the thread has jumped out of them.
    #[inline]
    pub fn leave(&self, depth: &mut usize, correlation: u64) {
        let innermost = depth.checked_sub(1).and_then(|at| Some((at, self.0.get(at)?)));
        match innermost.filter(|(_, place)| place.is_of(correlation)) {
            Some((at, place)) => {
                place.clear();
                *depth = at;
            }
            None => self.leave_several(depth, correlation),
        }
    }

    #[cold]
    fn leave_several(&self, depth: &mut usize, correlation: u64) {
        let taken = &self.0[..(*depth).min(DEEPEST)];
        match taken.iter().rposition(|place| place.is_of(correlation)) {
            Some(at) => {
                taken[at..].iter().for_each(Place::clear);
                *depth = at;
            }
            // The call had no place, or was removed before together with the enclosing one.
            None if *depth > DEEPEST => *depth -= 1,
            None => {}
        }
    }

    /// The open calls at this moment, the outermost first.
    pub fn look(&self) -> impl Iterator<Item = OpenCall> {
        self.0.iter().filter_map(Place::look)
    }
}

impl Place {
    #[inline]
    fn put(&self, call: &OpenCall) {
        // A reader that sees one of the following writes also sees that the former number is gone.
        fence(Ordering::Release);
        self.parent.store(call.parent, Ordering::Relaxed);
        self.start.store(call.start, Ordering::Relaxed);
        self.function.store(call.function.0, Ordering::Relaxed);
        self.correlation.store(call.correlation, Ordering::Release);
    }

    /// Called by the thread itself.
    #[inline]
    fn is_of(&self, correlation: u64) -> bool {
        self.correlation.load(Ordering::Relaxed) == correlation
    }

    #[inline]
    fn clear(&self) {
        self.correlation.store(0, Ordering::Release);
    }

    fn look(&self) -> Option<OpenCall> {
        let correlation = self.correlation.load(Ordering::Acquire);
        let call = OpenCall {
            correlation,
            parent: self.parent.load(Ordering::Relaxed),
            start: self.start.load(Ordering::Relaxed),
            function: Function(self.function.load(Ordering::Relaxed)),
        };
        fence(Ordering::Acquire);
        let is_one = correlation != 0 && self.correlation.load(Ordering::Relaxed) == correlation;
        is_one.then_some(call)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// A call whose fields all follow from its number.
    fn call(correlation: u64) -> OpenCall {
        let function = Function(!correlation as u32);
        OpenCall { correlation, parent: correlation ^ 7, start: 3 * correlation as i64, function }
    }

    fn numbers(open: &OpenCalls) -> Vec<u64> {
        open.look().map(|call| call.correlation).collect()
    }

    #[test]
    fn calls_are_seen_from_when_they_begin_until_they_return() {
        let (open, mut depth) = (OpenCalls::default(), 0);
        open.enter(&mut depth, &call(5));
        open.enter(&mut depth, &call(6));
        assert_eq!(open.look().collect::<Vec<_>>(), [call(5), call(6)]);
        open.leave(&mut depth, 6);
        assert_eq!(numbers(&open), [5]);
        open.enter(&mut depth, &call(9));
        assert_eq!(numbers(&open), [5, 9]);
        open.leave(&mut depth, 9);
        open.leave(&mut depth, 5);
        assert_eq!((numbers(&open), depth), (vec![], 0));
    }

    #[test]
    fn calls_that_a_thread_has_jumped_out_of_end_with_the_one_around_them() {
        let (open, mut depth) = (OpenCalls::default(), 0);
        (1..=4).for_each(|number| open.enter(&mut depth, &call(number)));
        open.leave(&mut depth, 2);
        assert_eq!((numbers(&open), depth), (vec![1], 1));
    }

    #[test]
    fn calls_of_fibers_that_take_turns_leave_the_places_of_others_alone() {
        let (open, mut depth) = (OpenCalls::default(), 0);
        open.enter(&mut depth, &call(1));
        open.enter(&mut depth, &call(2));
        // The first fiber goes on and makes another call, in which that of the second one returns.
        open.leave(&mut depth, 1);
        open.enter(&mut depth, &call(3));
        open.leave(&mut depth, 2);
        assert_eq!((numbers(&open), depth), (vec![3], 1));
        open.leave(&mut depth, 3);
        assert_eq!((numbers(&open), depth), (vec![], 0));
    }

    #[test]
    fn calls_deeper_than_there_are_places_are_not_seen_and_leave_the_others_as_they_are() {
        let (open, mut depth) = (OpenCalls::default(), 0);
        let most = DEEPEST as u64;
        (1..=most + 3).for_each(|number| open.enter(&mut depth, &call(number)));
        assert_eq!(numbers(&open), (1..=most).collect::<Vec<_>>());
        // The thread jumps out of the deepest calls.
        (4..=most + 1).rev().for_each(|number| open.leave(&mut depth, number));
        assert_eq!((numbers(&open), depth), (vec![1, 2, 3], 3));
    }

    #[test]
    fn whoever_looks_while_calls_come_and_go_sees_whole_calls_only() {
        let (open, is_over) = (OpenCalls::default(), AtomicBool::new(false));
        let most = if cfg!(miri) { 300 } else { 300_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut depth = 0;
                for number in (1..most).step_by(3) {
                    (number..number + 3).for_each(|number| open.enter(&mut depth, &call(number)));
                    (number..number + 3).rev().for_each(|number| open.leave(&mut depth, number));
                }
                is_over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {
                open.look().for_each(|seen| assert_eq!(seen, call(seen.correlation)));
            }
        });
        assert_eq!(numbers(&open), Vec::<u64>::new());
    }
}
