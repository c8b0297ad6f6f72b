//! Measures the tracer's delay of the end of a process. It is a figure and no test, because a loaded machine delays by itself:
//! `scripts/bench/ends`.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use e2e::{Process, library};

use super::process;

const RUNS: usize = 20;

/// Times from the last line of the program, after which it ends, to its end; sorted.
fn times(process: &Process, tool: &Path) -> Vec<Duration> {
    let time = |_| {
        let mut command = process.command(&process.folder().join("delay"));
        let command = command.env("HSA_TOOLS_LIB", tool).stdin(Stdio::null()).stderr(Stdio::null());
        let mut running = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(running.stdout.take().unwrap());
        lines.read_line(&mut String::new()).unwrap();
        let spoken = Instant::now();
        lines.read_to_end(&mut Vec::new()).unwrap();
        running.wait().unwrap();
        spoken.elapsed()
    };
    let mut times: Vec<Duration> = (0..RUNS).map(time).collect();
    times.sort_unstable();
    times
}

#[test]
#[ignore = "measures wall time: scripts/bench/ends"]
fn the_end_of_a_process_is_measured() {
    for (what, how, silent) in [
        ("in the middle of work", "exit", false),
        ("a kernel never ends", "hang", false),
        ("the disk does not answer", "exit", true),
        ("the disk does not answer and a kernel never ends", "hang", true),
    ] {
        let Some(process) = process(how) else { return };
        let process = process.setting("KFD_SIM_KERNEL_NS", "beta=never,5000000").preload("failing_disk");
        let silent = if silent { "20000" } else { "1000000000000" };
        let process = process.setting("DISK_HOLDS", silent).setting("DISK_ERROR", "0");
        let (bare, traced) =
            (times(&process, &library::tool("pass_through")), times(&process, &library::tracer()));
        let delay = |at: usize| traced[at].saturating_sub(bare[at]).as_secs_f64() * 1e3;
        eprintln!("delayed: {what}: median {:.1} ms, most {:.1} ms", delay(RUNS / 2), delay(RUNS - 1));
    }
}
