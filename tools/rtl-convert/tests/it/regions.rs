//! Filters of a trace that is read in pieces: the rows are those of a filter over the whole trace, and no piece is large.

use std::path::Path;
use std::process::Command;

use cli::filter::{FilterArgs, Period};
use rtl_convert::source::Source;
use rtl_schema::{Select, Tables};
use support::{Layout, Options};

/// Starts of ops, calls and ranges, sorted: a row that is in one of two parts alone shows.
fn starts(tables: &Tables) -> [Vec<i64>; 5] {
    let mut starts = [
        tables.dispatches.start.clone(),
        tables.copies.iter().map(|copy| copy.start).collect(),
        tables.barriers.iter().map(|barrier| barrier.start).collect(),
        tables.api_calls.start.clone(),
        tables.ranges.iter().map(|range| range.start).collect(),
    ];
    starts.iter_mut().for_each(|starts| starts.sort_unstable());
    starts
}

fn assert_equal_in_pieces(trace: &Path, filter: &FilterArgs) {
    let source = Source::open(trace, Some(filter.filter().unwrap())).unwrap();
    let select = Select::summary();
    let whole = source.read(&select).map(|tables| starts(&tables));
    let (mut pieces, mut largest) = (<[Vec<i64>; 5]>::default(), 0);
    let read = source.stream(&select, |piece| {
        pieces.iter_mut().zip(starts(piece)).for_each(|(all, starts)| all.extend(starts));
        largest = largest.max(piece.dispatches.len());
        Ok(())
    });
    match (whole, read) {
        (Ok(whole), Ok(_)) => {
            pieces.iter_mut().for_each(|starts| starts.sort_unstable());
            assert!(
                pieces == whole,
                "{filter:?}: {:?} {:?}",
                pieces.map(|all| all.len()),
                whole.map(|all| all.len())
            );
            assert!(largest < 20_000, "{filter:?}: {largest} ops at once");
        }
        (Err(whole), Err(pieces)) => assert_eq!(whole.lines("rtl"), pieces.lines("rtl")),
        (whole, pieces) => panic!("{filter:?}: {:?} {:?}", whole.is_ok(), pieces.is_ok()),
    }
}

#[test]
fn every_filter_keeps_in_pieces_what_it_keeps_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let time = |text: &str| vec![text.parse::<Period>().unwrap()];
    let none = FilterArgs::default;
    let filters = [
        FilterArgs { time: time("10%..40%"), ..none() },
        FilterArgs { time: time("-1ms.."), ..none() },
        FilterArgs { time: time("steady"), ..none() },
        FilterArgs { time: time("active"), ..none() },
        FilterArgs { gpu: vec![1], ..none() },
        FilterArgs { queue: vec![0], ..none() },
        FilterArgs { rank: vec![0], ..none() },
        FilterArgs { kernel: Some("@k2".to_owned()), ..none() },
        FilterArgs { kernel: Some("gemm|Cijk".to_owned()), time: time("active"), ..none() },
        FilterArgs { range: Some("step 1".to_owned()), ..none() },
        FilterArgs { range: Some("forward".to_owned()), time: time("steady"), gpu: vec![0], ..none() },
        FilterArgs { kernel: Some("none of them".to_owned()), ..none() },
        FilterArgs { gpu: vec![99], ..none() },
        FilterArgs { time: time("99s.."), ..none() },
        FilterArgs { range: Some("none of them".to_owned()), ..none() },
    ];
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        let trace = folder.path().join(format!("{layout:?}.db"));
        let ranges = layout != Layout::Rpd3;
        let options = Options { layout, ops: 60_000, gpus: 2, ranges, api: true, ..Options::default() };
        support::generate(&options, &trace).unwrap();
        filters.iter().for_each(|filter| assert_equal_in_pieces(&trace, filter));
    }
}

/// A trace of 10,000 GPUs with an op each, as a shell with little memory can convert it.
#[test]
#[cfg(target_os = "linux")]
fn a_gpu_number_takes_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let trace = support::rusqlite::Connection::open(folder.path().join("gpus.db")).unwrap();
    trace
        .execute_batch(
            "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
             CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
             CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER,
                 completionSignal TEXT, start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER,
                 roctxId INTEGER DEFAULT 0);
             INSERT INTO rocpd_string VALUES (1, 'gemm'), (2, 'KernelExecution');
             WITH RECURSIVE gpus(gpu) AS (SELECT 0 UNION ALL SELECT gpu + 1 FROM gpus WHERE gpu < 9999)
             INSERT INTO rocpd_op SELECT gpu + 1, gpu, 0, 0, '', gpu * 10, gpu * 10 + 5, 1, 2, 0 FROM gpus;",
        )
        .unwrap();
    drop(trace);
    for output in ["out.pftrace", "out.json"] {
        // 64 KiB a GPU would be 655 MB.
        let script = r#"ulimit -v 400000; exec "$RTL" --threads 1 -q gpus.db -o "$OUT""#;
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(folder.path());
        let ran = shell.env("RTL", env!("CARGO_BIN_EXE_rtl-convert")).env("OUT", output).output().unwrap();
        assert!(ran.status.success(), "{output}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}
