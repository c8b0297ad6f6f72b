//! What the ops of a trace said.

use rtl_schema::table::Direction;

use super::Sketch;
use crate::sweep::Gpu;

/// A kernel: all stored names with the same identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    /// Its identity.
    pub label: String,
    /// Its category.
    pub category: String,
}

/// What ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Item {
    /// A position in [`Ran::kernels`].
    Kernel(usize),
    /// Copies or fills, by direction.
    Copies(Direction),
}

/// How often something ran, and how long in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// How often.
    pub calls: u64,
    /// How long, in ns.
    pub total_ns: i64,
}

/// What the ops of one trace say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ran {
    /// Its kernels, by label.
    pub kernels: Vec<Kernel>,
    /// By rank; one without rank comes first.
    pub ranks: Vec<RankRan>,
    /// GPUs that ran anything, by number.
    pub gpus: Vec<GpuRan>,
    /// Dispatches without an end: they are in no figure.
    pub endless: u64,
    /// Whether any dispatch came out of a graph launch.
    pub graph: bool,
}

/// What one rank ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankRan {
    /// The rank, if known.
    pub rank: Option<u32>,
    /// Positions in [`Ran::kernels`] and the durations of each.
    pub kernels: Vec<(usize, Sketch)>,
    /// What this rank did on the GPUs that it used, by number.
    pub gpus: Vec<Gpu>,
}

/// What ran on one GPU.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GpuRan {
    /// How busy it was.
    pub gpu: Gpu,
    /// By kernel, then by direction of copies.
    pub work: Vec<(Item, Work)>,
}
