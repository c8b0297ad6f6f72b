//! Tests of a thread against a recorder, both at full speed.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;

use proptest::prelude::*;

use super::*;
use crate::base::counters::Counters;
use crate::base::spsc::Bound;
use crate::events::calls::record::CallRecord;
use crate::events::ranges::Annotation;
use crate::events::ranges::annotation::StartedRanges;
use crate::events::reader::{ReaderQueue, RecordSink};

static BOUND: Bound = Bound::new(usize::MAX, 2);

const FUNCTION: Function = Function::new(Source::Hip, 7);

/// Limit on the calls that begin or return in a case of a property.
const STEPS: usize = if cfg!(miri) { 60 } else { 3_000 };

/// The state of a thread.
struct State {
    queue: EventQueue,
    calls: ThreadCalls,
}

/// The two sides of a thread's calls.
fn thread() -> (State, ReaderQueue) {
    let (queue, events) = EventQueue::new(&BOUND).unwrap();
    let shown = Arc::<Shown>::default();
    (State { queue, calls: ThreadCalls::new(Arc::clone(&shown)) }, ReaderQueue::new(1, events, shown))
}

/// A sink that passes records of calls to a function.
struct Each<F>(F);

impl<F: FnMut(&CallRecord)> RecordSink for Each<F> {
    fn annotate(&mut self, _annotation: &Annotation) {}

    fn add_call(&mut self, record: &CallRecord) {
        (self.0)(record);
    }
}

/// Runs a thread that begins a call for each `true`, and returns from the innermost one for each `false`; returns the open calls.
fn act(state: &mut State, steps: &[bool], returned: &AtomicUsize) -> Vec<OpenCall> {
    let mut within: Vec<OpenCall> = Vec::new();
    for &begins in steps {
        if begins {
            within.push(state.calls.begin(Source::Hip, FUNCTION).call);
        } else if let Some(OpenCall { correlation, parent, start, function }) = within.pop() {
            let call = Call { start, end: start + 1, correlation, parent, stream: 0, function, status: 0 };
            let is_sent = send(&mut state.queue, None, &[], call);
            state.calls.end(Source::Hip, &call, is_sent);
            returned.fetch_add(1, Ordering::Release);
        }
    }
    within
}

/// Ends a recording: the calls that have returned, and those that have not.
fn finish(queue: &mut ReaderQueue, counters: &Counters) -> (Vec<u64>, Vec<OpenCall>) {
    let (mut returned, mut open) = (Vec::new(), Vec::new());
    let each = |record: &CallRecord| {
        let Call { start, end, correlation, parent, function, .. } = record.call;
        match end {
            0 => open.push(OpenCall { correlation, parent, start, function }),
            _ => returned.push(correlation),
        }
    };
    queue.finish_calls([counters, counters], &mut StartedRanges::default(), 0, &mut Each(each));
    (returned, open)
}

fn distinct(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
    numbers.into_iter().fold(BTreeSet::new(), |mut met, number| {
        assert!(met.insert(number), "call {number} is recorded twice");
        met
    })
}

#[test]
fn a_call_that_was_taken_before_its_thread_has_left_it_is_not_told_again() {
    let (mut state, mut queue) = thread();
    let outer = state.calls.begin(Source::Hip, FUNCTION).call;
    let OpenCall { correlation, parent, start, function } = state.calls.begin(Source::Hip, FUNCTION).call;
    let call = Call { start, end: start + 1, correlation, parent, stream: 0, function, status: 0 };
    assert!(send(&mut state.queue, None, &[], call));
    assert_eq!(finish(&mut queue, &Counters::default()), (vec![correlation], vec![outer]));
}

proptest! {
    #[test]
    fn a_recording_that_ends_meanwhile_has_each_call_once(
        steps in prop::collection::vec(prop::bool::weighted(0.55), 1..STEPS),
        moment in 0..STEPS / 3,
    ) {
        let (mut state, mut queue) = thread();
        let (returned, counters) = (AtomicUsize::new(0), Counters::default());
        let (before, first, within) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| act(&mut state, &steps, &returned));
            while returned.load(Ordering::Acquire) < moment && !thread.is_finished() {
                std::hint::spin_loop();
            }
            let before = returned.load(Ordering::Acquire);
            (before, finish(&mut queue, &counters), thread.join().unwrap())
        });
        let ((returned_first, open), (returned_then, still_open)) = (first, finish(&mut queue, &counters));
        // The first recording has the calls that had returned by then, and none twice.
        prop_assert!(returned_first.len() >= before);
        distinct(returned_first.iter().copied().chain(open.iter().map(|call| call.correlation)));
        // Both recordings together have each call, and those that never return as the thread knows them.
        let seen = returned_first.len() + returned_then.len() + within.len();
        prop_assert_eq!(counters.snapshot().seen, seen as u64);
        distinct(returned_first.into_iter().chain(returned_then));
        prop_assert_eq!(&still_open[..], &within[..within.len().min(still_open.len())]);
        prop_assert_eq!(still_open.len(), within.len().min(8));
    }

    #[test]
    fn whoever_looks_meanwhile_finds_no_call_under_way_that_has_been_told(
        steps in prop::collection::vec(prop::bool::weighted(0.55), 1..STEPS),
    ) {
        let (mut state, mut queue) = thread();
        let mut returned = BTreeSet::new();
        let mut look = || {
            let mut each = Each(|one: &CallRecord| assert!(returned.insert(one.call.correlation)));
            while queue.read(&mut StartedRanges::default(), 0, &mut each) > 0 {}
            let open: Vec<u64> = queue.open_calls().map(|call| call.correlation).collect();
            assert!(open.iter().all(|number| !returned.contains(number)), "{open:?}");
            open.len()
        };
        let within = std::thread::scope(|scope| {
            let thread = scope.spawn(|| act(&mut state, &steps, &AtomicUsize::new(0)));
            while !thread.is_finished() {
                look();
            }
            thread.join().unwrap()
        });
        prop_assert_eq!(look(), within.len().min(8), "those that never return");
    }
}
