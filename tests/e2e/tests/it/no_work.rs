//! Processes without work for a GPU.

use std::path::PathBuf;

use e2e::Process;

#[test]
fn a_process_that_asks_no_gpu_for_anything_leaves_no_file() {
    for what in ["nothing", "agents", "queue"] {
        for process in Process::on_every_stack("no_work") {
            assert_eq!(process.arguments(&[what]).well().traces, Vec::<PathBuf>::new(), "{what}");
        }
    }
}
