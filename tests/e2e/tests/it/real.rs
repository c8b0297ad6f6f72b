//! Tests of real programs, where `scripts/fetch/real-programs` has fetched them.

use std::collections::HashSet;

use e2e::launched::{assert_all_recorded, traced};
use support::real::{llama_bench, tinygrad, write_model};

#[test]
fn tinygrad_is_recorded_completely_while_it_trains() {
    let Some(mut command) = tinygrad(5) else { return };
    let folder = tempfile::tempdir().unwrap();
    command.env("RTL_MODE", "standard");
    let (printed, launched, trace) = traced(command, folder.path());
    assert_eq!(printed.lines().filter(|line| line.ends_with("on HIP")).count(), 5, "{printed}");
    assert_all_recorded(&launched, &trace);
    assert!(launched.len() > 100, "{}", launched.len());
}

#[test]
fn llama_cpp_is_recorded_completely_on_one_gpu_and_on_two() {
    let folder = tempfile::tempdir().unwrap();
    let Some(model) = write_model(folder.path()) else { return };
    for gpus in [1, 2] {
        let Some(mut command) = llama_bench(&model) else { return };
        command.env("RTL_MODE", "standard").env("KFD_SIM_GPUS", gpus.to_string());
        let (_, launched, trace) = traced(command, folder.path());
        assert_all_recorded(&launched, &trace);
        let names: HashSet<&str> = trace.rows.iter().map(|row| row.name.as_str()).collect();
        // Other tools cut such a name at its first bracket.
        assert!(
            names.iter().any(|name| name.starts_with("void k_bin_bcast<&op_add(float, float), float")),
            "{names:?}"
        );
        assert_eq!(trace.rows.iter().map(|row| row.gpu).collect::<HashSet<_>>().len(), gpus);
    }
}
