use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::gpu_time::kernels::Group;
use crate::gpu_time::sweep::Gpu;
use crate::names::categories::COLLECTIVE;

/// The part of the kernel time that [`Headline::main_kernels`] hold together.
const MAIN: f64 = 0.8;

/// Where the time of the GPUs went, in few figures. Times are means of all GPUs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Headline {
    /// How many GPUs ran an op.
    pub gpus: u64,
    /// First start to last end in ns.
    pub wall_ns: i64,
    /// Time with an op running as a part of `wall_ns`, 0 to 1.
    pub busy_share: f64,
    /// Busy share of the least busy GPU.
    pub least_busy_share: f64,
    /// Busy share of the busiest GPU.
    pub most_busy_share: f64,
    /// Time without an op running in ns.
    pub idle_ns: i64,
    /// Time with nothing but collectives running in ns.
    pub exposed_collective_ns: i64,
    /// How many kernels hold 80 % of the time of all kernels.
    pub main_kernels: u64,
    /// How many kernels there are.
    pub kernels: u64,
    /// The kernel with most time; none without kernels.
    pub first_kernel: Option<String>,
    /// Part of the time of all kernels that the first kernel has, 0 to 1.
    pub first_kernel_share: f64,
    /// Wall time that a GPU could save at most if that kernel took half its time, in ns.
    pub first_kernel_gain_ns: i64,
}

impl Headline {
    pub(super) fn of(inputs: &Inputs<'_>) -> Self {
        let gpus = inputs.gpus();
        let count = gpus.len().max(1) as i64;
        let mean = |time: fn(&Gpu) -> i64| {
            gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(time(gpu))) / count
        };
        let (wall_ns, busy_ns) = (mean(|gpu| gpu.wall_ns), mean(|gpu| gpu.busy_ns));
        let shares = || gpus.iter().map(|gpu| gpu.busy_share);
        // Tuning a kernel does not shorten waits for other ranks.
        let is_own =
            |group: &&Group| group.stats.total_ns > 0 && group.category.as_deref() != Some(COLLECTIVE);
        let kernels: Vec<&Group> = inputs.analysis.kernels().iter().filter(is_own).collect();
        let total = kernels.iter().map(|group| group.stats.total_ns as f64).sum::<f64>();
        let mut sum = 0.0;
        let is_main = |group: &&&Group| {
            let is_main = sum < MAIN * total;
            sum += group.stats.total_ns as f64;
            is_main
        };
        let main_kernels = kernels.iter().take_while(is_main).count() as u64;
        let first = kernels.first();
        let first_total = first.map_or(0, |group| group.stats.total_ns);
        Self {
            gpus: gpus.len() as u64,
            wall_ns,
            busy_share: if wall_ns == 0 { 0.0 } else { busy_ns as f64 / wall_ns as f64 },
            least_busy_share: shares().reduce(f64::min).unwrap_or(0.0),
            most_busy_share: shares().reduce(f64::max).unwrap_or(0.0),
            idle_ns: mean(|gpu| gpu.idle_ns),
            exposed_collective_ns: mean(|gpu| gpu.exposed_collective_ns),
            main_kernels,
            kernels: kernels.len() as u64,
            first_kernel: first.map(|group| group.label.to_string()),
            first_kernel_share: if total > 0.0 { first_total as f64 / total } else { 0.0 },
            first_kernel_gain_ns: (first_total / 2 / count).min(wall_ns),
        }
    }
}
