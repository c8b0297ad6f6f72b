//! Tests of the runtime of ROCm 10: a larger extension table, queues by descriptor, kernels that are launched in clusters.

use std::collections::BTreeMap;
use std::path::PathBuf;

use e2e::Process;
use e2e::compare::{assert_complete, assert_has_what_was_executed};
use e2e::copies::{assert_copies, copies};
use support::stacks;

#[test]
fn queues_of_every_program_are_recorded() {
    for (program, arguments) in [
        ("own_signal", &["20"][..]),
        ("no_signal", &["300"]),
        ("shared_signal", &["20"]),
        ("threads", &["4", "50", "3"]),
    ] {
        for process in Process::on_every_stack(program) {
            assert_complete(&process.arguments(arguments).on_rocm_10().well());
        }
    }
}

#[test]
fn several_queues_in_one_call_are_what_their_descriptors_say_and_all_their_kernels_are_recorded() {
    for process in Process::on_every_stack("queue_descriptors") {
        let process = process.arguments(&["5"]).on_rocm_10();
        let (bare, traced) = (process.bare(), process.traced());
        assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout), "{traced:?}");
        assert!(traced.status.success(), "{traced:?}");
        assert_complete(&traced);
        // There are three queues, each of which launches four kernels a round, two of them in clusters.
        assert_eq!(traced.trace().rows.len(), 3 * 5 * 4);
        assert_eq!(traced.trace().count("packets_lost:engine"), 1);
        let at_the_end =
            "rtl: 1 of 1 packets are not in the trace: 1 on queues of SDMA, AIE or unknown engines";
        assert_eq!(traced.messages, ["rtl: packets on queues of SDMA are not recorded", at_the_end]);
    }
}

/// Requests to the driver for properties of queues, without the queues' numbers.
fn asked(log: &str) -> Vec<String> {
    let asked = log.lines().filter(|line| line.starts_with("priority") || line.starts_with("mask"));
    let rest = asked.map(|line| line.split('\t').enumerate().filter(|(at, _)| ![1, 3].contains(at)));
    rest.map(|columns| columns.map(|(_, text)| text).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_driver_is_asked_for_the_priority_and_the_compute_units_of_the_descriptors() {
    for process in Process::on_every_stack("queue_descriptors") {
        let process = process.on_rocm_10();
        let (bare, traced) = (asked(&process.bare().log), asked(&process.traced().log));
        assert_eq!(bare, traced, "{:?}", process.stack());
        let count = |what: &str| traced.iter().filter(|line| line.starts_with(what)).count();
        assert!(count("priority") > 0 && count("mask 1 0xf0f0f0f 0xf0f0f0f0 0xffff") > 0, "{traced:?}");
    }
}

#[test]
fn a_queue_of_several_that_is_not_made_interceptible_is_the_only_one_that_is_not_recorded() {
    for process in Process::on_every_stack("queue_descriptors") {
        let process = process.arguments(&["5"]).on_rocm_10().tool_before("refusing");
        let process = process.setting("REFUSED_PACKETS", "1024");
        let (bare, traced) = (process.bare(), process.traced());
        assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout), "{traced:?}");
        let trace = traced.trace();
        assert_eq!(trace.rows.len(), 2 * 5 * 4);
        // There are four kernels a round, and the barrier that the program waits for.
        assert_eq!(trace.count("packets_lost:unintercepted"), 5 * 4 + 1);
        assert_eq!(trace.count("seen"), trace.count("recorded"));
    }
}

#[test]
fn a_queue_of_several_that_cannot_be_created_changes_nothing_for_the_others() {
    for process in Process::on_every_stack("queue_descriptors") {
        let process = process.arguments(&["5"]).on_rocm_10().tool_before("refusing");
        let process = process.setting("REFUSED_PACKETS", "1024").setting("ROCM10_NO_BYTES", "65536");
        let (bare, traced) = (process.bare(), process.traced());
        assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout), "{traced:?}");
        assert!(traced.stdout.contains("\n3: none\n"), "{traced:?}");
        assert_eq!(traced.trace().rows.len(), 2 * 5 * 4);
        assert_complete(&traced);
    }
}

#[test]
fn queues_of_every_kind_stay_what_they_were_asked_to_be() {
    for process in Process::on_every_stack("queue_kinds") {
        let process = process.on_rocm_10();
        let (bare, traced) = (process.bare(), process.traced());
        assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout), "{traced:?}");
        assert!(traced.status.success(), "{traced:?}");
        assert_complete(&traced);
        assert_eq!(traced.messages, <[&str; 0]>::default());
    }
}

/// The destruction of a queue waits for callbacks, which take locks that HIP holds while it creates one.
#[test]
fn no_queue_is_created_besides_those_of_the_program() {
    for (program, arguments) in [("own_signal", &["20"][..]), ("threads", &["4", "50", "3"])] {
        for process in Process::on_every_stack(program) {
            let process = process.arguments(arguments).on_rocm_10();
            let [bare, traced] = [process.bare(), process.traced()];
            let queues = |log: &str| log.lines().filter(|line| line.starts_with("queue\t")).count();
            assert_eq!(queues(&bare.log), queues(&traced.log), "{traced:?}");
        }
    }
}

#[test]
fn a_program_has_its_queues_wherever_the_tracer_fails() {
    for place in 0..12 {
        for program in ["queue_descriptors", "queue_kinds"] {
            let Some(process) = Process::new(program) else { return };
            let process = process.arguments(&["2"]).on_rocm_10().fails_at(&format!("hook:{place}"));
            let (bare, traced) = (process.bare(), process.traced());
            assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout), "{place}: {traced:?}");
            assert!(traced.status.success(), "{place}: {traced:?}");
        }
    }
}

#[test]
fn kernels_of_hip_are_recorded() {
    for (program, arguments) in
        [("hip_streams", &["3", "20"][..]), ("hip_graph", &["5", "20"]), ("hip_threads", &[])]
    {
        for stack in stacks() {
            let Some(process) = Process::for_hip(&stack, program, arguments) else { return };
            let outcome = process.on_rocm_10().gpus(2).well();
            let trace = outcome.trace();
            assert_has_what_was_executed(&outcome, &trace);
            assert!(trace.left_out().is_empty() && !trace.rows.is_empty(), "{stack:?} {:?}", trace.metadata);
        }
    }
}

#[test]
fn each_operation_of_a_batch_of_copies_is_a_copy() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["batches"]).on_rocm_10().well();
        let trace = outcome.trace();
        assert_eq!(trace.left_out(), BTreeMap::new());
        assert_copies(&outcome, &trace, 0);
    }
}

#[test]
fn an_operation_with_several_entries_is_one_copy_with_all_their_bytes() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["lists"]).on_rocm_10().well();
        let trace = outcome.trace();
        assert_eq!(trace.left_out(), BTreeMap::new());
        let mut copies: Vec<_> =
            copies(&trace).into_iter().map(|row| (row.from, row.to, row.bytes)).collect();
        copies.sort_unstable();
        assert_eq!(copies, [(None, Some(0), 7000), (Some(0), Some(0), 1000)]);
    }
}

#[test]
fn batches_of_copies_complete_wherever_the_tracer_fails() {
    for place in 0..12 {
        let Some(process) = Process::new("copies") else { return };
        let process = process.arguments(&["batches"]).on_rocm_10().fails_at(&format!("hook:{place}"));
        let (bare, traced) = (process.bare(), process.traced());
        assert_eq!((bare.status, &bare.stdout), (traced.status, &traced.stdout), "{place}: {traced:?}");
        assert!(traced.status.success(), "{place}: {traced:?}");
    }
}

#[test]
fn tables_of_712_and_728_bytes_are_known_by_their_steps() {
    for (size, step) in [("712", "0x10"), ("728", "0x11")] {
        let Some(process) = Process::new("no_signal") else { return };
        let process = process.arguments(&["20"]).on_rocm_10();
        assert_complete(&process.setting("ROCM10_SIZE", size).setting("ROCM10_STEP", step).well());
    }
}

#[test]
fn a_table_of_another_branch_is_refused_in_one_line_and_the_program_runs() {
    for (size, step) in [("744", "0x11"), ("720", "0x10"), ("752", "0x13")] {
        let Some(process) = Process::new("no_signal") else { return };
        let process = process.arguments(&["20"]).on_rocm_10();
        let outcome = process.setting("ROCM10_SIZE", size).setting("ROCM10_STEP", step).unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        assert_eq!(outcome.traces, Vec::<PathBuf>::new());
        assert_eq!(outcome.messages.len(), 1, "{outcome:?}");
        assert!(outcome.messages[0].contains(&format!("{size} bytes, step {step}")), "{outcome:?}");
    }
}
