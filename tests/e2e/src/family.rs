//! Compares, for several processes of one run, the dispatches in the simulator's log with the files of each.

use std::collections::{BTreeMap, BTreeSet};

use support::Stack;

use crate::launched::{Unmatched, launched};
use crate::outcome::Outcome;
use crate::trace::Trace;

/// The oldest and the newest runtime of this machine, for tests that take long.
#[must_use]
pub fn oldest_and_newest() -> Vec<Stack> {
    let mut stacks = support::stacks();
    let newest = stacks.pop();
    stacks.truncate(1);
    stacks.extend(newest);
    stacks
}

/// The lines of a log of the simulator that are about one process.
#[must_use]
pub fn log_of(log: &str, pid: &str) -> String {
    let lines = log.lines().filter(|line| line.split('\t').nth(1) == Some(pid));
    lines.fold(String::new(), |all, line| all + line + "\n")
}

#[must_use]
pub fn pids(log: &str) -> BTreeSet<&str> {
    log.lines().filter_map(|line| line.split('\t').nth(1)).collect()
}

/// Checks that each process of a run has recorded everything that was executed for it, in files of its own that are complete and
/// left nothing out; returns the files by process. One that used no GPU has a file for its ranges.
#[track_caller]
pub fn assert_each_recorded(outcome: &Outcome) -> BTreeMap<String, Vec<Trace>> {
    let mut traces: BTreeMap<String, Vec<Trace>> = BTreeMap::new();
    for path in &outcome.traces {
        let trace = Trace::read(path);
        traces.entry(trace.metadata["pid"].clone()).or_default().push(trace);
    }
    for pid in pids(&outcome.log) {
        let executed = launched(&log_of(&outcome.log, pid));
        let files = traces.get(pid).map_or(&[][..], Vec::as_slice);
        let recorded: usize = files.iter().map(|trace| trace.rows.len()).sum();
        assert_eq!(recorded, executed.len(), "process {pid}: {outcome:?}");
        let mut left = Unmatched::new(&executed);
        files.iter().for_each(|trace| left.take(trace));
    }
    for trace in traces.values().flatten() {
        assert_whole(trace);
    }
    traces
}

/// Checks that a trace is complete, left nothing out, and is not empty.
#[track_caller]
pub fn assert_whole(trace: &Trace) {
    let ranges = trace.count("ranges_recorded");
    let lost = trace.metadata.keys().find(|tag| tag.starts_with("ranges_lost"));
    assert_eq!((trace.left_out(), lost), (BTreeMap::new(), None), "{:?}", trace.metadata);
    let seen = (trace.count("seen"), trace.count("recorded"));
    assert_eq!(seen, (trace.rows.len() as i64, trace.rows.len() as i64), "{:?}", trace.metadata);
    assert!(!trace.rows.is_empty() || ranges > 0, "{:?}", trace.metadata);
    assert!(trace.is_complete(), "{:?}", trace.metadata);
}

/// Numbers of kernels and of ranges in each file, the fewest first.
#[must_use]
pub fn counts(traces: &BTreeMap<String, Vec<Trace>>) -> Vec<(usize, i64)> {
    let traces = traces.values().flatten();
    let mut counts: Vec<(usize, i64)> =
        traces.map(|trace| (trace.rows.len(), trace.count("ranges_recorded"))).collect();
    counts.sort_unstable();
    counts
}
