//! Times of several machines on one clock.

use rtl_schema::Tables;
use serde_json::Value;
use support::{Job, Options};

use crate::{Folder, ranks};

/// Two machines whose clocks started days apart, and drift.
fn job() -> Job {
    Job { nodes: 2, ranks_per_node: 2, steps: 60, kernels: 6, ..Job::default() }
}

fn methods(report: &Value) -> Vec<&str> {
    let inputs = report["clock"]["inputs"].as_array().unwrap().iter();
    inputs.map(|input| input["method"].as_str().unwrap()).collect()
}

/// The ends of all collectives of each rank.
fn ends(tables: &Tables) -> Vec<Vec<i64>> {
    let mut ends = vec![Vec::new(); tables.processes.len()];
    for row in tables.dispatches.iter() {
        if tables.strings.get(row.name).contains("AllReduce") {
            ends[tables.tracks.get(row.track).process.index()].push(row.start + row.duration.unwrap());
        }
    }
    ends
}

#[test]
fn collectives_put_two_machines_on_one_clock() {
    let folder = Folder::of(&job());
    let report = folder.merge(&format!("-o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["reference", "reference", "collectives", "collectives"]);
    assert_eq!((&report["clock"]["collectives"], &report["clock"]["violations"]), (&60.into(), &0.into()));
    // All members of a collective leave it within 3 us, as the job was made.
    let ends = ends(&folder.tables("all.db"));
    let error = report["clock"]["inputs"][2]["error_ns"].as_f64().unwrap();
    for collective in 0..60 {
        let one: Vec<i64> = ends.iter().map(|rank| rank[collective]).collect();
        let apart = one.iter().max().unwrap() - one.iter().min().unwrap();
        assert!(apart < 3_000 + 2 * error as i64 && error < 3_000.0, "{collective}: {apart} ns, {error}");
    }
}

#[test]
fn ranks_of_one_machine_are_never_moved_against_each_other() {
    let folder = Folder::of(&Job { nodes: 1, ..job() });
    let report = folder.merge(&format!("-o all.db {}", ranks(2)));
    assert_eq!(methods(&report), ["reference", "reference"]);
    let merged = folder.tables("all.db");
    let first = |tables: &Tables| (0..tables.dispatches.len()).map(|at| tables.dispatches.start[at]).min();
    assert_eq!(
        first(&merged),
        ["rank0.db", "rank1.db"].map(|file| first(&folder.tables(file))).into_iter().min().unwrap()
    );
}

#[test]
fn too_few_collectives_leave_the_real_time_of_each_machine() {
    let folder = Folder::of(&Job { steps: 4, ..job() });
    let report = folder.merge(&format!("-o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["reference", "reference", "anchors", "anchors"]);
    let why = report["clock"]["inputs"][2]["reason"].as_str().unwrap();
    assert!(why.contains("collectives"), "{why}");
    // The real times of both machines are right in this job.
    let ends = ends(&folder.tables("all.db"));
    assert!((ends[0][0] - ends[2][0]).abs() < 10_000, "{ends:?}");
    let run = folder.run(&format!("--align require -o other.db {}", ranks(4)));
    assert_eq!(run.code, 3);
    assert!(run.messages.contains("2 of 4 traces are not aligned: rank2.db (only 4"), "{run:?}");
    assert!(!folder.path("other.db").exists());
}

#[test]
fn without_collectives_and_anchors_nothing_is_guessed() {
    let folder = Folder::of(&Job { steps: 4, anchors: false, ..job() });
    let report = folder.merge(&format!("-o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["reference", "reference", "stored", "stored"]);
    assert_eq!(report["clock"]["inputs"][3]["added_first_ns"], 0);
}

#[test]
fn the_user_may_leave_clocks_alone_or_say_what_to_add() {
    let folder = Folder::of(&job());
    let report = folder.merge(&format!("--align never -o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["stored"; 4]);
    let report = folder.merge(&format!("--offset 3=-1500 -o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["reference", "reference", "collectives", "given"]);
    assert_eq!(report["clock"]["inputs"][3]["added_last_ns"], -1_500);
    let run = folder.run(&format!("--offset 9=1 {}", ranks(4)));
    assert_eq!((run.code, run.messages.as_str()), (2, "rtl-merge: error: --offset: no trace has rank 9\n"));
}

#[test]
fn traces_that_do_not_say_where_they_ran_keep_their_times_and_the_report_says_so() {
    let folder = Folder::new();
    for (file, seed) in [("a.db", 1), ("b.db", 2)] {
        let options = Options { layout: support::Layout::Lite, ops: 200, seed, ..Options::default() };
        support::generate(&options, &folder.path(file)).unwrap();
    }
    let report = folder.merge("-o all.db a.db b.db");
    assert_eq!(methods(&report), ["stored"; 2]);
    assert_eq!(report["clock"]["inputs"][0]["reason"], "its machine or boot is unknown");
}

#[test]
fn the_slow_rank_is_named_with_clocks_and_without() {
    let folder = Folder::of(&Job { slow: Some((2, 1.3)), ..job() });
    let report = folder.merge(&format!("-o all.db {}", ranks(4)));
    let waits = &report["waits"];
    assert_eq!(waits["straggler"], "rank 2");
    let last = |field: &str| -> Vec<u64> {
        waits["ranks"].as_array().unwrap().iter().map(|rank| rank[field].as_u64().unwrap()).collect()
    };
    assert!(last("last")[2] > 50 && last("clock_free_last")[2] > 50, "{waits:#}");
    let run = folder.run(&format!("--force -o all.db {}", ranks(4)));
    assert!(
        run.answer.contains("\nthe others waited for rank 2 (computed without clocks)\n"),
        "{}",
        run.answer
    );
}

#[test]
fn a_merged_trace_brings_its_clock_along() {
    let folder = Folder::of(&Job { nodes: 3, ranks_per_node: 1, steps: 60, kernels: 6, ..Job::default() });
    folder.merge("-o once.db rank0.db rank1.db rank2.db");
    folder.merge("-o first.db rank0.db rank1.db");
    let report = folder.merge("-o twice.db first.db rank2.db");
    assert_eq!(methods(&report), ["reference", "collectives"]);
    let [once, twice] = ["once.db", "twice.db"].map(|file| ends(&folder.tables(file)));
    for (one, other) in once.iter().flatten().zip(twice.iter().flatten()) {
        assert!((one - other).abs() < 5_000, "{one} {other}");
    }
}

#[test]
fn traces_without_a_machine_have_one_clock_unless_their_collectives_contradict_it() {
    let job = Job { nodes: 1, ranks_per_node: 4, named: false, anchors: false, ..job() };
    let folder = Folder::of(&job);
    let report = folder.merge(&format!("-o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["reference"; 4]);
    assert!(report["clock"]["inputs"][3]["error_ns"].as_f64().unwrap() < 10_000.0, "{}", report["clock"]);
    // The same job on four machines, whose clocks are days apart.
    let folder = Folder::of(&Job { nodes: 4, ranks_per_node: 1, ..job });
    let report = folder.merge(&format!("-o all.db {}", ranks(4)));
    assert_eq!(methods(&report), ["reference", "collectives", "collectives", "collectives"]);
    let clock = &report["clock"];
    assert_eq!((&clock["collectives"], &clock["violations"]), (&60.into(), &0.into()));
    assert!(report["waits"]["groups"][0]["on_one_clock"] == true, "{}", report["waits"]);
    let ends = ends(&folder.tables("all.db"));
    let error = clock["inputs"][2]["error_ns"].as_f64().unwrap();
    for collective in 0..60 {
        let one: Vec<i64> = ends.iter().map(|rank| rank[collective]).collect();
        let apart = one.iter().max().unwrap() - one.iter().min().unwrap();
        assert!(apart < 3_000 + 2 * error as i64 && error < 10_000.0, "{collective}: {apart} ns, {error}");
    }
    // A summary of the merged trace knows that its times are on one clock.
    let clocks = folder.tables("all.db").info.metadata.into_iter().filter(|(tag, _)| tag == "clock").count();
    assert_eq!(clocks, 1);
}

#[test]
fn a_rank_that_matches_no_other_is_missing_from_the_verdict() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 3, slow: Some((1, 1.4)), steps: 60, ..job() });
    let other = Folder::of(&Job { nodes: 1, ranks_per_node: 4, steps: 60, seed: 9, ..job() });
    std::fs::copy(other.path("rank3.db"), folder.path("rank3.db")).unwrap();
    let report = folder.merge(&format!("--allow different-runs -o all.db {}", ranks(4)));
    assert_eq!(report["waits"]["missing"], serde_json::json!(["rank 3"]), "{:#}", report["waits"]);
    assert_eq!(report["waits"]["straggler"], "rank 1");
    let run = folder.run(&format!("--force --allow different-runs -o all.db {}", ranks(4)));
    assert!(run.answer.contains("missing from these figures: rank 3"), "{}", run.answer);
}
