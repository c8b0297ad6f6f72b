//! The functions of the ROCm runtime that the tracer calls while work is running.

#![expect(unsafe_code, reason = "calls the runtime")]

use hsa_sys::bindings::{HSA_STATUS_SUCCESS, hsa_agent_t, hsa_amd_profiling_async_copy_time_t, hsa_signal_t};

use crate::base::api::Api;
use crate::collect::signals::Signal;

/// The runtime, or its replacement in a test. Callable from any thread.
pub trait Runtime: Send + Sync {
    /// Converts a tick of a GPU's clock to ns of CLOCK_BOOTTIME.
    fn translate(&self, gpu: u16, tick: u64) -> Option<i64>;
    /// Start and end of the copy that completed with this signal, in ns of CLOCK_BOOTTIME.
    fn copy_times(&self, signal: Signal) -> Option<(i64, i64)>;
    /// Decrements an application's signal, as its packet would have, and wakes its waiters.
    fn decrement(&self, signal: Signal);
    /// Makes a signal of value 1 for packets on this GPU that nobody waits for.
    fn create_signal(&self, gpu: u16) -> Option<Signal>;
    /// Destroys a signal that no packet carries any more.
    fn destroy_signal(&self, signal: Signal);
}

/// The runtime of this process.
pub struct Live {
    api: Api,
    /// Handles of the GPUs, by number.
    agents: Vec<u64>,
}

impl Live {
    #[must_use]
    pub fn new(api: Api, agents: Vec<u64>) -> Self {
        Self { api, agents }
    }

    fn agent(&self, gpu: u16) -> Option<hsa_agent_t> {
        self.agents.get(usize::from(gpu)).map(|&handle| hsa_agent_t { handle })
    }
}

impl Runtime for Live {
    fn translate(&self, gpu: u16, tick: u64) -> Option<i64> {
        let agent = self.agent(gpu)?;
        let mut time = 0;
        // SAFETY: the agent is one that the runtime listed, and `time` outlives the call.
        let status = unsafe { (self.api.convert_tick)(agent, tick, &raw mut time) };
        i64::try_from(time).ok().filter(|_| status == HSA_STATUS_SUCCESS)
    }

    fn copy_times(&self, signal: Signal) -> Option<(i64, i64)> {
        let copy_time = self.api.get_async_copy_time?;
        let mut time = hsa_amd_profiling_async_copy_time_t { start: 0, end: 0 };
        // SAFETY: a signal that is watched is alive, and `time` outlives the call.
        let status = unsafe { copy_time(hsa_signal_t { handle: signal.handle() }, &raw mut time) };
        let times = (i64::try_from(time.start).ok()?, i64::try_from(time.end).ok()?);
        (status == HSA_STATUS_SUCCESS).then_some(times)
    }

    fn decrement(&self, signal: Signal) {
        if let Some(subtract) = self.api.core.hsa_signal_subtract_screlease_fn {
            // SAFETY: the packet that should have decremented the signal has just completed, and the application keeps a signal
            // alive until its packets have.
            unsafe { subtract(hsa_signal_t { handle: signal.handle() }, 1) };
        }
    }

    fn create_signal(&self, gpu: u16) -> Option<Signal> {
        let create = self.api.core.hsa_signal_create_fn?;
        // Without a CPU among the consumers the runtime makes a signal that is only memory (hsa_amd_signal_create in
        // hsa_ext_amd.cpp), so a dispatch costs no interrupt and no event.
        let consumer = self.agent(gpu)?;
        let mut signal = hsa_signal_t { handle: 0 };
        // SAFETY: both pointers outlive the call.
        let status = unsafe { create(1, 1, &raw const consumer, &raw mut signal) };
        // SAFETY: the runtime has just made the signal, and its owner (a slot) destroys it last.
        (status == HSA_STATUS_SUCCESS && signal.handle != 0).then(|| unsafe { Signal::new(signal.handle) })
    }

    fn destroy_signal(&self, signal: Signal) {
        if let Some(destroy) = self.api.core.hsa_signal_destroy_fn {
            // SAFETY: the owner of the slot gives the signal up, and no packet carries it.
            unsafe { destroy(hsa_signal_t { handle: signal.handle() }) };
        }
    }
}
