//! Tests of correct and incorrect uses of roctx: results are those of AMD's library, and records are true.

use std::collections::BTreeMap;

use e2e::annotations::tables;
use e2e::{Outcome, Process, library};
use rtl_schema::Tables;
use rtl_schema::table::RangeKind;

const SDK: &str = "librocprofiler-sdk-roctx.so.1";

fn process(library: &std::path::Path, what: &str) -> Option<Process> {
    Some(Process::new("roctx_edges")?.arguments(&[library.to_str()?, what]).preloaded())
}

/// Numbers of records by text, kind, and whether they have an end.
fn counts(tables: &Tables) -> BTreeMap<(String, RangeKind, bool), usize> {
    let mut counts = BTreeMap::new();
    for range in &tables.ranges {
        let text: String = tables.strings.get(range.name).chars().take(20).collect();
        *counts.entry((text, range.kind, range.duration.is_some())).or_default() += 1;
    }
    counts
}

/// Checks the records of the steps `usual`, whatever the library.
fn assert_usual(outcome: &Outcome) -> Tables {
    let tables = tables(&outcome.trace().path);
    let counts = counts(&tables);
    let count =
        |text: &str, kind, has_end| counts.get(&(text.to_owned(), kind, has_end)).copied().unwrap_or(0);
    let (nested, started, instant) = (RangeKind::Thread, RangeKind::Process, RangeKind::Marker);
    let long = "m".repeat(20);
    for (text, kind, expected) in [
        ("plain", nested, 2),
        ("", nested, 2),
        ("caf\u{fffd}", nested, 1),
        (&long, nested, 1),
        (&long, instant, 1),
        ("", instant, 1),
        ("first", started, 1),
        ("second", started, 1),
        ("popped", nested, 1),
        ("in a signal handler", nested, 1),
        ("in a signal handler", instant, 1),
        ("around a signal", nested, 1),
        ("last", instant, 1),
    ] {
        assert_eq!(count(text, kind, true), expected, "{text} {kind:?} {counts:?}");
    }
    assert_eq!((count("never popped", nested, false), count("never stopped", started, false)), (1, 1));
    let longest = tables.ranges.iter().map(|range| tables.strings.get(range.name).len()).max();
    assert_eq!(longest, Some(16_384 - 1 + "…".len()));
    // Rust's own thread-local values are gone by then.
    let said =
        "rtl: 1 ranges or markers are not in the trace: 1 in signal handlers or at the very end of threads";
    assert_eq!(outcome.messages, [said]);
    tables
}

#[test]
fn what_the_older_library_returns_and_what_is_recorded() {
    let Some(process) = process(&library::roctx("libroctx64.so.4"), "usual") else { return };
    let outcome = process.unchanged();
    assert!(outcome.status.success(), "{outcome:?}");
    assert_usual(&outcome);
}

#[test]
fn what_amds_own_library_returns_is_returned() {
    let Some(library) = support::roctx() else { return };
    for what in ["usual", "deep"] {
        let Some(process) = process(&library, what) else { return };
        assert!(process.unchanged().status.success());
    }
}

#[test]
fn what_the_newer_library_returns_names_and_pauses() {
    let Some(process) = process(&library::roctx(SDK), "usual") else { return };
    let outcome = process.unchanged();
    assert!(outcome.status.success(), "{outcome:?}");
    let tables = assert_usual(&outcome);
    let counts = counts(&tables);
    let text = "within a range that is not recorded".chars().take(20).collect();
    assert_eq!(counts.get(&(text, RangeKind::Marker, true)), Some(&1));
    assert!(counts.keys().all(|(text, ..)| text != "paused"), "{counts:?}");
    let trace = outcome.trace();
    assert_eq!(trace.count("ranges_skipped:paused"), 2);
    let pid = trace.count("pid");
    let named: Vec<&str> = tables
        .threads
        .iter()
        .filter(|thread| thread.tid == pid)
        .filter_map(|thread| thread.name.as_deref())
        .collect();
    assert_eq!(named, ["the first thread"]);
    let names = tables.info.metadata.iter().filter(|(tag, _)| tag == "name").map(|(_, row)| row.as_str());
    let names: Vec<&str> = names.collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names[0].contains("an agent") && names[0].contains("77"), "{names:?}");
}

#[test]
fn ranges_that_are_nested_too_deep_are_counted() {
    let Some(process) = process(&library::roctx(SDK), "deep") else { return };
    let outcome = process.unchanged();
    assert_eq!(outcome.stdout, "2999\n0 -1\n");
    let trace = outcome.trace();
    assert_eq!((trace.count("ranges_recorded"), trace.count("ranges_lost:bounds")), (1024, 1976));
}

#[test]
fn more_texts_than_are_kept_leave_ranges_without_a_name() {
    const MARKS: i64 = 140_000;
    const KEPT: i64 = 1 << 17;
    let Some(process) = process(&library::roctx(SDK), "many") else { return };
    let outcome = process.unchanged();
    let trace = outcome.trace();
    // A recorder that is given no turn on a busy machine counts its losses.
    let lost: i64 =
        trace.metadata.keys().filter(|tag| tag.starts_with("ranges_lost:")).map(|tag| trace.count(tag)).sum();
    assert_eq!(trace.count("ranges_recorded") + lost, MARKS);
    let unnamed = trace.count("ranges_unnamed");
    assert!(MARKS - KEPT - lost <= unnamed && unnamed <= MARKS - KEPT, "{:?}", trace.metadata);
    let unkept =
        counts(&tables(&trace.path)).get(&("(text not kept)".into(), RangeKind::Marker, true)).copied();
    assert_eq!(unkept.unwrap_or(0) as i64, unnamed);
}

#[test]
fn a_forked_child_has_its_parents_levels_and_a_recording_of_its_own() {
    let Some(process) = process(&library::roctx(SDK), "fork") else { return };
    let outcome = process.well();
    assert_eq!(outcome.stdout, "0\n1 1 0 -1\n0 0\n");
    let texts = |path| counts(&tables(path)).into_keys().collect::<Vec<_>>();
    let mut found: Vec<_> = outcome.traces.iter().flat_map(|path| texts(path)).collect();
    found.sort();
    let range = |text: &str| (text.to_owned(), RangeKind::Thread, true);
    assert_eq!((outcome.traces.len(), found), (2, vec![range("of the child"), range("of the parent")]));
}

#[test]
fn an_exception_of_a_registered_callback_reaches_the_program() {
    for process in Process::on_every_stack("throws") {
        // Without the tracer there is no roctx.
        let outcome = process.arguments(&["roctx"]).preloaded().well_when_traced();
        let said = ["pushed: 0", "not pushed: caught 8", "not popped: caught 8", "popped: 0"];
        assert!(outcome.stdout.ends_with(&format!("{}\n", said.join("\n"))), "{outcome:?}");
        let tables = tables(&outcome.trace().path);
        assert_eq!(counts(&tables), BTreeMap::from([(("outer".to_owned(), RangeKind::Thread, true), 1)]));
    }
}
