//! Dispatches without an end: kernels that were in flight when the recording ended, as one that hangs is.

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

use crate::names::labels::Labels;

/// A dispatch without an end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnfinishedDispatch {
    /// Name of the kernel.
    pub kernel: String,
    /// The queue: `GPU 0 queue 2`.
    pub place: String,
    /// The process, if known.
    pub pid: Option<i64>,
    /// The launching thread, if known.
    pub tid: Option<i64>,
    /// Start in ns, as far as the recorder knows it; a recorder may only know since when it was the oldest of its queue.
    pub start_ns: i64,
    /// When it was enqueued in ns, if known.
    pub enqueued_ns: Option<i64>,
    /// How long before the end of its process's recording it started, in ns, if known.
    pub waited_ns: Option<i64>,
}

/// The most that are listed.
const LISTED: usize = 20;

/// The first dispatches without an end, by start, then by process, queue and row.
pub fn dispatches(tables: &Tables) -> Vec<UnfinishedDispatch> {
    let dispatches = &tables.dispatches;
    let track = |row: usize| tables.tracks.get(dispatches.track[row]);
    let rows = dispatches.duration.missing();
    let mut rows: Vec<_> = rows.map(|row| (dispatches.start[row], track(row), row)).collect();
    rows.sort_unstable();
    let labels = Labels::new(tables);
    let listed = rows.into_iter().take(LISTED).map(|(start_ns, track, row)| {
        let process = tables.processes.get(track.process.index());
        let end = process.and_then(|process| process.end);
        UnfinishedDispatch {
            kernel: rtl_schema::identity(tables.strings.get(dispatches.name[row])).to_owned(),
            place: labels.queue(track),
            pid: process.and_then(|process| process.pid),
            tid: dispatches.tid.get(row),
            start_ns,
            enqueued_ns: dispatches.details.enqueued.get(row),
            waited_ns: end.and_then(|end| end.checked_sub(start_ns)).filter(|&waited| waited >= 0),
        }
    });
    listed.collect()
}
