//! The totals of a trace.

use super::sketch::Sketch;
use crate::base::activity::Activity;
use crate::base::stats::CallTotal;
use crate::gpu_time::sweep::Gpu;
use crate::names::kernel_index::Kernel;

/// The totals of one trace.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Kernels of the trace, by label.
    pub kernels: Vec<Kernel>,
    /// Indexed by rank; one without rank comes first.
    pub ranks: Vec<RankTotals>,
    /// GPUs that ran anything, by number.
    pub gpus: Vec<GpuTotals>,
    /// Dispatches without an end: they are in no figure.
    pub unfinished: u64,
    /// True if any dispatch came out of a graph launch.
    pub graph: bool,
}

/// The totals of one rank.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankTotals {
    /// The rank, if known.
    pub rank: Option<u32>,
    /// Positions in [`Totals::kernels`] and the durations of each.
    pub kernels: Vec<(usize, Sketch)>,
    /// The ops of this rank on each GPU that it used, by number.
    pub gpus: Vec<Gpu>,
}

/// The totals of one GPU.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GpuTotals {
    /// How busy it was.
    pub gpu: Gpu,
    /// Ordered by kernel, then by direction of copies.
    pub work: Vec<(Activity, CallTotal)>,
}
