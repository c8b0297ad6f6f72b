//! Watches the application's own completion signals, which stay in their packets.
//!
//! A kernel, barrier or copy with a signal of value 1 keeps it, so its value, its timing and its times remain the application's;
//! the tracer only reads the times. But the application may use the signal again, or destroy it, as soon as it has waited for it.
//! So before that happens (the next packet or copy that carries it, or its destruction) the times are harvested into the table,
//! where the collector finds them.
//!
//! A signal is read only under the lock of its shard, and `hsa_signal_destroy` takes that lock first, so a signal in the table
//! without times is alive.

use std::sync::{Mutex, MutexGuard};

use crate::base::try_lock::lock;
use crate::collect::runtime::Runtime;
use crate::collect::signals::{Signal, Ticks};

/// Shards of the table: with thousands of signals in flight a shard still holds a few.
const SHARDS: usize = 1024;

/// The state of a dispatch or copy by its watched signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    Pending,
    /// Completed, with its times if the hardware wrote any.
    Done(Ticks),
    /// A completed copy, with its start and end in ns from the runtime, which alone knows whose clock the times are of.
    Copied(Option<(i64, i64)>),
    /// Another op got the signal before this one had completed.
    Missed,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    signal: Signal,
    /// Correlation id of the dispatch or copy.
    dispatch: u64,
    is_copy: bool,
    /// The completion that was seen when another op got the signal.
    harvest: Option<Completion>,
}

impl Entry {
    fn poll(&self, runtime: &dyn Runtime) -> Completion {
        // The value is read first: if the dispatch has completed, its times are there.
        let completed = self.signal.value() < 1;
        let ticks = if self.is_copy { self.signal.copy_ticks() } else { self.signal.ticks() };
        if !completed && !ticks.are_known() {
            Completion::Pending
        } else if self.is_copy {
            Completion::Copied(ticks.are_known().then(|| runtime.copy_times(self.signal)).flatten())
        } else {
            Completion::Done(ticks)
        }
    }
}

#[derive(Debug)]
pub struct SignalTracker {
    shards: Box<[Mutex<Vec<Entry>>]>,
}

impl Default for SignalTracker {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::new(Vec::new())).collect() }
    }
}

impl SignalTracker {
    fn shard(&self, handle: u64) -> MutexGuard<'_, Vec<Entry>> {
        // Signals have 64 bytes and are adjacent.
        let shard = (handle >> 6) as usize % SHARDS;
        lock(&self.shards[shard])
    }

    /// Watches the signal for a dispatch that is about to be submitted with it. Returns false, and does not watch it, where it
    /// cannot tell when this dispatch completes: another one that carries it is running, or its value is not 1.
    pub fn watch(&self, signal: Signal, dispatch: u64, runtime: &dyn Runtime) -> bool {
        let mut shard = self.shard(signal.handle());
        if !is_free(&mut shard, signal, runtime) || !signal.is_user() || signal.value() != 1 {
            return false;
        }
        signal.set_ticks(Ticks::default());
        shard.push(Entry { signal, dispatch, is_copy: false, harvest: None });
        true
    }

    /// Watches a signal that [has times of copies](Signal::has_copy_times) for a copy, as [`SignalTracker::watch`] does. Returns
    /// the times that the signal had, for [`SignalTracker::restore`].
    pub fn watch_copy(&self, signal: Signal, copy: u64, runtime: &dyn Runtime) -> Option<(Ticks, Ticks)> {
        let mut shard = self.shard(signal.handle());
        if !is_free(&mut shard, signal, runtime) || signal.value() != 1 {
            return None;
        }
        let before = (signal.ticks(), signal.copy_ticks());
        signal.set_ticks(Ticks::default());
        signal.set_copy_ticks(Ticks::default());
        shard.push(Entry { signal, dispatch: copy, is_copy: true, harvest: None });
        Some(before)
    }

    /// Called when the copy was refused: gives the signal back its times.
    pub fn restore(&self, signal: Signal, copy: u64, (ticks, copy_ticks): (Ticks, Ticks)) {
        self.forget(signal.handle(), copy);
        signal.set_ticks(ticks);
        if copy_ticks != ticks {
            signal.set_copy_ticks(copy_ticks);
        }
    }

    /// Harvests completions before the signal is used for something else: another packet, a copy, its destruction.
    pub fn release(&self, handle: u64, runtime: &dyn Runtime) {
        for entry in self.shard(handle).iter_mut() {
            if entry.signal.handle() == handle && entry.harvest.is_none() {
                entry.harvest = Some(match entry.poll(runtime) {
                    Completion::Pending => Completion::Missed,
                    done => done,
                });
            }
        }
    }

    /// The state of the dispatch. Anything but [`Completion::Pending`] is returned once.
    pub fn poll(&self, handle: u64, dispatch: u64, runtime: &dyn Runtime) -> Completion {
        let mut shard = self.shard(handle);
        let Some(at) = shard.iter().position(|entry| entry.dispatch == dispatch) else {
            return Completion::Missed;
        };
        let entry = shard[at];
        let completion = entry.harvest.unwrap_or_else(|| entry.poll(runtime));
        if completion != Completion::Pending {
            shard.swap_remove(at);
        }
        completion
    }

    /// Forgets the dispatch, completed or not.
    pub fn forget(&self, handle: u64, dispatch: u64) {
        self.shard(handle).retain(|entry| entry.dispatch != dispatch);
    }

    /// Gives the application's `signal` the times of a dispatch that ran with another signal, unless a dispatch that carries it
    /// is still running and will write its own.
    pub fn set_ticks(&self, signal: Signal, ticks: Ticks, runtime: &dyn Runtime) {
        let mut shard = self.shard(signal.handle());
        if is_free(&mut shard, signal, runtime) && signal.is_user() {
            signal.set_ticks(ticks);
        }
    }
}

/// True if no watched op carries the signal any more. Completed ops are harvested.
fn is_free(shard: &mut [Entry], signal: Signal, runtime: &dyn Runtime) -> bool {
    for entry in shard.iter_mut().filter(|entry| entry.signal == signal && entry.harvest.is_none()) {
        match entry.poll(runtime) {
            Completion::Pending => return false,
            done => entry.harvest = Some(done),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::signals::fake::{Memory, signal};

    /// A runtime that gives times of copies, in ticks that are ns, and nothing else.
    struct NoRuntime;

    impl Runtime for NoRuntime {
        fn translate(&self, _gpu: u16, _tick: u64) -> Option<i64> {
            None
        }

        fn copy_times(&self, signal: Signal) -> Option<(i64, i64)> {
            let Ticks { start, end } = signal.copy_ticks();
            Some((start as i64, end as i64))
        }

        fn decrement(&self, _signal: Signal) {}

        fn create_signal(&self, _gpu: u16) -> Option<Signal> {
            None
        }

        fn destroy_signal(&self, _signal: Signal) {}
    }

    const TICKS: Ticks = Ticks { start: 10, end: 20 };

    #[test]
    fn a_watched_dispatch_is_running_and_then_done_with_its_times() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Pending);
        memory.complete(10, 20);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Done(TICKS));
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Missed, "returned once");
    }

    #[test]
    fn the_application_may_reset_the_value_before_anyone_looked() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        memory.complete(10, 20);
        memory.set(1);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Done(TICKS));
    }

    #[test]
    fn a_signal_that_is_used_again_keeps_the_times_of_both_dispatches() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        memory.complete(10, 20);
        memory.set(1);
        assert!(tracker.watch(signal(&memory), 2, &NoRuntime));
        assert_eq!(
            tracker.poll(memory.handle(), 2, &NoRuntime),
            Completion::Pending,
            "the older times are not the newer's"
        );
        memory.complete(30, 40);
        assert_eq!(
            tracker.poll(memory.handle(), 2, &NoRuntime),
            Completion::Done(Ticks { start: 30, end: 40 })
        );
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Done(TICKS));
    }

    #[test]
    fn a_signal_that_counts_or_is_in_flight_cannot_be_watched() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(2));
        assert!(!tracker.watch(signal(&memory), 1, &NoRuntime), "it counts two packets");
        memory.set(1);
        assert!(tracker.watch(signal(&memory), 2, &NoRuntime));
        assert!(!tracker.watch(signal(&memory), 3, &NoRuntime), "another dispatch carries it");
        assert_eq!(tracker.poll(memory.handle(), 2, &NoRuntime), Completion::Pending);
    }

    #[test]
    fn a_destroyed_signal_is_never_looked_at_again() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        let handle = memory.handle();
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        memory.complete(10, 20);
        tracker.release(handle, &NoRuntime);
        drop(memory);
        assert_eq!(tracker.poll(handle, 1, &NoRuntime), Completion::Done(TICKS));
    }

    #[test]
    fn a_signal_that_goes_into_other_hands_too_early_is_missed() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        tracker.release(memory.handle(), &NoRuntime);
        memory.complete(30, 40);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Missed);
    }

    #[test]
    fn a_dispatch_without_times_is_done_all_the_same() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        memory.complete(0, 0);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Done(Ticks::default()));
    }

    #[test]
    fn forwarded_times_do_not_pass_for_those_of_a_running_dispatch() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch(signal(&memory), 1, &NoRuntime));
        tracker.set_ticks(signal(&memory), Ticks { start: 1, end: 2 }, &NoRuntime);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Pending);
        memory.complete(10, 20);
        tracker.set_ticks(signal(&memory), Ticks { start: 1, end: 2 }, &NoRuntime);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Done(TICKS));
        assert_eq!(signal(&memory).ticks(), Ticks { start: 1, end: 2 });
    }

    #[test]
    fn a_copy_by_an_engine_and_one_by_a_kernel_are_done_with_their_times() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch_copy(signal(&memory), 1, &NoRuntime).is_some());
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Pending);
        memory.complete_copy(10, 20);
        memory.set(1);
        assert!(tracker.watch_copy(signal(&memory), 2, &NoRuntime).is_some());
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Copied(Some((10, 20))));
        assert_eq!(tracker.poll(memory.handle(), 2, &NoRuntime), Completion::Pending);
        memory.complete(30, 40);
        assert_eq!(tracker.poll(memory.handle(), 2, &NoRuntime), Completion::Copied(Some((30, 40))));
    }

    #[test]
    fn a_copy_without_times_is_done_and_nobody_is_asked_for_them() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        assert!(tracker.watch_copy(signal(&memory), 1, &NoRuntime).is_some());
        memory.set(0);
        assert_eq!(tracker.poll(memory.handle(), 1, &NoRuntime), Completion::Copied(None));
    }

    #[test]
    fn a_copy_that_was_refused_leaves_the_signal_as_it_was() {
        let (tracker, memory) = (SignalTracker::default(), Memory::new(1));
        memory.complete(1, 2);
        memory.set(1);
        memory.complete_copy(3, 4);
        memory.set(1);
        let before = tracker.watch_copy(signal(&memory), 1, &NoRuntime).unwrap();
        assert!(!signal(&memory).copy_ticks().are_known());
        tracker.restore(signal(&memory), 1, before);
        assert_eq!(signal(&memory).ticks(), Ticks { start: 1, end: 2 });
        assert_eq!(signal(&memory).copy_ticks(), Ticks { start: 3, end: 4 });
        assert!(tracker.watch(signal(&memory), 2, &NoRuntime), "nothing carries it");
    }
}
