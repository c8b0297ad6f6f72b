//! What threads show the recorder beside their queues.

use std::sync::atomic::AtomicU64;

use crate::base::call_interface::Source;

use super::open::OpenCalls;
use crate::base::counters::Counters;

/// What threads count of the calls of a source.
#[derive(Debug, Default)]
pub struct Counts {
    /// Begun while recording; those of a thread are written by that thread alone.
    pub seen: [AtomicU64; Source::ALL.len()],
    /// Of those, without room for them.
    pub behind: [AtomicU64; Source::ALL.len()],
}

/// What a thread shows the recorder beside its queue.
#[derive(Debug, Default)]
pub struct Shown {
    /// What it has counted.
    pub counts: Counts,
    /// The calls that it is in.
    pub open: OpenCalls,
}

/// Calls that no thread's counts have, by source: those left out while recording is paused, those that came too late, and
/// those of threads at their end or in signal handlers that interrupted another call's recording.
pub static UNATTRIBUTED: [Counters; Source::ALL.len()] = [const { Counters::new() }; Source::ALL.len()];
