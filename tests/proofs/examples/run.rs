//! Cost of reducing a trace to the input of a comparison, part by part. `cargo run --release -p proofs --example run --
//! TRACE`

#![allow(clippy::print_stdout, reason = "a measurement says what it measured")]

use rtl_analysis::profile::{KernelKey, Warmup, profile};
use rtl_analysis::{Analysis, Categories};
use rtl_schema::{Select, Trace};

fn main() -> Result<(), rtl_schema::Error> {
    let path = std::env::args().nth(1).unwrap_or_default();
    for shapes in [false, true] {
        let before = processor_seconds();
        let tables = Trace::open(&path)?.read(&Select { shapes, ..Select::ops() })?;
        let read = processor_seconds();
        let run = profile(&Analysis::new(&tables, &Categories::default()), KernelKey::Name, Warmup::Keep);
        let done = processor_seconds();
        println!(
            "launch shapes {shapes}: {} dispatches, {} kernels, read {:.2} s, reduced {:.2} s",
            tables.dispatches.len(),
            run.kernels.len(),
            read - before,
            done - read,
        );
    }
    Ok(())
}

/// User and system time of this process so far, in steps of 10 ms; wall time says nothing on a busy machine.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
