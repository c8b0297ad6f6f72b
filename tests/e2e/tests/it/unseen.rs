//! Tests of packets that do not pass the tracer: they are counted in the file and reported, and queues without packets are not.

use std::collections::BTreeMap;
use std::path::PathBuf;

use e2e::{Outcome, Process, Trace};

/// The counts of unseen packets in the file.
fn packets(trace: &Trace) -> BTreeMap<&str, i64> {
    let tags = trace.metadata.keys().filter(|tag| tag.starts_with("packets_"));
    tags.map(|tag| (tag.as_str(), trace.count(tag))).collect()
}

/// Checks that the file has nothing but the counts, and that the line at the end agrees.
#[track_caller]
fn assert_counted(outcome: &Outcome, packets_lost: i64, reason: &str, description: &str, before: &[&str]) {
    assert!(outcome.status.success(), "{outcome:?}");
    let trace = outcome.trace();
    let tag = format!("packets_lost:{reason}");
    let expected = [("packets_seen", packets_lost), ("packets_recorded", 0), (tag.as_str(), packets_lost)];
    assert_eq!(packets(&trace), BTreeMap::from(expected), "{outcome:?}");
    assert!(trace.is_complete() && trace.rows.is_empty() && trace.count("seen") == 0);
    let line = format!(
        "rtl: {packets_lost} of {packets_lost} packets are not in the trace: {packets_lost} {description}"
    );
    let messages: Vec<&str> = before.iter().copied().chain([line.as_str()]).collect();
    assert_eq!(outcome.messages, messages);
}

#[test]
fn packets_on_counted_queues_are_counted_also_of_queues_that_are_never_released() {
    for process in Process::on_every_stack("unseen") {
        let outcome = process.arguments(&["counted"]).on_rocm_10().unchanged();
        let before = ["rtl: packets on counted queues are not recorded"];
        assert_counted(&outcome, 20 + 1 + 1, "counted_queue", "on counted queues", &before);
    }
}

#[test]
fn packets_on_queues_that_the_runtime_does_not_make_interceptible_are_counted() {
    for process in Process::on_every_stack("unseen") {
        let outcome = process.arguments(&["launched"]).tool_before("refusing").unchanged();
        assert_counted(&outcome, 20 + 1, "unintercepted", "on queues that cannot be intercepted", &[]);
    }
}

#[test]
fn the_same_holds_for_queues_by_descriptor() {
    for process in Process::on_every_stack("unseen") {
        let outcome = process.arguments(&["launched"]).on_rocm_10().tool_before("refusing").unchanged();
        let before = ["rtl: a queue is not recorded: it cannot be intercepted"];
        assert_counted(&outcome, 20 + 1, "unintercepted", "on queues that cannot be intercepted", &before);
    }
}

#[test]
fn packets_that_were_written_to_a_queue_and_never_passed_its_interceptor_are_counted() {
    for process in Process::on_every_stack("unseen") {
        let process = process.arguments(&["unrung"]);
        assert_counted(&process.unchanged(), 3 + 4, "bypassed", "that did not pass the interceptor", &[]);
        // The runtime itself reports other signals of an interceptible queue than of a plain one.
        let left = process.arguments(&["left"]).traced();
        assert_counted(&left, 3 + 4, "bypassed", "that did not pass the interceptor", &[]);
    }
}

#[test]
fn queues_without_packets_and_loaded_kernels_are_no_reason_to_report_anything() {
    for (what, message) in
        [("unused", &["rtl: packets on counted queues are not recorded"][..]), ("created", &[])]
    {
        for process in Process::on_every_stack("unseen") {
            let outcome = process.arguments(&[what]).on_rocm_10().unchanged();
            assert_eq!(
                (outcome.traces.as_slice(), outcome.messages.as_slice()),
                (&[] as &[PathBuf], &message.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()[..])
            );
        }
    }
    for process in Process::on_every_stack("unseen") {
        let outcome = process.arguments(&["created"]).tool_before("refusing").unchanged();
        assert_eq!((outcome.traces.len(), outcome.messages.len()), (0, 0), "{outcome:?}");
    }
}

#[test]
fn a_program_that_only_looks_for_gpus_by_hip_reports_nothing_on_rocm_10() {
    for stack in support::stacks() {
        let Some(process) = Process::for_python(&stack, "workers", &["look"]) else { return };
        let outcome = process.preloaded().on_rocm_10().well();
        assert_eq!(outcome.traces.len(), 0, "{outcome:?}");
    }
}
