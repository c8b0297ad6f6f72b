//! rtl-merge of a few large traces and of many small ones, beside reading the same traces alone.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use support::Job;

use crate::convert::{figure, peak, repeated};
use crate::measure::Call;
use crate::{Bench, Figure};

/// A job, and the CPU seconds and MiB that merging its traces must and should need.
struct Target {
    nodes: u32,
    ranks_per_node: u32,
    steps: u32,
    /// With a collective and a range each.
    kernels: u32,
    cpu: Option<(f64, f64)>,
    memory: Option<(f64, f64)>,
}

const TARGETS: [Target; 4] = [
    Target {
        nodes: 2,
        ranks_per_node: 4,
        steps: 5_000,
        kernels: 49,
        cpu: Some((2.5, 1.5)),
        memory: Some((100.0, 64.0)),
    },
    // The same for eight times as many traces.
    Target { nodes: 2, ranks_per_node: 4, steps: 1_000, kernels: 49, cpu: None, memory: Some((100.0, 64.0)) },
    Target { nodes: 8, ranks_per_node: 8, steps: 1_000, kernels: 49, cpu: None, memory: Some((100.0, 64.0)) },
    Target { nodes: 125, ranks_per_node: 8, steps: 20, kernels: 49, cpu: Some((10.0, 5.0)), memory: None },
];

/// CPU and memory of each merge.
pub(super) fn figures(bench: &Bench) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for target in &TARGETS {
        let (ranks, ops) = (target.nodes * target.ranks_per_node, target.steps * (target.kernels + 1));
        let work = format!("rtl-merge of {ranks} traces of {ops} ops");
        eprintln!("bench: {} rounds of {work}", bench.rounds);
        let folder = tempfile::tempdir_in(&bench.cache)?;
        let job = Job {
            nodes: target.nodes,
            ranks_per_node: target.ranks_per_node,
            steps: target.steps,
            kernels: target.kernels,
            ..Job::default()
        };
        let traces = job.generate(folder.path())?;
        let bytes: u64 =
            traces.iter().filter_map(|trace| fs::metadata(trace).ok()).map(|file| file.len()).sum();
        let merge = call(bench, folder.path(), &traces);
        let peak = peak(&merge)?;
        let read = reading(bench, &traces)?;
        let cpu = repeated(bench, &merge)?;
        let floor = format!("{read:.2} s of reading {} MiB once", bytes >> 20);
        figures.push(figure(&work, "CPU", floor, cpu, " s", target.cpu));
        figures.push(figure(&work, "peak anonymous memory", String::new(), peak, " MiB", target.memory));
    }
    Ok(figures)
}

fn call(bench: &Bench, folder: &Path, traces: &[PathBuf]) -> Call {
    let words: [OsString; 4] =
        ["--quiet".into(), "--force".into(), "-o".into(), folder.join("merged.db").into()];
    let traces = traces.iter().map(|trace| trace.clone().into());
    Call::new(bench.summary.with_file_name("rtl-merge"), words.into_iter().chain(traces))
}

/// CPU seconds of reading all traces, in one process as the merge does.
fn reading(bench: &Bench, traces: &[PathBuf]) -> Result<f64> {
    let words = traces.iter().flat_map(|trace| ["--read".into(), trace.clone().into()]);
    let reading = Call::new(std::env::current_exe()?, words);
    reading.cost(1)?;
    repeated(bench, &reading)
}
