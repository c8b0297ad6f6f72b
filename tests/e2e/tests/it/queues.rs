//! Tests of queues of every kind, and of queues that are destroyed while they have work.

use e2e::Process;
use e2e::compare::{assert_complete, assert_true};

#[test]
fn queues_stay_what_they_were_asked_to_be() {
    for process in Process::on_every_stack("queue_kinds") {
        let (bare, traced) = (process.bare(), process.traced());
        assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout));
        assert!(traced.status.success(), "{traced:?}");
        // The runtime destroys its one cooperative queue itself; two signals of the interceptible one remain, which Debian's
        // builds of the runtime, made with assertions, report.
        let rest = traced.stderr.lines().filter(|line| !line.contains("leak detected by SharedSignalPool"));
        assert_eq!(rest.count(), 0, "{traced:?}");
        assert_complete(&traced);
    }
}

#[test]
fn a_queue_that_is_destroyed_in_flight_loses_only_what_never_ended() {
    for process in Process::on_every_stack("destroy_in_flight") {
        let outcome = process.arguments(&["4", "7"]).setting("KFD_SIM_KERNEL_NS", "20000000").unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        let trace = outcome.trace();
        assert_true(&outcome, &trace);
        // The first kernel of each queue was waited for.
        assert!(trace.rows.len() >= 4, "{outcome:?}");
        let lost: Vec<&str> = trace.left_out().into_keys().collect();
        assert_eq!(lost, ["lost:queue_destroyed"]);
        assert_eq!(outcome.messages.len(), 1, "one line says that something was lost: {outcome:?}");
    }
}

#[test]
fn a_queue_that_is_left_to_the_runtime_does_no_harm() {
    for process in Process::on_every_stack("left_queue") {
        assert_complete(&process.well_when_traced());
    }
}
