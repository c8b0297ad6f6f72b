//! Tests of Python's multiprocessing, in each of its three ways to start a process. Two of them end their children by `_exit`.

use e2e::Process;
use e2e::family::{assert_each_recorded, counts, oldest_and_newest};

#[test]
fn each_worker_has_all_of_its_kernels_and_a_parent_without_any_has_no_file() {
    for stack in oldest_and_newest() {
        for method in ["fork", "spawn", "forkserver"] {
            let Some(process) = Process::for_python(&stack, "workers", &[method, "2"]) else { return };
            let outcome = process.preloaded().gpus(2).well();
            assert_eq!(outcome.stdout, "[0, 0]\n");
            assert_eq!(counts(&assert_each_recorded(&outcome)), [(10, 0), (20, 0)], "{method}");
        }
    }
}

#[test]
fn a_parent_with_kernels_has_a_file_too() {
    let Some(stack) = oldest_and_newest().pop() else { return };
    let Some(process) = Process::for_python(&stack, "workers", &["spawn", "2", "first"]) else { return };
    let outcome = process.preloaded().well();
    assert_eq!(outcome.stdout, "[0, 0]\n");
    assert_eq!(counts(&assert_each_recorded(&outcome)), [(5, 0), (10, 0), (20, 0)]);
}

#[test]
fn a_worker_that_inherits_hip_hears_from_it_what_it_hears_without_the_tracer() {
    for stack in oldest_and_newest() {
        let Some(process) = Process::for_python(&stack, "workers", &["fork", "1", "first"]) else { return };
        let outcome = process.preloaded().well();
        assert_eq!(outcome.stdout, "[1]\n", "{outcome:?}");
        assert!(outcome.stderr.contains("HIP says "), "{outcome:?}");
        assert_eq!(counts(&assert_each_recorded(&outcome)), [(5, 0)]);
    }
}
