//! Ranks of data sets, which share files where there are many.

use std::path::{Path, PathBuf};

use dataset::{Provenance, Run};
use rtl_schema::table::{Agent, AgentKind, Dispatch, Process, Track};
use rtl_schema::{AgentId, ProcessId, Select, Tables};
use serde_json::json;
use tables::Loaded;

use crate::rows;

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
