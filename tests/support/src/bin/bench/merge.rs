//! rtl-merge of a few large traces and of many small ones, its report on them and that of rtl-summary, beside reading the same traces
//! alone.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use support::Job;

use crate::convert::{figure, peak, repeated};
use crate::measure::Call;
use crate::{Bench, Figure};

/// A job, and the CPU seconds and MiB that merging its traces, or reporting on them, must and should need.
struct Target {
    verb: Verb,
    nodes: u32,
    ranks_per_node: u32,
    steps: u32,
    cpu: Option<(f64, f64)>,
    memory: Option<(f64, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Merge,
    /// `rtl-merge --to summary`.
    Summary,
    /// `rtl-summary`.
    Report,
}

/// Kernels of a step besides its collective, which has a range too.
const KERNELS: u32 = 49;

const fn target(verb: Verb, (nodes, ranks_per_node): (u32, u32), steps: u32) -> Target {
    Target { verb, nodes, ranks_per_node, steps, cpu: None, memory: Some((100.0, 64.0)) }
}

const TARGETS: [Target; 9] = [
    Target { cpu: Some((2.5, 1.5)), ..target(Verb::Merge, (2, 4), 5_000) },
    // The same for eight times as many traces.
    target(Verb::Merge, (2, 4), 1_000),
    target(Verb::Merge, (8, 8), 1_000),
    Target { cpu: Some((10.0, 5.0)), memory: None, ..target(Verb::Merge, (125, 8), 20) },
    // The same for a hundred times as many ops in a tenth of the traces.
    target(Verb::Summary, (125, 8), 20),
    target(Verb::Summary, (25, 4), 20_000),
    // A job of thousands of ranks: five times as many traces take five times as much.
    Target { cpu: Some((1.5, 0.7)), memory: None, ..target(Verb::Report, (125, 8), 6) },
    Target { cpu: Some((7.5, 3.5)), memory: None, ..target(Verb::Report, (625, 8), 6) },
    Target { cpu: Some((12.0, 6.0)), memory: Some((200.0, 100.0)), ..target(Verb::Merge, (625, 8), 6) },
];

/// CPU and memory of each merge and of each report.
pub(super) fn figures(bench: &Bench) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for target in &TARGETS {
        let (ranks, ops) = (target.nodes * target.ranks_per_node, target.steps * (KERNELS + 1));
        let verb = match target.verb {
            Verb::Merge => "rtl-merge",
            Verb::Summary => "rtl-merge --to summary",
            Verb::Report => "rtl-summary",
        };
        let work = format!("{verb} of {ranks} traces of {ops} ops");
        eprintln!("bench: {} rounds of {work}", bench.rounds);
        let folder = tempfile::tempdir_in(&bench.cache)?;
        let job = Job {
            nodes: target.nodes,
            ranks_per_node: target.ranks_per_node,
            steps: target.steps,
            kernels: KERNELS,
            ..Job::default()
        };
        let traces = job.generate(folder.path())?;
        let bytes: u64 =
            traces.iter().filter_map(|trace| fs::metadata(trace).ok()).map(|file| file.len()).sum();
        let merge = call(bench, target.verb, folder.path(), &traces);
        let peak = peak(&merge)?;
        let read = reading(bench, &traces)?;
        let cpu = repeated(bench, &merge)?;
        let floor = format!("{read:.2} s of reading {} MiB once", bytes >> 20);
        figures.push(figure(&work, "CPU", floor, cpu, " s", target.cpu));
        figures.push(figure(&work, "peak anonymous memory", String::new(), peak, " MiB", target.memory));
    }
    Ok(figures)
}

fn call(bench: &Bench, verb: Verb, folder: &Path, traces: &[PathBuf]) -> Call {
    let traces = traces.iter().map(|trace| trace.clone().into());
    if verb == Verb::Report {
        return Call::new(bench.summary.clone(), traces);
    }
    let output = folder.join(if verb == Verb::Merge { "merged.db" } else { "all.json" });
    let mut words: Vec<OsString> =
        vec!["--quiet".into(), "--force".into(), "--allow=different-runs".into(), "-o".into(), output.into()];
    words.extend((verb == Verb::Summary).then(|| "--to=summary".into()));
    Call::new(bench.summary.with_file_name("rtl-merge"), words.into_iter().chain(traces))
}

/// CPU seconds of reading all traces, in one process as the merge does.
fn reading(bench: &Bench, traces: &[PathBuf]) -> Result<f64> {
    let words = traces.iter().flat_map(|trace| ["--read".into(), trace.clone().into()]);
    let reading = Call::new(std::env::current_exe()?, words);
    reading.cost(1)?;
    repeated(bench, &reading)
}
