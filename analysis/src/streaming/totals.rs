//! The totals of a trace.

use rtl_schema::table::Direction;

use super::sketch::Sketch;
use crate::kernel_index::Kernel;
use crate::stats::CallTotal;
use crate::sweep::Gpu;

/// What ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// A position in [`Totals::kernels`].
    Kernel(usize),
    /// Copies or fills, by direction.
    Copies(Direction),
}

/// What the ops of one trace say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Its kernels, by label.
    pub kernels: Vec<Kernel>,
    /// By rank; one without rank comes first.
    pub ranks: Vec<RankTotals>,
    /// GPUs that ran anything, by number.
    pub gpus: Vec<GpuTotals>,
    /// Dispatches without an end: they are in no figure.
    pub unfinished: u64,
    /// Whether any dispatch came out of a graph launch.
    pub graph: bool,
}

/// What one rank ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankTotals {
    /// The rank, if known.
    pub rank: Option<u32>,
    /// Positions in [`Totals::kernels`] and the durations of each.
    pub kernels: Vec<(usize, Sketch)>,
    /// What this rank did on the GPUs that it used, by number.
    pub gpus: Vec<Gpu>,
}

/// What ran on one GPU.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GpuTotals {
    /// How busy it was.
    pub gpu: Gpu,
    /// By kernel, then by direction of copies.
    pub work: Vec<(Activity, CallTotal)>,
}
