//! Measures the cost of a kernel in mode hip, and with RTL_HSA_HOST_DISPATCH=1, over mode standard.

use anyhow::Result;
use e2e::library;
use support::stack;

use crate::Arguments;
use crate::runs::{Bench, Column, Cost};
use crate::table::Table;

/// Columns of every table.
const FLOOR: usize = 0;
const STANDARD: usize = 1;

/// Factors over mode standard that mode hip must not, and should not, exceed.
const BOUNDS: (f64, f64) = (1.2, 1.05);

/// Makes a table for kernels that a program puts on a queue of HSA itself, and one for those that it launches by a call of HIP
/// each, without the calls' own cost where that can be distinguished.
pub(crate) fn measure(bench: &Bench, arguments: &Arguments, mut show: impl FnMut(Table)) -> Result<()> {
    let of_hsa = Bench { columns: columns(), ..bench.clone() };
    show(table(&of_hsa, "kernels of HSA", true, arguments)?);
    let hip = stack("bookworm").map(|stack| stack.hip_library);
    let kernels = support::code_object("kernels", "gfx90a");
    if let (Some(hip), Some(one_kernel), Some(submit)) = (hip, kernels, support::program("hip_loop")) {
        let columns = columns().into_iter().map(|column| column.setting("HIP_LIBRARY", hip)).collect();
        let for_hip = Bench { columns, one_kernel, submit, ..bench.clone() };
        show(table(&for_hip, "kernels of HIP", false, arguments)?);
    }
    Ok(())
}

fn columns() -> Vec<Column> {
    let ours = |name| Column::new(name, library::tracer());
    let hip = Column { preloaded: vec![library::tracer(), library::companion()], ..ours("hip") };
    vec![
        Column::new("floor", library::tool("pass_through")),
        ours("standard"),
        hip.setting("RTL_MODE", "hip"),
        ours("enqueued").setting("RTL_HSA_HOST_DISPATCH", "1"),
    ]
}

/// `is_alone` means that the program makes no recorded calls and waits for a signal, so that the CPU time of its process is that
/// of its kernels. HIP waits awake.
fn table(bench: &Bench, of: &str, is_alone: bool, arguments: &Arguments) -> Result<Table> {
    let mut table = Table::new(bench.columns.iter().map(|column| column.name));
    let costs = bench.timed(arguments.dispatches, arguments.rounds, 0)?;
    if is_alone {
        let per_dispatch = 1e6 / f64::from(arguments.dispatches);
        let above = |cost: &Cost| Some((cost.cpu - costs[FLOOR].cpu) * per_dispatch);
        figure(&mut table, &format!("{of}: CPU over the floor, us"), costs.iter().map(above).collect(), 2);
    }
    let bytes = costs.iter().map(|cost| cost.bytes_per_op).collect();
    figure(&mut table, &format!("{of}: bytes on disk"), bytes, 1);
    table.row(format!("{of}: recorded, %"), crate::recorded(&costs, arguments.dispatches), 2);
    if arguments.callgrind > 0 {
        // The start of HIP takes minutes under callgrind.
        let runs = if is_alone { arguments.rounds } else { 1 };
        let counts = bench.instructions(arguments.callgrind, runs)?;
        let above = counts.iter().map(|count| Some(count.submit - counts[FLOOR].submit)).collect();
        figure(&mut table, &format!("{of}: submit path over the floor, instructions"), above, 0);
        let behind = counts.iter().map(|count| Some(count.recorder? - count.publishing?)).collect();
        figure(&mut table, &format!("{of}: recorder side without publishing, instructions"), behind, 0);
        let collector = counts.iter().map(|count| count.collector).collect();
        table.row(format!("{of}: of it collector"), collector, 0);
        let publishing = counts.iter().map(|count| count.publishing).collect();
        table.row(format!("{of}: publishing, by time"), publishing, 0);
    }
    Ok(table)
}

/// Adds a row with the figure, and one with the factor over mode standard.
fn figure(table: &mut Table, name: &str, values: Vec<Option<f64>>, decimals: usize) {
    let standard = values[STANDARD].unwrap_or(f64::NAN);
    let ratios = values.iter().enumerate().map(|(at, value)| Some(value.filter(|_| at > FLOOR)? / standard));
    let ratios: Vec<Option<f64>> = ratios.collect();
    table.row(name, values, decimals);
    table.judged(format!("{name}, over standard"), ratios, 2, BOUNDS);
}
