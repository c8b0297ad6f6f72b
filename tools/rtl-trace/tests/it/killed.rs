//! `rtl-trace`, ended at any moment: the trace is that of a whole run, what is left is recovered, and then nothing remains.
//! `RTL_KILLS=500` ends that many runs.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::BuildHasher;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rtl_schema::Trace;

use crate::running::Traced;

/// Kernels of the trace that is there before, and of a run.
const BEFORE: u32 = 3;
const RUN: u32 = 40;

/// The command line of a run, in a process group of its own as in a terminal.
fn run(traced: &Traced) -> Command {
    let words: Vec<OsString> = ["sh", "-c"].iter().map(OsString::from).collect();
    let line = OsString::from(format!("exec \"$@\" {RUN}"));
    let words = words.into_iter().chain([line, "sh".into()]).chain(traced.program.iter().cloned());
    let words: Vec<OsString> = words.collect();
    let mut command =
        traced.command(&["--quiet", "--force", "-o", "job.db"], words.iter().map(OsString::as_os_str));
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The number of kernels in a trace; `None` for a trace that cannot be read.
fn kernels(path: &Path) -> Option<usize> {
    let trace = match Trace::open(path) {
        Err(error) if matches!(&error, rtl_schema::Error::Missing { .. }) => return None,
        trace => trace.unwrap(),
    };
    Some(trace.read(&rtl_schema::Select::everything()).unwrap().dispatches.len())
}

/// Waits until no process that records into the folder is left.
fn wait_for_command(traced: &Traced) {
    let until = Instant::now() + Duration::from_secs(60);
    let folder = traced.path().canonicalize().unwrap();
    let folder = folder.as_os_str().as_bytes();
    let names_it = |process: std::fs::DirEntry| {
        let variables = std::fs::read(process.path().join("environ")).unwrap_or_default();
        variables.windows(folder.len()).any(|window| window == folder)
    };
    while std::fs::read_dir("/proc").unwrap().flatten().any(names_it) {
        assert!(Instant::now() < until, "the command goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The files beside the outputs.
fn left(traced: &Traced) -> Vec<String> {
    let outputs = ["job.db", "job.json.gz", "job_summary.txt"];
    traced.files().into_iter().filter(|name| !outputs.contains(&name.as_str())).collect()
}

#[test]
fn whenever_rtl_trace_is_ended_its_trace_is_whole_and_what_is_left_is_recovered() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    let kills: usize = std::env::var("RTL_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(6);
    let at = |name: &str| traced.path().join(name);
    let begun = Instant::now();
    assert!(run(&traced).status().unwrap().success());
    let whole = begun.elapsed();
    assert_eq!(kernels(&at("job.db")), Some(RUN as usize));
    std::fs::remove_file(at("job.db")).unwrap();
    let mut before = traced
        .command(&["--quiet", "--force", "-o", "job.db"], traced.program.iter().map(OsString::as_os_str));
    assert!(before.arg(BEFORE.to_string()).status().unwrap().success());
    let older = std::fs::read(at("job.db")).unwrap();
    for count in 0..kills {
        let signal = ["KILL", "INT"][count % 2];
        std::fs::write(at("job.db"), &older).unwrap();
        let mut child = run(&traced).spawn().unwrap();
        let share = RandomState::new().hash_one(0) % 1_000;
        std::thread::sleep(whole.mul_f64(share as f64 / 1_000.0));
        // Ctrl-C is for all processes of the group.
        let to = if signal == "INT" { format!("-{}", child.id()) } else { child.id().to_string() };
        if child.try_wait().unwrap().is_none() {
            let _ = Command::new("kill").args(["-s", signal, "--", &to]).stderr(Stdio::null()).status();
        }
        child.wait().unwrap();
        // The command outlives a killed rtl-trace.
        wait_for_command(&traced);

        let found = kernels(&at("job.db")).unwrap();
        let is_older = std::fs::read(at("job.db")).unwrap() == older;
        assert!(is_older || signal == "INT" || found == RUN as usize, "{signal}: {found} kernels");
        // A process that the signal did not end goes on recording.
        let has_part = left(&traced).iter().any(|name| !name.starts_with(".job.db.rtl-trace-"));
        assert!(signal == "KILL" || !has_part, "{signal} leaves {:?}", left(&traced));

        // The next run names the recordings that are left.
        let next = traced.command(&["--force", "-o", "job.db"], ["true"].map(OsStr::new)).output().unwrap();
        let has_recordings = String::from_utf8_lossy(&next.stderr).contains("has left recordings in");
        assert!(next.status.success(), "{next:?}");
        if has_recordings {
            let recovered = traced.command(&["--recover", "-o", "recovered.db"], []).output().unwrap();
            assert!(recovered.status.success(), "{recovered:?}");
            assert!(kernels(&at("recovered.db")).unwrap() <= RUN as usize);
            for name in ["recovered.db", "recovered.json.gz", "recovered_summary.txt"] {
                match std::fs::remove_file(at(name)) {
                    Err(error) if error.kind() != ErrorKind::NotFound => panic!("{name}: {error}"),
                    _ => {}
                }
            }
        }
        // The next tool that writes removes what a killed one has begun.
        assert!(run(&traced).status().unwrap().success());
        assert_eq!(kernels(&at("job.db")), Some(RUN as usize));
        let left = left(&traced);
        let within: Vec<_> =
            left.iter().flat_map(|name| std::fs::read_dir(at(name))).flatten().flatten().collect();
        assert!(left.is_empty(), "{signal}, {has_recordings}: {left:?} with {within:?}");
    }
}
