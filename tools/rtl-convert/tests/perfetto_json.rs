//! The program as its users meet it, and every slice that it writes against the rows of the source.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, a skipped one says so"
)]

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use schema::{Select, Trace};
use serde_json::Value;
use support::{Layout, Options};

/// A folder in which the program runs.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn story(&self, name: &str) -> PathBuf {
        let path = self.path("in.db");
        std::fs::copy(support::fixture(name), &path).unwrap();
        path
    }

    /// Exit code, answer and messages of `rtl-convert` with these words, in this folder.
    fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
        let output = command.args(line.split_whitespace()).current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// The events of the file that `rtl-convert in.db -o NAME` and more words write.
    fn events(&self, name: &str, line: &str) -> Vec<Value> {
        let (code, _, messages) = self.run(&format!("in.db -o {name} {line}"));
        assert_eq!((code, messages.as_str()), (0, ""));
        let bytes = std::fs::read(self.path(name)).unwrap();
        let mut text = String::new();
        if name.ends_with(".gz") {
            flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        } else {
            text = String::from_utf8(bytes).unwrap();
        }
        serde_json::from_str::<Value>(&text).unwrap()["traceEvents"].as_array().unwrap().clone()
    }
}

/// One slice: where it is drawn (the GPU's or process's name and the track's without its lane), name, start from the
/// start of the trace and duration in ns.
type Slice = (String, String, u64, u64);

/// Nanoseconds of a time as it is written, digit by digit.
fn nanoseconds(value: &Value) -> u64 {
    let text = value.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    whole.parse::<u64>().unwrap() * 1000 + format!("{decimals:0<3}").parse::<u64>().unwrap()
}

fn names(events: &[Value], what: &str) -> HashMap<(u64, Option<u64>), String> {
    let of = |event: &&Value| event["ph"] == "M" && event["name"] == what;
    let key = |event: &Value| (event["pid"].as_u64().unwrap(), event["tid"].as_u64());
    let named = |event: &Value| (key(event), event["args"]["name"].as_str().unwrap().to_owned());
    events.iter().filter(of).map(named).collect()
}

/// What the file draws, in order; panics where two slices of a track overlap without nesting.
fn drawn(events: &[Value]) -> Vec<Slice> {
    let (groups, tracks) = (names(events, "process_name"), names(events, "thread_name"));
    let mut slices = Vec::new();
    let mut lanes: BTreeMap<(u64, u64), Vec<u64>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X" || event["ph"] == "i") {
        let (pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let start = nanoseconds(&event["ts"]);
        let duration = if event["ph"] == "X" { nanoseconds(&event["dur"]) } else { 0 };
        let open = lanes.entry((pid, tid)).or_default();
        open.retain(|&end| end > start);
        assert!(open.iter().all(|&end| start + duration <= end), "{event} overlaps on its track");
        assert!(
            open.is_empty() || !tracks[&(pid, Some(tid))].starts_with("Queue"),
            "{event} is nested in an op"
        );
        open.push(start + duration);
        let track = tracks[&(pid, Some(tid))].split(" (overlap").next().unwrap().to_owned();
        let name = event["name"].as_str().unwrap().to_owned();
        slices.push((format!("{} / {track}", groups[&(pid, None)]), name, start, duration));
    }
    slices.sort();
    slices
}

/// What should be drawn, from the rows of the source.
fn expected(path: &Path) -> Vec<Slice> {
    let tables = Trace::open(path).unwrap().read(&Select::everything()).unwrap();
    let gpu = |lane| {
        let agent = tables.agent(tables.lanes.get(lane).agent);
        let product = agent.product.as_ref().map_or(String::new(), |product| format!(" ({product})"));
        format!("GPU {}{product}", agent.number)
    };
    let host = |process, tid: Option<i64>| {
        let process = tables.process(process);
        let pid = process.pid.map_or(String::new(), |pid| format!(" {pid}"));
        let group = process.command.clone().unwrap_or_else(|| format!("Process{pid}"));
        format!("{group} / {}", tid.map_or("Ranges".to_owned(), |tid| format!("Thread {tid}")))
    };
    let name = |id| {
        let text = schema::identity(tables.strings.get(id));
        schema::demangle(text).unwrap_or_else(|| text.to_owned())
    };
    let mut rows: Vec<(String, String, i64, Option<i64>)> = Vec::new();
    for row in tables.dispatches.iter() {
        let track = format!("{} / Queue {}", gpu(row.lane), tables.lanes.get(row.lane).queue);
        rows.push((track, name(row.name), row.start, row.duration));
    }
    for row in &tables.copies {
        let text = name(row.name);
        let text = if text.is_empty() || !row.name.is_some() {
            format!("{} copy", row.direction.label())
        } else {
            text
        };
        rows.push((format!("{} / Copies", gpu(row.lane)), text, row.start, row.duration));
    }
    for row in &tables.barriers {
        let track = format!("{} / Queue {} barriers", gpu(row.lane), tables.lanes.get(row.lane).queue);
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
fn assert_same(drawn: &[Slice], expected: &[Slice], what: &str) {
    let different = drawn.iter().zip(expected).find(|(drawn, expected)| drawn != expected);
    assert_eq!(different, None, "{what}");
    assert_eq!(drawn.len(), expected.len(), "{what}");
}

#[test]
fn every_slice_of_every_story_is_drawn_as_it_was() {
    for name in support::fixture_names() {
        let folder = Folder::new();
        let path = folder.story(&name);
        assert_same(&drawn(&folder.events("out.json", "")), &expected(&path), &name);
    }
}

#[test]
fn every_slice_of_a_shuffled_trace_of_eight_gpus_is_drawn_as_it_was() {
    let folder = Folder::new();
    let path = folder.path("in.db");
    for layout in [Layout::Native, Layout::Rpd3] {
        let options =
            Options { layout, ops: 5_000, api: true, ranges: true, shuffle: true, ..Options::default() };
        support::generate(&options, &path).unwrap();
        assert_same(
            &drawn(&folder.events("out.json.gz", "--force")),
            &expected(&path),
            &format!("{layout:?}"),
        );
    }
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let folder = Folder::new();
    let mut written = Vec::new();
    for shuffle in [false, true] {
        let options = Options { ops: 3_000, shuffle, ..Options::default() };
        support::generate(&options, &folder.path("in.db")).unwrap();
        written.push(drawn(&folder.events("out.json", "--force")));
    }
    assert_same(&written[0], &written[1], "shuffled");
}

#[test]
fn every_arrow_has_a_call_at_its_beginning_and_an_op_at_its_end() {
    let folder = Folder::new();
    support::generate(&Options { ops: 1_000, api: true, ..Options::default() }, &folder.path("in.db"))
        .unwrap();
    let events = folder.events("out.json", "");
    let ends = |flag: &str, category: &[&str]| {
        let mut ids: Vec<u64> = events
            .iter()
            .filter(|event| event[flag] == true)
            .inspect(|event| assert!(category.contains(&event["cat"].as_str().unwrap()), "{event}"))
            .map(|event| event["bind_id"].as_u64().unwrap())
            .collect();
        ids.sort_unstable();
        ids
    };
    let launched = ends("flow_out", &["api"]);
    assert_eq!(launched.len(), 1_000);
    assert_eq!(launched, ends("flow_in", &["kernel", "copy"]));
}

#[test]
fn hostile_names_come_through() {
    let long = "x".repeat(64 << 10);
    let hostile =
        ["\"quoted\"", "back\\slash", "tab\tline\nbell\u{7}", "emoji 🚀", "</script>", long.as_str()];
    let rows: Vec<String> = hostile
        .iter()
        .enumerate()
        .map(|(at, name)| format!("(5, 100, {}, {}, '{name}')", at * 10, at * 10 + 5))
        .collect();
    let story = format!("INSERT INTO kernels(gpu, queue, start, end, name) VALUES {};", rows.join(", "));
    let folder = Folder::new();
    std::fs::copy(support::database(&story, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    let slices = drawn(&folder.events("out.json", ""));
    for name in hostile {
        assert!(slices.iter().any(|slice| slice.1 == name), "{name:.20}");
    }
    assert!(slices.iter().all(|slice| slice.0 == "GPU 5 / Queue 100"), "{:?}", slices[0].0);
}

#[test]
fn busy_is_a_part_of_each_step_and_follows_the_ops() {
    let folder = Folder::new();
    let story = "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 0, 500, 'a'), (0, 0, 999, 1000, 'b');";
    std::fs::copy(support::database(story, Layout::Native).unwrap(), folder.path("in.db")).unwrap();
    let events = folder.events("out.json", "");
    let busy: Vec<f64> = events
        .iter()
        .filter(|event| event["ph"] == "C" && event["name"] == "busy")
        .map(|event| event["args"]["%"].as_f64().unwrap())
        .collect();
    assert_eq!(busy.iter().sum::<f64>(), 501.0 * 100.0);
}

#[test]
fn without_arguments_the_slices_stay() {
    let folder = Folder::new();
    let path = folder.story("steady-training-loop");
    let events = folder.events("out.json", "--no-args");
    assert_same(&drawn(&events), &expected(&path), "without arguments");
    assert!(events.iter().all(|event| event["ph"] != "X" || event.get("args").is_none()));
}

#[test]
fn a_filter_narrows_what_is_written() {
    let folder = Folder::new();
    let path = folder.story("eight-gpus");
    let groups: Vec<String> =
        names(&folder.events("out.json", "--gpu 3"), "process_name").into_values().collect();
    assert!(
        !groups.is_empty()
            && groups.iter().all(|group| !group.starts_with("GPU") || group.starts_with("GPU 3"))
    );
    assert!(expected(&path).iter().any(|slice| slice.0.starts_with("GPU 4")));
}

#[test]
fn rows_that_cannot_be_drawn_are_counted_with_the_reason() {
    let folder = Folder::new();
    folder.story("bad-rows");
    let (code, answer, _) = folder.run("in.db -o out.json");
    assert_eq!(code, 0);
    assert!(answer.contains("rows in,") && answer.contains("left out"), "{answer}");
    assert_eq!(folder.run("in.db -o out.json --force --quiet").1, "");
}

#[test]
fn an_output_replaces_a_file_only_when_told_and_never_the_input() {
    let folder = Folder::new();
    let input = folder.story("two-kernels");
    let before = std::fs::read(&input).unwrap();
    assert_eq!(folder.run("in.db -o out.json").0, 0);
    let (code, answer, messages) = folder.run("in.db -o out.json");
    assert_eq!((code, answer.as_str()), (2, ""));
    assert_eq!(messages, "rtl-convert: error: out.json exists\nhint: --force replaces it\n");
    let (code, _, messages) = folder.run("in.db -o in.db --to perfetto-json --force");
    assert_eq!((code, messages.lines().next()), (2, Some("rtl-convert: error: in.db is the input")));
    assert_eq!(std::fs::read(&input).unwrap(), before);
}

#[test]
fn what_fails_leaves_no_file_behind() {
    let folder = Folder::new();
    folder.story("two-kernels");
    assert_eq!(folder.run("in.db -o out.xyz").0, 2);
    assert_eq!(folder.run("in.db -o out.json --range nowhere").0, 3);
    assert_eq!(folder.run("absent.db -o out.json").0, 3);
    let left: Vec<_> =
        std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["in.db"]);
}

#[test]
fn to_names_a_format_or_a_moment() {
    let folder = Folder::new();
    folder.story("two-kernels");
    assert_eq!(folder.run("in.db -o named --to perfetto-json").0, 0);
    assert_eq!(folder.run("in.db -o half.json --to 50%").0, 0);
    assert!(
        drawn(&folder.events("half.json", "--force --to 1ns")).len() < expected(&folder.path("in.db")).len()
    );
}

/// What trace_processor itself says that it drew, where it is there: node, the loader beside the foreign traces, and
/// the folder of Perfetto's UI that the variable names.
fn loaded(file: &Path) -> Option<Vec<Slice>> {
    let loader = support::shared()?.join("tools/perfetto/tp.mjs");
    let Some(folder) = std::env::var_os("PERFETTO_WEB_DIST").filter(|_| loader.is_file()) else {
        println!("skipped: PERFETTO_WEB_DIST names no folder of Perfetto's UI");
        return None;
    };
    let faults = "select name from stats where severity in ('error', 'data_loss') and value > 0";
    let slices = "select group_concat(printf('%s / %s\t%s\t%d\t%d', process.name, thread.name, slice.name, ts, dur), \
                  char(10)) from slice join thread_track on track_id = thread_track.id join thread using (utid) \
                  join process using (upid)";
    let mut command = Command::new("node");
    let output = command.arg(loader).arg(folder).arg(file).args([faults, slices]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("\n  (0 rows,"), "{text:.2000}");
    let parsed = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.trim_start().split('\t').collect();
        let [track, name, start, duration] = fields[..] else { return None };
        let track = track.split(" (overlap").next().unwrap().to_owned();
        Some((track, name.to_owned(), start.parse().unwrap(), duration.parse().unwrap()))
    });
    let mut slices: Vec<Slice> = parsed.collect();
    slices.sort();
    Some(slices)
}

#[test]
fn trace_processor_draws_every_slice_as_it_was() {
    let folder = Folder::new();
    for name in support::fixture_names() {
        let path = folder.story(&name);
        let expected = expected(&path);
        assert_eq!(folder.run("in.db -o out.json --force").0, 0);
        let Some(loaded) = loaded(&folder.path("out.json")) else { return };
        assert_same(&loaded, &expected, &name);
    }
    let path = folder.path("in.db");
    let options = Options { ops: 5_000, api: true, ranges: true, shuffle: true, ..Options::default() };
    support::generate(&options, &path).unwrap();
    assert_eq!(folder.run("in.db -o out.json.gz --force").0, 0);
    let Some(loaded) = loaded(&folder.path("out.json.gz")) else { return };
    assert_same(&loaded, &expected(&path), "generated");
}
