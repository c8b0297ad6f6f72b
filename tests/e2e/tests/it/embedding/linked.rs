//! Tests of the files that users link with: the header, the examples, and the static library.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::os::unix::process::ExitStatusExt;

use e2e::compare::{TWO_TICKS, assert_complete, spoken};
use e2e::embedded::embedded_by;
use e2e::{Outcome, Process, examples};
use rtl::base::abi;

/// Lists `STRUCT.FIELD OFFSET` of a struct in Rust, and its fields' names for the compiler of C.
macro_rules! layout {
    ($name:literal, $type:ty, $($field:ident)+) => {{
        let mut lines = format!("{} {}\n", $name, size_of::<$type>());
        $(lines += &format!("{}.{} {}\n", $name, stringify!($field), offset_of!($type, $field));)+
        (($name, &[$(stringify!($field)),+] as &[&str]), lines)
    }};
}

#[test]
fn the_header_says_where_everything_is() {
    let structs = [
        layout!("rtl_kernel", abi::Kernel, start end enqueued correlation_id range_id name mangled queue name_length
            mangled_length kernel_id gpu queue_id tid grid workgroup lds scratch vgprs agprs sgprs reserved),
        layout!("rtl_copy", abi::Copy, start end enqueued correlation_id range_id bytes source destination tid reserved),
        layout!("rtl_barrier", abi::Barrier, start end enqueued correlation_id range_id queue gpu queue_id tid reserved),
        layout!("rtl_name", abi::Name, number text text_length kind),
        layout!("rtl_launch_params", abi::LaunchParams, groups workgroup lds),
        layout!("rtl_copy_params", abi::CopyParams, bytes destination source width height kind is_fill),
        layout!("rtl_range", abi::Range, start end range_id text text_length tid kind reserved),
        layout!("rtl_call", abi::Call, start end correlation_id parent_id stream domain function arguments
            launch copy function_length arguments_length status tid),
        layout!("rtl_callbacks", abi::Callbacks, size data mode kernels copies ranges calls barriers names
            ended options reserved),
        layout!("rtl_counts", abi::Counts, seen delivered lost lost_behind skipped),
        layout!("rtl_counters", abi::Counters, size kernels copies ranges calls barriers),
    ];
    let fields = structs.each_ref().map(|(fields, _)| *fields);
    let here: String = structs.iter().map(|(_, lines)| lines.as_str()).collect();
    let folder = tempfile::tempdir().unwrap();
    for language in ["c", "cpp"] {
        assert_eq!(examples::layout(&fields, language, folder.path()), here, "{language}");
    }
}

/// Runs an example on every runtime, and checks that it succeeds and leaves no file.
#[track_caller]
fn each_example(source: &str) -> Vec<Outcome> {
    let processes = Process::on_every_stack("copies");
    let run = |process: Process| {
        let program = examples::program(source, process.folder());
        let outcome = process.program(program).bare();
        assert_eq!((outcome.traces.len(), outcome.messages.len()), (0, 0), "no file, no word: {outcome:?}");
        outcome
    };
    processes.into_iter().map(run).collect()
}

#[test]
fn the_example_in_c_has_every_kernel_with_its_time() {
    for outcome in each_example("tracer/examples/embed/kernels.c") {
        assert!(outcome.status.success(), "{outcome:?}");
        let mut executed: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for dispatch in outcome.executed.iter().filter(|dispatch| dispatch.is_of_program) {
            let (calls, time) = executed.entry(spoken(&dispatch.kernel)).or_default();
            (*calls, *time) = (*calls + 1, *time + dispatch.end - dispatch.start);
        }
        assert_eq!(executed.len(), 3);
        let (lost, rows) = outcome.stdout.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(rows.trim(), "0 of 90 kernels lost");
        for line in lost.lines() {
            let (counts, name) = line.split_once(" ns  ").unwrap();
            let numbers: Vec<i64> = counts.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let (calls, time) = executed.remove(name).unwrap_or_else(|| panic!("never executed: {line}"));
            assert_eq!(numbers[0], calls, "{line}");
            assert!((numbers[1] - time).abs() <= 2 * TWO_TICKS * calls, "{line} {time}");
        }
        assert!(executed.is_empty(), "{executed:?}");
    }
}

#[test]
fn the_example_in_cpp_has_every_range_with_its_kernels() {
    for outcome in each_example("tracer/examples/embed/kernels.cpp") {
        assert!(outcome.status.success(), "{outcome:?}");
        let kernels = |line: &str| line.split('\t').take(2).collect::<Vec<_>>().join(" ");
        let found: Vec<String> = outcome.stdout.lines().map(kernels).collect();
        assert_eq!(found, ["forward 30", "step 60"]);
    }
}

#[test]
fn the_other_example_in_cpp_has_every_call_with_its_thread() {
    for outcome in each_example("tracer/examples/embed/calls.cpp") {
        assert!(outcome.status.success(), "{outcome:?}");
        let (rows, lost) = outcome.stdout.trim_end().rsplit_once('\n').unwrap();
        let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
        let calls = |function: &str| -> Vec<&str> {
            rows.iter().filter(|row| row[1] == function).map(|row| row[2]).collect()
        };
        assert_eq!((calls("hsa_queue_create"), calls("hsa_queue_destroy")), (vec!["1"], vec!["1"]));
        assert!(rows.iter().all(|row| !row[0].is_empty()), "{rows:?}");
        let seen: u64 = rows.iter().map(|row| row[2].parse::<u64>().unwrap()).sum();
        assert_eq!(lost, format!("0 of {seen} calls lost"));
    }
}

#[test]
fn a_callback_that_throws_ends_the_process() {
    const SIGABRT: i32 = 6;
    for outcome in each_example("tests/programs/embed_throws.cpp") {
        let signal = outcome.status.signal().or(outcome.status.code().map(|code| code - 128));
        assert_eq!((signal, outcome.stdout.as_str()), (Some(SIGABRT), ""), "{outcome:?}");
    }
}

#[test]
fn a_library_that_the_static_one_is_part_of_gets_records_and_shows_no_more_than_it_must() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = examples::static_library(folder.path()) else { return };
    let plugin = examples::plugin(&library, folder.path());
    let shown = super::super::exports::shown(&plugin).unwrap();
    // Functions that replace those of the C library are only for preloading.
    let is_asked_for = |name: &&&str| ["On", "roctx", "rtl_"].iter().any(|start| name.starts_with(start));
    let expected = super::super::exports::EXPORTS.iter().filter(is_asked_for);
    assert!(shown.iter().eq(expected), "{shown:?}");
    for process in Process::on_every_stack("threads") {
        let outcome =
            embedded_by(&process.arguments(&["4", "320", "8"]).gpus(2), std::slice::from_ref(&plugin));
        assert!(assert_complete(&outcome).rows.len() >= 1_000);
    }
}

#[test]
fn an_executable_that_the_static_one_is_part_of_is_told_that_the_runtime_cannot_load_it() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = examples::static_library(folder.path()) else { return };
    let program = examples::static_program("embed", &library, folder.path());
    for process in Process::on_every_stack("copies") {
        let outcome = process.program(program.clone()).arguments(&["unreachable"]).bare();
        let expected =
            "the ROCm runtime cannot load this library: it is part of an executable, or hides its functions";
        assert_eq!(outcome.stdout.lines().next(), Some(expected), "{outcome:?}");
        assert!(outcome.status.success() && outcome.traces.is_empty(), "{outcome:?}");
    }
}
