//! A thread against a recorder, both at full speed.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;

use proptest::prelude::*;

use super::*;
use crate::base::counters::Counters;

static ENTRIES: Pool<Entry> = Pool::new(usize::MAX);

const FUNCTION: Function = Function::new(Source::Hip, 7);

/// A thread that begins a call for each `true`, and returns from the innermost one for each `false`.
fn act(state: &mut ThreadState, steps: &[bool], returned: &AtomicUsize) -> Vec<OpenCall> {
    let mut within: Vec<OpenCall> = Vec::new();
    for &begins in steps {
        if begins {
            within.push(state.begin(Source::Hip, FUNCTION).call);
        } else if let Some(OpenCall { correlation, parent, start, function }) = within.pop() {
            let call = Call { start, end: start + 1, correlation, parent, stream: 0, function, status: 0 };
            let is_told = state.send(None, &[], call);
            state.end(Source::Hip, &call, is_told);
            returned.fetch_add(1, Ordering::Release);
        }
    }
    within
}

/// What a recorder is told when it ends: the calls that have returned, and those that have not.
fn told(queue: &mut ThreadQueue, counters: &Counters) -> (Vec<u64>, Vec<OpenCall>) {
    let (mut returned, mut open) = (Vec::new(), Vec::new());
    queue.finish([counters, counters], &mut |told| {
        let Call { start, end, correlation, parent, function, .. } = told.call;
        match end {
            0 => open.push(OpenCall { correlation, parent, start, function }),
            _ => returned.push(correlation),
        }
    });
    (returned, open)
}

fn distinct(numbers: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
    numbers.into_iter().fold(BTreeSet::new(), |mut met, number| {
        assert!(met.insert(number), "call {number} is told twice");
        met
    })
}

#[test]
fn a_call_that_was_taken_before_its_thread_has_left_it_is_not_told_again() {
    let (entries, arrived) = queue(&ENTRIES).unwrap();
    let shown = Arc::<Shown>::default();
    let mut queue = ThreadQueue::new(1, arrived, Arc::clone(&shown));
    let mut state = ThreadState::of(entries, shown);
    let outer = state.begin(Source::Hip, FUNCTION).call;
    let OpenCall { correlation, parent, start, function } = state.begin(Source::Hip, FUNCTION).call;
    let call = Call { start, end: start + 1, correlation, parent, stream: 0, function, status: 0 };
    assert!(state.send(None, &[], call));
    assert_eq!(told(&mut queue, &Counters::default()), (vec![correlation], vec![outer]));
}

proptest! {
    #[test]
    fn a_recording_that_ends_meanwhile_has_each_call_once(
        steps in prop::collection::vec(prop::bool::weighted(0.55), 1..3_000),
        moment in 0..1_000_usize,
    ) {
        let (entries, arrived) = queue(&ENTRIES).unwrap();
        let shown = Arc::<Shown>::default();
        let mut queue = ThreadQueue::new(1, arrived, Arc::clone(&shown));
        let mut state = ThreadState::of(entries, shown);
        let (returned, counters) = (AtomicUsize::new(0), Counters::default());
        let (before, first, within) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| act(&mut state, &steps, &returned));
            while returned.load(Ordering::Acquire) < moment && !thread.is_finished() {
                std::hint::spin_loop();
            }
            let before = returned.load(Ordering::Acquire);
            (before, told(&mut queue, &counters), thread.join().unwrap())
        });
        let ((returned_first, open), (returned_then, still_open)) = (first, told(&mut queue, &counters));
        // The first recording: what had returned by then, and no call twice.
        prop_assert!(returned_first.len() >= before);
        distinct(returned_first.iter().copied().chain(open.iter().map(|call| call.correlation)));
        // Both: each call, and those that never return as the thread knows them.
        let seen = returned_first.len() + returned_then.len() + within.len();
        prop_assert_eq!(counters.snapshot().seen, seen as u64);
        distinct(returned_first.into_iter().chain(returned_then));
        prop_assert_eq!(&still_open[..], &within[..within.len().min(still_open.len())]);
        prop_assert_eq!(still_open.len(), within.len().min(8));
    }

    #[test]
    fn whoever_looks_meanwhile_finds_no_call_under_way_that_has_been_told(
        steps in prop::collection::vec(prop::bool::weighted(0.55), 1..3_000),
    ) {
        let (entries, arrived) = queue(&ENTRIES).unwrap();
        let shown = Arc::<Shown>::default();
        let mut queue = ThreadQueue::new(1, arrived, Arc::clone(&shown));
        let mut state = ThreadState::of(entries, shown);
        let mut told = BTreeSet::new();
        let mut look = || {
            while queue.read(&mut |one| assert!(told.insert(one.call.correlation))) > 0 {}
            let open: Vec<u64> = queue.open().map(|call| call.correlation).collect();
            assert!(open.iter().all(|number| !told.contains(number)), "{open:?}");
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
