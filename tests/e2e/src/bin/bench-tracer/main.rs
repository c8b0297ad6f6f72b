//! Measures the cost of a dispatch with the tracer, against the least cost of any intercepting tool: `docs/bench/tracer.md`.

mod callgrind;
mod modes;
mod runs;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use e2e::library;
use support::code_object::{Kernel, Symbols, Target, code_object, many};
use support::stack;

use crate::runs::{Bench, Column, Cost};
use crate::table::Table;

/// Measures librtl.so on Debian 12's ROCm runtime and a simulated GPU, beside a tool that only passes packets on
///
/// Examples:
///   bench-tracer                              everything, some minutes
///   bench-tracer --dispatches 200000 --rounds 1
///   bench-tracer --modes --check
///   bench-tracer --runtime experimental
///   bench-tracer --rocm-trace-lite ~/rocm-trace-lite/librtl.so --check
#[derive(Parser)]
#[command(verbatim_doc_comment)]
struct Arguments {
    /// Dispatches of a timed run
    #[arg(long, default_value_t = 1_000_000)]
    dispatches: u32,
    /// Timed runs of each column, taken in turn; the best counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Dispatches of a run under callgrind; 0 leaves instructions out
    #[arg(long, default_value_t = 20_000)]
    callgrind: u32,
    /// The library of rocm-trace-lite, for a column of its own
    #[arg(long, value_name = "LIBRARY")]
    rocm_trace_lite: Option<PathBuf>,
    /// A fetched ROCm runtime in place of the system's, by name (trixie, sid, experimental)
    #[arg(long, value_name = "NAME", conflicts_with = "modes")]
    runtime: Option<String>,
    /// Only what modes and settings cost over mode standard
    #[arg(long)]
    modes: bool,
    /// Exit with 1 where a figure misses what it must reach
    #[arg(long)]
    check: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let Some(bench) = bench(folder.path(), &arguments)? else { return Ok(()) };
    let mut all_hold = true;
    let mut show = |table: Table| {
        all_hold &= table.holds();
        #[expect(clippy::print_stdout, reason = "the tables are the answer")]
        {
            println!("{table}\n");
        }
    };
    if !arguments.modes {
        show(measure(&bench, &arguments)?);
    }
    if bench.runtime.is_none() {
        modes::measure(&bench, &arguments, show)?;
    }
    if arguments.check && !all_hold {
        bail!("a figure misses what it must reach");
    }
    Ok(())
}

/// The programs and libraries; `None`, after a line that names a missing one, where the runtime is not installed.
fn bench(folder: &Path, arguments: &Arguments) -> Result<Option<Bench>> {
    let programs = ["loop", "submit_latency", "no_work", "load_code"].map(support::program);
    let [Some(submit), Some(latency), Some(start), Some(load)] = programs else { return Ok(None) };
    let target = Target::named("gfx90a").context("a target that every runtime knows")?;
    let code = |name: &str, kernels: &[Kernel]| -> Result<PathBuf> {
        let path = folder.join(name);
        std::fs::write(&path, code_object(target, kernels, Symbols::Both))?;
        Ok(path)
    };
    let thousands = many(20_000);
    let first = String::from_utf8(thousands[0].name.clone())?;
    let mut columns = vec![
        Column { name: "bare", ..Column::default() },
        Column::new("floor", library::tool("pass_through")),
        Column::new("ours", library::tracer()),
    ];
    if let Some(library) = &arguments.rocm_trace_lite {
        columns.push(Column::new("rocm-trace-lite", library.canonicalize()?));
    }
    let runtime = match &arguments.runtime {
        Some(name) => match stack(name) {
            Some(runtime) => Some(runtime),
            None => return Ok(None),
        },
        None => None,
    };
    Ok(Some(Bench {
        folder: folder.to_owned(),
        runtime,
        columns,
        simulator: library::built("libkfd_sim.so"),
        counter: library::tool("count_allocations"),
        submit,
        latency,
        start,
        load,
        one_kernel: code("one.co", &[Kernel::named("alpha")])?,
        many_kernels: code("many.co", &thousands)?,
        first,
    }))
}

/// Length of the kernels for which wall times are judged. The bounds are for a floor of 0.40 s a million; with kernels that take
/// no time the floor is less than half of that, with the program on one of two cores and the simulated GPU on the other.
const KERNEL_NS: u32 = 300;

/// RTL_BUFFER so small that it is full while the program submits.
const FULL: &str = "1M";

/// Adds rows of wall times, in seconds and over the floor's: of the whole process, and until the last wait.
fn walls(table: &mut Table, costs: &[Cost], kernels: &str, bounds: Option<[(f64, f64); 2]>) {
    let whole: Vec<f64> = costs.iter().map(|cost| cost.wall).collect();
    let waited: Vec<f64> = costs.iter().map(|cost| cost.until_last_wait).collect();
    let figures = [("whole process", whole), ("until the last wait", waited)];
    for (at, (figure, seconds)) in figures.into_iter().enumerate() {
        table.row(format!("{kernels}: {figure}, wall s"), seconds.iter().copied().map(Some).collect(), 2);
        let ratios = seconds.iter().map(|wall| Some(wall / seconds[1]));
        let name = format!("{kernels}: {figure}, wall / floor");
        match bounds {
            Some(bounds) => table.judged(name, ratios, 2, bounds[at]),
            None => table.row(name, ratios.collect(), 2),
        }
    }
}

/// Percentage of all dispatches that are in the trace.
fn recorded(costs: &[Cost], dispatches: u32) -> Vec<Option<f64>> {
    let all = f64::from(dispatches + runs::WARM_UP);
    costs.iter().map(|cost| Some(100.0 * cost.recorded? / all)).collect()
}

fn measure(bench: &Bench, arguments: &Arguments) -> Result<Table> {
    let mut table = Table::new(bench.columns.iter().map(|column| column.name));
    let dispatches = arguments.dispatches;
    let costs = bench.timed(dispatches, arguments.rounds, 0)?;
    let floor = costs[1];
    let per_dispatch = 1e6 / f64::from(dispatches);
    table.row("process CPU, s", costs.iter().map(|cost| Some(cost.cpu)).collect(), 2);
    let above = |cost: &Cost| Some((cost.cpu - floor.cpu) * per_dispatch);
    table.judged("process CPU over the floor, us a dispatch", costs.iter().map(above), 2, (1.2, 0.8));
    walls(&mut table, &costs, "kernels of 0 ns", None);
    let paced = bench.timed(dispatches, arguments.rounds, KERNEL_NS)?;
    walls(&mut table, &paced, "kernels of 300 ns", Some([(1.46, 1.25), (1.5, 1.2)]));
    for (kind, settings) in [("", &[][..]), (", buffer full", &[("RTL_BUFFER", FULL)])] {
        let late = bench.latencies(dispatches, arguments.rounds, KERNEL_NS, settings)?;
        let above = late.iter().map(|&ns| Some((ns - late[0]) / 1e3));
        table.judged(format!("99.9 % of launches{kind}, over bare, us"), above, 1, (20.0, 5.0));
    }
    table.judged("bytes on disk, an op", costs.iter().map(|cost| cost.bytes_per_op), 1, (56.0, 48.0));
    table.row("dispatches recorded, %", recorded(&costs, dispatches), 2);

    let allocations = bench.allocations()?;
    let above = allocations.iter().map(|&count| Some(count - allocations[1]));
    table.judged("allocations on the submit path over the floor", above, 3, (0.0, 0.0));
    let started = bench.start_up()?;
    table.judged(
        "start-up over bare, ms of CPU",
        started.iter().map(|&ms| Some(ms - started[0])),
        1,
        (15.0, 15.0),
    );
    let loaded = bench.loading()?;
    let above =
        loaded.iter().zip(&started).map(|(&ms, &start)| Some((ms - start) - (loaded[0] - started[0])));
    table.judged("loading 20,000 kernels over bare, ms of CPU", above, 1, (20.0, 20.0));

    if arguments.callgrind > 0 {
        let counts = bench.instructions(arguments.callgrind, 1)?;
        table.row("doorbell, instructions", counts.iter().map(|count| Some(count.submit)).collect(), 0);
        let floor = counts[1].submit;
        let above = counts.iter().map(|count| Some(count.submit - floor));
        table.judged("submit path over the floor, instructions", above, 0, (115.0, 90.0));
        let reads = counts.iter().map(|count| Some(count.read_index - counts[1].read_index));
        table.row("read index over the floor, instructions", reads.collect(), 0);
        let behind = counts.iter().map(|count| count.recorder);
        table.judged("recorder side, instructions", behind, 0, (1_100.0, 900.0));
        table.row("of it collector", counts.iter().map(|count| count.collector).collect(), 0);
        table.row("of it publishing, by time", counts.iter().map(|count| count.publishing).collect(), 0);
    }
    Ok(table)
}
