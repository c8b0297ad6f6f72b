//! Databases and columns that the program writes of traces that are unlike most.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use rtl_schema::table::{Agent, ApiCall, Dispatch, Process, Track};
use rtl_schema::{NameId, Select, Tables, Trace};
use rtl_write::NativeWriter;
use support::{Layout, Options};

/// Every format that our own reader opens.
const DATABASES: [&str; 2] = ["db", "rpd"];

/// Exit code, answer and messages of `rtl-convert` with these words, in this folder.
fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
    let output = command.args(line.split_whitespace()).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The rows of `in.db` after a conversion, and the closing line.
fn converted(folder: &Path, ending: &str) -> (Tables, String) {
    let (code, answer, messages) = run(folder, &format!("in.db -o out.{ending} --force"));
    assert_eq!((code, messages.as_str()), (0, ""), "{ending}");
    let path = folder.join(format!("out.{ending}"));
    (Trace::open(path).unwrap().read(&Select::everything()).unwrap(), answer)
}

fn write(tables: &Tables, folder: &Path) {
    let mut writer = NativeWriter::create(folder.join("in.db")).unwrap();
    writer.push_tables(tables).unwrap();
    writer.finish().unwrap();
}

/// One process and one GPU, number 5.
fn bare() -> Tables {
    let processes = vec![Process { pid: Some(7), ..Process::default() }];
    let agents = vec![Agent { number: 5, source_id: 5, ..Agent::default() }];
    Tables { processes, agents, ..Tables::default() }
}

#[test]
fn any_name_stays_what_it_was() {
    let long = "x".repeat(64 << 10);
    let names = ["a 'single' \"double\"", "back\\slash", "\u{1}\n\r\t\u{7f}", "🚀 ядро", ";--%s", &long];
    let mut tables = bare();
    let track = tables.tracks.intern(Track::default());
    for (at, text) in names.into_iter().enumerate() {
        let (name, start) = (tables.strings.intern(text), at as i64);
        tables.dispatches.push(Dispatch {
            id: start,
            name,
            track,
            start,
            duration: Some(1),
            ..Dispatch::default()
        });
    }
    let folder = tempfile::tempdir().unwrap();
    write(&tables, folder.path());
    for ending in DATABASES {
        let (read, _) = converted(folder.path(), ending);
        let found: Vec<&str> = read.dispatches.name.iter().map(|&name| read.strings.get(name)).collect();
        assert_eq!(found, names, "{ending}");
    }
}

#[test]
fn the_one_gpu_keeps_its_number_and_101_queues_stay_apart() {
    let mut tables = bare();
    let name = tables.strings.intern("gemm");
    for queue in 0..101 {
        let track =
            tables.tracks.intern(Track { queue: 0x7f00_0000_0000 + queue * 0x1000, ..Track::default() });
        let dispatch =
            Dispatch { id: 1 + queue, name, track, start: queue, duration: Some(1), ..Dispatch::default() };
        tables.dispatches.push(dispatch);
    }
    let folder = tempfile::tempdir().unwrap();
    write(&tables, folder.path());
    for ending in DATABASES {
        let (read, _) = converted(folder.path(), ending);
        let tracks: Vec<Track> = read.dispatches.track.iter().map(|&track| read.tracks.get(track)).collect();
        assert_eq!(tracks.iter().map(|track| track.queue).collect::<BTreeSet<_>>().len(), 101, "{ending}");
        assert!(tracks.iter().all(|track| read.agent(track.agent).number == 5), "{ending}");
    }
}

#[test]
fn a_trace_without_rows_is_a_file_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(support::fixture("empty"), folder.path().join("in.db")).unwrap();
    for ending in DATABASES {
        let (read, answer) = converted(folder.path(), ending);
        assert!(read.dispatches.is_empty() && read.api_calls.is_empty());
        assert_eq!(answer, format!("Written out.{ending}: 0 rows in, 0 out\n"));
    }
}

#[test]
fn a_trace_of_markers_alone_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = support::fixture("only-markers");
    std::fs::copy(&source, folder.path().join("in.db")).unwrap();
    let before = Trace::open(&source).unwrap().read(&Select::everything()).unwrap();
    let texts = |tables: &Tables| -> Vec<(String, i64, bool)> {
        let text = |name: NameId| tables.strings.get(name).to_owned();
        let row = |row: &rtl_schema::table::Range| (text(row.name), row.start, row.is_marker());
        tables.ranges.iter().map(row).collect()
    };
    for ending in DATABASES {
        assert_eq!(texts(&converted(folder.path(), ending).0), texts(&before), "{ending}");
    }
}

#[test]
fn a_trace_of_api_calls_alone_keeps_them() {
    let mut tables = bare();
    let name = tables.strings.intern("hipMalloc");
    let call = ApiCall { id: 1, name, tid: Some(8), start: 5, duration: Some(2), ..ApiCall::default() };
    let none = NameId::NONE;
    tables.api_calls.push(ApiCall { domain: none, category: none, args: none, correlation: 1, ..call });
    let folder = tempfile::tempdir().unwrap();
    write(&tables, folder.path());
    for ending in DATABASES {
        let (read, answer) = converted(folder.path(), ending);
        let row = read.api_calls.get(0);
        assert_eq!((read.strings.get(row.name), row.start, row.duration), ("hipMalloc", 5, Some(2)));
        assert_eq!((read.api_calls.len(), row.tid), (1, Some(8)), "{ending}");
        assert_eq!(answer, format!("Written out.{ending}: 1 rows in, 1 out\n"));
    }
}

#[test]
fn rpd_keeps_calls_their_links_and_what_they_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let source = support::database(support::CALLS, Layout::Native).unwrap();
    std::fs::copy(&source, folder.path().join("in.db")).unwrap();
    let (read, answer) = converted(folder.path(), "rpd");
    assert_eq!(answer, "Written out.rpd: 8 rows in, 8 out\n");
    let rpd = support::rusqlite::Connection::open(folder.path().join("out.rpd")).unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = rpd.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let links = "SELECT apiName || ' ' || api.start || ' ' || opType || ' ' || description || ' ' || op.start
        FROM rocpd_api_ops JOIN api ON api.id = api_id JOIN op ON op.id = op_id ORDER BY op.start";
    assert_eq!(
        rows(links),
        [
            "hipLaunchKernel 0 KernelExecution void gemm(float*) 100",
            "hipGraphLaunch 20 KernelExecution node 120",
            "hipGraphLaunch 20 KernelExecution node 140",
            "hipMemcpyAsync 60 CopyHostToDevice  160",
        ]
    );
    assert_eq!(rows("SELECT domain || ' ' || apiName FROM api ORDER BY id").len(), 4);
    assert_eq!(
        rows("SELECT apiName || ' ' || string || ' ' || workgroupX FROM rocpd_kernelapi JOIN api ON api.id = api_ptr_id
            JOIN rocpd_string ON rocpd_string.id = kernelName_id WHERE api.start = 40"),
        ["hipLaunchKernel _Z3addIfEvPT_ 64"]
    );
    assert_eq!(
        rows(
            "SELECT apiName || ' ' || size || ' ' || dst || ' ' || src || ' ' || kind FROM rocpd_copyapi
            JOIN api ON api.id = api_ptr_id"
        ),
        ["hipMemcpyAsync 4096 0x10 0x20 1"]
    );
    // Read back, the ops are tied to the calls that they were tied to.
    let tied = |tables: &Tables| -> Vec<(i64, i64)> {
        let call = |id: i64| tables.api_calls.iter().find(|call| call.correlation == id).unwrap().start;
        let rows = tables.dispatches.iter().map(|row| (row.start, call(row.correlation)));
        rows.chain(tables.copies.iter().map(|row| (row.start, call(row.correlation)))).collect()
    };
    let before = Trace::open(&source).unwrap().read(&Select::everything()).unwrap();
    assert_eq!(tied(&read), tied(&before));
}

#[test]
fn rocprofv3_keeps_calls_and_their_correlation_ids() {
    let folder = tempfile::tempdir().unwrap();
    let source = support::database(support::CALLS, Layout::Native).unwrap();
    std::fs::copy(&source, folder.path().join("in.db")).unwrap();
    assert_eq!(run(folder.path(), "in.db --to rocprofv3-csv -o out").0, 0);
    let csv = std::fs::read_to_string(folder.path().join("out_hip_api_trace.csv")).unwrap();
    let calls: Vec<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(
        calls,
        ["\"hipLaunchKernel\"", "\"hipGraphLaunch\"", "\"hipLaunchKernel\"", "\"hipMemcpyAsync\""]
    );
    assert_eq!(run(folder.path(), "in.db -o out_results.json").0, 0);
    let text = std::fs::read_to_string(folder.path().join("out_results.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let records = &document["rocprofiler-sdk-tool"][0]["buffer_records"];
    let ids = |list: &str| -> Vec<i64> {
        let rows = records[list].as_array().unwrap().iter();
        rows.map(|row| row["correlation_id"]["internal"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids("hip_api"), [1, 2, 3, 4]);
    assert_eq!((ids("kernel_dispatch"), ids("memory_copy")), (vec![1, 2, 2], vec![4]));
}

#[test]
fn shuffled_rows_lose_nothing_and_the_input_stays() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("in.db");
    let options =
        Options { layout: Layout::Lite, ops: 2_000, shuffle: true, ranges: true, ..Options::default() };
    support::generate(&options, &source).unwrap();
    let bytes = std::fs::read(&source).unwrap();
    let starts = |tables: &Tables| -> BTreeSet<i64> {
        let copies = tables.copies.iter().map(|copy| copy.start);
        tables.dispatches.start.iter().copied().chain(copies).collect()
    };
    let before = Trace::open(&source).unwrap().read(&Select::everything()).unwrap();
    for ending in DATABASES {
        assert_eq!(starts(&converted(folder.path(), ending).0), starts(&before), "{ending}");
    }
    assert_eq!(std::fs::read(&source).unwrap(), bytes);
}

#[test]
fn what_rpd_has_no_place_for_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(support::fixture("bad-rows"), folder.path().join("in.db")).unwrap();
    let (_, answer) = converted(folder.path(), "rpd");
    assert!(answer.contains("without an end"), "{answer}");
    let (_, answer) = converted(folder.path(), "db");
    assert!(!answer.contains("left out"), "{answer}");
}
