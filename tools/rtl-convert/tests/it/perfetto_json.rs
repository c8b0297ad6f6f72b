//! The program as its users meet it, and every slice that it writes against the rows of the source.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use serde_json::Value;
use support::{Layout, Options};

use crate::drawing::{Folder, Slice, assert_same, expected, hazards};

/// The events of the file that `rtl-convert in.db -o NAME` and more words write.
fn events(folder: &Folder, name: &str, line: &str) -> Vec<Value> {
    let (code, _, messages) = folder.run(&format!("in.db -o {name} {line}"));
    assert_eq!((code, messages.as_str()), (0, ""));
    let bytes = std::fs::read(folder.path(name)).unwrap();
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    serde_json::from_str::<Value>(&text).unwrap()["traceEvents"].as_array().unwrap().clone()
}

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

/// The drawing of the file, in order and from its first slice on; panics where two slices of a track overlap without nesting.
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
    let first = slices.iter().map(|slice| slice.2).min().unwrap_or(0);
    // Times count from the whole microsecond before it.
    assert!(first < 1000, "{first}");
    slices.iter_mut().for_each(|slice| slice.2 -= first);
    slices.sort();
    slices
}

#[test]
fn every_slice_of_every_story_is_drawn_as_it_was() {
    for name in support::fixture_names() {
        let folder = Folder::new();
        let path = folder.story(&name);
        assert_same(&drawn(&events(&folder, "out.json", "")), &expected(&path), &name);
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
            &drawn(&events(&folder, "out.json.gz", "--force")),
            &expected(&path),
            &format!("{layout:?}"),
        );
    }
}

#[test]
fn hard_to_draw_traces_are_drawn_as_they_were() {
    let folder = Folder::new();
    let path = folder.path("in.db");
    for seed in 1..=8 {
        hazards::write(seed, &path);
        assert_same(
            &drawn(&events(&folder, "out.json", "--force")),
            &expected(&path),
            &format!("seed {seed}"),
        );
    }
}

#[test]
fn a_hundred_queues_and_calls_alone_are_drawn_as_they_were() {
    let folder = Folder::new();
    let path = folder.hundred_queues();
    let slices = drawn(&events(&folder, "out.json", ""));
    assert_same(&slices, &expected(&path), "101 queues");
    assert!(slices.len() == 101 && slices.iter().all(|slice| slice.0.starts_with("GPU 5 / Queue ")));
    let folder = Folder::new();
    let path = folder.calls_alone();
    assert_same(&drawn(&events(&folder, "out.json", "")), &expected(&path), "calls alone");
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let folder = Folder::new();
    let mut written = Vec::new();
    for shuffle in [false, true] {
        let options = Options { ops: 3_000, shuffle, ..Options::default() };
        support::generate(&options, &folder.path("in.db")).unwrap();
        written.push(drawn(&events(&folder, "out.json", "--force")));
    }
    assert_same(&written[0], &written[1], "shuffled");
}

#[test]
fn every_arrow_has_a_call_at_its_beginning_and_an_op_at_its_end() {
    let folder = Folder::new();
    support::generate(&Options { ops: 1_000, api: true, ..Options::default() }, &folder.path("in.db"))
        .unwrap();
    let events = events(&folder, "out.json", "");
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
    let launched = ends("flow_out", &["cuda_runtime"]);
    assert_eq!(launched.len(), 1_000);
    assert_eq!(launched, ends("flow_in", &["kernel", "gpu_memcpy", "gpu_memset"]));
}

#[test]
fn kinetos_readers_find_both_ends_of_every_arrow_by_its_correlation() {
    let folder = Folder::new();
    support::generate(&Options { ops: 1_000, api: true, ..Options::default() }, &folder.path("in.db"))
        .unwrap();
    let drawn = events(&folder, "out.json", "");
    let ends = |phase: &str, flag: &str| {
        let pairs = drawn.windows(2).filter(|pair| pair[1]["ph"] == phase);
        let mut ids: Vec<i64> = pairs
            .map(|pair| {
                let [slice, arrow] = pair else { unreachable!() };
                assert!(slice[flag] == true && arrow["cat"] == "ac2g", "{slice} {arrow}");
                for key in ["pid", "tid", "ts"] {
                    assert_eq!(slice[key], arrow[key], "{slice}");
                }
                assert_eq!(slice["args"]["correlation"], arrow["id"], "{slice}");
                arrow["id"].as_i64().unwrap()
            })
            .collect();
        ids.sort_unstable();
        ids
    };
    let launched = ends("s", "flow_out");
    assert_eq!(launched.len(), 1_000);
    assert_eq!(launched, ends("f", "flow_in"));
    assert!(events(&folder, "bare.json", "--no-args").iter().all(|event| event["cat"] != "ac2g"));
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
    let slices = drawn(&events(&folder, "out.json", ""));
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
    let events = events(&folder, "out.json", "");
    let busy: Vec<(u64, f64)> = events
        .iter()
        .filter(|event| event["ph"] == "C" && event["name"] == "busy")
        .map(|event| (nanoseconds(&event["ts"]), event["args"]["%"].as_f64().unwrap()))
        .collect();
    // A value holds until the next one, and is written where it changes.
    assert_eq!(busy, [(0, 100.0), (500, 0.0), (999, 100.0), (1000, 0.0)]);
}

#[test]
fn without_arguments_the_slices_stay() {
    let folder = Folder::new();
    let path = folder.story("steady-training-loop");
    let events = events(&folder, "out.json", "--no-args");
    assert_same(&drawn(&events), &expected(&path), "without arguments");
    assert!(events.iter().all(|event| event["ph"] != "X" || event.get("args").is_none()));
}

#[test]
fn a_filter_narrows_what_is_written() {
    let folder = Folder::new();
    let path = folder.story("eight-gpus");
    let groups: Vec<String> =
        names(&events(&folder, "out.json", "--gpu 3"), "process_name").into_values().collect();
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
    let (code, _, messages) = folder.run("in.db -o in.db --to native --force");
    assert_eq!((code, messages.lines().next()), (2, Some("rtl-convert: error: in.db is an input")));
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
    assert_eq!(folder.run("in.db -o half.json --time ..50%").0, 0);
    assert!(
        drawn(&events(&folder, "half.json", "--force --time ..1ns")).len()
            < expected(&folder.path("in.db")).len()
    );
}

#[test]
fn devices_streams_and_categories_are_those_of_kineto() {
    let folder = Folder::new();
    let options = Options { ops: 300, gpus: 2, api: true, ranges: true, ..Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    let drawn = events(&folder, "out.json", "");
    let document: Value = serde_json::from_slice(&std::fs::read(folder.path("out.json")).unwrap()).unwrap();
    let devices: Vec<i64> = document["deviceProperties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gpu| gpu["id"].as_i64().unwrap())
        .collect();
    assert_eq!(devices, [0, 1]);
    let is_op =
        |event: &&Value| matches!(event["cat"].as_str(), Some("kernel" | "gpu_memcpy" | "gpu_memset"));
    for op in drawn.iter().filter(is_op) {
        let [device, stream, correlation] =
            ["device", "stream", "correlation"].map(|name| op["args"][name].as_i64());
        assert!(device.is_some_and(|device| devices.contains(&device)), "{op}");
        assert!(stream.is_some() && correlation.is_some(), "{op}");
    }
    assert_eq!(drawn.iter().filter(is_op).count(), 300);
    assert!(drawn.iter().any(|event| event["cat"] == "cpu_op"));
}

#[test]
fn the_rank_is_where_the_readers_of_kineto_look_for_it() {
    let folder = Folder::new();
    let mut tables = crate::drawing::rows(&folder.story("two-kernels"));
    (tables.processes[0].rank, tables.processes[0].world) = (Some(3), Some(8));
    let mut writer = rtl_write::NativeWriter::create(folder.path("in3.db")).unwrap();
    writer.push_tables(&tables).unwrap();
    writer.finish().unwrap();
    assert_eq!(folder.run("in3.db -o out.json").0, 0);
    let text = std::fs::read_to_string(folder.path("out.json")).unwrap();
    let (before, _) = text.split_once("\"traceEvents\"").unwrap();
    assert!(before.contains("\"distributedInfo\":{\"rank\": 3, \"world_size\": 8}"), "{before}");
    serde_json::from_str::<Value>(&text).unwrap();
}
