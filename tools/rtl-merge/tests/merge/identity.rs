//! Who is who in the merged trace.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{Job, Layout, Options};

use crate::{Folder, ranks};

fn places(report: &Value) -> Vec<(String, Value)> {
    let gpus = report["gpus"].as_array().unwrap().iter();
    gpus.map(|gpu| (gpu["place"].as_str().unwrap().to_owned(), gpu["ranks"].clone())).collect()
}

#[test]
fn gpus_that_every_rank_calls_0_stay_eight_gpus() {
    let folder = Folder::of(&Job { steps: 2, ..Job::default() });
    let report = folder.merge(&format!("-o all.db {}", ranks(8)));
    let expected: Vec<(String, Value)> =
        (0..8).map(|rank| (format!("node{}/gpu{}", rank / 4, rank % 4), json!([rank]))).collect();
    assert_eq!(places(&report), expected);
    let merged = folder.tables("all.db");
    let known: BTreeSet<(u32, i64)> = (merged.tracks.rows().iter())
        .map(|track| (merged.process(track.process).rank.unwrap(), merged.agent(track.agent).number))
        .collect();
    assert_eq!(known, (0..8).map(|rank| (rank, i64::from(rank))).collect());
}

#[test]
fn processes_of_two_machines_with_one_pid_stay_two() {
    let folder = Folder::of(&Job { steps: 2, ..Job::default() });
    folder.merge(&format!("-o all.db {}", ranks(8)));
    let merged = folder.tables("all.db");
    let who: Vec<_> = (merged.processes.iter())
        .map(|process| (process.rank, process.pid, process.host.clone().unwrap(), process.node))
        .collect();
    let expected: Vec<_> = (0..8)
        .map(|rank| {
            (Some(rank), Some(100 + i64::from(rank % 4)), format!("node{}", rank / 4), Some(rank / 4))
        })
        .collect();
    assert_eq!(who, expected);
    let spaces: BTreeSet<u32> = merged.processes.iter().map(|process| process.space).collect();
    assert_eq!(spaces.len(), 8);
}

#[test]
fn two_ranks_on_one_gpu_are_one_gpu_and_two_ranks() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 1, steps: 2, ..Job::default() });
    // The same GPU seen by another process of the same machine: only pid and rank differ.
    let copy = folder.path("other.db");
    std::fs::copy(folder.path("rank0.db"), &copy).unwrap();
    let other = support::rusqlite::Connection::open(&copy).unwrap();
    other.execute("update rocpd_metadata set value = '555' where tag = 'pid'", []).unwrap();
    other.execute("update rocpd_metadata set value = '1' where tag = 'rank'", []).unwrap();
    drop(other);
    let report = folder.merge("-o all.db rank0.db other.db");
    assert_eq!(places(&report), [("node0/gpu0".to_owned(), json!([0, 1]))]);
    let merged = folder.tables("all.db");
    assert_eq!(merged.tracks.rows().len(), 2);
    assert_eq!(merged.agents.len(), 1);
}

#[test]
fn gpus_of_files_that_say_nothing_are_their_own_unless_the_user_knows_better() {
    let folder = Folder::new();
    for (file, seed) in [("a.db", 1), ("b.db", 2)] {
        let options = Options { layout: Layout::Lite, ops: 50, gpus: 2, seed, ..Options::default() };
        support::generate(&options, &folder.path(file)).unwrap();
    }
    let report = folder.merge("-o own.db a.db b.db");
    let own = ["a/gpu0", "a/gpu1", "b/gpu0", "b/gpu1"].map(|place| (place.to_owned(), json!([])));
    assert_eq!(places(&report), own);
    let report = folder.merge("-o same.db --same-gpus a.db b.db");
    assert_eq!(places(&report).len(), 2);
    assert_eq!(folder.tables("same.db").processes.len(), 2);
}

#[test]
fn a_uuid_that_contradicts_the_place_keeps_gpus_apart() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 1, steps: 2, ..Job::default() });
    std::fs::copy(folder.path("rank0.db"), folder.path("other.db")).unwrap();
    let other = support::rusqlite::Connection::open(folder.path("other.db")).unwrap();
    let change = "update rocpd_metadata set value = replace(value, 'GPU-0', 'GPU-9') where tag = 'gpu'";
    other.execute(change, []).unwrap();
    other.execute("update rocpd_metadata set value = '555' where tag = 'pid'", []).unwrap();
    other.execute("update rocpd_metadata set value = '1' where tag = 'rank'", []).unwrap();
    drop(other);
    let report = folder.merge("-o all.db rank0.db other.db");
    assert_eq!(places(&report).len(), 2);
    assert!(report["notes"][0].as_str().unwrap().contains("not its uuid"), "{report:#}");
}

#[test]
fn the_rank_that_was_typed_counts_more_than_the_stored_one_and_that_more_than_the_name() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 2, ..Job::default() });
    let report = folder.merge("-o all.db --set-rank rank0.db=5 rank0.db rank1.db");
    let ranks: Vec<&Value> =
        report["inputs"].as_array().unwrap().iter().map(|input| &input["ranks"]).collect();
    assert_eq!(ranks, [&json!([1]), &json!([5])]);
    for (file, seed) in [("my-rank7.db", 1), ("my-rank6.db", 2)] {
        let options = Options { ops: 20, seed, ..Options::default() };
        support::generate(&options, &folder.path(file)).unwrap();
    }
    let report = folder.merge("-o named.db my-rank7.db my-rank6.db");
    let ranks: Vec<&Value> =
        report["inputs"].as_array().unwrap().iter().map(|input| &input["ranks"]).collect();
    assert_eq!(ranks, [&json!([6]), &json!([7])]);
}

#[test]
fn a_merged_trace_is_merged_again_with_its_identities() {
    let folder = Folder::of(&Job { steps: 2, ..Job::default() });
    folder.merge(&format!("-o once.db {}", ranks(8)));
    folder.merge("-o first.db rank0.db rank1.db rank2.db rank5.db");
    let report = folder.merge("-o twice.db first.db rank3.db rank4.db rank6.db rank7.db");
    let places: BTreeSet<String> = places(&report).into_iter().map(|(place, _)| place).collect();
    let expected: BTreeSet<String> = (0..8).map(|rank| format!("node{}/gpu{}", rank / 4, rank % 4)).collect();
    assert_eq!(places, expected);
    let [once, twice] = ["once.db", "twice.db"].map(|file| folder.tables(file));
    assert_eq!(once.dispatches.len(), twice.dispatches.len());
    let who = |tables: &rtl_schema::Tables| {
        let rows = tables.processes.iter();
        rows.map(|process| (process.rank, process.pid, process.boot_id.clone())).collect::<BTreeSet<_>>()
    };
    assert_eq!(who(&once), who(&twice));
}
