//! Helpers of the tests of all drawn formats: the program in a folder, and what should be drawn.

pub(crate) mod hazards;
pub(crate) mod packets;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rtl_analysis::idle::{self, Cause};
use rtl_schema::table::{ApiCall, Process};
use rtl_schema::{NameId, Select, Tables, Trace};
use rtl_write::NativeWriter;

/// A folder in which the program runs.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn story(&self, name: &str) -> PathBuf {
        let path = self.path("in.db");
        std::fs::copy(support::fixture(name), &path).unwrap();
        path
    }

    /// A kernel on each of 101 queues of GPU 5, overlapping.
    pub(crate) fn hundred_queues(&self) -> PathBuf {
        let row = |queue: i64| format!("(5, {queue}, {queue}, {}, 'k')", queue + 50);
        let rows: Vec<String> = (0..101).map(row).collect();
        let story = format!("INSERT INTO kernels(gpu, queue, start, end, name) VALUES {};", rows.join(", "));
        let path = self.path("in.db");
        std::fs::copy(support::database(&story, support::Layout::Native).unwrap(), &path).unwrap();
        path
    }

    /// Two calls on a thread, one within the other, and nothing else.
    pub(crate) fn calls_alone(&self) -> PathBuf {
        let mut tables =
            Tables { processes: vec![Process { pid: Some(7), ..Process::default() }], ..Tables::default() };
        let none = NameId::NONE;
        for (id, name, start, duration) in [(1, "hipInit", 5, 90), (2, "hipMalloc", 10, 20)] {
            let name = tables.strings.intern(name);
            let call =
                ApiCall { id, name, tid: Some(8), start, duration: Some(duration), ..ApiCall::default() };
            tables.api_calls.push(ApiCall {
                domain: none,
                category: none,
                args: none,
                correlation: id,
                ..call
            });
        }
        let path = self.path("in.db");
        let mut writer = NativeWriter::create(&path).unwrap();
        writer.push_tables(&tables).unwrap();
        writer.finish().unwrap();
        path
    }

    /// Exit code, answer and messages of `rtl-convert` with these words, in this folder.
    pub(crate) fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
        let output = command.args(line.split_whitespace()).current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

/// One slice: where it is drawn (the GPU's or process's name and the track's without its lane), name, start from the
/// first one and duration in ns.
pub(crate) type Slice = (String, String, u64, u64);

/// Everything that a trace holds.
pub(crate) fn rows(path: &Path) -> Tables {
    Trace::open(path).unwrap().read(&Select::everything()).unwrap()
}

/// The drawn form of names: demangling each once takes long enough.
fn names(tables: &Tables) -> impl Fn(NameId) -> String + '_ {
    let full = |(_, text)| {
        let text = rtl_schema::identity(text);
        rtl_schema::demangle(text).unwrap_or_else(|| text.to_owned())
    };
    let all: Vec<String> = tables.strings.iter().map(full).collect();
    move |id| all.get(id.index()).cloned().unwrap_or_else(|| tables.strings.get(id).to_owned())
}

/// Names of copies by their recorders that state the direction alone.
const COPY_TYPES: [&str; 12] = [
    "Copy",
    "CopyHostToDevice",
    "CopyDeviceToHost",
    "CopyDeviceToDevice",
    "CopyHostToHost",
    "FillBuffer",
    "MEMORY_COPY_HOST_TO_DEVICE",
    "MEMORY_COPY_DEVICE_TO_HOST",
    "MEMORY_COPY_DEVICE_TO_DEVICE",
    "MEMORY_COPY_HOST_TO_HOST",
    "CopyHostToDevice2D",
    "CopyDeviceToHost2D",
];

/// The expected drawing, from the rows of the source.
pub(crate) fn expected(path: &Path) -> Vec<Slice> {
    let tables = rows(path);
    let of_agent = |agent| {
        let agent = tables.agent(agent);
        let product = agent.product.as_ref().map_or(String::new(), |product| format!(" ({product})"));
        format!("GPU {}{product}", agent.number)
    };
    let gpu = |place| of_agent(tables.tracks.get(place).agent);
    let host = |process, tid: Option<i64>| {
        let process = tables.process(process);
        let pid = process.pid.map_or(String::new(), |pid| format!(" {pid}"));
        let group = process.command.clone().unwrap_or_else(|| format!("Process{pid}"));
        format!("{group} / {}", tid.map_or("Ranges".to_owned(), |tid| format!("Thread {tid}")))
    };
    let name = names(&tables);
    let mut rows: Vec<(String, String, i64, Option<i64>)> = Vec::new();
    for row in tables.dispatches.iter() {
        let track = format!("{} / Queue {}", gpu(row.track), tables.tracks.get(row.track).queue);
        rows.push((track, name(row.name), row.start, row.duration));
    }
    for row in &tables.copies {
        let text = name(row.name);
        let text = if text.is_empty() || !row.name.is_some() || COPY_TYPES.contains(&&*text) {
            format!("{} copy", row.direction.label())
        } else {
            text
        };
        rows.push((format!("{} / Copies", gpu(row.track)), text, row.start, row.duration));
    }
    for row in &tables.barriers {
        let track = format!("{} / Queue {} barriers", gpu(row.track), tables.tracks.get(row.track).queue);
        let text = name(row.name);
        let text = if text.is_empty() || !row.name.is_some() { "barrier".to_owned() } else { text };
        rows.push((track, text, row.start, row.duration));
    }
    for row in tables.api_calls.iter() {
        rows.push((host(row.process, row.tid), name(row.name), row.start, row.duration));
    }
    for row in &tables.ranges {
        let duration = if row.is_marker() { Some(0) } else { row.duration };
        rows.push((host(row.process, row.tid), name(row.name), row.start, duration));
    }
    rows.retain(|row| row.3.is_some_and(|duration| duration >= 0));
    let pieces = if tables.api_calls.is_empty() { Vec::new() } else { idle::pieces(&tables) };
    let known = |agent| pieces.iter().any(|piece| piece.agent == agent && piece.cause != Cause::Unknown);
    for piece in pieces.iter().filter(|piece| known(piece.agent)) {
        let track = format!("{} / Idle causes", of_agent(piece.agent));
        rows.push((
            track,
            piece.cause.label().to_owned(),
            piece.start_ns,
            Some(piece.end_ns - piece.start_ns),
        ));
    }
    let first = rows.iter().map(|row| row.2).min().unwrap_or(0);
    let slice = |row: (String, String, i64, Option<i64>)| {
        (row.0, row.1, row.2.abs_diff(first), row.3.unwrap() as u64)
    };
    let mut slices: Vec<Slice> = rows.into_iter().map(slice).collect();
    slices.sort();
    slices
}

/// That the same is drawn; names the first difference alone, for traces are long.
#[track_caller]
pub(crate) fn assert_same(drawn: &[Slice], expected: &[Slice], what: &str) {
    let different = drawn.iter().zip(expected).find(|(drawn, expected)| drawn != expected);
    assert_eq!(different, None, "{what}");
    assert_eq!(drawn.len(), expected.len(), "{what}");
}

/// The arrows that should be drawn: name and start from the first slice of a call and of an op that it launched.
pub(crate) fn arrows(path: &Path) -> Vec<(String, u64, String, u64)> {
    let tables = rows(path);
    let first = expected_start(&tables);
    let name = names(&tables);
    let mut calls: HashMap<_, ApiCall> = HashMap::new();
    let drawn = |duration: Option<i64>| duration.is_some_and(|duration| duration >= 0);
    for call in tables.api_calls.iter().filter(|call| call.correlation != 0 && drawn(call.duration)) {
        // Of several calls of one id, the first: of those that start together, the longest.
        let order = |call: &ApiCall| (call.start, call.duration.map(|duration| -duration));
        let first = calls.entry((tables.process(call.process).space, call.correlation)).or_insert(call);
        if order(&call) < order(first) {
            *first = call;
        }
    }
    let mut arrows = Vec::new();
    let mut arrow = |place, correlation, op: String, start: i64, duration: Option<i64>| {
        let space = tables.process(tables.tracks.get(place).process).space;
        let call = calls.get(&(space, correlation)).filter(|call| drawn(duration) && call.start <= start);
        if let Some(call) = call {
            arrows.push((name(call.name), call.start.abs_diff(first), op, start.abs_diff(first)));
        }
    };
    for op in tables.dispatches.iter() {
        arrow(op.track, op.correlation, name(op.name), op.start, op.duration);
    }
    for op in &tables.copies {
        let text = name(op.name);
        let is_named = !text.is_empty() && !COPY_TYPES.contains(&&*text);
        let text = if is_named { text } else { format!("{} copy", op.direction.label()) };
        arrow(op.track, op.correlation, text, op.start, op.duration);
    }
    arrows.sort();
    arrows
}

/// The start of the first row that can be drawn.
pub(crate) fn expected_start(tables: &Tables) -> i64 {
    let good = |duration: Option<i64>| duration.is_some_and(|duration| duration >= 0);
    let ops = tables.dispatches.iter().map(|row| (row.start, row.duration));
    let copies = tables.copies.iter().map(|row| (row.start, row.duration));
    let barriers = tables.barriers.iter().map(|row| (row.start, row.duration));
    let calls = tables.api_calls.iter().map(|row| (row.start, row.duration));
    let ranges =
        tables.ranges.iter().map(|row| (row.start, if row.is_marker() { Some(0) } else { row.duration }));
    let all = ops.chain(copies).chain(barriers).chain(calls).chain(ranges);
    all.filter(|row| good(row.1)).map(|row| row.0).min().unwrap_or(0)
}
