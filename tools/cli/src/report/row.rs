//! Rows of the tables of kernels and GPUs.

use rtl_analysis::Stats;
use rtl_analysis::distribution::BARS;
use rtl_analysis::kernels::Group;
use rtl_analysis::profile::CollectiveWaits;
use rtl_analysis::sweep::Gpu;
use serde::{Deserialize, Serialize};

/// A kernel, or another group of dispatches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    /// The key of a kernel, `k1`: its position by total time among all kernels of the trace. A kernel of several traces
    /// combined has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The kernel, where `name` is not the kernel's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(flatten)]
    pub stats: Stats,
    /// The mean in ns without the shortest and the longest tenth of the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimmed_mean_ns: Option<f64>,
    /// Sum of the squares of the durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub squares_ns2: Option<f64>,
    /// Waits and transfers of a collective that was matched across ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Transfers>,
    /// The part of the total time of all rows, 0 to 1.
    pub share: f64,
    /// The share of this row and all rows before it.
    pub cumulative_share: f64,
    /// Calls of length zero.
    pub zero_calls: u64,
    /// The shape of the durations in eighths of the highest bar, for people; all zero where it is unknown.
    #[serde(skip)]
    pub bars: [u8; BARS],
}

/// The transfer phase of a collective, from the arrival of the last rank on: one value for each collective.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    pub collectives: u64,
    pub total_ns: i64,
    /// Calls of all ranks.
    pub calls: u64,
    /// Transfer time of all calls.
    pub transfer_ns: i64,
    /// Wait time of all calls.
    pub wait_ns: i64,
    pub trimmed_mean_ns: f64,
    pub min_ns: i64,
    pub p50_ns: i64,
    pub p95_ns: i64,
    pub stddev_ns: f64,
}

/// A GPU with its activities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GpuRow {
    #[serde(flatten)]
    pub gpu: Gpu,
    /// The part of the time with an op running, 0 to 1, in each of 24 equal parts of the time of all GPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy_over_time: Vec<f64>,
    /// Sum of the durations of all ops in ns; overlapping ops count in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_ns: Option<i64>,
    /// Time by kernel and by direction of copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<Vec<Work>>,
}

/// One kernel or one direction of copies on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<String>,
    pub calls: u64,
    pub total_ns: i64,
}

impl Row {
    /// The rows of `groups` in their order, in which shares accumulate.
    pub fn list(groups: impl IntoIterator<Item = Group>) -> Vec<Self> {
        let mut cumulative_share = 0.0;
        let row = |group: Group| {
            cumulative_share += group.share;
            Self {
                kernel: group.kernel.filter(|kernel| *kernel != group.label).map(|kernel| kernel.to_string()),
                name: group.label.to_string(),
                key: None,
                category: group.category.map(|category| category.to_string()),
                stats: group.stats,
                trimmed_mean_ns: None,
                squares_ns2: None,
                transfers: None,
                share: group.share,
                cumulative_share,
                zero_calls: group.zero,
                bars: group.bars,
            }
        };
        groups.into_iter().map(row).collect()
    }
}

impl GpuRow {
    /// A GPU with its activities, whose times add up to `ops_ns`.
    pub fn with_work(gpu: Gpu, work: Vec<Work>) -> Self {
        let ops_ns = work.iter().fold(0, |sum: i64, part| sum.saturating_add(part.total_ns));
        Self { gpu, busy_over_time: Vec::new(), ops_ns: Some(ops_ns), work: Some(work) }
    }
}

impl From<&CollectiveWaits> for Transfers {
    fn from(waits: &CollectiveWaits) -> Self {
        let CollectiveWaits { run, deviation_ns, calls, transfer_ns, wait_ns, .. } = waits;
        Self {
            collectives: run.calls,
            total_ns: run.total_ns,
            calls: *calls,
            transfer_ns: *transfer_ns,
            wait_ns: *wait_ns,
            trimmed_mean_ns: run.trimmed_mean_ns,
            min_ns: run.min_ns,
            p50_ns: run.median_ns,
            p95_ns: run.p95_ns,
            stddev_ns: *deviation_ns,
        }
    }
}
