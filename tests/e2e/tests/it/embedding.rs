//! Tests of programs with callbacks in place of a file.

mod linked;

use e2e::annotations::{account, assert_annotated, tables};
use e2e::compare::{assert_complete, assert_has_what_was_executed};
use e2e::copies::{assert_copies, assert_copies_were_executed, copies};
use e2e::embedded::{embedded, embedded_by};
use e2e::{Outcome, Process, library};
use support::stacks;

use crate::barriers::assert_barriers;

/// RTL_ENQUEUED and RTL_ARGUMENTS.
const WITH_ENQUEUED: &str = "1";
const WITH_ARGUMENTS: &str = "2";

#[test]
fn every_kernel_is_delivered_as_it_ran() {
    for process in Process::on_every_stack("threads") {
        let outcome = embedded(&process.arguments(&["4", "320", "8"]).gpus(2));
        assert!(assert_complete(&outcome).rows.len() >= 1_000);
    }
}

#[test]
fn every_copy_is_delivered_as_it_was_made() {
    for process in Process::on_every_stack("copies") {
        let outcome = embedded(&process.arguments(&["ways"]).gpus(2));
        assert_copies(&outcome, &outcome.trace(), 0);
    }
}

#[test]
fn ranges_are_delivered_and_tag_kernels() {
    for process in Process::on_every_stack("ranges") {
        let outcome = embedded(&process.arguments(&["global", "2", "400"]));
        let (trace, account) = (outcome.trace(), account(&outcome.report));
        assert!(account.annotations.len() > 20 && account.dispatches.len() > 20, "{outcome:?}");
        assert_annotated(&account, &tables(&trace.path));
        assert_eq!(trace.count("ranges_recorded"), account.annotations.len() as i64);
    }
}

#[test]
fn everything_that_hip_does_is_delivered() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_copies", &["100004"]) else { return };
        let outcome = embedded(&process.gpus(1));
        let trace = outcome.trace();
        assert_has_what_was_executed(&outcome, &trace);
        assert_copies_were_executed(&outcome.log, &trace);
        assert!(!trace.rows.is_empty() && trace.left_out().is_empty(), "{stack:?} {:?}", trace.metadata);
    }
}

#[test]
fn calls_of_hip_are_delivered_with_the_kernels_that_they_launched() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let process = process.setting("EMBED_ONLY", "calls").setting("EMBED_OPTIONS", WITH_ARGUMENTS);
        let libraries = [library::tracer(), library::companion(), library::tool("embedder")];
        let outcome = embedded_by(&process, &libraries);
        let trace = outcome.trace();
        assert_has_what_was_executed(&outcome, &trace);
        assert!(!trace.rows.is_empty() && trace.left_out().is_empty(), "{stack:?} {:?}", trace.metadata);
        let launches: i64 =
            outcome.stdout.lines().map(|line| line.split_once('\t').unwrap().1.parse::<i64>().unwrap()).sum();
        let database = trace.database();
        let count = |query: &str| database.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        let calls = "SELECT count(*) FROM rocpd_api JOIN rocpd_string name ON name.id = apiName_id
                     JOIN rocpd_string args ON args.id = args_id
                     WHERE name.string = 'hipModuleLaunchKernel' AND args.string <> ''";
        assert_eq!(count(calls), launches);
        let linked = "SELECT count(*) FROM rocpd_op JOIN rocpd_api call ON call.correlationId = rocpd_op.correlationId
                      JOIN rocpd_string name ON name.id = call.apiName_id
                      WHERE name.string = 'hipModuleLaunchKernel' AND call.tid = rocpd_op.tid AND call.start < rocpd_op.start";
        assert_eq!(count(linked), launches);
        assert_eq!(
            (trace.count("hip_seen"), trace.count("hip_recorded")),
            (count("SELECT count(*) FROM rocpd_api"), count("SELECT count(*) FROM rocpd_api"))
        );
    }
}

/// The numbers in the recorder's lines of a kind.
fn lines_of(process: &Process, kind: &str) -> Vec<Vec<i64>> {
    let records = std::fs::read_to_string(process.folder().join("embedded/records")).unwrap();
    let lines = records.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t'));
    lines.map(|line| line.split('\t').filter_map(|column| column.parse().ok()).collect()).collect()
}

#[test]
fn calls_say_what_they_asked_for_also_without_arguments() {
    for stack in stacks() {
        let copies = || Some(Process::for_hip(&stack, "hip_copies", &["100004"])?.gpus(1));
        let (Some(recording), Some(process)) = (copies(), copies()) else { return };
        let recording = recording.calls();
        let recorded = recording.well().trace();
        let process = process.setting("EMBED_ONLY", "calls");
        let libraries = [library::tracer(), library::companion(), library::tool("embedder")];
        let _ = embedded_by(&process, &libraries);
        // The call's number and the addresses are left out by `parse`.
        let mut params: Vec<Vec<i64>> =
            lines_of(&process, "asked").into_iter().map(|line| line[1..].to_vec()).collect();
        let database = recorded.database();
        let mut statement = database
            .prepare(
                "SELECT size, coalesce(width, 0), coalesce(height, 0), iif(src IS NULL, -1, kind), src IS NULL FROM rocpd_copyapi",
            )
            .unwrap();
        let rows = statement.query_map([], |row| (0..5).map(|at| row.get(at)).collect()).unwrap();
        let mut expected: Vec<Vec<i64>> = rows.map(Result::unwrap).collect();
        params.sort();
        expected.sort();
        assert!(params.len() > 8, "{params:?}");
        assert_eq!(params, expected, "{stack:?}");

        let Some(process) = Process::for_hip(&stack, "hip_streams", &["3", "20"]) else { return };
        let process = process.setting("EMBED_ONLY", "calls");
        let trace = embedded_by(&process, &libraries).trace();
        let launches = lines_of(&process, "launch");
        assert!(!launches.is_empty() && launches.len() == trace.rows.len(), "{stack:?} {launches:?}");
        let shaped = |launch: &&Vec<i64>| launch[1..] == [64, 1, 1, 64, 1, 1, 0];
        assert_eq!(launches.iter().filter(shaped).count(), launches.len(), "{launches:?}");
    }
}

#[test]
fn every_barrier_is_delivered_as_it_was_executed() {
    for process in Process::on_every_stack("dependencies") {
        let outcome = embedded(&process.arguments(&["5"]).setting("EMBED_ONLY", "barriers"));
        let trace = outcome.trace();
        assert_barriers(&outcome, &trace);
        assert_eq!((trace.count("barriers_seen"), trace.rows.len()), (10, 0), "{:?}", trace.metadata);
    }
}

#[test]
fn ops_say_when_they_were_enqueued_where_that_is_asked_for() {
    for process in Process::on_every_stack("copies") {
        let process = process.arguments(&["ways"]).gpus(2);
        let enqueued = |process: &Process| -> (i64, i64) {
            let query = "SELECT count(enqueued), coalesce(sum(enqueued > start), 0) FROM rocpd_op";
            let database = embedded(process).trace().database();
            database.query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
        };
        assert_eq!(enqueued(&process), (0, 0));
        let (some, too_late) = enqueued(&process.setting("EMBED_OPTIONS", WITH_ENQUEUED));
        assert!(some > 0 && too_late == 0, "{some} {too_late}");
    }
}

#[test]
fn calls_of_hsa_are_delivered_where_they_are_asked_for_and_wanted() {
    for process in Process::on_every_stack("threads") {
        let process = process.arguments(&["4", "320", "8"]).setting("RTL_HSA_API_FILTER", "hsa_queue_create");
        let process = process.setting("EMBED_ONLY", "calls");
        let trace = embedded(&process).trace();
        let queues: i64 = trace
            .database()
            .query_row(
                "SELECT count(*) FROM rocpd_api JOIN rocpd_string name ON name.id = apiName_id
                 JOIN rocpd_string domain ON domain.id = domain_id
                 WHERE name.string = 'hsa_queue_create' AND domain.string = 'HSA'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!((queues, trace.count("hip_recorded")), (8, 8), "{:?}", trace.metadata);
        let without = embedded(&process.setting("EMBED_ONLY", "kernels")).trace();
        assert_eq!((without.count("hip_seen"), without.rows.is_empty()), (0, false));
    }
}

#[test]
fn what_has_no_callback_is_not_recorded() {
    let counts = |only: &str| {
        let process = Process::new("copies")?.arguments(&["kernels"]).setting("EMBED_ONLY", only);
        let trace = embedded(&process).trace();
        Some((
            trace.rows.len() as i64 == trace.count("seen"),
            trace.count("seen") > 0,
            !copies(&trace).is_empty(),
        ))
    };
    let Some(kernels) = counts("kernels") else { return };
    assert_eq!(kernels, (true, true, false));
    assert_eq!(counts("copies"), Some((true, false, true)));
    assert_eq!(counts("ranges"), Some((true, false, false)));
}

/// Runs `embed.c`, which is linked to the library, on every runtime, and checks that it succeeds and leaves no file.
#[track_caller]
fn each_finds(what: &str) -> Vec<Outcome> {
    each_of("embed", what)
}

/// Does the same with `embed_inside.c`.
#[track_caller]
fn each_finds_inside(what: &str) {
    each_of("embed_inside", what);
}

#[track_caller]
fn each_of(program: &str, what: &str) -> Vec<Outcome> {
    let linked = |process: Process| process.linked_to(program, &library::tracer()).arguments(&[what]);
    let processes = Process::on_every_stack("copies").into_iter().map(linked);
    processes.map(|process| finds(&process)).collect()
}

#[track_caller]
fn finds(process: &Process) -> Outcome {
    let outcome = process.bare();
    assert!(outcome.status.success(), "{:?}: {outcome:?}", process.stack());
    assert_eq!((outcome.traces.len(), outcome.messages.len()), (0, 0), "no file, no word: {outcome:?}");
    outcome
}

#[test]
fn wrong_registrations_are_refused_and_say_why() {
    for outcome in each_finds("arguments") {
        let texts: Vec<&str> =
            outcome.stdout.lines().filter_map(|line| line.split_once('\t')).map(|(_, text)| text).collect();
        assert_eq!((texts.len(), texts[0], texts[9]), (10, "ok", "no such status"));
        assert!(texts[1..].iter().all(|text| text.len() > 10), "{texts:?}");
    }
}

#[test]
fn who_registers_when_the_runtime_runs_is_too_late() {
    for outcome in each_finds("late") {
        assert!(outcome.stdout.starts_with("too late: the ROCm runtime runs already"), "{outcome:?}");
    }
}

#[test]
fn a_program_that_knows_less_than_the_library_is_given_what_it_knows() {
    each_finds("older");
}

#[test]
fn a_program_that_knows_more_than_the_library_may_do_without() {
    each_finds("newer");
}

#[test]
fn a_callback_may_use_the_gpu_and_ranges_and_must_not_wait_for_itself() {
    each_finds_inside("inside");
}

#[test]
fn a_callback_may_end_the_process() {
    for process in Process::on_every_stack("copies") {
        let process = process.linked_to("embed_inside", &library::tracer()).arguments(&["exit_inside"]);
        assert_eq!(process.bare().status.code(), Some(3), "{:?}", process.stack());
    }
}

#[test]
fn a_child_that_a_callback_forks_ends_when_it_returns() {
    each_finds_inside("fork_inside");
}

#[test]
fn gpus_threads_and_streams_have_names() {
    each_finds_inside("names");
}

#[test]
fn a_flush_delivers_what_has_completed_and_does_not_wait_for_what_runs() {
    each_finds("flush");
}

#[test]
fn after_a_stop_nothing_is_delivered() {
    each_finds("stop");
}

#[test]
fn another_life_of_the_runtime_is_delivered_too() {
    // Later runtimes do not start twice on the simulator.
    let Some(process) = Process::new("copies") else { return };
    finds(&process.linked_to("embed", &library::tracer()).arguments(&["again"]));
}

#[test]
fn a_slow_callback_makes_nobody_wait_and_what_it_misses_is_counted() {
    // One runtime suffices, because the delay is not in the runtime, and 400,000 kernels take long on a busy machine.
    let Some(process) = Process::new("copies") else { return };
    let process = process.linked_to("embed_inside", &library::tracer()).setting("KFD_SIM_KERNEL_NS", "10");
    finds(&process.setting("RTL_BUFFER", "24M").arguments(&["slow"]));
}

#[test]
fn a_stop_waits_for_a_callback_that_is_running() {
    each_finds_inside("stuck");
}

#[test]
fn a_forked_child_delivers_nothing_and_its_parent_goes_on() {
    each_finds("fork");
}

#[test]
fn a_forked_child_may_register_for_itself() {
    each_finds("fork_first");
}

#[test]
fn programs_that_it_starts_leave_no_file() {
    // The loader of the other runtimes cannot start a second program as itself.
    let Some(process) = Process::new("copies") else { return };
    finds(&process.linked_to("embed", &library::tracer()).arguments(&["exec"]));
}

#[test]
fn the_last_records_are_delivered_when_the_process_leaves_without_exit() {
    for outcome in each_finds("leave") {
        let delivered: i64 = outcome.stdout.lines().map(|line| line.parse::<i64>().unwrap()).sum();
        assert_eq!(delivered, 100, "{outcome:?}");
    }
}

#[test]
fn the_last_records_are_delivered_when_the_process_exits() {
    for outcome in each_finds("exit") {
        assert_eq!(outcome.stdout, "100 at the end, told 1 times\n");
    }
}
