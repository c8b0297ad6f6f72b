//! Rows of `rtl-summary/1` from streamed totals.

use rtl_analysis::distribution::BARS;
use rtl_analysis::stats::CallTotal;
use rtl_analysis::streaming::{Activity, GpuTotals, Sketch};
use rtl_analysis::sweep::Gpu;
use rtl_report_types::{GpuRow, Row, Work};

use super::kernels::KernelName;

/// The rows of kernels, given by their names and durations: largest total first, then by name.
pub(crate) fn kernel_rows<'a>(durations: impl Iterator<Item = (&'a KernelName, &'a Sketch)>) -> Vec<Row> {
    let mut rows: Vec<Row> = durations
        .filter(|(_, sketch)| sketch.moments().calls > 0)
        .map(|(KernelName { name, category }, sketch)| Row {
            key: None,
            name: name.to_string(),
            kernel: None,
            category: Some(category.to_string()),
            stats: sketch.stats(),
            trimmed_mean_ns: Some(sketch.trimmed_mean_ns()),
            squares_ns2: Some(sketch.moments().squares_ns2()),
            transfers: None,
            share: 0.0,
            cumulative_share: 0.0,
            zero_calls: sketch.zero(),
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
