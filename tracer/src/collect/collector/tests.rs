//! Tests of the collector on signals that tests complete, with one thread that is application, GPU and collector in turn.

mod copies;
mod many_queues;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::base::allocation_count::allocations;
use crate::base::counters::Skipped;
use crate::base::kernels::Kernel;
use crate::base::packet::Packet;
use crate::base::settings::Mode;
use crate::collect::batch_channel::{BATCH, Receiver, batch_channel_of};
use crate::collect::queue_channel::{Submissions, Verdict, queue_channel};
use crate::collect::runtime::Runtime;
use crate::collect::shared::Phase;
use crate::collect::signals::Signal;
use crate::collect::signals::Ticks;
use crate::collect::signals::fake::Memory;
use crate::events::thread::current as submitter;

/// A clock of one tick a nanosecond, and signals in memory of the test.
#[derive(Default)]
struct Machine {
    #[expect(clippy::vec_box, reason = "their addresses are handles")]
    signals: Mutex<Vec<Box<Memory>>>,
    /// Limit on the signals that can be made.
    most: usize,
    broken: AtomicBool,
    /// Handles in the order of their decrements.
    decremented: Mutex<Vec<u64>>,
}

impl Runtime for Arc<Machine> {
    fn translate(&self, gpu: u16, tick: u64) -> Option<i64> {
        assert!(!self.broken.load(Ordering::Relaxed), "as the test wants it");
        i64::try_from(tick).ok().map(|tick| tick + 1000 * i64::from(gpu))
    }

    fn copy_times(&self, signal: Signal) -> Option<(i64, i64)> {
        let Ticks { start, end } = signal.copy_ticks();
        Some((i64::try_from(start).ok()?, i64::try_from(end).ok()?))
    }

    fn decrement(&self, signal: Signal) {
        self.decremented.lock().unwrap().push(signal.handle());
        let signals = self.signals.lock().unwrap();
        let memory = signals.iter().find(|memory| memory.handle() == signal.handle()).unwrap();
        memory.set(memory.value() - 1);
    }

    fn create_signal(&self, _gpu: u16) -> Option<Signal> {
        if self.signals.lock().unwrap().len() >= self.most {
            return None;
        }
        // SAFETY: the machine keeps the memory until the test ends.
        Some(unsafe { Signal::new(self.signal(1)) })
    }

    fn destroy_signal(&self, _signal: Signal) {}
}

impl Machine {
    /// Makes a signal; returns its handle.
    fn signal(&self, value: i64) -> u64 {
        let memory = Memory::new(value);
        let handle = memory.handle();
        self.signals.lock().unwrap().push(memory);
        handle
    }

    /// Does the work of the GPU when a packet with this signal completes.
    fn complete(&self, signal: u64, start: u64, end: u64) {
        let signals = self.signals.lock().unwrap();
        signals.iter().find(|memory| memory.handle() == signal).unwrap().complete(start, end);
    }

    fn value(&self, signal: u64) -> i64 {
        self.signals.lock().unwrap().iter().find(|memory| memory.handle() == signal).unwrap().value()
    }

    fn set(&self, signal: u64, value: i64) {
        self.signals.lock().unwrap().iter().find(|memory| memory.handle() == signal).unwrap().set(value);
    }
}

/// Resolves every kernel to its address as a name.
struct AddressNames;

impl crate::collect::names::Resolve for AddressNames {
    fn resolve(&self, kernel_object: u64) -> Option<Kernel> {
        Some(Kernel { mangled: format!("k{kernel_object}"), kernel_object, ..Kernel::default() })
    }
}

/// A recording of one queue, on GPU 1.
struct Bench {
    machine: Arc<Machine>,
    shared: Shared<AddressNames>,
    submissions: Submissions,
    collector: Collector,
    arrivals: Receiver<Dispatch>,
}

/// A recording with this number of signals and this much room for completed dispatches.
fn bench(mode: Mode, signals: usize, batches: usize) -> Bench {
    let machine = Arc::new(Machine { most: signals, ..Machine::default() });
    let shared = Shared::new(mode, Arc::default(), Some(AddressNames), Box::new(Arc::clone(&machine)));
    let (sender, arrivals) = batch_channel_of(batches);
    let mut collector = Collector::new(sender);
    let (submissions, queue) = queue_channel(QueueOrdinal(7), 1);
    collector.add(queue);
    Bench { machine, shared, submissions, collector, arrivals }
}

fn kernel(object: u64, completion: u64) -> Packet {
    // The packet is a kernel dispatch with 64 work-items in a group and 256 in all.
    Packet([1 << 48 | 64 << 32 | 2, 256 << 32 | 1, 1 << 32 | 1, 0, object, 0, 0, completion])
}

impl Bench {
    /// Submits a packet; returns the signal that it carries to the GPU.
    fn submit(&mut self, mut packet: Packet) -> u64 {
        if !self.submissions.submit_fast(&mut packet, &Cell::new(submitter()), &self.shared) {
            self.submissions.submit(&mut packet, &self.shared);
        }
        packet.completion()
    }

    /// Runs a pass of the collector; returns name, start and end of the dispatches that the recorder then gets.
    fn collect(&mut self) -> Vec<(String, i64, i64)> {
        self.collector.pass(true, &self.shared);
        let mut all = Vec::new();
        let kernels = &self.shared.known.kernels;
        let mut keep = |dispatch: &Dispatch| {
            assert_eq!((dispatch.queue, dispatch.gpu), (QueueOrdinal(7), 1));
            assert_eq!((dispatch.grid, dispatch.workgroup), ([256, 1, 1], [64, 1, 1]));
            let name = kernels.get(dispatch.kernel.0).unwrap().mangled.clone();
            all.push((name, dispatch.start, dispatch.end));
        };
        while self.arrivals.take(&mut keep) > 0 {}
        self.shared.known.counters.record(all.len() as u64);
        all
    }

    /// Compares counts of seen, recorded, lost and skipped; nothing may be in flight.
    #[track_caller]
    fn assert_counts(&self, seen: u64, recorded: u64, lost: &[(Lost, u64)], skipped: &[(Skipped, u64)]) {
        let now = self.shared.known.counters.snapshot();
        assert_eq!((now.seen, now.recorded), (seen, recorded));
        assert_eq!((&now.lost[..], &now.skipped[..]), (lost, skipped));
        assert_eq!(now.on_the_way(), 0);
    }
}

fn named(name: &str, start: i64, end: i64) -> (String, i64, i64) {
    (name.to_owned(), start, end)
}

#[test]
fn a_burst_behind_a_late_collector_allocates_nothing_while_there_are_spare_slots() {
    let mut bench = bench(Mode::Standard, usize::MAX, 64);
    for _ in 0..100 {
        // A queue in use has this many slots, and none of them has completed.
        for _ in 0..2 {
            bench.submit(kernel(1, 0));
        }
        bench.collector.pass(true, &bench.shared);
    }
    let (owned, spare) = (bench.shared.pool.made(), bench.shared.pool.spare());
    assert!(spare >= 1024 && owned - spare >= 1024, "{owned} {spare}");
    let before = allocations();
    for _ in 0..owned - 512 {
        let mut packet = kernel(1, 0);
        assert_eq!(bench.submissions.submit(&mut packet, &bench.shared), Verdict::Changed);
    }
    assert_eq!(allocations() - before, 0);
}

#[test]
fn a_dispatch_is_handed_on_when_it_has_completed_with_the_times_of_its_gpu() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signal = bench.submit(kernel(5, 0));
    assert!(bench.collect().is_empty(), "it runs");
    bench.machine.complete(signal, 10, 20);
    assert_eq!(bench.collect(), [named("k5", 1010, 1020)]);
    bench.assert_counts(1, 1, &[], &[]);
}

#[test]
fn a_dispatch_that_runs_on_does_not_hold_the_later_ones_up() {
    let mut bench = bench(Mode::Standard, 512, 4);
    let first = bench.submit(kernel(1, 0));
    for _ in 0..200 {
        let signal = bench.submit(kernel(2, 0));
        bench.machine.complete(signal, 10, 20);
    }
    assert_eq!(bench.collect().len(), 200);
    bench.machine.complete(first, 5, 30);
    assert_eq!(bench.collect(), [named("k1", 1005, 1030)]);
    bench.assert_counts(201, 201, &[], &[]);
}

#[test]
fn dispatches_complete_in_whatever_order() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signals: Vec<u64> = (0..4).map(|object| bench.submit(kernel(object, 0))).collect();
    let mut ends = Vec::new();
    for at in [2, 0, 3, 1] {
        bench.machine.complete(signals[at], 10, 20 + at as u64);
        ends.extend(bench.collect().into_iter().map(|(_, _, end)| end));
    }
    assert_eq!(ends, [1022, 1020, 1023, 1021]);
}

#[test]
fn slots_go_round_and_their_signals_are_ready_again() {
    let mut bench = bench(Mode::Standard, 64, 4);
    for round in 0..1000 {
        let signal = bench.submit(kernel(1, 0));
        assert_eq!(bench.machine.value(signal), 1);
        bench.machine.complete(signal, 10, 20 + round);
        assert_eq!(bench.collect(), [named("k1", 1010, 1020 + round as i64)]);
    }
    bench.assert_counts(1000, 1000, &[], &[]);
}

#[test]
fn the_collector_makes_slots_so_that_who_submits_makes_none() {
    let mut bench = bench(Mode::Standard, 1 << 16, 8);
    let mut rush = |dispatches: usize| {
        let signals: Vec<u64> = (0..dispatches).map(|_| bench.submit(kernel(1, 0))).collect();
        let made = bench.machine.signals.lock().unwrap().len();
        signals.into_iter().for_each(|signal| bench.machine.complete(signal, 10, 20));
        let mut collected = 0;
        while collected < dispatches {
            let before = bench.machine.signals.lock().unwrap().len();
            collected += bench.collect().len();
            let at_once = bench.machine.signals.lock().unwrap().len() - before;
            assert!(at_once <= AT_ONCE, "{at_once} in one pass");
        }
        (made, bench.machine.signals.lock().unwrap().len())
    };
    assert_eq!(rush(1), (8, 8 + AT_ONCE), "as many as a queue in use has at least, and spare ones");
    assert_eq!(rush(2000), (8 + AT_ONCE, 4000 + STOCK), "twice as many as were in flight, and spare ones");
    assert_eq!(rush(4000), (4000 + STOCK, 4000 + STOCK + AT_ONCE));
    assert_eq!(rush(4000), (4000 + STOCK + AT_ONCE, 8000 + STOCK));
    assert_eq!(rush(4000), (8000 + STOCK, 8000 + STOCK));
}

#[test]
fn the_applications_signal_stays_in_its_packet_with_value_and_times() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let own = bench.machine.signal(1);
    assert_eq!(bench.submit(kernel(1, own)), own);
    bench.machine.complete(own, 10, 20);
    // The application is faster than the collector: it resets the signal and launches again.
    bench.machine.set(own, 1);
    assert_eq!(bench.submit(kernel(2, own)), own);
    bench.machine.complete(own, 30, 40);
    assert_eq!(bench.collect(), [named("k1", 1010, 1020), named("k2", 1030, 1040)]);
    assert_eq!(bench.machine.value(own), 0);
    bench.assert_counts(2, 2, &[], &[]);
}

#[test]
fn a_signal_that_counts_several_dispatches_is_forwarded_to_with_times() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let shared = bench.machine.signal(2);
    let signals = [bench.submit(kernel(1, shared)), bench.submit(kernel(2, shared))];
    assert!(!signals.contains(&shared));
    bench.machine.complete(signals[1], 30, 40);
    assert_eq!(bench.collect(), [named("k2", 1030, 1040)]);
    assert_eq!(bench.machine.value(shared), 1);
    bench.machine.complete(signals[0], 10, 20);
    assert_eq!(bench.collect(), [named("k1", 1010, 1020)]);
    assert_eq!(bench.machine.value(shared), 0);
    // SAFETY: the machine keeps the memory until the test ends.
    let signal = unsafe { Signal::new(shared) };
    assert_eq!(signal.ticks(), Ticks { start: 10, end: 20 });
    bench.assert_counts(2, 2, &[], &[]);
}

#[test]
fn a_signal_in_flight_is_not_watched_twice() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let own = bench.machine.signal(1);
    assert_eq!(bench.submit(kernel(1, own)), own);
    let second = bench.submit(kernel(2, own));
    assert_ne!(second, own);
    bench.machine.complete(own, 10, 20);
    bench.machine.complete(second, 30, 40);
    let mut all = bench.collect();
    all.sort();
    assert_eq!(all, [named("k1", 1010, 1020), named("k2", 1030, 1040)]);
    assert_eq!(bench.machine.value(own), -1, "two packets, two decrements");
}

#[test]
fn mode_lite_leaves_kernels_with_a_signal_alone_and_counts_them() {
    let mut bench = bench(Mode::Lite, 64, 4);
    let own = bench.machine.signal(2);
    assert_eq!(bench.submit(kernel(1, own)), own);
    let signal = bench.submit(kernel(2, 0));
    bench.machine.complete(signal, 10, 20);
    assert_eq!(bench.collect(), [named("k2", 1010, 1020)]);
    bench.assert_counts(2, 1, &[], &[(Skipped::Signal, 1)]);
}

#[test]
fn other_packets_are_neither_counted_nor_changed_but_take_a_signal_from_a_kernel() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let own = bench.machine.signal(1);
    bench.submit(kernel(1, own));
    bench.machine.complete(own, 10, 20);
    bench.machine.set(own, 1);
    let barrier = Packet([3, 0, 0, 0, 0, 0, 0, own]);
    assert_eq!(bench.submit(barrier), own);
    bench.machine.complete(own, 30, 40);
    assert_eq!(bench.collect(), [named("k1", 1010, 1020)], "not the barrier's times");
    bench.assert_counts(1, 1, &[], &[]);
}

#[test]
fn a_barrier_behind_forwarded_kernels_ends_after_them_and_is_not_counted() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let (shared, own) = (bench.machine.signal(2), bench.machine.signal(1));
    let kernels = [bench.submit(kernel(1, shared)), bench.submit(kernel(2, shared))];
    let barrier = bench.submit(Packet([3, 0, 0, 0, 0, 0, 0, own]));
    assert_ne!(barrier, own, "it must not overtake what is forwarded");
    bench.machine.complete(kernels[0], 10, 20);
    bench.machine.complete(kernels[1], 30, 40);
    bench.machine.complete(barrier, 50, 60);
    assert_eq!(bench.collect().len(), 2);
    assert_eq!((bench.machine.value(shared), bench.machine.value(own)), (0, 0));
    assert_eq!(*bench.machine.decremented.lock().unwrap(), [shared, shared, own]);
    assert_eq!(bench.submit(Packet([3, 0, 0, 0, 0, 0, 0, own])), own, "nothing is to be forwarded any more");
    bench.assert_counts(2, 2, &[], &[]);
}

#[test]
fn a_kernel_with_a_signal_of_its_own_does_not_overtake_forwarded_ones() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let (shared, own) = (bench.machine.signal(2), bench.machine.signal(1));
    let first = bench.submit(kernel(1, shared));
    let second = bench.submit(kernel(2, own));
    assert_ne!(second, own);
    bench.machine.complete(second, 30, 40);
    bench.machine.complete(first, 10, 20);
    assert_eq!(bench.collect().len(), 2);
    assert_eq!(*bench.machine.decremented.lock().unwrap(), [shared, own], "in the order of submission");
}

#[test]
fn without_room_at_the_recorder_dispatches_wait_and_without_slots_they_pass_counted() {
    let mut bench = bench(Mode::Standard, BATCH + 64, 1);
    let mut submitted = 0;
    for _ in 0..BATCH + 100 {
        let signal = bench.submit(kernel(1, 0));
        if signal != 0 {
            bench.machine.complete(signal, 10, 20);
            submitted += 1;
        }
    }
    assert_eq!(submitted, BATCH + 64, "as many as there are signals");
    // The recorder takes nothing meanwhile: a batch is handed over, and the rest stays in its slots.
    bench.collector.pass(true, &bench.shared);
    let pass = bench.collector.pass(true, &bench.shared);
    assert_eq!((pass.completed, pass.in_flight), (0, 64));
    let mut recorded = bench.collect().len();
    recorded += bench.collect().len();
    recorded += bench.collect().len();
    assert_eq!(recorded, BATCH + 64);
    bench.assert_counts(BATCH as u64 + 100, BATCH as u64 + 64, &[(Lost::Signals, 36)], &[]);
}

#[test]
fn forwarding_goes_on_while_the_recorder_is_behind() {
    let mut bench = bench(Mode::Standard, 2 * BATCH, 1);
    for _ in 0..BATCH {
        let signal = bench.submit(kernel(1, 0));
        bench.machine.complete(signal, 10, 20);
    }
    bench.collector.pass(true, &bench.shared);
    let shared = bench.machine.signal(5);
    let signal = bench.submit(kernel(2, shared));
    bench.machine.complete(signal, 30, 40);
    bench.collector.pass(true, &bench.shared);
    assert_eq!(bench.machine.value(shared), 4);
}

#[test]
fn times_that_make_no_sense_are_lost_by_that_name() {
    let mut bench = bench(Mode::Standard, 64, 4);
    for (start, end) in [(0, 0), (10, 0), (0, 10), (20, 10), (1 << 63, u64::MAX)] {
        let signal = bench.submit(kernel(1, 0));
        bench.machine.complete(signal, start, end);
    }
    let own = bench.machine.signal(1);
    bench.submit(kernel(1, own));
    bench.machine.complete(own, 0, 0);
    assert!(bench.collect().is_empty());
    bench.assert_counts(6, 0, &[(Lost::Times, 6)], &[]);
}

#[test]
fn a_kernel_that_ends_at_the_tick_of_its_start_is_recorded() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signal = bench.submit(kernel(1, 0));
    bench.machine.complete(signal, 10, 10);
    let collected = bench.collect();
    assert!(collected.iter().all(|(_, start, end)| start == end) && collected.len() == 1, "{collected:?}");
}

#[test]
fn a_destroyed_queue_gives_what_had_completed_and_counts_the_rest() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signals: Vec<u64> = (0..3).map(|object| bench.submit(kernel(object, 0))).collect();
    let own = bench.machine.signal(1);
    bench.submit(kernel(3, own));
    bench.machine.complete(signals[1], 10, 20);
    bench.collector.remove(QueueOrdinal(7), &bench.shared);
    assert_eq!(bench.collect(), [named("k1", 1010, 1020)]);
    bench.assert_counts(4, 1, &[(Lost::QueueDestroyed, 3)], &[]);
}

#[test]
fn the_end_of_a_recording_counts_what_still_runs() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signal = bench.submit(kernel(1, 0));
    bench.submit(kernel(2, 0));
    bench.machine.complete(signal, 10, 20);
    assert_eq!(bench.collect().len(), 1);
    bench.collector.end(&bench.shared);
    let now = bench.shared.known.counters.snapshot();
    assert_eq!((now.lost, now.seen, now.recorded), (vec![(Lost::Unfinished, 1)], 2, 1));
    assert!(!bench.arrivals.wait(std::time::Duration::ZERO), "the recorder learns that this was all");
}

#[test]
fn after_a_failure_signals_are_still_forwarded() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let shared = bench.machine.signal(9);
    let signals = [bench.submit(kernel(1, shared)), bench.submit(kernel(1, shared))];
    bench.machine.complete(signals[0], 10, 20);
    bench.machine.broken.store(true, Ordering::Relaxed);
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        bench.collector.pass(true, &bench.shared);
    }));
    assert!(failed.is_err());
    assert_eq!(bench.machine.value(shared), 8, "forwarded before anything else");
    bench.machine.complete(signals[1], 10, 20);
    assert_eq!(bench.collector.forward_only(&bench.shared).forwards, 0);
    assert_eq!(bench.machine.value(shared), 7);
}

#[test]
fn slots_of_a_destroyed_queue_serve_the_next_one() {
    let mut bench = bench(Mode::Standard, 64, 4);
    for queue in 8..108 {
        let signal = bench.submit(kernel(1, 0));
        bench.machine.complete(signal, 10, 20);
        assert_eq!(bench.collect_from_any(), 1);
        bench.collector.remove(QueueOrdinal(queue - 1), &bench.shared);
        bench.submissions.give_back(0, &bench.shared);
        let (submissions, arrivals) = queue_channel(QueueOrdinal(queue), 1);
        bench.submissions = submissions;
        bench.collector.add(arrivals);
    }
    assert_eq!(bench.machine.signals.lock().unwrap().len(), 64);
    bench.assert_counts(100, 100, &[], &[]);
}

impl Bench {
    /// Does what [`Bench::collect`] does for all queues; returns the number of dispatches.
    fn collect_from_any(&mut self) -> usize {
        self.collector.pass(true, &self.shared);
        let mut count = 0;
        while self.arrivals.take(|_| count += 1) > 0 {}
        self.shared.known.counters.record(count as u64);
        count
    }
}

#[test]
fn only_what_is_asked_of_it_does_the_short_way_take() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signal = bench.submit(kernel(1, 0));
    bench.machine.complete(signal, 10, 20);
    assert_eq!(bench.collect().len(), 1, "now there is a free slot");
    let own = bench.machine.signal(1);
    let mut usual = |mut packet: Packet| {
        bench.submissions.submit_fast(&mut packet, &Cell::new(submitter()), &bench.shared)
    };
    assert!(usual(kernel(1, 0)));
    assert!(!usual(kernel(2, 0)), "a kernel that was never launched");
    assert!(!usual(kernel(1, own)), "a completion signal");
    assert!(!usual(Packet([3, 0, 0, 0, 1, 0, 0, 0])), "another packet");
    assert!(!usual(Packet([3 << 16, 0, 0, 0, 1, 0, 0, 0])), "a kernel in clusters");
    assert_eq!(bench.shared.known.counters.snapshot().seen, 2);
    let mut packet = kernel(1, own);
    assert_eq!(bench.submissions.submit(&mut packet, &bench.shared), Verdict::Watched);
}

#[test]
fn a_thread_that_failed_goes_on_forwarding_and_ends_when_it_is_asked() {
    let mut bench = bench(Mode::Standard, 64, 4);
    bench.machine.broken.store(true, Ordering::Relaxed);
    let shared_signal = bench.machine.signal(9);
    let signals = [bench.submit(kernel(1, shared_signal)), bench.submit(kernel(1, shared_signal))];
    let Bench { machine, shared, collector, arrivals, .. } = bench;
    let collector = Mutex::new(Some(collector));
    let until = |condition: &dyn Fn() -> bool| {
        while !condition() {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| thread::collect(&collector, &shared));
        machine.complete(signals[0], 10, 20);
        until(&|| machine.value(shared_signal) == 8);
        until(&|| shared.phase() == Phase::Failed);
        machine.complete(signals[1], 10, 20);
        until(&|| machine.value(shared_signal) == 7);
        shared.end();
        thread.join().unwrap();
    });
    assert!(!arrivals.wait(std::time::Duration::ZERO), "the recorder learns that this was all");
    let now = shared.known.counters.snapshot();
    assert_eq!(now.seen, 2);
    assert_eq!(now.lost, [(Lost::Failure, 2)]);
}

#[test]
fn the_thread_takes_what_completes_at_the_end_and_no_more() {
    let mut bench = bench(Mode::Standard, 64, 4);
    let signals = [bench.submit(kernel(1, 0)), bench.submit(kernel(2, 0))];
    bench.machine.complete(signals[0], 10, 20);
    let collector = Mutex::new(Some(bench.collector));
    bench.shared.end();
    thread::collect(&collector, &bench.shared);
    let mut starts = Vec::new();
    while bench.arrivals.take(|dispatch| starts.push(dispatch.start)) > 0 {}
    assert_eq!(starts, [1010]);
    assert_eq!(bench.shared.known.counters.snapshot().lost, [(Lost::Unfinished, 1)]);
}
