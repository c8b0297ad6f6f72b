//! The kernels of a trace with the time that each takes: `cargo run --example kernels trace.db`

#![expect(
    deprecated,
    reason = "the lazy engine, which replaces these functions, takes ten times as long to compile"
)]

use polars::prelude::{DataFrame, PolarsResult, SortMultipleOptions};

/// A row for each kernel, the one with the most time first: `name`, `duration_count` in calls and `duration_sum` in ns. The groups
/// keep their order, so that the columns of two aggregations belong together.
fn kernels(dispatches: &DataFrame) -> PolarsResult<DataFrame> {
    let groups =
        || Ok::<_, polars::error::PolarsError>(dispatches.group_by_stable(["name"])?.select(["duration"]));
    let mut kernels = groups()?.sum()?;
    kernels.with_column(groups()?.count()?.column("duration_count")?.clone())?;
    kernels.sort(["duration_sum"], SortMultipleOptions::default().with_order_descending(true))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: kernels TRACE")?;
    let dispatches = rtl_frames::Trace::open(path)?.columns("dispatches", &["name", "duration"])?;
    let kernels = kernels(&dispatches)?;
    let (names, calls) = (kernels.column("name")?.str()?, kernels.column("duration_count")?.u32()?);
    let totals = kernels.column("duration_sum")?.i64()?;
    for row in 0..kernels.height().min(20) {
        let [calls, total] = [calls.get(row).unwrap_or(0).into(), totals.get(row).unwrap_or(0)];
        println!("{total:>15} ns {calls:>9} calls  {}", names.get(row).unwrap_or("(no name)"));
    }
    Ok(())
}
