//! Traces of torch.profiler that real programs wrote, against Python's JSON reader.

use std::path::PathBuf;

use rtl_schema::{Dialect, Select, Trace};
use support::{Need, skipped};

use crate::totals::{by_python, totals};

/// The traces below `folder` whose name passes.
fn samples(folder: &str, passes: impl Fn(&str) -> bool) -> Option<Vec<PathBuf>> {
    let Some(shared) = support::shared() else {
        return skipped(Need::Shared, "no traces of torch.profiler beside the checkout");
    };
    let Ok(files) = std::fs::read_dir(shared.join(folder)) else {
        return skipped(Need::Shared, format_args!("no {folder} beside the checkout"));
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".json.gz") && passes(&name)
    });
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has other files");
    Some(paths)
}

fn python_agrees(folder: &str, passes: impl Fn(&str) -> bool) {
    for path in samples(folder, passes).unwrap_or_default() {
        let trace = Trace::open(&path).unwrap();
        assert_eq!(trace.dialect(), Dialect::Kineto, "{}", path.display());
        let tables = trace.read(&Select::everything()).unwrap();
        let Some(expected) = by_python("kineto_oracle.py", &[&path]) else { return };
        let read = totals(&tables);
        for (key, total) in &read {
            assert_eq!(Some(total), expected.get(key), "{}: {key:?}", path.display());
        }
        assert_eq!(read.len(), expected.len(), "{}", path.display());
        assert_eq!(tables.problems.iter().count(), 0, "{}", path.display());
        let is_cut = tables.info.cut_off().is_some();
        assert_eq!(is_cut, path.to_string_lossy().contains("-cut"), "{}", path.display());
    }
}

#[test]
fn every_total_of_traces_of_amd_gpus_is_that_of_python() {
    python_agrees("kineto", |name| !name.contains("owlv2"));
}

#[test]
fn every_total_of_a_trace_with_stacks_is_that_of_python() {
    python_agrees("kineto", |name| name.contains("owlv2"));
}

#[test]
fn every_total_of_traces_of_one_nvidia_gpu_is_that_of_python() {
    python_agrees("kineto/h200", |name| !name.contains("dist_") && !name.contains("tiny"));
}

#[test]
fn every_total_of_many_tiny_kernels_is_that_of_python() {
    python_agrees("kineto/h200", |name| name.contains("tiny"));
}

#[test]
fn every_total_of_distributed_runs_is_that_of_python() {
    // The ranks of one job in CI, of all four in `./test --long`.
    python_agrees("kineto/h200", |name| {
        name.contains("dist_") && (support::is_long() || name.contains("overlap"))
    });
}

#[test]
fn ranks_and_gpus_of_a_distributed_run_are_known() {
    for rank in 0..4 {
        let file = format!("gpt-dist_overlap-rank{rank}.json.gz");
        let Some(paths) = samples("kineto/h200", |name| name == file) else { return };
        let tables = Trace::open(&paths[0]).unwrap().read(&Select::summary()).unwrap();
        let [process] = tables.processes.as_slice() else { panic!("{} processes", tables.processes.len()) };
        assert_eq!((process.rank, process.world), (Some(rank), Some(4)));
        let [agent] = tables.agents.as_slice() else { panic!("{} GPUs", tables.agents.len()) };
        assert_eq!((agent.number, agent.product.as_deref()), (i64::from(rank), Some("NVIDIA H200")));
        assert!(tables.info.linked);
    }
}
