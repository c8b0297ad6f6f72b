//! Rows of `rtl-summary/1` from streamed totals.

use cli::report::{GpuRow, Row, Work};
use rtl_analysis::Stats;
use rtl_analysis::distribution::BARS;
use rtl_analysis::stats::CallTotal;
use rtl_analysis::streaming::{Activity, GpuTotals, Sketch};
use rtl_analysis::sweep::Gpu;

use super::kernels::KernelName;

/// The durations of a kernel in numbers: a hundredth of the memory of their sketch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    stats: Stats,
    trimmed_mean_ns: f64,
    squares_ns2: f64,
    zero: u64,
}

impl From<&Sketch> for Figures {
    fn from(sketch: &Sketch) -> Self {
        Self {
            stats: sketch.stats(),
            trimmed_mean_ns: sketch.trimmed_mean_ns(),
            squares_ns2: sketch.moments().squares_ns2(),
            zero: sketch.zero(),
        }
    }
}

/// The rows of kernels, given by their names and figures: largest total first, then by name.
pub(crate) fn kernel_rows<'a>(kernels: impl Iterator<Item = (&'a KernelName, Figures)>) -> Vec<Row> {
    let mut rows: Vec<Row> = kernels
        .filter(|(_, figures)| figures.stats.calls > 0)
        .map(|(KernelName { name, category }, figures)| Row {
            key: None,
            name: name.to_string(),
            kernel: None,
            category: Some(category.to_string()),
            stats: figures.stats,
            trimmed_mean_ns: Some(figures.trimmed_mean_ns),
            squares_ns2: Some(figures.squares_ns2),
            transfers: None,
            share: 0.0,
            cumulative_share: 0.0,
            zero_calls: figures.zero,
            bars: [0; BARS],
        })
        .collect();
    rows.sort_by(|one, other| (other.stats.total_ns, &one.name).cmp(&(one.stats.total_ns, &other.name)));
    let all: i128 = rows.iter().map(|row| i128::from(row.stats.total_ns)).sum();
    let mut before = 0.0;
    for row in &mut rows {
        row.share = if all == 0 { 0.0 } else { row.stats.total_ns as f64 / all as f64 };
        before += row.share;
        row.cumulative_share = before;
    }
    rows
}

/// The row of a GPU with this `number` in the report; `names` are those of the kernels of the trace.
pub(crate) fn gpu_row(names: &[KernelName], totals: GpuTotals, number: i64) -> GpuRow {
    let work = |(activity, total): &(Activity, CallTotal)| {
        let (kernel, copies) = match activity {
            Activity::Kernel(kernel) => (Some(names[*kernel].name.to_string()), None),
            Activity::Copies(direction) => (None, Some(direction.label().to_owned())),
        };
        Work { kernel, copies, calls: total.calls, total_ns: total.total_ns }
    };
    let label = totals.gpu.label.replacen(&totals.gpu.gpu.to_string(), &number.to_string(), 1);
    let gpu = Gpu { gpu: number, label, ..totals.gpu };
    GpuRow::with_work(gpu, totals.work.iter().map(work).collect())
}
