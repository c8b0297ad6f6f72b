//! Tests of recordings that begin stopped, pause and go on.

use std::fs;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use e2e::annotations::{account, assert_annotated, tables};
use e2e::compare::assert_true;
use e2e::{Outcome, Process, Trace, library};

/// Checks that the trace has the windows of the program, and counts the rest.
#[track_caller]
fn assert_windows(outcome: &Outcome, dispatches: i64) {
    let trace = outcome.trace();
    let missing: i64 = outcome.stdout.trim().parse().unwrap();
    let account = account(&outcome.report);
    assert_eq!(account.dispatches.len() as i64 + missing, dispatches);
    assert_annotated(&account, &tables(&trace.path));
    assert_eq!(trace.left_out().into_iter().collect::<Vec<_>>(), [("skipped:paused", missing)]);
    let counts = (trace.count("seen"), trace.count("recorded"));
    assert_eq!(counts, (dispatches, dispatches - missing));
}

fn processes(scope: &str) -> Vec<Process> {
    let library = library::roctx("librocprofiler-sdk-roctx.so.1");
    let arguments = [library.to_str().unwrap(), "10", scope];
    let processes = Process::on_every_stack("windows").into_iter();
    processes.map(|process| process.arguments(&arguments).preloaded()).collect()
}

#[test]
fn a_program_pauses_and_resumes_its_recording() {
    for process in processes("process") {
        assert_windows(&process.well(), 60);
    }
}

#[test]
fn a_program_pauses_and_resumes_one_thread() {
    for process in processes("thread") {
        assert_windows(&process.well(), 60);
    }
}

#[test]
fn a_recording_that_begins_stopped_begins_when_the_program_says() {
    for process in processes("process") {
        assert_windows(&process.setting("RTL_START", "stopped").well(), 60);
    }
}

#[test]
fn a_recording_that_is_never_begun_says_what_it_left_out() {
    for process in Process::on_every_stack("no_signal") {
        let outcome = process.arguments(&["30"]).setting("RTL_START", "stopped").well();
        let trace = outcome.trace();
        assert_eq!((trace.rows.len(), trace.count("skipped:paused")), (0, 30));
        assert_true(&outcome, &trace);
    }
}

/// Puts a request where the tracer looks for it, and waits until it has been handled.
fn request(pid: &str, request: &str) {
    let path = PathBuf::from(format!("/tmp/rtl-{pid}.control"));
    fs::write(&path, request).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while path.exists() {
        assert!(Instant::now() < until, "{request} was not heeded");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn line(output: &mut dyn BufRead) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// The grid sizes, which are the numbers of the dispatches, that the one trace in this folder has by now.
fn recorded(traces: &Path) -> Vec<i64> {
    let files: Vec<PathBuf> = fs::read_dir(traces).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("not one trace: {files:?}") };
    let mut numbers: Vec<i64> = Trace::read(file).rows.iter().map(|row| row.grid).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn another_process_stops_and_starts_a_recording_and_what_was_recorded_is_on_disk() {
    for process in Process::on_every_stack("on_request") {
        let outcome = process.traced_while(|input, output, traces| {
            let pid = line(output);
            let mut launch = |count: u32| {
                writeln!(input, "{count}").unwrap();
                assert_eq!(line(output), "done");
            };
            launch(5);
            request(&pid, "stop");
            assert_eq!(recorded(traces), (1..=5).collect::<Vec<_>>());
            launch(7);
            request(&pid, "start");
            launch(3);
            request(&pid, "stop");
            assert_eq!(recorded(traces), (1..=5).chain(13..=15).collect::<Vec<_>>());
            launch(2);
            request(&pid, "stop");
        });
        assert!(outcome.status.success() && outcome.messages.is_empty(), "{outcome:?}");
        let trace = outcome.trace();
        assert_eq!((trace.rows.len(), trace.count("skipped:paused")), (8, 9));
        assert_true(&outcome, &trace);
    }
}
