//! CPU of gathering the durations of each kernel: a group-by of polars against the counting sort of `rtl_analysis::profile`.
//! `cargo run --release -p frames --example group -- TRACE`
#![expect(clippy::print_stdout, reason = "the figures are the answer of this program")]
#![expect(deprecated, reason = "its replacement is the lazy engine, which is left out")]

use std::error::Error;

use rtl_analysis::Categories;
use rtl_analysis::profile::{KernelKey, Warmup, profile};
use rtl_schema::{Select, Trace};

/// CPU seconds of this process, all threads: fields 14 and 15 of /proc/self/stat, in ticks of 10 ms.
fn cpu() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no name")?;
    let ticks = fields.split_ascii_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which trace?")?;
    let tables = Trace::open(path)?.read(&Select::ops())?;
    let begin = cpu()?;
    let frame = frames::columns::dispatches(&tables)?;
    let framed = cpu()?;
    let grouped = frame.group_by(["name"])?.select(["duration_ns"]).sum()?;
    let summed = cpu()?;
    let parts = frame.partition_by_stable(["name"], true)?;
    let parted = cpu()?;
    let reduced = profile(&tables, &Categories::default(), KernelKey::Name, Warmup::Keep);
    let end = cpu()?;
    println!("columns as a frame              {:.2} s", framed - begin);
    println!("group-by name, sum of durations {:.2} s, {} groups", summed - framed, grouped.height());
    println!("partition by name               {:.2} s, {} frames", parted - summed, parts.len());
    println!(
        "profile, with order, sweep, trimmed means {:.2} s, {} kernels",
        end - parted,
        reduced.kernels.len()
    );
    Ok(())
}
