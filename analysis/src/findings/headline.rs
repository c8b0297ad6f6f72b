use serde::{Deserialize, Serialize};

use super::before_first::BeforeFirst;
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
    /// Time with a kernel running in ns, collectives included.
    #[serde(default)]
    pub kernel_ns: i64,
    /// `kernel_ns` as a part of `wall_ns`, 0 to 1.
    #[serde(default)]
    pub kernel_share: f64,
    /// Time with copies running and no kernel, in ns: with `kernel_ns` it is the time with an op running.
    #[serde(default)]
    pub copies_alone_ns: i64,
    /// `copies_alone_ns` as a part of `wall_ns`, 0 to 1.
    #[serde(default)]
    pub copies_alone_share: f64,
    /// Time without an op running in ns.
    pub idle_ns: i64,
    /// Time with nothing but collectives running in ns.
    pub exposed_collective_ns: i64,
    /// How many kernels hold 80 % of the time of all kernels, collectives included.
    pub main_kernels: u64,
    /// How many kernels there are, collectives included.
    pub kernels: u64,
    /// Part of the time of all kernels that collectives have, 0 to 1.
    #[serde(default)]
    pub collective_kernel_share: f64,
    /// The kernel with most time that is no collective: tuning a kernel does not shorten waits for other ranks.
    pub first_kernel: Option<String>,
    /// Part of the time of all kernels, collectives included, that the first kernel has, 0 to 1.
    pub first_kernel_share: f64,
    /// Wall time that a GPU could save at most if that kernel took half its time, in ns.
    pub first_kernel_gain_ns: i64,
    /// The time before the first op, where it is a tenth of its step or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_first: Option<BeforeFirst>,
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
        let is_collective = |group: &&&Group| group.category.as_deref() == Some(COLLECTIVE);
        let kernels: Vec<&Group> =
            inputs.analysis.kernels().iter().filter(|group| group.stats.total_ns > 0).collect();
        let time = |group: &&Group| group.stats.total_ns as f64;
        let total = kernels.iter().map(time).sum::<f64>();
        let of_collectives = kernels.iter().filter(is_collective).map(time).sum::<f64>();
        let part_of_kernels = |time: f64| if total > 0.0 { time / total } else { 0.0 };
        let part_of_wall = |ns: i64| if wall_ns == 0 { 0.0 } else { ns as f64 / wall_ns as f64 };
        let kernel_ns = mean(Gpu::with_kernels_ns);
        let copies_alone_ns = busy_ns - kernel_ns;
        let mut sum = 0.0;
        let is_main = |group: &&&Group| {
            let is_main = sum < MAIN * total;
            sum += group.stats.total_ns as f64;
            is_main
        };
        let main_kernels = kernels.iter().take_while(is_main).count() as u64;
        let first = kernels.iter().find(|group| !is_collective(group));
        let first_total = first.map_or(0, |group| group.stats.total_ns);
        Self {
            gpus: gpus.len() as u64,
            wall_ns,
            busy_share: part_of_wall(busy_ns),
            least_busy_share: shares().reduce(f64::min).unwrap_or(0.0),
            most_busy_share: shares().reduce(f64::max).unwrap_or(0.0),
            kernel_ns,
            kernel_share: part_of_wall(kernel_ns),
            copies_alone_ns,
            copies_alone_share: part_of_wall(copies_alone_ns),
            idle_ns: mean(|gpu| gpu.idle_ns),
            exposed_collective_ns: mean(|gpu| gpu.exposed_collective_ns),
            main_kernels,
            kernels: kernels.len() as u64,
            collective_kernel_share: part_of_kernels(of_collectives),
            first_kernel: first.map(|group| group.label.to_string()),
            first_kernel_share: part_of_kernels(first_total as f64),
            first_kernel_gain_ns: (first_total / 2 / count).min(wall_ns),
            before_first: BeforeFirst::of(inputs),
        }
    }
}
