//! The files of rocprof, beside those that rocprof itself made of the same records.

use std::collections::BTreeSet;

use serde_json::Value;
use support::Need;

use crate::drawing::Folder;

/// Converts a folder of golden inputs.
fn converted(name: &str) -> Option<(std::path::PathBuf, Folder)> {
    let golden = support::shared()?.join("golden/rocprof-v1");
    if !golden.is_dir() {
        support::skip(Need::Shared, "no files of rocprof beside the checkout");
        return None;
    }
    let folder = Folder::new();
    let line = format!("{} -o out --to rocprof", golden.join(name).display());
    let (code, _, messages) = folder.run(&line);
    assert_eq!((code, messages.as_str()), (0, ""));
    Some((golden, folder))
}

#[test]
fn statistics_are_byte_for_byte_those_of_rocprof() {
    for (input, run, endings) in [
        ("in-hip", "results", &["stats.csv", "hip_stats.csv", "copy_stats.csv"]),
        ("in-hsa", "hsares", &["stats.csv", "hsa_stats.csv", "copy_stats.csv"]),
    ] {
        let Some((golden, folder)) = converted(input) else { return };
        for ending in endings {
            let expected = std::fs::read_to_string(golden.join(format!("{run}.{ending}"))).unwrap();
            let written = std::fs::read_to_string(folder.path(&format!("out.{ending}"))).unwrap();
            assert_eq!(written, expected, "{run}.{ending}");
        }
    }
}

#[test]
fn the_columns_of_a_dispatch_that_are_known_are_those_of_rocprof() {
    let Some((golden, folder)) = converted("in-hsa") else { return };
    let cells = |text: String| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let expected = cells(std::fs::read_to_string(golden.join("hsares.csv")).unwrap());
    let written = cells(std::fs::read_to_string(folder.path("out.csv")).unwrap());
    assert_eq!(written[0], expected[0]);
    // Places in a queue, sizes as products, wave size, signal, object, and when the completion was seen.
    const UNKNOWN: [usize; 7] = [4, 7, 8, 14, 15, 16, 20];
    for (at, (written, expected)) in written[1].iter().zip(&expected[1]).enumerate() {
        let expected = if UNKNOWN.contains(&at) { "" } else { expected.as_str() };
        assert_eq!(written, expected, "column {at}");
    }
}

/// Events of slices in words: process, name, times and columns, without what only arguments of calls state (the stream).
fn slices(document: &Value) -> BTreeSet<String> {
    let events = document["traceEvents"].as_array().unwrap();
    let slices = events.iter().filter(|event| event["ph"] == "X" && event["name"] != "hsa_dispatch");
    let words = slices.map(|event| {
        let args = ["BeginNs", "pid", "tid", "Name", "queue-id", "dev-id", "DurationNs"]
            .map(|key| &event["args"][key]);
        let fixed = ["pid", "name", "ts", "dur"].map(|key| &event[key]);
        format!("{fixed:?} {args:?}")
    });
    words.collect()
}

#[test]
fn the_json_has_the_slices_of_rocprof_and_an_arrow_for_every_op() {
    let Some((golden, folder)) = converted("in-hip") else { return };
    let read = |path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let (written, expected) = (read(folder.path("out.json")), read(golden.join("results.json")));
    assert_eq!(slices(&written), slices(&expected));
    let arrows = |document: &Value| -> BTreeSet<String> {
        let events = document["traceEvents"].as_array().unwrap();
        let ends = events.iter().filter(|event| event["ph"] == "t" && event["pid"] != 2);
        ends.map(|event| format!("{} {}", event["pid"], event["ts"])).collect()
    };
    // Beside those to ops rocprof draws one from the last op to each call that waits for a stream.
    assert_eq!(arrows(&written), arrows(&expected));
}

#[test]
fn what_rocprof_reads_back_has_the_same_ops() {
    let folder = Folder::new();
    let options = support::Options { ops: 500, api: true, ranges: true, ..support::Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    assert_eq!(folder.run("in.db -o out --to rocprof --names mangled").0, 0);
    let times = |name: &str| -> Vec<(i64, Option<i64>)> {
        let tables = crate::drawing::rows(&folder.path(name));
        let mut times: Vec<_> = tables.dispatches.iter().map(|row| (row.start, row.duration)).collect();
        times.sort();
        times
    };
    assert_eq!(times("in.db"), times("out.json"));
    assert_eq!(times("in.db"), times("out.csv"));
}
