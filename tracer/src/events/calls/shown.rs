//! Counts and open calls of a thread, which the recorder reads beside its queue.

use std::sync::atomic::AtomicU64;

use crate::base::call_interface::Source;

use super::open::OpenCalls;
use crate::base::counters::Counters;

/// Counts of calls by source.
#[derive(Debug, Default)]
pub struct Counts {
    /// Calls that began while recording; only the thread itself writes its counts.
    pub seen: [AtomicU64; Source::ALL.len()],
    /// Calls that found no room in the queue.
    pub behind: [AtomicU64; Source::ALL.len()],
}

/// The part of a thread's state that the recorder reads.
#[derive(Debug, Default)]
pub struct Shown {
    pub counts: Counts,
    pub open: OpenCalls,
}

/// Calls that are in no thread's counts, by source: those left out while recording is paused, those that came too late, and those
/// of threads at their end or in signal handlers that interrupted another call's recording.
pub static UNATTRIBUTED: [Counters; Source::ALL.len()] = [const { Counters::new() }; Source::ALL.len()];
