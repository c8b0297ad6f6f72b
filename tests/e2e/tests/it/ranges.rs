//! Tests of ranges and markers of roctx, however a program finds its functions.

use std::process::{Command, Output};

use e2e::annotations::{account, assert_annotated, recorded, tables};
use e2e::{Outcome, Process, Trace, library};
use support::{Need, skip, stacks, until_whole};

/// The libraries that a program may be linked to or open, by the names of their files.
const LIBRARIES: [&str; 2] = ["libroctx64.so.4", "librocprofiler-sdk-roctx.so.1"];

/// Processes that run `ranges.c`, on every runtime, with the tracer preloaded.
fn processes(arguments: &[&str]) -> Vec<Process> {
    let processes = Process::on_every_stack("ranges").into_iter();
    processes.map(|process| process.arguments(arguments).preloaded()).collect()
}

/// Checks that the trace has everything that the program did, also before the runtime started.
#[track_caller]
fn assert_recorded(outcome: &Outcome) {
    let trace = outcome.trace();
    let account = account(&outcome.report);
    assert!(account.annotations.len() > 20 && account.dispatches.len() > 20, "{outcome:?}");
    assert_annotated(&account, &tables(&trace.path));
    assert_eq!(trace.count("ranges_recorded"), account.annotations.len() as i64);
    assert_eq!(trace.metadata.keys().find(|tag| tag.starts_with("ranges_lost")), None);
    assert_eq!(trace.left_out().len(), 0, "{:?}", trace.metadata);
}

#[test]
fn ranges_of_a_linked_program_are_recorded_and_tag_its_dispatches() {
    for library in LIBRARIES.map(library::roctx) {
        for process in processes(&["linked", "1", "400"]) {
            assert_recorded(&process.linked_to("ranges", &library).well());
        }
    }
}

#[test]
fn ranges_are_recorded_where_the_library_is_opened_by_its_path() {
    for library in LIBRARIES.map(library::roctx) {
        for process in processes(&[library.to_str().unwrap(), "1", "400"]) {
            assert_recorded(&process.well());
        }
    }
}

#[test]
fn ranges_are_recorded_where_a_library_is_opened_by_name_that_is_not_installed() {
    let names =
        ["libroctx64.so", "libroctx64.so.4", "librocprofiler-sdk-roctx.so", "librocprofiler-sdk-roctx.so.0"];
    for name in names {
        let Some(process) = Process::new("ranges") else { return };
        assert_recorded(&process.arguments(&[name, "1", "400"]).preloaded().well());
    }
}

#[test]
fn ranges_are_recorded_where_whatever_is_loaded_is_asked() {
    for process in processes(&["global", "1", "400"]) {
        assert_recorded(&process.well());
    }
}

#[test]
fn a_program_without_roctx_is_what_it_was() {
    for process in processes(&["libno-such-library.so", "1", "400"]) {
        let outcome = process.well();
        let tables = tables(&outcome.trace().path);
        assert!(tables.ranges.is_empty() && !tables.dispatches.is_empty());
    }
}

#[test]
fn eight_threads_nest_their_ranges_each_for_itself() {
    for process in processes(&["global", "8", "1000"]) {
        assert_recorded(&process.well());
    }
}

#[test]
fn ranges_alone_are_a_trace_too() {
    for stack in stacks() {
        let Some(process) = Process::on(&stack, "ranges") else { return };
        let outcome = process.arguments(&["global", "8", "3000", "no_gpu"]).preloaded().well();
        let trace = outcome.trace();
        let account = account(&outcome.report);
        assert!(account.annotations.len() > 5_000);
        assert_annotated(&account, &tables(&trace.path));
        assert_eq!((trace.count("complete"), trace.count("seen")), (1, 0));
    }
}

#[test]
fn a_preloaded_process_that_uses_neither_leaves_nothing() {
    for process in Process::on_every_stack("no_work") {
        assert!(process.arguments(&["nothing"]).preloaded().well().traces.is_empty());
    }
}

#[test]
fn without_being_preloaded_nothing_stands_in_for_roctx() {
    for process in Process::on_every_stack("ranges") {
        let library = library::roctx(LIBRARIES[0]);
        let outcome = process.arguments(&[library.to_str().unwrap(), "1", "400"]).well();
        assert!(recorded(&tables(&outcome.trace().path)).is_empty());
    }
}

#[test]
fn kernels_of_hip_carry_the_innermost_range_of_the_thread_that_launches_them() {
    for stack in stacks() {
        let library = library::roctx(LIBRARIES[0]);
        let arguments = [library.to_str().unwrap(), "20"];
        let Some(process) = Process::for_hip(&stack, "hip_ranges", &arguments) else { return };
        let outcome = process.preloaded().well();
        let account = account(&outcome.report);
        assert_eq!((account.annotations.len(), account.dispatches.len()), (40, 60));
        assert_annotated(&account, &tables(&outcome.trace().path));
    }
}

/// Two threads of Python, each with a range within another, by way of ctypes.
const SCRIPT: &str = "
import ctypes, sys, threading
roctx = ctypes.CDLL(sys.argv[1])
def work(name):
    levels = [roctx.roctxRangePushA(name + b' outer'), roctx.roctxRangePushA(name + b' inner')]
    assert levels == [0, 1], levels
    assert [roctx.roctxRangePop(), roctx.roctxRangePop(), roctx.roctxRangePop()] == [1, 0, -1]
threads = [threading.Thread(target=work, args=(name,)) for name in (b'one', b'two')]
for thread in threads: thread.start()
for thread in threads: thread.join()
";

#[test]
fn ranges_of_python_are_recorded_where_ctypes_opens_the_library_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.db");
    let run = || {
        let _ = std::fs::remove_file(&file);
        let mut python = Command::new("python3");
        python.args(["-c", SCRIPT]).arg(library::roctx(LIBRARIES[1]));
        python.env("LD_PRELOAD", library::tracer()).env("RTL_OUTPUT", &file).output()
    };
    let is_whole = |output: &std::io::Result<Output>| {
        !output.as_ref().is_ok_and(|output| output.status.success()) || Trace::read(&file).is_complete()
    };
    // The end of a process is delayed by half a second at most, which may be too little on a busy machine.
    let output = match until_whole("the trace was not written in time", run, is_whole) {
        Ok(output) => output,
        Err(error) => return skip(Need::Machine, format_args!("no python3 ({error})")),
    };
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let recorded: Vec<String> = recorded(&tables(&file)).into_keys().collect();
    assert_eq!(recorded, ["one inner", "one outer", "two inner", "two outer"]);
}

#[test]
fn other_libraries_are_opened_as_ever_also_those_that_only_the_callers_runpath_leads_to() {
    let sibling = library::roctx("libsibling.so");
    let folder = sibling.parent().unwrap().display();
    let runpath = format!("-Wl,--enable-new-dtags,-rpath,{folder}");
    let Some(program) = support::program_with("opens", &[&runpath]) else { return };
    let opens = |libraries: &[&str], preloaded: &[&str]| {
        let mut command = Command::new(&program);
        command.args(libraries).env_remove("LD_LIBRARY_PATH").env("LD_PRELOAD", preloaded.join(":"));
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let tracer = library::tracer();
    let others = ["libsibling.so", "libm.so.6", "libno-such-library.so", "", sibling.to_str().unwrap()];
    let bare = opens(&others, &[]);
    assert!(bare.contains("libsibling.so: yes") && bare.contains("libno-such-library.so: no"), "{bare}");
    assert_eq!(opens(&others, &[tracer.to_str().unwrap()]), bare);
    // Every name of roctx must be one library: the tracer.
    let theirs = ["librtl.so", "libroctx64.so", "/nowhere/librocprofiler-sdk-roctx.so.1"];
    let opened = opens(&theirs, &[tracer.to_str().unwrap()]);
    assert_eq!(opened.matches(": yes, the first").count(), 3, "{opened}");
}
