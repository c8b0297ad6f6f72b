//! Tests of eight ranks under one launcher, each with a GPU.

use e2e::Process;
use e2e::family::{assert_each_recorded, counts, oldest_and_newest};

const RANKS: usize = 8;

#[test]
fn eight_ranks_that_are_given_one_name_have_eight_files_that_know_each_other() {
    let Some(stack) = oldest_and_newest().pop() else { return };
    let Some(process) = Process::for_python(&stack, "workers", &["ranks", "8"]) else { return };
    let outcome = process.preloaded().gpus(RANKS).setting("RTL_OUTPUT", "job.db").well();
    assert_eq!(outcome.stdout, "[0, 0, 0, 0, 0, 0, 0, 0]\n");
    let traces = assert_each_recorded(&outcome);
    let kernels: Vec<(usize, i64)> = (1..=RANKS).map(|rank| (10 * rank, 0)).collect();
    assert_eq!(counts(&traces), kernels);
    let runs: Vec<&String> = traces.values().flatten().map(|trace| &trace.metadata["run_id"]).collect();
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
    for trace in traces.values().flatten() {
        let rank: usize = trace.metadata["rank"].parse().unwrap();
        assert_eq!((trace.rows.len(), trace.metadata["world_size"].as_str()), (10 * (rank + 1), "8"));
        assert!(trace.rows.iter().all(|row| row.gpu == rank as i64), "rank {rank} has a GPU of its own");
    }
}
