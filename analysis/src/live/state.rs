//! The results of [`super::Live`].

use serde::{Deserialize, Serialize};

/// The work of a recorded process so far, and in the last moments.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The length of the last moments in ns.
    pub window_ns: i64,
    /// Their end in ns.
    pub until_ns: Option<i64>,
    /// GPUs that ran anything or have a dispatch in flight, by number.
    pub gpus: Vec<GpuState>,
    /// Kernels: most time in the last moments first, then in total, then by name.
    pub kernels: Vec<NamedState>,
    /// Copies and fills by direction, in the same order.
    pub copies: Vec<CopyState>,
    /// Ranges and markers by text, in the same order. The time is the host's.
    pub ranges: Vec<NamedState>,
    /// API calls by function, in the same order. The time is the host's; calls made by other calls count in both.
    pub calls: Vec<NamedState>,
    /// API calls that ended in the last moments.
    pub recent_calls: u64,
    /// Dispatches without a valid end, which are in no figure.
    pub unfinished: u64,
    /// Dispatches that were submitted and are not in the file, nor lost or skipped: waiting, running, or on the way.
    pub pending: Option<u64>,
    /// Lost records, without zeros.
    pub losses: Vec<LossState>,
    /// Records that were left out by a setting, without zeros.
    pub skipped: Vec<LossState>,
    /// Ops that came so late that busy time may lack them.
    pub late_ops: u64,
}

/// The work of one GPU.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GpuState {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// The product's name, if known.
    pub product: Option<String>,
    /// How many ops ran on it.
    pub ops: u64,
    /// The number of dispatches among them.
    pub dispatches: u64,
    /// The number of copies among them.
    pub copies: u64,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// Time with at least one op running.
    pub busy_ns: i64,
    /// `busy_ns / wall_ns`; 0 where wall is 0.
    pub busy_share: f64,
    /// Time of the last moments with at least one op running; a dispatch in flight runs since it was first seen.
    pub recent_busy_ns: i64,
    /// Busy part of the last moments, 0 to 1.
    pub recent_busy_share: f64,
    /// Ops that ended in the last moments.
    pub recent_ops: u64,
    /// The mean number of ops that were enqueued and not finished, where the recorder stored when ops were enqueued.
    pub mean_depth: Option<f64>,
    /// The dispatches that have been the oldest of their queue for long.
    pub in_flight: Vec<InFlightState>,
}

/// A dispatch that has not completed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InFlightState {
    /// Name of the kernel.
    pub name: String,
    /// Number of the queue.
    pub queue: i64,
    /// Since when it was seen as the oldest of its queue, in ns.
    pub since_ns: i64,
    /// How long that is before the end of the last moments.
    pub waited_ns: i64,
}

/// Calls or ops of one name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NamedState {
    /// The name that they share.
    pub name: String,
    /// How many, with or without a known end.
    pub count: u64,
    /// The sum of all valid durations in ns.
    pub total_ns: i64,
    /// The longest in ns.
    pub max_ns: i64,
    /// How many ended in the last moments.
    pub recent_count: u64,
    /// Their time within the last moments in ns.
    pub recent_ns: i64,
}

/// Copies of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CopyState {
    /// `host-to-device`, `device-to-host`, `device-to-device`, `host-to-host`, `fill`, `unknown`.
    pub direction: String,
    /// The number of copies.
    pub count: u64,
    /// Known bytes of these copies.
    pub bytes: u64,
    /// The sum of all valid durations in ns.
    pub total_ns: i64,
    /// How many ended in the last moments.
    pub recent_count: u64,
    /// The known bytes of these.
    pub recent_bytes: u64,
    /// Their time within the last moments in ns.
    pub recent_ns: i64,
}

/// Records that are not in the file for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LossState {
    /// The recorder's name for it: `lost:behind`, `copies_lost:behind`, `skipped:paused`.
    pub reason: String,
    /// The number of calls or ops.
    pub count: u64,
}
