//! What is written of each trace, rank, kernel and GPU: parts of `rtl-summary/1`, which `docs/reference/rtl-summary.schema.json`
//! describes.

use rtl_analysis::Stats;
use rtl_analysis::facts::Fact;
use rtl_analysis::overview::ProcessInfo;
use rtl_analysis::region::Region;
use rtl_analysis::streaming::{Activity, GpuTotals, Sketch};
use rtl_analysis::sweep::Gpu;
use serde::Serialize;

use super::kernels::Kernels;

/// The name and version of the shape.
pub const SCHEMA: &str = "rtl-summary/1";

/// Figures that are not exact.
pub const APPROXIMATE: [&str; 4] = ["p50_ns", "p95_ns", "p99_ns", "trimmed_mean_ns"];

/// A trace.
#[derive(Debug, Serialize)]
pub struct Input {
    /// The file as it was named.
    pub path: String,
    /// Whose layout it has.
    pub dialect: &'static str,
    /// The tool that recorded it.
    pub tool: String,
    /// The version of that tool.
    pub tool_version: Option<String>,
    /// The recording mode.
    pub mode: Option<String>,
    /// Its processes.
    pub processes: Vec<ProcessInfo>,
    /// Its ranks, sorted.
    pub ranks: Vec<u32>,
    /// All of it.
    pub region: Region,
    /// The job that it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What it was recorded on and with.
    pub facts: Vec<Fact>,
}

/// What one rank of one trace did.
#[derive(Debug, Serialize)]
pub struct RankReport<'a> {
    /// The trace, as a position in `inputs`.
    pub input: usize,
    /// The rank, if known.
    pub rank: Option<u32>,
    /// Its kernels, largest total first.
    pub kernels: Vec<Row<'a>>,
    /// What it did on the GPUs that it used, by their numbers in the trace.
    pub gpus: Vec<Gpu>,
}

/// A kernel.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    name: &'a str,
    category: &'a str,
    #[serde(flatten)]
    stats: Stats,
    trimmed_mean_ns: f64,
    squares_ns2: f64,
    share: f64,
    cumulative_share: f64,
    zero_calls: u64,
}

/// A GPU with what ran on it.
#[derive(Debug, Serialize)]
pub struct GpuRow<'a> {
    #[serde(flatten)]
    gpu: Gpu,
    ops_ns: i64,
    work: Vec<Part<'a>>,
}

/// What one kernel or one direction of copies did on one GPU.
#[derive(Debug, Serialize)]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<&'static str>,
    calls: u64,
    total_ns: i64,
}

/// The rows of kernels, given by their positions and durations: largest total first, then by name.
pub fn rows<'a, 'b>(
    kernels: &'a Kernels,
    durations: impl Iterator<Item = (usize, &'b Sketch)>,
) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = durations
        .filter(|(_, sketch)| sketch.calls() > 0)
        .map(|(position, sketch)| Row {
            name: &kernels.all[position].name,
            category: &kernels.all[position].category,
            stats: sketch.stats(),
            trimmed_mean_ns: sketch.trimmed_mean_ns(),
            squares_ns2: sketch.squares_ns2(),
            share: 0.0,
            cumulative_share: 0.0,
            zero_calls: sketch.zero(),
        })
        .collect();
    rows.sort_by(|one, other| (other.stats.total_ns, one.name).cmp(&(one.stats.total_ns, other.name)));
    let all: i128 = rows.iter().map(|row| i128::from(row.stats.total_ns)).sum();
    let mut before = 0.0;
    for row in &mut rows {
        row.share = if all == 0 { 0.0 } else { row.stats.total_ns as f64 / all as f64 };
        before += row.share;
        row.cumulative_share = before;
    }
    rows
}

/// The row of a GPU that the report calls `number`; `positions` are those of the trace's kernels.
pub fn gpu_row<'a>(kernels: &'a Kernels, positions: &[usize], ran: GpuTotals, number: i64) -> GpuRow<'a> {
    let part = |(item, work): &(Activity, rtl_analysis::stats::CallTotal)| {
        let (kernel, copies) = match item {
            Activity::Kernel(kernel) => (Some(kernels.all[positions[*kernel]].name.as_str()), None),
            Activity::Copies(direction) => (None, Some(direction.label())),
        };
        Part { kernel, copies, calls: work.calls, total_ns: work.total_ns }
    };
    let work: Vec<Part<'a>> = ran.work.iter().map(part).collect();
    let ops_ns = work.iter().fold(0, |sum: i64, part| sum.saturating_add(part.total_ns));
    let label = ran.gpu.label.replacen(&ran.gpu.gpu.to_string(), &number.to_string(), 1);
    GpuRow { gpu: Gpu { gpu: number, label, ..ran.gpu }, ops_ns, work }
}
