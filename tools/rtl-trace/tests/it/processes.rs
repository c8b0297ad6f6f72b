//! Commands of many processes under `rtl-trace`, on Debian's own runtime and simulated GPUs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use e2e::family::{log_of, pids};
use e2e::launched::{Unmatched, launched};
use e2e::{Trace, library};
use support::real::{python, source};

/// Runs `workers.py` with these arguments under `rtl-trace` in the folder; `None` where it cannot run.
fn traced(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let kernels = support::code_object("kernels", "gfx90a")?;
    let stack = support::stack("bookworm")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-trace"));
    command.current_dir(folder).stdin(Stdio::null()).arg("--lib").arg(library::tracer());
    command.args(["-o", "job.db", "-m", "standard", "--no-perfetto", "--"]);
    command.arg(python()?).arg(source("workers.py")).args(arguments);
    for name in ["RTL_OUTPUT", "RTL_RUN_ID", "HSA_TOOLS_LIB"] {
        command.env_remove(name);
    }
    command.env("LD_PRELOAD", support::simulator()).env("KFD_SIM_GPUS", "8").env("KERNELS", kernels);
    command.env("KFD_SIM_LOG", folder.join("log")).env("HIP_LIBRARY", stack.hip_library);
    Some(command.output().unwrap())
}

/// One trace has all that so many processes executed, each under its own number.
#[track_caller]
fn assert_merged(folder: &Path, output: &Output, processes: usize) -> Trace {
    assert!(output.status.success(), "{output:?}");
    let report = String::from_utf8_lossy(&output.stderr);
    let merged =
        if processes > 1 { format!("Merged {processes} process traces\n") } else { "Trace: ".to_owned() };
    assert!(report.starts_with(&merged), "{report}");
    let zeros = vec!["0"; processes].join(", ");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("[{zeros}]\n"), "the command's own line");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["job.db", "job_summary.txt", "log"], "nothing is left beside them");
    let trace = Trace::read(&folder.join("job.db"));
    assert_eq!(trace.left_out(), BTreeMap::new());
    let log = fs::read_to_string(folder.join("log")).unwrap();
    let working = pids(&log).into_iter().filter(|pid| !launched(&log_of(&log, pid)).is_empty());
    let working: Vec<&str> = working.collect();
    assert_eq!(working.len(), processes);
    for pid in working {
        let executed = launched(&log_of(&log, pid)).len() as i64;
        let rows = "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND pid = ?";
        let rows: i64 = trace.database().query_row(rows, [pid], |row| row.get(0)).unwrap();
        assert_eq!(rows, executed, "process {pid}");
    }
    let executed = launched(&log);
    assert_eq!(trace.rows.len(), executed.len());
    trace
}

#[test]
fn eight_ranks_give_one_trace_of_eight_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = traced(folder.path(), &["ranks", "8"]) else { return };
    let trace = assert_merged(folder.path(), &output, 8);
    Unmatched::new(&launched(&fs::read_to_string(folder.path().join("log")).unwrap())).take(&trace);
    let ranks = "SELECT group_concat(json_extract(value, '$.rank')) FROM
                 (SELECT value FROM rocpd_metadata WHERE tag = 'process' ORDER BY json_extract(value, '$.rank'))";
    let ranks: String = trace.database().query_row(ranks, [], |row| row.get(0)).unwrap();
    assert_eq!(ranks, "0,1,2,3,4,5,6,7");
}

#[test]
fn workers_that_end_without_notice_are_in_the_trace_with_all_that_they_did() {
    for method in ["fork", "forkserver"] {
        let folder = tempfile::tempdir().unwrap();
        let Some(output) = traced(folder.path(), &[method, "2"]) else { return };
        assert_merged(folder.path(), &output, 2);
    }
}
