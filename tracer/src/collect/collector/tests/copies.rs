//! Tests of copies and barriers, which are recorded beside dispatches.

use super::*;
use crate::base::counters::Counters;
use crate::collect::copies::{Copies, StartedCopy};
use crate::collect::copy_or_barrier::{BARRIERS, COPIES, Copy, CopyOrBarrier, CopyOrBarrierKind};

const COPY: Copy = Copy { bytes: 64, source: None, destination: Some(1) };

/// A recording with copies and barriers.
fn copying(signals: usize) -> (Bench, Copies) {
    let mut bench = bench(Mode::Standard, signals, 4);
    bench.shared.records_barriers = true;
    let copies = Copies::default();
    bench.collector.add_copies(copies.arrivals().unwrap());
    (bench, copies)
}

impl Bench {
    fn signal(&self, handle: u64) -> Signal {
        // SAFETY: the machine keeps the memory until the test ends.
        unsafe { Signal::new(handle) }
    }

    /// Submits a copy with this signal; returns the signal that the copy carries.
    fn copy(&self, copies: &Copies, signal: u64) -> u64 {
        let begun = copies.begin(COPY, self.signal(signal), &self.shared);
        let carried = begun.own().unwrap_or(signal);
        copies.submitted(begun, &self.shared);
        carried
    }

    fn complete_copy(&self, signal: u64, start: u64, end: u64) {
        let signals = self.machine.signals.lock().unwrap();
        signals.iter().find(|memory| memory.handle() == signal).unwrap().complete_copy(start, end);
    }

    /// Runs a pass of the collector; returns number, start and end of the ops that the recorder then gets beside dispatches.
    fn others(&mut self) -> Vec<(u64, i64, i64)> {
        self.collector.pass(true, &self.shared);
        let mut ops: Vec<CopyOrBarrier> = Vec::new();
        self.shared.known.copies_and_barriers.take(&mut ops);
        ops.into_iter().map(|op| (op.correlation, op.start, op.end)).collect()
    }
}

/// Counts of seen, and of lost by reason.
fn counts(counters: &Counters) -> (u64, Vec<(Lost, u64)>) {
    let now = counters.snapshot();
    (now.seen, now.lost)
}

#[test]
fn a_copy_is_handed_on_with_the_times_that_the_runtime_reports() {
    let (mut bench, copies) = copying(64);
    let own = bench.machine.signal(1);
    assert_eq!(bench.copy(&copies, own), own, "it stays with its copy");
    assert_eq!(bench.others(), [], "it runs");
    bench.complete_copy(own, 10, 20);
    bench.machine.set(own, 1);
    assert_eq!(bench.copy(&copies, own), own, "used again before anyone looked");
    bench.complete_copy(own, 30, 40);
    assert_eq!(bench.others(), [(COPIES + 1, 10, 20), (COPIES + 2, 30, 40)]);
    assert_eq!(counts(&bench.shared.known.copies), (2, vec![]));
    bench.assert_counts(0, 0, &[], &[]);
}

#[test]
fn a_signal_that_counts_copies_is_forwarded_to_and_told_of_by_us() {
    let (mut bench, copies) = copying(64);
    let own = bench.machine.signal(2);
    let carried = [bench.copy(&copies, own), bench.copy(&copies, own)];
    assert!(carried.iter().all(|&signal| signal != own) && carried[0] != carried[1]);
    assert!(bench.shared.is_forwarding());
    bench.complete_copy(carried[1], 10, 20);
    assert_eq!(bench.others(), [(COPIES + 2, 10, 20)]);
    assert_eq!((bench.machine.value(own), bench.shared.copies.times(own)), (1, Some((10, 20))));
    bench.complete_copy(carried[0], 15, 30);
    assert_eq!(bench.others(), [(COPIES + 1, 15, 30)]);
    assert_eq!((bench.machine.value(own), bench.shared.copies.times(own)), (0, Some((15, 30))));
    assert!(!bench.shared.is_forwarding());
    bench.shared.release(own);
    assert_eq!(bench.shared.copies.times(own), None, "used for something else");
}

#[test]
fn a_refused_copy_leaves_nothing_behind() {
    let (mut bench, copies) = copying(64);
    for value in [1, 2] {
        let own = bench.machine.signal(value);
        let signal = bench.signal(own);
        let begun = copies.begin(COPY, signal, &bench.shared);
        copies.refused(begun, signal, &bench.shared);
    }
    assert!(bench.others().is_empty() && !bench.shared.is_forwarding());
    assert_eq!(counts(&bench.shared.known.copies), (0, vec![]));
}

#[test]
fn a_copy_that_has_no_place_goes_through_and_is_counted() {
    let (mut bench, copies) = copying(0);
    let own = bench.machine.signals.lock().unwrap().len();
    assert_eq!(own, 0, "the runtime makes no signals for us");
    let counting = Memory::new(2);
    let begun = copies.begin(COPY, bench.signal(counting.handle()), &bench.shared);
    assert!(matches!(begun, StartedCopy::Lost(Lost::Signals)) && begun.own().is_none());
    copies.submitted(begun, &bench.shared);
    assert_eq!(bench.others(), []);
    assert_eq!(counts(&bench.shared.known.copies), (1, vec![(Lost::Signals, 1)]));
}

#[test]
fn what_is_in_flight_at_the_end_is_lost_and_after_a_failure_still_forwarded() {
    let (mut bench, copies) = copying(64);
    let (watched, counting) = (bench.machine.signal(1), bench.machine.signal(2));
    bench.copy(&copies, watched);
    let carried = [bench.copy(&copies, counting), bench.copy(&copies, counting)];
    bench.complete_copy(carried[0], 10, 20);
    let pass = bench.collector.forward_only(&bench.shared);
    assert_eq!((pass.in_flight, pass.forwards), (1, 1));
    assert_eq!(bench.machine.value(counting), 1);
    assert_eq!(counts(&bench.shared.known.copies), (3, vec![(Lost::Failure, 2)]));
    bench.collector.end(&bench.shared);
    assert_eq!(counts(&bench.shared.known.copies), (3, vec![(Lost::Unfinished, 1), (Lost::Failure, 2)]));
}

#[test]
fn a_signal_that_went_to_a_kernel_too_early_is_missed() {
    let (mut bench, copies) = copying(64);
    let own = bench.machine.signal(1);
    bench.copy(&copies, own);
    bench.shared.release(own);
    bench.complete_copy(own, 10, 20);
    assert_eq!(bench.others(), []);
    assert_eq!(counts(&bench.shared.known.copies), (1, vec![(Lost::Reused, 1)]));
}

#[test]
fn barriers_are_recorded_with_a_signal_of_ours_or_of_the_application() {
    let (mut bench, _copies) = copying(64);
    let barrier = |completion| Packet([3, 0, 0, 0, 0, 0, 0, completion]);
    let ours = bench.submit(barrier(0));
    assert_ne!(ours, 0);
    let theirs = bench.machine.signal(1);
    assert_eq!(bench.submit(barrier(theirs)), theirs);
    bench.machine.complete(ours, 10, 20);
    bench.machine.complete(theirs, 20, 30);
    assert_eq!(bench.others(), [(BARRIERS + 1, 1010, 1020), (BARRIERS + 2, 1020, 1030)]);
    bench.submit(barrier(0));
    bench.collector.remove(QueueOrdinal(7), &bench.shared);
    assert_eq!(counts(&bench.shared.known.barriers), (3, vec![(Lost::QueueDestroyed, 1)]));
    bench.assert_counts(0, 0, &[], &[]);
}

#[test]
fn what_is_recorded_beside_dispatches_says_what_it_is() {
    let (mut bench, copies) = copying(64);
    let own = bench.machine.signal(1);
    bench.copy(&copies, own);
    bench.complete_copy(own, 10, 20);
    let ours = bench.submit(Packet([5, 0, 0, 0, 0, 0, 0, 0]));
    bench.machine.complete(ours, 10, 20);
    bench.collector.pass(true, &bench.shared);
    let mut ops = Vec::new();
    bench.shared.known.copies_and_barriers.take(&mut ops);
    let what: Vec<CopyOrBarrierKind> = ops.iter().map(|op| op.what).collect();
    assert_eq!(
        what,
        [CopyOrBarrierKind::Barrier { queue: QueueOrdinal(7), gpu: 1 }, CopyOrBarrierKind::Copy(COPY)]
    );
    assert!(ops.iter().all(|op| op.tid == crate::events::thread::current().tid));
}
