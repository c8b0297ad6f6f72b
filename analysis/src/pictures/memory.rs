//! Memory in use over time.

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

use crate::gpu_time::memory::{self, MemorySource};

/// The most points of one device.
const POINTS: usize = 400;

/// The memory in use of one device by one process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MemoryOverTime {
    /// `GPU 0` or `host`.
    pub device: String,
    /// The framework or runtime that states the figures.
    pub source: MemorySource,
    /// The process, if known.
    pub pid: Option<i64>,
    /// Moments in ns, ascending.
    pub time_ns: Vec<i64>,
    /// Bytes in use from each moment on; of several changes between two moments the most.
    pub bytes: Vec<u64>,
}

pub(super) fn memory_over_time(tables: &Tables) -> Vec<MemoryOverTime> {
    memory::uses(tables).into_iter().map(|of| reduced(of.device, of.source, of.pid, &of.uses)).collect()
}

fn reduced(device: String, source: MemorySource, pid: Option<i64>, uses: &[(i64, u64)]) -> MemoryOverTime {
    let mut reduced = MemoryOverTime { device, source, pid, ..MemoryOverTime::default() };
    for part in uses.chunks(uses.len().div_ceil(POINTS).max(1)) {
        // The peak of a device is the peak of its picture.
        if let Some(&(time, bytes)) =
            part.iter().max_by_key(|&&(time, bytes)| (bytes, std::cmp::Reverse(time)))
        {
            reduced.time_ns.push(time);
            reduced.bytes.push(bytes);
        }
    }
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_changes_keep_their_peaks() {
        let uses: Vec<(i64, u64)> = (0..1_000).map(|at| (at, if at == 501 { 77 } else { 5 })).collect();
        let found = reduced("GPU 0".to_owned(), MemorySource::Runtime, None, &uses);
        assert_eq!((found.bytes.len(), found.bytes.iter().max()), (334, Some(&77)));
        assert!(found.time_ns.is_sorted() && found.time_ns.contains(&501));
    }
}
