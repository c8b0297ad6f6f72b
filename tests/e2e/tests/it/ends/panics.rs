//! Tests of a panic anywhere in the tracer: the program notices nothing, and earlier records are kept.

use e2e::compare::assert_executed;
use e2e::{Process, Trace};

use super::{in_time, process, processes};

/// Places where the tracer panics at once (`tracer/src/base/fault.rs`): in its threads, in calls of the application, and as the
/// process exits.
const AT_ONCE: [&str; 6] = ["record", "collect", "submit", "hook", "any-hook", "exit"];

/// Places where it panics after a while, which may be before or after the end.
const LATER: [&str; 5] = ["record:2", "record:5", "collect:20", "submit:7", "hook:4"];

/// The tracer's line where it fails before it could know of any dispatch.
const FAILED: &str = "rtl: failed and is out of the way; from now on nothing is recorded";

#[track_caller]
fn assert_harmless(process: &Process) {
    let outcome = process.unchanged_in_one_run();
    for trace in outcome.traces.iter().filter_map(|file| Trace::read_begun(file)) {
        assert_executed(&outcome, &trace);
        let (recorded, seen) = (trace.count("recorded"), trace.count("seen"));
        let accounted = recorded + trace.left_out().values().sum::<i64>();
        assert!(recorded == trace.rows.len() as i64 && accounted <= seen, "{outcome:?} {:?}", trace.metadata);
    }
}

#[test]
fn a_panic_in_a_thread_of_the_tracer_or_of_the_application_changes_nothing_for_the_program() {
    for place in AT_ONCE {
        processes("exit").into_iter().for_each(|process| assert_harmless(&process.fails_at(place)));
    }
    for place in LATER {
        process("exit").into_iter().for_each(|process| assert_harmless(&process.fails_at(place)));
    }
}

#[test]
fn a_failure_of_the_tracer_is_said_in_a_line() {
    for (place, message) in [
        ("record", "after a failure of the tracer (the recorder failed)"),
        ("collect", FAILED),
        ("submit", FAILED),
        ("hook", FAILED),
        ("any-hook", FAILED),
        ("load", "rtl: failed to start; nothing is recorded"),
    ] {
        for process in processes("exit") {
            let process = process.fails_at(place);
            let outcome = in_time(|| process.unchanged_in_one_run());
            assert!(outcome.messages.iter().any(|line| line.contains(message)), "{place}: {outcome:?}");
        }
    }
}

#[test]
fn only_a_build_with_debug_assertions_has_places_to_fail_at() {
    let library = std::fs::read(e2e::library::tracer()).unwrap();
    let has = |text: &[u8]| library.windows(text.len()).any(|found| found == text);
    assert_eq!(has(b"RTL_FAULT"), cfg!(debug_assertions));
    assert!(has(b"RTL_OUTPUT"));
}
