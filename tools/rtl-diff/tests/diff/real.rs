//! A trace of a real GPU against itself, through the program: whatever differs between its parts is noise.

use std::path::Path;

use rtl_analysis::Categories;
use rtl_analysis::categories::COLLECTIVE;
use rtl_schema::table::Dispatches;
use rtl_schema::{Select, Tables, Trace, identity};
use rtl_write::NativeWriter;

use crate::Folder;

/// The default gate looks at kernels of this part of the GPU time and as many calls on each side.
const SHARE: f64 = 0.005;
const CALLS: u64 = 10;

/// The dispatches of a trace in order of start, without collectives, which wait for others.
fn recording(path: &Path) -> Tables {
    let mut tables = Trace::open(path).unwrap().read(&Select { shapes: true, ..Select::ops() }).unwrap();
    let categories = Categories::default();
    let mut rows: Vec<_> = tables
        .dispatches
        .iter()
        .filter(|row| {
            row.duration.is_some_and(|duration| duration >= 0)
                && categories.of(identity(tables.strings.get(row.name))) != COLLECTIVE
        })
        .collect();
    rows.sort_by_key(|row| row.start);
    tables.copies.clear();
    tables.dispatches = Dispatches::default();
    rows.into_iter().for_each(|row| tables.dispatches.push(row));
    tables
}

/// Writes every other one of `blocks` to a file, its calls longer by `factor`.
fn write(recording: &Tables, path: &Path, blocks: usize, side: usize, factor: f64) {
    let mut part = recording.clone();
    let count = recording.dispatches.len();
    let mine: Vec<bool> = (0..count).map(|position| position * blocks / count % 2 == side).collect();
    part.dispatches.retain(&mine);
    let longer = |duration: Option<i64>| duration.map(|duration| (duration as f64 * factor).round() as i64);
    let durations = &part.dispatches.duration;
    part.dispatches.duration = (0..durations.len()).map(|row| longer(durations.get(row))).collect();
    let mut writer = NativeWriter::create(path).unwrap();
    writer.push_tables(&part).unwrap();
    writer.finish().unwrap();
}

/// The number of kernels that a gate could look at, and the names of those that it fails.
fn gated(folder: &Folder) -> (usize, Vec<String>) {
    let answer = folder.run("--gate --allow incomparable --to json before.db after.db").answer;
    let document: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let calls = |kernel: &serde_json::Value, side: &str| kernel[side]["calls"].as_u64().unwrap_or(0);
    let large = document["kernels"].as_array().unwrap().iter().filter(|kernel| {
        kernel["share"].as_f64().unwrap() >= SHARE
            && calls(kernel, "baseline").min(calls(kernel, "candidate")) >= CALLS
    });
    let gate = &document["gates"][0];
    assert_eq!(gate["rule"], "kernel");
    let failed = gate["kernels"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned());
    (large.count(), if gate["outcome"] == "fail" { failed.collect() } else { Vec::new() })
}

#[test]
fn a_real_trace_passes_against_itself_and_fails_when_it_is_slower() {
    let Some(shared) = support::shared() else { return };
    let recording = recording(&shared.join("traces/real/rocprofv3-gfx950.json.gz"));
    let folder = Folder::new();
    for blocks in [2, 20] {
        write(&recording, &folder.path("before.db"), blocks, 0, 1.0);
        write(&recording, &folder.path("after.db"), blocks, 1, 1.0);
        let (kernels, failed) = gated(&folder);
        assert!(kernels > 40 && failed.is_empty(), "{blocks} blocks: {failed:?} of {kernels}");
        write(&recording, &folder.path("after.db"), blocks, 1, 1.1);
        let (kernels, failed) = gated(&folder);
        let found = failed.len() as f64 / kernels as f64;
        assert!(found >= 0.85, "{blocks} blocks: {} of {kernels}", failed.len());
    }
}
