//! Keeps a queue of the hardware from becoming full, on a runtime where an interceptible queue then fails.
//!
//! An interceptible queue takes packets out of the application's ring as soon as its doorbell rings, so the application sees room
//! however far behind the GPU is. Before ROCm 6.0 (ROCR-Runtime be6b8bb0) a packet that does not fit the queue of the hardware
//! goes to a buffer, and the packets behind it overtake it or, where the runtime has assertions, abort the program. So the
//! interceptor waits for room before it hands a packet over, where the application would wait without interception.
//!
//! It cannot read the indices of the hardware's queue there: marker packets came with ROCm 6.0 ([`crate::intercept::wrapped`]).
//! So every few packets a barrier is submitted too, a checkpoint. The barrier waits for nothing, and its completion shows that
//! the GPU has taken all packets before it, recorded or not.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hsa_sys::bindings::HSA_PACKET_TYPE_BARRIER_AND;
use hsa_sys::table::Generation;

use crate::base::log;
use crate::base::packet::Packet;
use crate::base::try_lock::TryLock;
use crate::collect::runtime::Runtime;
use crate::collect::signals::Signal;

/// `major_id` of the first extension table whose runtimes hold packets back while one is in the buffer.
const MENDED: u32 = 2;

/// True where packets overtake each other in the interceptible queues of this generation.
#[must_use]
pub fn is_needed(generation: &Generation) -> bool {
    generation.major < MENDED
}

/// Limit on the checkpoints in a full queue. In a small queue they are as many as the packets between two of them, which
/// minimises the places that checkpoints and the packets since the last one occupy together.
const CHECKPOINTS: u64 = 64;

/// Places that stay free: one that the runtime never fills, and those of packets that the GPU has taken without having published
/// its read index.
const SPARE: u64 = 8;

/// The wait for room yields this often, and then sleeps for this time between its checks.
const YIELDS: u32 = 1000;
const REST: Duration = Duration::from_micros(50);

/// Decides how far a queue may be filled.
pub struct FlowControl {
    /// Packets of the application from one checkpoint to the next, a power of two.
    spacing: u64,
    /// Selects the bits of an index within the spacing.
    mask: u64,
    /// Packets that may be in flight.
    most: u64,
    gpu: u16,
    state: TryLock<State>,
}

/// Positions count all packets that were handed to the queue of the hardware.
#[derive(Default)]
struct State {
    /// Starts at 1; each checkpoint that completes decrements it.
    signal: Option<Signal>,
    /// Number of the signal's checkpoints that are known to have completed.
    completed: i64,
    /// Positions behind the checkpoints that are not known to have completed.
    checkpoints: VecDeque<u64>,
    /// The GPU has taken all packets before this position.
    retired: u64,
    /// Packets that were handed over beyond those of the application.
    added: u64,
    /// Index of the application's packet before which the next checkpoint comes.
    due: u64,
}

impl State {
    fn update(&mut self) {
        let Some(signal) = self.signal else { return };
        while self.completed < 1 - signal.value() {
            self.completed += 1;
            self.retired = self.checkpoints.pop_front().unwrap_or(self.retired);
        }
    }
}

impl FlowControl {
    /// `size` is the number of places of the queue, which is new.
    #[must_use]
    pub fn new(size: u64, gpu: u16) -> Self {
        let spacing = (size / CHECKPOINTS).max(size.isqrt()).next_power_of_two();
        Self {
            spacing,
            mask: spacing - 1,
            most: size.saturating_sub(SPARE),
            gpu,
            state: TryLock::new(State { due: spacing, ..State::default() }),
        }
    }

    /// True if the packet at this index has room because [`FlowControl::wait_for_room`] has returned for one before it.
    #[inline(always)]
    pub fn has_room(&self, index: u64) -> bool {
        index & self.mask != 0
    }

    /// Returns when the hardware has room for this number of packets from this index on and for those up to the next checkpoint,
    /// or when `waits`, which is called again and again, says that waiting is of no use. A returned checkpoint has to be
    /// submitted before them.
    #[cold]
    pub fn wait_for_room(
        &self,
        index: u64,
        count: u64,
        runtime: &dyn Runtime,
        mut waits: impl FnMut() -> bool,
    ) -> Option<Packet> {
        let mut state = self.state.enter().or_else(|| self.state.enter_soon(&mut waits))?;
        let state = &mut *state;
        let position = index.wrapping_add(state.added);
        let checkpoint = if index < state.due { None } else { Some(self.checkpoint(state, runtime)?) };
        let end = position.wrapping_add(count).wrapping_add(u64::from(checkpoint.is_some()));
        let mut yields = 0;
        loop {
            state.update();
            let in_flight = end.wrapping_sub(state.retired) + self.mask;
            // Without a checkpoint in flight nothing will show progress.
            if in_flight <= self.most || state.checkpoints.is_empty() || !waits() {
                break;
            }
            if yields < YIELDS {
                yields += 1;
                std::thread::yield_now();
            } else {
                std::thread::sleep(REST);
            }
        }
        if checkpoint.is_some() {
            state.checkpoints.push_back(position.wrapping_add(1));
            state.due = (index & !self.mask).wrapping_add(self.spacing);
        }
        state.added = end.wrapping_sub(index).wrapping_sub(1);
        checkpoint
    }

    /// Makes a checkpoint; `None` where the runtime has no signal for it.
    fn checkpoint(&self, state: &mut State, runtime: &dyn Runtime) -> Option<Packet> {
        if state.signal.is_none() {
            state.signal = runtime.create_signal(self.gpu);
            state.completed = 0;
        }
        let Some(signal) = state.signal else {
            static SAID: AtomicBool = AtomicBool::new(false);
            log::warn_once(&SAID, format_args!("a queue may become too full: no signal"));
            return None;
        };
        let mut packet = Packet::default();
        packet.0[0] = u64::from(HSA_PACKET_TYPE_BARRIER_AND);
        packet.set_completion(signal.handle());
        Some(packet)
    }

    /// Gives the signal back to the runtime, unless a packet of the queue carries it. A queue that has been destroyed has no
    /// packets.
    pub fn release(&self, is_destroyed: bool, runtime: &dyn Runtime) {
        let Some(mut state) = self.state.enter() else { return };
        state.update();
        if (is_destroyed || state.checkpoints.is_empty())
            && let Some(signal) = state.signal.take()
        {
            state.checkpoints.clear();
            runtime.destroy_signal(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::sync::Mutex;

    use super::*;
    use crate::collect::signals::fake::{Memory, signal};

    struct OneSignal(Box<Memory>, Mutex<u32>);

    impl OneSignal {
        fn new() -> Self {
            Self(Memory::new(1), Mutex::new(1))
        }
    }

    impl Runtime for OneSignal {
        fn translate(&self, _gpu: u16, _tick: u64) -> Option<i64> {
            None
        }

        fn copy_times(&self, _signal: Signal) -> Option<(i64, i64)> {
            None
        }

        fn decrement(&self, _signal: Signal) {}

        fn create_signal(&self, _gpu: u16) -> Option<Signal> {
            let mut left = self.1.lock().unwrap();
            *left = left.checked_sub(1)?;
            Some(signal(&self.0))
        }

        fn destroy_signal(&self, _signal: Signal) {
            *self.1.lock().unwrap() += 1;
        }
    }

    /// A simulated queue of the hardware, with the largest number of packets that it ever held.
    struct Hardware {
        size: u64,
        runtime: OneSignal,
        control: FlowControl,
        /// The packets in flight; true for a checkpoint.
        in_flight: RefCell<VecDeque<bool>>,
        fullest: Cell<usize>,
        waited: Cell<u64>,
    }

    impl Hardware {
        fn new(size: u64) -> Self {
            Self {
                size,
                runtime: OneSignal::new(),
                control: FlowControl::new(size, 0),
                in_flight: RefCell::default(),
                fullest: Cell::default(),
                waited: Cell::default(),
            }
        }

        /// Makes the GPU take the oldest packet.
        fn take(&self) {
            if self.in_flight.borrow_mut().pop_front() == Some(true) {
                self.runtime.0.complete(1, 2);
            }
        }

        /// Submits packets; while they have no room, the GPU takes others.
        fn submit(&self, index: u64, count: u64) {
            if count != 1 || !self.control.has_room(index) {
                let waits = || {
                    assert!(!self.in_flight.borrow().is_empty(), "waits for a GPU that has nothing to do");
                    self.waited.set(self.waited.get() + 1);
                    self.take();
                    true
                };
                if self.control.wait_for_room(index, count, &self.runtime, waits).is_some() {
                    self.in_flight.borrow_mut().push_back(true);
                }
            }
            let mut in_flight = self.in_flight.borrow_mut();
            in_flight.extend((0..count).map(|_| false));
            self.fullest.set(self.fullest.get().max(in_flight.len()));
        }
    }

    #[test]
    fn a_queue_is_never_full_however_far_ahead_the_host_is() {
        for size in [16, 64, 256, 1024, 4096] {
            let hardware = Hardware::new(size);
            (0..4 * size).for_each(|index| hardware.submit(index, 1));
            let fullest = hardware.fullest.get() as u64;
            assert!(fullest < size && fullest > size / 4, "{fullest} of {size}");
        }
    }

    #[test]
    fn packets_wait_only_for_a_queue_that_is_nearly_full() {
        for size in [1024, 4096, 16_384] {
            let hardware = Hardware::new(size);
            (0..4 * size).for_each(|index| {
                hardware.submit(index, 1);
                if index >= size * 7 / 8 {
                    (0..2).for_each(|_| hardware.take());
                }
            });
            assert_eq!(hardware.waited.get(), 0, "{size}");
            assert!(hardware.fullest.get() as u64 > size * 7 / 8);
        }
    }

    #[test]
    fn batches_of_another_tool_count_with_all_their_packets() {
        let hardware = Hardware::new(256);
        (0..2_000).for_each(|index| hardware.submit(index, 1 + index % 5));
        let fullest = hardware.fullest.get() as u64;
        assert!(fullest < hardware.size && hardware.waited.get() > 0, "{fullest}");
        hardware.submit(2_000, 1_000);
        hardware.submit(2_001, 1);
    }

    #[test]
    fn packets_pass_where_there_is_no_use_in_waiting() {
        let hardware = Hardware::new(64);
        (0..40).for_each(|index| hardware.submit(index, 1));
        for index in 40..200 {
            hardware.control.wait_for_room(index, 1, &hardware.runtime, || false);
        }
    }

    #[test]
    fn packets_pass_without_control_where_the_runtime_has_no_signal() {
        let hardware = Hardware::new(64);
        hardware.runtime.create_signal(0).unwrap();
        (0..200).for_each(|index| hardware.submit(index, 1));
        assert_eq!(hardware.waited.get(), 0);
    }

    #[test]
    fn the_signal_goes_back_once_no_packet_carries_it_and_another_takes_its_place() {
        let hardware = Hardware::new(256);
        let left = || *hardware.runtime.1.lock().unwrap();
        (0..64).for_each(|index| hardware.submit(index, 1));
        hardware.control.release(false, &hardware.runtime);
        assert_eq!(left(), 0, "a checkpoint carries it");
        (0..100).for_each(|_| hardware.take());
        hardware.control.release(false, &hardware.runtime);
        assert_eq!(left(), 1);
        hardware.runtime.0.set(1);
        (64..5_000).for_each(|index| hardware.submit(index, 1));
        assert!((hardware.fullest.get() as u64) < hardware.size);
        assert_eq!(left(), 0);
        hardware.control.release(true, &hardware.runtime);
        assert_eq!(left(), 1, "the queue is gone, and so are its packets");
    }
}
