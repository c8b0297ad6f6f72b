//! Ranks of data sets: a query of some opens the files that have them.

use std::fs;
use std::path::{Path, PathBuf};

use dataset::{Provenance, Run};
use rtl_schema::table::{Agent, AgentKind, Dispatch, Process, Track};
use rtl_schema::{AgentId, ProcessId, Select, Tables};
use serde_json::json;
use tables::Loaded;

use crate::{rows, run};

const RUN: &str = "job=train/run=ranks";

/// A data set of a run with two dispatches of each rank, of which rank 2 N has a dispatch of N ns and one of 1 ns.
fn set(folder: &Path, ranks: &[Option<u32>]) -> PathBuf {
    let mut tables = Tables::default();
    tables.agents.push(Agent { kind: AgentKind::Gpu, ..Agent::default() });
    tables.info.metadata.push(("tool".to_owned(), "test".to_owned()));
    let name = tables.strings.intern("kernel");
    for (process, &rank) in (0..).map(ProcessId).zip(ranks) {
        tables.processes.push(Process { rank, ..Process::default() });
        let track = tables.tracks.intern(Track { process, agent: AgentId(0), ..Track::default() });
        let length = rank.map_or(7, |rank| i64::from(rank) / 2);
        for (start, duration) in [(100, length), (0, 1)] {
            tables.dispatches.push(Dispatch {
                name,
                track,
                start,
                duration: Some(duration),
                ..Dispatch::default()
            });
        }
    }
    let set = folder.join("set");
    let loaded = Loaded::new("ranks", Select::everything(), tables);
    let run = Run { job: "train", run: "ranks", force: false };
    let from = Provenance { path: Path::new("ranks.db"), name: None, version: "1" };
    dataset::add(&set, &run, &loaded, &from).unwrap();
    set
}

/// The file of dispatches of a bucket.
fn file(set: &Path, bucket: i64) -> PathBuf {
    set.join(RUN).join(format!("kind=dispatches/bucket={bucket}/part-0.parquet"))
}

/// Holds whether queries succeed, of a data set some files of which are damaged.
#[track_caller]
fn assert_succeed(set: &Path, queries: &[(&str, bool)]) -> Option<()> {
    for (query, expected) in queries {
        let run = run(&[set.to_str().unwrap(), "-p", "rank=1", "--", query])?;
        assert_eq!(run.code == 0, *expected, "{query}: {}", run.messages);
    }
    Some(())
}

#[test]
fn a_query_of_some_ranks_opens_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let set = set(folder.path(), &[None, Some(0), Some(1), Some(2), Some(3)]);
    for bucket in [-1, 0, 3] {
        fs::write(file(&set, bucket), "no Parquet").unwrap();
    }
    assert_succeed(
        &set,
        &[
            ("select sum(duration) from dispatches where rank = 1", true),
            ("select sum(duration) from dispatches where $rank = rank and run = 'ranks'", true),
            ("select sum(duration) from dispatches where rank in (1, 2, 4000000000)", true),
            ("select sum(duration) from ops o where o.rank in (1, 3) and rank = 1", true),
            ("select sum(duration) from dispatches where rank = 9", true),
            ("select sum(duration) from dispatches where rank = 0", false),
            ("select sum(duration) from dispatches where rank = 1 or gpu = 5", false),
            ("select sum(duration) from dispatches where rank = '1'", false),
            ("select sum(duration) from dispatches", false),
            (
                "select (select sum(duration) from dispatches where rank = 1), sum(duration) from dispatches where rank = 3",
                false,
            ),
        ],
    );
}

#[test]
fn a_query_of_a_range_of_ranks_opens_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let set = set(folder.path(), &[None, Some(0), Some(1), Some(2), Some(3)]);
    for bucket in [-1, 0, 3] {
        fs::write(file(&set, bucket), "no Parquet").unwrap();
    }
    // `$rank` is 1.
    for (condition, expected) in [
        ("rank between 1 and 2", true),
        ("rank >= 1 and rank < 3", true),
        ("1 <= rank and 3 > rank", true),
        ("0 < rank and rank <= 2 and gpu = 0", true),
        ("rank > 0 and rank in (0, 1)", true),
        ("rank between $rank and 2", true),
        ("rank >= $rank and 3 > rank", true),
        ("not rank < 1 and not (rank >= 3)", true),
        ("rank between 3 and 1", true),
        ("rank > 9223372036854775807", true),
        ("rank < -9223372036854775807", true),
        ("rank < 0", true),
        ("rank >= 1", false),
        ("rank <= 2", false),
        ("rank > -1", false),
        ("rank between -1 and 2", false),
        ("rank not between 1 and 2", false),
        ("(rank between 1 and 2 or gpu = 5)", false),
        ("rank between 1 and 2.5", false),
        ("rank between 1 and 2 is null", false),
        ("2 between rank and 2", false),
        ("rank + 0 between 1 and 2", false),
    ] {
        assert_succeed(
            &set,
            &[(&format!("select sum(duration) from dispatches where {condition}"), expected)],
        );
    }
}

#[test]
fn a_query_of_a_rank_opens_the_file_of_its_bucket() {
    let folder = tempfile::tempdir().unwrap();
    let set = set(folder.path(), &[Some(0), Some(4)]);
    // Two files of ranks 0 to 3 and 4 to 7.
    let manifest = set.join(RUN).join("_manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"width\": 1", "\"width\": 4")).unwrap();
    fs::write(file(&set, 4), "no Parquet").unwrap();
    assert_succeed(
        &set,
        &[
            ("select count(*) from dispatches where rank = 0", true),
            ("select count(*) from dispatches where rank = 3", true),
            ("select count(*) from dispatches where rank = 4", false),
            ("select count(*) from dispatches where rank = 7", false),
            ("select count(*) from dispatches where rank = 8", true),
            ("select count(*) from dispatches where rank < 4", true),
            ("select count(*) from dispatches where rank <= 4", false),
            ("select count(*) from dispatches where rank between 5 and 6", false),
            ("select count(*) from dispatches where rank > 7", true),
            ("select count(*) from dispatches where rank >= 7", false),
        ],
    );
}

#[test]
fn conditions_on_ranks_leave_answers_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let set = set(folder.path(), &[None, Some(0), Some(1), Some(2), Some(3)]);
    // `{}` stands for a condition on ranks that is seen or hidden.
    for query in [
        "select count(*) as n, sum(duration) as t from dispatches where {}",
        "select rank, name, gpu from kernel_stats where {}",
        "select rank + 1 as rank, start from dispatches where {}",
        "select 2 as rank, (select count(*) from dispatches where {}) as n from dispatches",
        "select count(*) as n from (from dispatches select 2 as rank) where {}",
        "select 2 as rank, tag from metadata where {}",
        "select count(*) as n from dispatches d left join kernel_stats k on k.rank = d.rank + 1 where d.{}",
    ] {
        let of = |condition: &str| {
            rows(&[&set], &format!("from ({}) order by all", query.replace("{}", condition)))
        };
        let Some(seen) = of("rank = 2") else { return };
        assert_eq!(Some(seen), of("rank + 0 = 2"), "{query}");
        assert_eq!(of("rank between 1 and 2"), of("rank + 0 between 1 and 2"), "{query}");
    }
}

#[test]
fn ranks_of_a_large_run_share_a_file_and_are_counted_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let ranks: Vec<Option<u32>> = [None].into_iter().chain((0..1_025).map(|rank| Some(2 * rank))).collect();
    let set = set(folder.path(), &ranks);
    for (kind, bucket) in
        [("dispatches", "bucket=0"), ("kernel_stats", "bucket=0"), ("dispatches", "bucket=-1")]
    {
        assert!(set.join(RUN).join(format!("kind={kind}")).join(bucket).is_dir(), "{kind} {bucket}");
    }
    let by_rank =
        "select rank, count(*) as n, sum(duration)::bigint as t from dispatches group by rank order by rank";
    let row = |rank: Option<u32>| json!({ "rank": rank, "n": 2, "t": 1 + rank.map_or(7, |rank| rank / 2) });
    let expected: Vec<_> = ranks[1..].iter().chain(&ranks[..1]).copied().map(row).collect();
    let Some(found) = rows(&[&set], by_rank) else { return };
    assert_eq!(found, expected);
    let stats = "select rank, sum(count)::bigint as n, sum(duration)::bigint as t from kernel_stats group by rank order by rank";
    assert_eq!(rows(&[&set], stats).unwrap(), expected);
    let one = rows(&[&set], "select rank, start from dispatches where rank = 2048").unwrap();
    assert_eq!(one, [json!({ "rank": 2048, "start": 0 }), json!({ "rank": 2048, "start": 100 })]);
    let columns =
        rows(&[&set], "select column_name from (describe from dispatches) where column_name = 'bucket'");
    assert!(columns.unwrap().is_empty());
}
