//! Traces of torch.profiler, one for each rank of a job.

use rtl_schema::Tables;
use serde_json::Value;

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
    for name in ["operators", "collectives"] {
        assert!(tables.iter().any(|table| table["table"] == name), "{name}: {report:#}");
    }
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
    assert!(merged.dispatches.collective.iter().flatten().count() > 0);
}

/// The report of four ranks of a real job, without the rows.
fn checked(job: &str) -> Option<Value> {
    let folder = support::shared()?.join("kineto/h200");
    let file = |rank| folder.join(format!("gpt-dist_{job}-rank{rank}.json.gz"));
    if !file(0).is_file() {
        support::skip(support::Need::Shared, "no ranks of a torch job beside the checkout");
        return None;
    }
    let files: Vec<String> = (0..4).map(|rank| file(rank).display().to_string()).collect();
    Some(Folder::new().merge(&format!("--check {}", files.join(" "))))
}

#[test]
fn real_jobs_without_a_machine_have_one_clock_and_the_late_rank_is_named() {
    for (job, straggler) in [("overlap", Value::Null), ("slowhost", "rank 1".into())] {
        let Some(report) = checked(job) else { return };
        let clock = &report["clock"];
        assert_eq!(clock["violations"], 0, "{job}");
        // Every call but the first ones, which only some ranks recorded.
        assert_eq!(clock["unmatched"], clock["unmatched_at_edges"], "{job}");
        for input in clock["inputs"].as_array().unwrap() {
            assert_eq!(
                (&input["method"], &input["added_last_ns"]),
                (&"reference".into(), &0.into()),
                "{job}"
            );
        }
        let error = clock["inputs"][1]["error_ns"].as_f64().unwrap();
        assert!((1_000.0..100_000.0).contains(&error), "{job} {error}");
        assert_eq!(
            (&report["waits"]["straggler"], &report["waits"]["missing"]),
            (&straggler, &Value::Array(vec![]))
        );
        assert!(
            report["waits"]["groups"].as_array().unwrap().iter().all(|group| group["on_one_clock"] == true)
        );
    }
}
