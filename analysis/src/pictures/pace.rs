//! The durations of kernels over time.

use serde::{Deserialize, Serialize};

use crate::Analysis;
use crate::base::stats::Moments;

/// How many kernels have a pace.
const KERNELS: usize = 8;

/// How many equal parts the time has.
const PARTS: usize = 60;

/// The calls of one kernel in equal parts of the time of all GPUs, by start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Pace {
    /// The position of the kernel in [`Analysis::kernels`].
    pub kernel: usize,
    /// The start of the first part in ns.
    pub from_ns: i64,
    /// The end of the last part in ns.
    pub to_ns: i64,
    /// Calls in each part.
    pub calls: Vec<u64>,
    /// Their mean duration in ns; 0 without calls.
    pub mean_ns: Vec<i64>,
    /// The shortest in ns.
    pub min_ns: Vec<i64>,
    /// The longest in ns.
    pub max_ns: Vec<i64>,
}

pub(super) fn pace(analysis: &Analysis<'_>) -> Vec<Pace> {
    let dispatches = &analysis.tables.dispatches;
    let gpus = &analysis.sweep().gpus;
    let from_ns = gpus.iter().map(|gpu| gpu.start_ns).min().unwrap_or(0);
    let to_ns = gpus.iter().map(|gpu| gpu.end_ns).max().unwrap_or(0);
    let length = (to_ns.abs_diff(from_ns) as f64 / PARTS as f64).max(1.0);
    let positions = analysis.positions_by_total();
    let mut parts = vec![[Moments::default(); PARTS]; KERNELS.min(analysis.kernels().len())];
    for at in 0..dispatches.len() {
        let position = positions[analysis.names.kernel(dispatches.name[at])];
        let Some(parts) = parts.get_mut(position) else { continue };
        let Some(duration) = dispatches.duration.valid(at) else { continue };
        let part = dispatches.start[at].saturating_sub(from_ns).max(0) as f64 / length;
        parts[(part as usize).min(PARTS - 1)].add(duration);
    }
    let pace = |(kernel, parts): (usize, [Moments; PARTS])| Pace {
        kernel,
        from_ns,
        to_ns,
        calls: parts.iter().map(|part| part.calls).collect(),
        mean_ns: parts.iter().map(|part| part.mean_ns().round() as i64).collect(),
        min_ns: parts.iter().map(|part| part.min_ns).collect(),
        max_ns: parts.iter().map(|part| part.max_ns).collect(),
    };
    parts.into_iter().enumerate().map(pace).collect()
}

#[cfg(test)]
mod tests {
    use rtl_schema::Tables;
    use rtl_schema::table::{Dispatch, Track};

    use super::*;
    use crate::Categories;

    #[test]
    fn a_kernel_that_slows_down_has_longer_parts() {
        let mut tables = Tables::default();
        let track = tables.tracks.intern(Track::default());
        let name = tables.strings.intern("a");
        for (start, duration) in [(0, Some(10)), (1, Some(20)), (590, Some(10)), (5, None), (6, Some(-1))] {
            tables.dispatches.push(Dispatch { track, name, start, duration, ..Dispatch::default() });
        }
        let [pace] = Analysis::new(&tables, &Categories::default()).pace().try_into().unwrap();
        assert_eq!((pace.from_ns, pace.to_ns, pace.calls.len()), (0, 600, PARTS));
        assert_eq!((pace.calls[0], pace.mean_ns[0], pace.min_ns[0], pace.max_ns[0]), (2, 15, 10, 20));
        assert_eq!((pace.calls[1], pace.mean_ns[1]), (0, 0));
        assert_eq!((pace.calls[59], pace.mean_ns[59]), (1, 10));
    }
}
