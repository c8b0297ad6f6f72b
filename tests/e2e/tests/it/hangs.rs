//! Tests that a kernel which never ends is named in the file, however its process ends.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use e2e::Process;
use rtl_schema::{Select, Tables, Trace};

/// Each dispatch without an end: its kernel, and whether the trace describes the thread that launched it.
fn unfinished(file: &Path) -> Vec<String> {
    let Ok(trace) = Trace::open(file) else { return Vec::new() };
    let Ok(tables) = trace.read(&Select::everything()) else { return Vec::new() };
    names(&tables, |duration| duration.is_none())
}

fn names(tables: &Tables, wanted: impl Fn(Option<i64>) -> bool) -> Vec<String> {
    let rows = tables.dispatches.iter().filter(|row| wanted(row.duration));
    rows.map(|row| tables.strings.get(row.name).to_owned()).collect()
}

fn hanging() -> impl Iterator<Item = Process> {
    let processes = Process::on_every_stack("ends").into_iter();
    processes
        .map(|process| process.setting("KFD_SIM_KERNEL_NS", "beta=never,20000").arguments(&["10", "hang"]))
}

#[test]
fn a_kernel_that_never_ends_is_named_at_the_end() {
    for process in hanging() {
        let outcome = process.setting("RTL_HSA_HOST_DISPATCH", "1").unchanged();
        let trace = Trace::open(&outcome.traces[0]).unwrap();
        let tables = trace.read(&Select::everything()).unwrap();
        assert_eq!(names(&tables, |duration| duration.is_none()), ["beta"], "{outcome:?}");
        assert_eq!(names(&tables, |duration| duration.is_some()).len(), 10);
        let row = tables.dispatches.iter().find(|row| row.duration.is_none()).unwrap();
        assert!(row.details.enqueued.is_some_and(|enqueued| enqueued <= row.start), "{row:?}");
        assert!(row.tid.is_some() && row.correlation == 11 && row.shape.is_some(), "{row:?}");
        assert!(tables.dispatches.iter().all(|other| other.track == row.track));
    }
}

#[test]
fn a_kernel_that_never_ends_is_named_when_its_process_is_killed() {
    for process in hanging() {
        let outcome = process.traced_until_then(10, |files| {
            let until = Instant::now() + Duration::from_secs(60);
            while unfinished(&files[0]) != ["beta"] && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            kill_recorded(&files[0]);
        });
        assert_eq!(outcome.status.signal(), Some(libc::SIGKILL), "{outcome:?}");
        assert_eq!(unfinished(&outcome.traces[0]), ["beta"], "{outcome:?}");
    }
}

/// Kills the process that writes the file.
fn kill_recorded(file: &Path) {
    let tables = Trace::open(file).unwrap().read(&Select::ops()).unwrap();
    let pid = tables.processes[0].pid.unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
}
