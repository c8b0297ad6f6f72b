//! The state that the recorder shares with the rest of the tracer.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use crate::base::call_interface::Source;

use crate::base::budget::Budget;
use crate::base::cost::Cost;
use crate::base::counters::Counters;
use crate::base::gpus::Gpu;
use crate::base::kernels::Kernel;
use crate::base::registry::Registry;
use crate::collect::copy_or_barrier::CopiesAndBarriers;
use crate::collect::dispatch::{InFlight, Queue};

/// Kernels, queues, GPUs and counters of a recording.
#[derive(Debug, Default)]
pub struct RecorderState {
    /// Indexed by [`crate::collect::dispatch::KernelId`].
    pub kernels: Registry<Kernel>,
    /// Indexed by [`crate::collect::dispatch::QueueOrdinal`].
    pub queues: Registry<Queue>,
    /// The GPUs of these queues, and others.
    pub gpus: Registry<Gpu>,
    /// Number of passes in which the collector has handed over everything that had completed.
    pub passes: AtomicU64,
    /// Counts of dispatches.
    pub counters: Counters,
    /// Counts of ranges and markers.
    pub ranges: Counters,
    pub copies: Counters,
    /// Zero where barriers are not recorded.
    pub barriers: Counters,
    /// Packets of queues that are not intercepted: all of them are lost.
    pub packets: Counters,
    /// Indexed by source.
    pub calls: [Counters; Source::ALL.len()],
    /// The bound on memory of dispatches on their way to the file.
    pub budget: Arc<Budget>,
    pub copies_and_barriers: CopiesAndBarriers,
    /// The file is created before there is anything to write, because the process may have no right to do so later.
    pub creates_file: AtomicBool,
    pub cost: Cost,
    /// Dispatches that have been in flight for a long time.
    pub in_flight: Mutex<Vec<InFlight>>,
}
