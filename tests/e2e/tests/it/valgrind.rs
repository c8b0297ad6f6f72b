//! Tests that every byte which the tracer reads has been written and is still allocated.

use std::path::Path;

use e2e::Process;
use e2e::compare::assert_complete;
use support::{Need, skip};

#[test]
fn memcheck_finds_nothing_but_what_is_the_runtimes_own() {
    if !Path::new("/usr/bin/valgrind").exists() {
        return skip(Need::Machine, "no /usr/bin/valgrind (apt-get install valgrind libc6-dbg)");
    }
    let suppressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("valgrind.supp");
    let suppressions = format!("--suppressions={}", suppressions.display());
    let memcheck = ["valgrind", "--quiet", "--error-exitcode=9", "--fair-sched=yes", &suppressions];
    for (program, arguments) in [("own_signal", ["20"]), ("no_signal", ["20"]), ("shared_signal", ["20"])] {
        let Some(process) = Process::new(program) else { return };
        let outcome = process.arguments(&arguments).started_by(&memcheck).well_when_traced();
        assert!(outcome.stderr.is_empty(), "{outcome:?}");
        assert_complete(&outcome);
    }
}
