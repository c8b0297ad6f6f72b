//! rtl-convert to each of its formats, beside reading the same trace alone.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::Result;
use schema::{Error, Select, Trace};

use crate::measure::{Call, median};
use crate::{Bench, Figure};

/// A format, by the ending of its files, with the CPU seconds and the MiB that a million ops must and should need.
struct Target {
    ending: &'static str,
    cpu: Option<(f64, f64)>,
    memory: (f64, f64),
}

const fn target(ending: &'static str, cpu: Option<(f64, f64)>) -> Target {
    Target { ending, cpu, memory: (150.0, 64.0) }
}

const TARGETS: [Target; 6] = [
    target("json", Some((0.8, 0.4))),
    target("json.gz", Some((2.0, 1.0))),
    target("db", None),
    target("rpd", Some((2.5, 1.2))),
    target("csv", None),
    // Columns wait until a group of rows is complete.
    Target { ending: "parquet", cpu: Some((2.5, 1.2)), memory: (300.0, 128.0) },
];

/// Traces of a million ops. What is asked for holds for ops alone.
const TRACES: [(&str, &str, bool); 3] = [
    ("ordered", "ops", true),
    ("shuffled", "ops, shuffled,", true),
    ("calls", "ops with their API calls", false),
];

/// CPU and memory of each conversion.
pub(super) fn figures(bench: &Bench) -> Result<Vec<Figure>> {
    const OPS: u64 = 1_000_000;
    let mut figures = Vec::new();
    for (name, what, is_asked) in TRACES {
        let mut how = vec!["--layout", "native", "--seed", "1"];
        how.extend(match name {
            "shuffled" => Some("--shuffle"),
            "calls" => Some("--api"),
            _ => None,
        });
        let trace = bench.generated(name, OPS, &how)?;
        let reading = Call::new(std::env::current_exe()?, ["--read".into(), trace.clone().into()]);
        reading.cost(1)?;
        let floor = repeated(bench, &reading)?;
        for target in &TARGETS {
            eprintln!("bench: {} rounds of rtl-convert to {}, {what}", bench.rounds, target.ending);
            let convert = call(bench, &trace, target.ending);
            let peak = peak(&convert)?;
            let cpu = repeated(bench, &convert)?;
            let work = format!("rtl-convert of {OPS} {what} to {}", target.ending);
            let floor = format!("{floor:.2} s of reading");
            figures.push(figure(&work, "CPU", floor, cpu, " s", target.cpu.filter(|_| is_asked)));
            let memory = is_asked.then_some(target.memory);
            figures.push(figure(&work, "peak anonymous memory", String::new(), peak, " MiB", memory));
        }
    }
    let long = bench.trace("native", 10 * OPS)?;
    for target in &TARGETS {
        eprintln!("bench: memory of rtl-convert to {}", target.ending);
        let peak = peak(&call(bench, &long, target.ending))?;
        let work = format!("rtl-convert of {} ops to {}", 10 * OPS, target.ending);
        let figure = figure(&work, "peak anonymous memory", String::new(), peak, " MiB", Some(target.memory));
        figures.push(figure);
    }
    for target in &TARGETS {
        let output = output(bench, target.ending);
        let _ = fs::remove_file(&output).or_else(|_| fs::remove_dir_all(&output));
    }
    Ok(figures)
}

/// Reads a trace piece by piece, as a conversion does.
pub(super) fn read(trace: &Path) -> Result<()> {
    Trace::open(trace)?.stream(&Select::everything(), |_| Ok::<(), Error>(()))?;
    Ok(())
}

fn output(bench: &Bench, ending: &str) -> std::path::PathBuf {
    bench.cache.join(format!("converted.{ending}"))
}

fn call(bench: &Bench, trace: &Path, ending: &str) -> Call {
    let words: [OsString; 4] = [trace.into(), "-o".into(), output(bench, ending).into(), "--force".into()];
    Call::new(bench.summary.with_file_name("rtl-convert"), words)
}

/// MiB.
fn peak(call: &Call) -> Result<f64> {
    Ok(call.peak_anonymous()? as f64 / f64::from(1 << 20))
}

fn repeated(bench: &Bench, call: &Call) -> Result<f64> {
    let costs = (0..bench.rounds).map(|_| call.cost(1).map(|cost| cost.cpu));
    Ok(median(costs.collect::<Result<_>>()?))
}

fn figure(
    work: &str,
    what: &str,
    floor: String,
    value: f64,
    unit: &'static str,
    limits: Option<(f64, f64)>,
) -> Figure {
    let (must, aim) = limits.unzip();
    Figure {
        work: format!("{work}: {what}"),
        floor,
        measured: format!("{value:.2}{unit}"),
        value,
        must,
        aim,
        unit,
    }
}
