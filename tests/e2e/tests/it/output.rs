//! Tests of the place and the size of the file, and of failures to write it.

use std::fs;

use e2e::Process;
use e2e::compare::{assert_complete, assert_true};

#[test]
fn folders_are_made_and_the_pid_is_in_the_name() {
    let Some(process) = Process::new("no_signal") else { return };
    let folder = process.folder().join("deep/er");
    let pattern = folder.join("run_%p.db");
    let process = process.arguments(&["5"]).setting("RTL_OUTPUT", &pattern);
    let mut outcome = process.unchanged();
    outcome.traces = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    let trace = assert_complete(&outcome);
    let name = format!("run_{}.db", trace.metadata["pid"]);
    assert_eq!(trace.path.file_name().unwrap().to_str(), Some(name.as_str()));
}

#[test]
fn the_older_name_of_the_variable_is_understood() {
    let Some(process) = Process::new("no_signal") else { return };
    let file = process.folder().join("old.db");
    let process = process.arguments(&["5"]).setting("RTL_OUTPUT", "").setting("RPD_LITE_OUTPUT", &file);
    let mut outcome = process.unchanged();
    assert!(outcome.traces.is_empty(), "{outcome:?}");
    outcome.traces = vec![file];
    assert_complete(&outcome);
}

#[test]
fn a_file_that_cannot_be_created_is_one_line_and_every_dispatch_is_executed() {
    let Some(process) = Process::new("own_signal") else { return };
    let file = process.folder().join("file");
    fs::write(&file, "not a folder").unwrap();
    for output in [file.join("trace.db"), "/proc/trace.db".into()] {
        let Some(process) = Process::new("own_signal") else { return };
        let outcome = process.arguments(&["30"]).setting("RTL_OUTPUT", &output).unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        assert_eq!((outcome.reported.len(), outcome.traces.len()), (30, 0));
        assert_eq!(outcome.messages.len(), 1, "{output:?} {outcome:?}");
        assert!(outcome.messages[0].contains(output.to_str().unwrap()), "it says which: {outcome:?}");
    }
}

#[test]
fn a_file_with_a_bound_stays_below_it_and_counts_what_it_leaves_out() {
    const BOUND: u64 = 256 * 1024;
    for process in Process::on_every_stack("no_signal") {
        let process = process.arguments(&["10000"]).setting("KFD_SIM_KERNEL_NS", "1000");
        let outcome = process.setting("RTL_MAX_SIZE", BOUND.to_string()).unchanged();
        let trace = outcome.trace();
        assert!(trace.path.metadata().unwrap().len() <= BOUND);
        assert!(trace.rows.len() > 100, "{:?}", trace.metadata);
        assert_true(&outcome, &trace);
        assert_eq!(trace.left_out().into_keys().collect::<Vec<&str>>(), ["lost:full"]);
        assert_eq!(outcome.messages.len(), 1, "{outcome:?}");
    }
}
