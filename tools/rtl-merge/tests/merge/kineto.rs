//! Traces of torch.profiler, one for each rank of a job.

use rtl_schema::Tables;

use crate::Folder;
use crate::content::rows;

#[test]
fn the_ranks_of_a_torch_job_keep_all_rows_and_their_gpus() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    let files: Vec<String> = (0..4).map(|rank| format!("gpt-dist_overlap-rank{rank}.json.gz")).collect();
    for file in &files {
        let Ok(_) = std::fs::copy(shared.join("kineto/h200").join(file), folder.path(file)) else {
            return support::skip(support::Need::Shared, "no ranks of a torch job beside the checkout");
        };
    }
    let report = folder.merge(&format!("-o all.db {}", files.join(" ")));
    let tables = report["rows"].as_array().unwrap();
    assert!(tables.iter().all(|table| table["rows_in"] == table["rows_out"]), "{report:#}");
    assert!(tables.iter().any(|table| table["table"] == "operators"), "{report:#}");
    let merged = folder.tables("all.db");
    let ranks: Vec<_> = merged.processes.iter().map(|process| (process.rank, process.world)).collect();
    assert_eq!(ranks, [0, 1, 2, 3].map(|rank| (Some(rank), Some(4))));
    assert_eq!(
        merged.agents.iter().filter(|agent| agent.product.as_deref() == Some("NVIDIA H200")).count(),
        4
    );
    let anonymous = |_| String::new();
    let read = |file: &String| -> Tables { folder.tables(file) };
    let mut expected: Vec<String> = files.iter().flat_map(|file| rows(&read(file), anonymous)).collect();
    expected.sort();
    let found = rows(&merged, anonymous);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
}
