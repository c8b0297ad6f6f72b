//! Tests of a disk that is full, broken, silent, or reports errors only when the file is closed; and of a limit on the size of
//! files.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use e2e::compare::{assert_adds_up, assert_executed};
use e2e::{Outcome, Process, Trace};
use support::{Need, skipped};

use super::{in_time, process};

/// Sizes of disks in bytes: for nothing, a header, the first moment of a recording, and some of its rows.
const HOLDS: [&str; 6] = ["0", "4096", "20000", "40000", "60000", "100000"];

/// Checks that all remaining files are whole, true and marked as incomplete; returns those that have tables.
#[track_caller]
fn assert_whole(outcome: &Outcome) -> Vec<Trace> {
    let left = outcome.traces.iter().filter(|file| std::fs::metadata(file).unwrap().len() > 0);
    let traces: Vec<Trace> = left.filter_map(|file| Trace::read_begun(file)).collect();
    for trace in &traces {
        assert_executed(outcome, trace);
        assert_eq!(trace.metadata.get("complete").map(String::as_str), Some("0"), "{outcome:?}");
        assert_eq!(trace.count("recorded"), trace.rows.len() as i64, "{outcome:?}");
    }
    traces
}

#[test]
fn a_disk_that_takes_no_more_ends_the_recording_and_nothing_else() {
    for error in [libc::ENOSPC, libc::EDQUOT, libc::EIO] {
        for holds in HOLDS {
            let Some(process) = process("exit") else { return };
            let process = process.preload("failing_disk").setting("DISK_HOLDS", holds);
            let process = process.setting("DISK_ERROR", error.to_string());
            let outcome = in_time(|| process.unchanged_in_one_run());
            assert_whole(&outcome);
            let [message] = outcome.messages.as_slice() else { panic!("one line: {outcome:?}") };
            let why = std::io::Error::from_raw_os_error(error).to_string();
            assert!(message.contains("that could not be written") && message.contains(&why), "{message}");
        }
    }
}

#[test]
fn a_disk_that_does_not_answer_is_not_waited_for() {
    for holds in ["0", "20000", "60000"] {
        let Some(process) = process("exit") else { return };
        let process = process.preload("failing_disk").setting("DISK_HOLDS", holds);
        let outcome = process.setting("DISK_ERROR", "0").unchanged_in_one_run();
        assert_whole(&outcome);
        let [message] = outcome.messages.as_slice() else { panic!("one line: {outcome:?}") };
        assert!(message.contains("not written in time") && message.contains("too slow"), "{message}");
    }
}

#[test]
fn a_disk_that_finds_no_room_when_the_file_is_closed_is_told_of() {
    let Some(process) = process("exit") else { return };
    let process = process.preload("failing_disk").setting("DISK_CLOSING", libc::EDQUOT.to_string());
    let outcome = in_time(|| process.unchanged_in_one_run());
    let [message] = outcome.messages.as_slice() else { panic!("one line: {outcome:?}") };
    assert!(message.contains("40 of 40") && message.contains("cannot close"), "{message}");
}

/// A process whose trace is on a file system of its own, of `kib` KiB in memory; its remaining files go to the traces. `None`
/// after one printed line, where that may not be mounted.
fn on_small_disk(process: Process, kib: u64) -> Option<Process> {
    let small = process.folder().join("small");
    std::fs::create_dir_all(&small).unwrap();
    let small = small.to_str().unwrap().to_owned();
    let may_mount = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", &small]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        return skipped(Need::Machine, "no file system may be mounted here");
    }
    let script = format!(
        r#"small="$0"; mount -t tmpfs -o size={kib}k none "$small"; "$@"; code=$?
           cp "$small"/* . 2>/dev/null; exit $code"#
    );
    let process = process.started_by(&["unshare", "-rm", "sh", "-c", &script, &small]);
    Some(process.setting("RTL_OUTPUT", format!("{small}/trace.db")))
}

#[test]
fn a_file_system_that_is_full_is_as_harmless_as_a_simulated_one() {
    let Some(process) = process("exit").and_then(|process| on_small_disk(process, 40)) else { return };
    let outcome = in_time(|| process.unchanged_in_one_run());
    assert_eq!(outcome.status.code(), Some(7), "{outcome:?}");
    assert_eq!(assert_whole(&outcome).len(), 1, "{outcome:?}");
    assert!(outcome.messages[0].contains("No space left on device"), "{outcome:?}");
}

/// Number of dispatches of one and a half batches.
const MANY: i64 = 3_000;

/// [`MANY`] completed dispatches and as many in the queue, without other files.
fn many() -> Option<Process> {
    let process = Process::new("ends")?.arguments(&[&MANY.to_string(), "exit"]);
    let process = process.setting("REPORT", "/dev/null").setting("KFD_SIM_LOG", "/dev/null");
    Some(process.setting("KFD_SIM_KERNEL_NS", "1000"))
}

/// Checks that a trace of at most `room` bytes has the rows that fit, and counts the rest.
#[track_caller]
fn assert_full(outcome: &Outcome, room: u64, why: &str) {
    assert_eq!(outcome.status.code(), Some(7), "{outcome:?}");
    let [message] = outcome.messages.as_slice() else { panic!("one line: {outcome:?}") };
    assert!(message.contains("that could not be written") && message.contains(why), "{message}");
    let (trace, length) = (outcome.trace(), std::fs::metadata(&outcome.traces[0]).unwrap().len());
    assert_adds_up(&trace, 2 * MANY);
    assert!(length <= room, "{length}");
    // A row has 56 bytes; two publications, of a dozen tables and pages each, are kept free.
    let least = room.saturating_sub(160 << 10) / 64;
    assert!(trace.rows.len() as u64 >= least, "{} of {least}: {:?}", trace.rows.len(), trace.metadata);
    assert!(trace.count("lost:write") > 0, "{:?}", trace.metadata);
    assert_eq!(trace.metadata.get("complete").map(String::as_str), Some("0"));
}

#[test]
fn of_a_batch_that_exceeds_a_limit_on_the_size_of_files_what_fits_is_written_and_the_rest_is_counted() {
    for limit in [96 << 10, 128 << 10, 160 << 10, 200 << 10, 256 << 10, 320 << 10] {
        let Some(process) = many() else { return };
        let process = process.setting("FILE_LIMIT", limit.to_string());
        assert_full(&in_time(|| process.unchanged_in_one_run()), limit, "File too large");
    }
}

#[test]
fn of_a_batch_that_exceeds_a_file_system_what_fits_is_written_and_the_rest_is_counted() {
    for kib in [128, 192, 256] {
        let Some(process) = many() else { return };
        let Some(process) = on_small_disk(process, kib) else { return };
        assert_full(&in_time(|| process.unchanged_in_one_run()), kib << 10, "No space left on device");
    }
}

/// Larger than the reports and logs of these tests, smaller than a trace.
const LIMIT: &str = "40000";

#[test]
fn a_limit_on_the_size_of_files_is_the_traces_alone() {
    let Some(process) = process("exit") else { return };
    let process = process.setting("FILE_LIMIT", LIMIT);
    let outcome = in_time(|| process.unchanged_in_one_run());
    assert_eq!(outcome.status.code(), Some(7), "{outcome:?}");
    assert_whole(&outcome);
    assert!(outcome.messages[0].contains("File too large"), "{outcome:?}");
}

#[test]
fn a_program_gets_its_own_signals_of_that_limit_and_no_others() {
    for (how, end) in [("size-handled", Ok("too much, 1 signals")), ("size", Err(libc::SIGXFSZ))] {
        let Some(process) = process(how) else { return };
        let process = process.setting("FILE_LIMIT", LIMIT);
        let outcome = in_time(|| process.unchanged_in_one_run());
        match end {
            Ok(line) => assert!(outcome.stdout.contains(line), "{outcome:?}"),
            Err(signal) => assert_eq!(outcome.status.signal(), Some(signal), "{outcome:?}"),
        }
    }
}

/// The tracer prints its losses at the end.
#[test]
fn a_standard_error_that_may_not_grow_does_not_change_how_a_process_ends() {
    let Some(process) = Process::new("ends") else { return };
    let process = process.setting("KFD_SIM_KERNEL_NS", "beta=never,20000").arguments(&["10", "hang"]);
    let process = process.setting("HSA_TOOLS_LIB", e2e::library::tracer()).setting("FILE_LIMIT", LIMIT);
    let path = process.folder().join("errors");
    std::fs::write(&path, [b'.'; 40_000]).unwrap();
    let errors = std::fs::File::options().append(true).open(&path).unwrap();
    let status = process.command(process.folder()).stderr(errors).status().unwrap();
    assert_eq!((status.code(), std::fs::metadata(&path).unwrap().len()), (Some(7), 40_000));
}
