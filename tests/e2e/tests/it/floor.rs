//! Tests of the programs themselves with the least of all tools, whose results the other tests rely on.

use e2e::Process;

#[test]
fn programs_are_executed_and_reported_alike_with_a_tool_that_does_nothing() {
    for (program, arguments) in [
        ("own_signal", ["10", ""]),
        ("no_signal", ["10", ""]),
        ("shared_signal", ["50", ""]),
        ("waits_for_later", ["3", "5"]),
        ("threads", ["4", "64"]),
        ("profiler_off", ["4", ""]),
    ] {
        for process in Process::on_every_stack(program) {
            let outcome = process.arguments(&arguments).floor();
            assert!(outcome.status.success(), "{program}: {outcome:?}");
            let ours = |object| outcome.reported.iter().any(|dispatch| dispatch.object == object);
            let executed = outcome.executed.iter().filter(|dispatch| ours(dispatch.object)).count();
            assert_eq!(executed, outcome.reported.len(), "{program}: {outcome:?}");
        }
    }
}
