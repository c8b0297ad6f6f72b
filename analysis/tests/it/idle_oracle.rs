//! Causes of idle time of real traces, against a program in Python that goes from moment to moment.

use std::path::{Path, PathBuf};
use std::process::Command;

use rtl_analysis::idle::GpuIdle;
use rtl_schema::{Select, Trace};
use support::{Need, skip, skipped};

use crate::common::analysis;

/// GPU, kind of row, cause and two times in ns.
type Row = (i64, String, String, i64, i64);

fn by_python(trace: &Path) -> Option<Vec<Row>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/idle_oracle.py");
    let Ok(output) = Command::new("python3").arg(script).arg(trace).output() else {
        return skipped(Need::Machine, "no python3");
    };
    assert!(output.status.success(), "{}: {}", trace.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut rows: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.sort();
    Some(rows)
}

fn rows(gpus: &[GpuIdle]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for gpu in gpus {
        let row = |kind: &str, cause: &str, first, second| {
            (gpu.gpu, kind.to_owned(), cause.to_owned(), first, second)
        };
        rows.extend(
            gpu.causes.iter().map(|cause| row("cause", cause.cause.label(), cause.idle_ns, cause.own_ns)),
        );
        let after = gpu.after_blocking.iter();
        rows.extend(after.map(|after| row("after", after.cause.label(), after.cost_ns, after.drained_ns)));
    }
    rows.sort();
    rows
}

/// Compares the traces of a folder whose names pass.
fn python_agrees(folder: &str, passes: impl Fn(&str) -> bool) {
    let Some(shared) = support::shared() else { return };
    let Ok(files) = std::fs::read_dir(shared.join(folder)) else {
        return skip(Need::Shared, format_args!("no {folder} beside the checkout"));
    };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| passes(&path.file_name().unwrap().to_string_lossy()));
    paths.sort();
    assert!(!paths.is_empty(), "{folder} has other files");
    for path in paths {
        let Some(expected) = by_python(&path) else { return };
        let tables = Trace::open(&path).unwrap().read(&Select::summary()).unwrap();
        assert_eq!(rows(analysis(&tables).idle()), expected, "{}", path.display());
    }
}

#[test]
fn python_finds_the_same_causes_on_one_gpu() {
    let of_one = |name: &str| name.ends_with(".json.gz") && !name.contains("-rank") && !name.contains("-cut");
    python_agrees("kineto/h200", of_one);
}

#[test]
fn python_finds_the_same_causes_on_each_gpu_of_a_job() {
    python_agrees("kineto/h200", |name| name.contains("dist_"));
}

#[test]
fn python_finds_the_same_causes_on_amd_gpus() {
    python_agrees("kineto", |name| name.ends_with(".json.gz"));
    python_agrees("traces/real", |name| name.contains(".rpd"));
    python_agrees("traces/made", |name| name.ends_with(".rpd"));
}
