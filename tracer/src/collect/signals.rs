//! Signals as the GPU sees them: 64 bytes that the hardware writes when a packet completes.
//!
//! A handle is the address of an `amd_signal_t` (amd_hsa_signal.h), in every release of the runtime, because the hardware reads
//! the same address from the packet. Reading the memory costs a load, where the runtime's function costs a call.

#![expect(unsafe_code, reason = "the memory belongs to the runtime and is written by the GPU")]

use std::mem::offset_of;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use hsa_sys::bindings::amd_signal_t;

/// `AMD_SIGNAL_KIND_USER`: a signal with a value, no doorbell.
const USER: i64 = 1;

/// Offsets of fields that the runtime keeps behind the hardware's 64 bytes: `SharedSignal` of core/inc/signal.h, unchanged from
/// ROCr 5.2.3 to the development branch of 2025. A DMA engine writes the times of a copy there.
mod copy {
    pub(super) const START: usize = 64;
    pub(super) const MARK: usize = 80;
    pub(super) const END: usize = 96;
    /// The value at `MARK` in every signal of the runtime.
    pub(super) const MARKED: u64 = 0x71fc_ca6a_3d5d_5276;
}

/// Raw ticks of a GPU's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// 0 when the hardware has not written it.
    pub start: u64,
    /// 0 when the hardware has not written it.
    pub end: u64,
}

impl Ticks {
    /// True if the hardware has written both.
    #[must_use]
    pub fn are_known(self) -> bool {
        self.start != 0 && self.end != 0
    }
}

/// A signal that is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(u64);

impl Signal {
    /// The signal with this handle, which is not 0.
    ///
    /// A program destroys signals of every kind, those of other processes (IPC) included, by `hsa_signal_destroy`, whose hook
    /// comes first: times are harvested and forwarded signals are decremented before the signal is gone. The memory of another
    /// process's signal stays mapped until then, whatever that process does. A tool beneath this one, which destroys past the
    /// hook, destroys signals that it puts into packets after this one has seen them.
    ///
    /// # Safety
    /// Until the last use of the result, the handle is that of a signal which has not been destroyed.
    #[must_use]
    pub unsafe fn new(handle: u64) -> Self {
        Self(handle)
    }

    #[must_use]
    pub fn handle(self) -> u64 {
        self.0
    }

    fn at(&self, offset: usize) -> &AtomicU64 {
        let field = (self.0 as usize + offset) as *mut u64;
        // SAFETY: the signal is alive, as `new` was promised; its fields have 8 bytes and are aligned, and everyone else (the
        // GPU, the runtime) writes them as a whole.
        unsafe { AtomicU64::from_ptr(field) }
    }

    fn signed(&self, offset: usize) -> &AtomicI64 {
        let field = (self.0 as usize + offset) as *mut i64;
        // SAFETY: the field is alive and aligned, as in `at`.
        unsafe { AtomicI64::from_ptr(field) }
    }

    /// Makes the processor fetch the memory, which the GPU wrote last.
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch is a hint, valid for any address.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                self.0 as usize as *const i8,
            );
        }
    }

    /// True for an ordinary signal, whose value is in its memory.
    #[must_use]
    pub fn is_user(&self) -> bool {
        self.signed(offset_of!(amd_signal_t, kind)).load(Ordering::Relaxed) == USER
    }

    /// Memory that the GPU wrote before it changed the value can be read afterwards.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.signed(offset_of!(amd_signal_t, __bindgen_anon_1)).load(Ordering::Acquire)
    }

    /// The times of the packet that completed last.
    #[must_use]
    pub fn ticks(&self) -> Ticks {
        let end = self.at(offset_of!(amd_signal_t, end_ts)).load(Ordering::Acquire);
        Ticks { start: self.at(offset_of!(amd_signal_t, start_ts)).load(Ordering::Relaxed), end }
    }

    /// True if [`Signal::copy_ticks`] are at the expected place.
    #[must_use]
    pub fn has_copy_times(&self) -> bool {
        self.is_user() && self.at(copy::MARK).load(Ordering::Relaxed) == copy::MARKED
    }

    /// The times of the copy that completed last: those of a DMA engine, else those of the kernel that copied. Only for a signal
    /// that [has times of copies](Self::has_copy_times).
    #[must_use]
    pub fn copy_ticks(&self) -> Ticks {
        let end = self.at(copy::END).load(Ordering::Acquire);
        let ticks = Ticks { start: self.at(copy::START).load(Ordering::Relaxed), end };
        if ticks.are_known() { ticks } else { self.ticks() }
    }

    /// Writes the times of a copy by a DMA engine. Only for a signal that [has times of copies](Self::has_copy_times).
    pub fn set_copy_ticks(&self, ticks: Ticks) {
        self.at(copy::START).store(ticks.start, Ordering::Relaxed);
        self.at(copy::END).store(ticks.end, Ordering::Release);
    }

    /// Writes the times, as the GPU would have.
    pub fn set_ticks(&self, ticks: Ticks) {
        self.at(offset_of!(amd_signal_t, start_ts)).store(ticks.start, Ordering::Relaxed);
        self.at(offset_of!(amd_signal_t, end_ts)).store(ticks.end, Ordering::Release);
    }

    /// Prepares a signal of our own for the next packet: value 1, no times. Nobody waits for such a signal.
    pub fn arm(&self) {
        self.set_ticks(Ticks::default());
        self.signed(offset_of!(amd_signal_t, __bindgen_anon_1)).store(1, Ordering::Release);
    }
}

/// Signals without a runtime, for tests.
#[cfg(test)]
pub(crate) mod fake {
    use super::*;

    /// Memory of a signal, with the effects that a GPU has on it.
    #[repr(align(64))]
    pub(crate) struct Memory([AtomicI64; 16]);

    impl Memory {
        pub(crate) fn new(value: i64) -> Box<Self> {
            let memory = Box::new(Self(Default::default()));
            memory.0[0].store(USER, Ordering::Relaxed);
            memory.0[1].store(value, Ordering::Relaxed);
            memory.0[copy::MARK / 8].store(copy::MARKED as i64, Ordering::Relaxed);
            memory
        }

        pub(crate) fn handle(&self) -> u64 {
            (&raw const *self) as u64
        }

        pub(crate) fn value(&self) -> i64 {
            self.0[1].load(Ordering::Acquire)
        }

        /// Does the work of the hardware when a packet completes.
        pub(crate) fn complete(&self, start: u64, end: u64) {
            self.0[4].store(start as i64, Ordering::Relaxed);
            self.0[5].store(end as i64, Ordering::Relaxed);
            self.0[1].fetch_sub(1, Ordering::AcqRel);
        }

        /// Does the work of a DMA engine when a copy completes.
        pub(crate) fn complete_copy(&self, start: u64, end: u64) {
            self.0[copy::START / 8].store(start as i64, Ordering::Relaxed);
            self.0[copy::END / 8].store(end as i64, Ordering::Relaxed);
            self.0[1].fetch_sub(1, Ordering::AcqRel);
        }

        pub(crate) fn set(&self, value: i64) {
            self.0[1].store(value, Ordering::Release);
        }
    }

    /// The signal in the memory of a test, which outlives it.
    pub(crate) fn signal(memory: &Memory) -> Signal {
        // SAFETY: tests keep the memory until they end.
        unsafe { Signal::new(memory.handle()) }
    }

    #[test]
    fn a_completed_packet_is_seen_with_its_times() {
        let memory = Memory::new(1);
        let signal = signal(&memory);
        assert!(signal.is_user() && signal.value() == 1 && !signal.ticks().are_known());
        memory.complete(10, 20);
        assert_eq!((signal.value(), signal.ticks()), (0, Ticks { start: 10, end: 20 }));
        signal.arm();
        assert_eq!((signal.value(), signal.ticks()), (1, Ticks::default()));
    }
}
