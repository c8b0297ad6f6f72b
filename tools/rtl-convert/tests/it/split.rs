//! A trace in parts: each is a trace of its own, and together they hold every op once.

use std::path::{Path, PathBuf};
use std::process::Command;

use rtl_schema::table::{Agent, Dispatch, Process, Range, Track};
use rtl_schema::{AgentId, ProcessId, Select, Tables, Trace};
use rtl_write::NativeWriter;

/// Exit code, answer and messages of `rtl-convert` with these words, in this folder.
fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
    let output = command.args(line.split_whitespace()).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts of the dispatches and of the ranges of a file.
fn starts(path: PathBuf) -> (Vec<i64>, Vec<i64>) {
    let tables = Trace::open(path).unwrap().read(&Select::everything()).unwrap();
    (tables.dispatches.start, tables.ranges.iter().map(|range| range.start).collect())
}

/// Two processes, ranks 0 and 3, on GPUs 2 and 5: the second one uses both. Kernels start at 1, 2, 3; ranges at 10, 20.
fn trace(folder: &Path) {
    let mut tables = Tables::default();
    let process = |pid, rank| Process { pid: Some(pid), rank, ..Process::default() };
    tables.processes = vec![process(70, Some(0)), process(71, Some(3))];
    let agent = |number| Agent { number, source_id: number, ..Agent::default() };
    tables.agents = vec![agent(2), agent(5), agent(7)];
    let name = tables.strings.intern("gemm");
    for (id, (process, agent)) in [(0, 0), (1, 0), (1, 1)].into_iter().enumerate() {
        let (process, agent) = (ProcessId(process), AgentId(agent));
        let track = tables.tracks.intern(Track { process, agent, ..Track::default() });
        let start = 1 + id as i64;
        tables.dispatches.push(Dispatch {
            id: start,
            name,
            track,
            start,
            duration: Some(1),
            ..Dispatch::default()
        });
    }
    for (process, start) in [(0, 10), (1, 20)] {
        let process = ProcessId(process);
        tables.ranges.push(Range { id: start, process, name, start, duration: Some(5), ..Range::default() });
    }
    let mut writer = NativeWriter::create(folder.join("in.db")).unwrap();
    writer.push_tables(&tables).unwrap();
    writer.finish().unwrap();
}

#[test]
fn by_gpu_every_op_is_in_one_part_and_every_range_in_all() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path());
    let (code, answer, messages) = run(folder.path(), "in.db -o out.db --split gpu");
    assert_eq!((code, messages.as_str()), (0, ""));
    assert_eq!(answer, "Written out.gpu2.db: 4 rows in, 4 out\nWritten out.gpu5.db: 3 rows in, 3 out\n");
    assert_eq!(names(folder.path()), ["in.db", "out.gpu2.db", "out.gpu5.db"]);
    assert_eq!(starts(folder.path().join("out.gpu2.db")), (vec![1, 2], vec![10, 20]));
    assert_eq!(starts(folder.path().join("out.gpu5.db")), (vec![3], vec![10, 20]));
}

#[test]
fn by_rank_and_by_process_every_row_is_in_one_part() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path());
    for (split, first, second) in [("rank", "rank0", "rank3"), ("process", "process70", "process71")] {
        assert_eq!(run(folder.path(), &format!("in.db -o out.rpd --split {split}")).0, 0);
        assert_eq!(starts(folder.path().join(format!("out.{first}.rpd"))), (vec![1], vec![10]));
        assert_eq!(starts(folder.path().join(format!("out.{second}.rpd"))), (vec![2, 3], vec![20]));
    }
}

#[test]
fn parts_are_drawn_too() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path());
    assert_eq!(run(folder.path(), "in.db -o out.json.gz --split gpu").0, 0);
    assert_eq!(names(folder.path()), ["in.db", "out.gpu2.json.gz", "out.gpu5.json.gz"]);
}

#[test]
fn a_part_that_exists_stops_all_before_the_first() {
    let folder = tempfile::tempdir().unwrap();
    trace(folder.path());
    std::fs::write(folder.path().join("out.gpu5.db"), "mine").unwrap();
    let (code, _, messages) = run(folder.path(), "in.db -o out.db --split gpu");
    assert_eq!(code, 2, "{messages}");
    assert_eq!(names(folder.path()), ["in.db", "out.gpu5.db"]);
}

#[test]
fn without_ranks_there_is_no_split_by_them() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(support::fixture("two-kernels"), folder.path().join("in.db")).unwrap();
    let (code, _, messages) = run(folder.path(), "in.db -o out.db --split rank");
    assert_eq!(code, 2);
    assert!(messages.contains("no process of the trace states its rank"), "{messages}");
    assert!(messages.contains("hint: --split process"), "{messages}");
}

#[test]
fn a_trace_without_ops_is_one_part() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(support::fixture("only-markers"), folder.path().join("in.db")).unwrap();
    assert_eq!(run(folder.path(), "in.db -o out.db --split gpu").0, 0);
    assert_eq!(names(folder.path()), ["in.db", "out.no-gpu.db"]);
    let ranges = starts(folder.path().join("in.db")).1;
    assert_eq!(starts(folder.path().join("out.no-gpu.db")).1, ranges);
}
