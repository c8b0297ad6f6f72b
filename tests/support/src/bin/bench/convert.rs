//! rtl-convert to each of its formats, beside reading the same trace alone.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::Result;
use rtl_schema::{Error, Select, Trace};

use crate::measure::{Call, median};
use crate::{Bench, Figure};

/// A format, what its output is called, and the CPU seconds and the MiB that a million ops must and should need.
struct Target {
    format: &'static str,
    output: &'static str,
    cpu: Option<(f64, f64)>,
    memory: (f64, f64),
}

const fn target(format: &'static str, output: &'static str, cpu: Option<(f64, f64)>) -> Target {
    Target { format, output, cpu, memory: (150.0, 64.0) }
}

const TARGETS: [Target; 10] = [
    target("perfetto-json", "out.json", Some((0.8, 0.4))),
    target("perfetto-json", "out.json.gz", Some((2.0, 1.0))),
    target("pftrace", "out.pftrace", Some((1.0, 0.5))),
    target("rocprofv3-json", "out_results.json", Some((1.5, 0.8))),
    target("rocprofv3-csv", "out", None),
    target("rocpd", "out_results.db", Some((4.0, 3.0))),
    target("native", "out.db", None),
    target("rpd", "out.rpd", Some((2.5, 1.2))),
    target("csv", "out.csv", None),
    // Columns wait until a group of rows is complete.
    Target { memory: (300.0, 128.0), ..target("parquet", "out.parquet", Some((2.5, 1.2))) },
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
        let read = repeated(bench, &reading)?;
        for target in &TARGETS {
            eprintln!("bench: {} rounds of rtl-convert to {}, {what}", bench.rounds, target.output);
            let folder = tempfile::tempdir_in(&bench.cache)?;
            let convert = call(bench, &trace, target, folder.path());
            let peak = peak(&convert)?;
            if target.is_compressed() {
                let file = folder.path().join(target.output).into_os_string();
                Call::new("gzip", ["-dk".into(), file]).cost(1)?;
            }
            let written = repeated(bench, &rewrite(folder.path(), target.output))?;
            let cpu = anew(bench, &convert, folder.path())?;
            let work = format!("rtl-convert of {OPS} {what} to {}", target.name());
            let how = if target.is_compressed() { "of gzip -1 of it" } else { "of copying the output" };
            let floor = format!("{read:.2} s of reading + {written:.2} s {how}");
            figures.push(figure(&work, "CPU", floor, cpu, " s", target.cpu.filter(|_| is_asked)));
            let memory = is_asked.then_some(target.memory);
            figures.push(figure(&work, "peak anonymous memory", String::new(), peak, " MiB", memory));
        }
    }
    let long = bench.trace("native", 10 * OPS)?;
    for target in &TARGETS {
        eprintln!("bench: memory of rtl-convert to {}", target.output);
        let folder = tempfile::tempdir_in(&bench.cache)?;
        let peak = peak(&call(bench, &long, target, folder.path()))?;
        let work = format!("rtl-convert of {} ops to {}", 10 * OPS, target.name());
        let figure = figure(&work, "peak anonymous memory", String::new(), peak, " MiB", Some(target.memory));
        figures.push(figure);
    }
    Ok(figures)
}

impl Target {
    fn is_compressed(&self) -> bool {
        self.output.ends_with(".gz")
    }

    fn name(&self) -> String {
        if self.is_compressed() { format!("{}, compressed", self.format) } else { self.format.to_owned() }
    }
}

/// Reads a trace piece by piece, as a conversion does.
pub(super) fn read(trace: &Path) -> Result<()> {
    Trace::open(trace)?.stream(&Select::everything(), |_| Ok::<(), Error>(()))?;
    Ok(())
}

fn call(bench: &Bench, trace: &Path, target: &Target, folder: &Path) -> Call {
    let words: [OsString; 6] = [
        trace.into(),
        "-o".into(),
        folder.join(target.output).into(),
        "--force".into(),
        "--to".into(),
        target.format.into(),
    ];
    Call::new(bench.summary.with_file_name("rtl-convert"), words)
}

/// Writing the same bytes and nothing else, or packing them.
fn rewrite(folder: &Path, output: &str) -> Call {
    let script = match output.strip_suffix(".gz") {
        Some(plain) => format!("gzip -1 -c \"$1/{plain}\" >/dev/null"),
        None => "copy=$(mktemp -d -p \"$1/..\") && cp -r \"$1/.\" \"$copy\" && rm -r \"$copy\"".to_owned(),
    };
    let words: [OsString; 4] = ["-c".into(), script.into(), "rewrite".into(), folder.into()];
    Call::new("sh", words)
}

/// The largest anonymous memory in MiB.
pub(super) fn peak(call: &Call) -> Result<f64> {
    Ok(call.peak_anonymous()? as f64 / f64::from(1 << 20))
}

/// CPU seconds, the median of some runs.
pub(super) fn repeated(bench: &Bench, call: &Call) -> Result<f64> {
    let costs = (0..bench.rounds).map(|_| call.cost(1).map(|cost| cost.cpu));
    Ok(median(costs.collect::<Result<_>>()?))
}

/// CPU seconds of a conversion into a file that was not there before: taking a large one away costs the system, too.
fn anew(bench: &Bench, call: &Call, folder: &Path) -> Result<f64> {
    let mut costs = Vec::new();
    for _ in 0..bench.rounds {
        fs::remove_dir_all(folder)?;
        fs::create_dir(folder)?;
        costs.push(call.cost(1)?.cpu);
    }
    Ok(median(costs))
}

/// One line of the table.
pub(super) fn figure(
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
