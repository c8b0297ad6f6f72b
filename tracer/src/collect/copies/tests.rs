//! Tests that a thread which has copied for some time needs no more memory of the tracer for further copies.

#![expect(unsafe_code, reason = "signals are memory of this test")]

use std::sync::{Arc, Mutex};

use crate::base::allocation_count::allocations;
use crate::base::kernels::Kernel;
use crate::base::settings::Mode;
use crate::collect::batch_channel::batch_channel;
use crate::collect::collector::Collector;
use crate::collect::copies::Copies;
use crate::collect::copy_or_barrier::Copy;
use crate::collect::names::Resolve;
use crate::collect::runtime::Runtime;
use crate::collect::shared::Shared;
use crate::collect::signals::{Signal, Ticks};

/// A signal of the runtime: kind 1 and a value, and behind 64 bytes the times of copies and its mark.
#[repr(align(64))]
struct Memory([u64; 16]);

fn signal(value: u64) -> Signal {
    let mut memory = Box::new(Memory([0; 16]));
    (memory.0[0], memory.0[1], memory.0[10]) = (1, value, 0x71fc_ca6a_3d5d_5276);
    // SAFETY: the memory is leaked, so it exists until the process ends.
    unsafe { Signal::new(&raw mut *Box::leak(memory) as u64) }
}

/// Sets the value of a signal of this test.
fn set(signal: Signal, value: u64) {
    // SAFETY: the signal is leaked memory that this one thread uses.
    unsafe { ((signal.handle() + 8) as *mut u64).write_volatile(value) };
}

#[derive(Default)]
struct Machine {
    decremented: Mutex<u64>,
}

impl Runtime for Machine {
    fn translate(&self, _gpu: u16, _tick: u64) -> Option<i64> {
        None
    }

    fn copy_times(&self, signal: Signal) -> Option<(i64, i64)> {
        let Ticks { start, end } = signal.copy_ticks();
        Some((start as i64, end as i64))
    }

    fn decrement(&self, _signal: Signal) {
        *self.decremented.lock().unwrap() += 1;
    }

    fn create_signal(&self, _gpu: u16) -> Option<Signal> {
        Some(signal(1))
    }

    fn destroy_signal(&self, _signal: Signal) {}
}

struct NoKernels;

impl Resolve for NoKernels {
    fn resolve(&self, _kernel_object: u64) -> Option<Kernel> {
        None
    }
}

#[test]
fn a_thread_that_copies_allocates_nothing_once_it_is_warm() {
    const COPY: Copy = Copy { bytes: 64, source: None, destination: Some(0) };
    let shared = Shared::new(Mode::Standard, Arc::default(), Some(NoKernels), Box::new(Machine::default()));
    let copies = Copies::default();
    let mut collector = Collector::new(batch_channel(Arc::default()).0);
    collector.add_copies(copies.arrivals().unwrap());
    // Two of these are watched; the third counts, so it is forwarded to.
    let signals = [signal(1), signal(1), signal(2)];
    let mut allocated = Vec::new();
    for round in 1..=200 {
        for own in signals {
            let before = allocations();
            let begun = copies.begin(COPY, own, &shared);
            let carried = begun.own();
            copies.submitted(begun, &shared);
            allocated.push(allocations() - before);
            // SAFETY: the handle is one of this test's signals.
            let carried = carried.map_or(own, |handle| unsafe { Signal::new(handle) });
            carried.set_copy_ticks(Ticks { start: round, end: round + 1 });
            set(carried, 0);
            collector.pass(true, &shared);
            set(own, if carried == own { 1 } else { 2 });
        }
    }
    let warm = 30;
    assert_eq!(allocated[warm..].iter().sum::<u64>(), 0, "{allocated:?}");
    assert_eq!(shared.known.copies.snapshot().seen, 600);
}
