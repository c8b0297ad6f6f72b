//! The content of the inputs is in the merged trace, and nothing else.

use proptest::prelude::*;
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, NameId, ProcessId, Tables};
use support::{Job, Layout, Options};

use crate::{Folder, ranks};

/// Every row as words that do not depend on how things are numbered in a file, sorted. `gpu` says what a GPU is called
/// everywhere.
pub(crate) fn rows(tables: &Tables, gpu: impl Fn(AgentId) -> String) -> Vec<String> {
    let text = |name: NameId| tables.strings.get(name).to_owned();
    let who = |process: ProcessId| {
        let process = tables.process(process);
        format!("{:?}@{:?}", process.rank, process.host)
    };
    let gpu = |agent: AgentId| match tables.agent(agent).kind {
        AgentKind::Gpu => gpu(agent),
        kind => format!("{kind:?}"),
    };
    // What an id stands for: the range's name and start.
    let range = |process: ProcessId, id: i64| {
        let space = tables.process(process).space;
        let found = (tables.ranges.iter())
            .find(|range| range.id == id && id != 0 && tables.process(range.process).space == space);
        found.map(|range| format!("{} {}", text(range.name), range.start))
    };
    // The call that an op belongs to.
    let mut calls: std::collections::HashMap<(u32, i64), i64> = std::collections::HashMap::new();
    for call in tables.api_calls.iter().filter(|call| call.correlation != 0) {
        calls.entry((tables.process(call.process).space, call.correlation)).or_insert(call.start);
    }
    let cause = |process: ProcessId, id: i64| calls.get(&(tables.process(process).space, id)).copied();
    let mut rows = Vec::new();
    for row in tables.dispatches.iter() {
        let track = tables.tracks.get(row.track);
        let symbol = row.symbol.map(|id| {
            let symbol = tables.symbols[id.index()];
            (text(symbol.name), symbol.vgprs, symbol.lds)
        });
        let collective = row.collective.map(|id| {
            let stated = tables.collectives.get(id);
            let texts = [stated.operation, stated.communicator, stated.ranks, stated.data_type];
            let numbers = (stated.size, stated.sent, stated.received, stated.sequence);
            (texts.map(text), numbers)
        });
        rows.push(format!(
            "kernel {} {} {} {:?} {:?} {:?} {:?} {} {:?} {:?} {symbol:?} {collective:?} {:?} {}",
            text(row.name),
            who(track.process),
            gpu(track.agent),
            track.stream,
            track.hardware_queue,
            row.start,
            row.duration,
            row.graph,
            row.shape.map(|shape| tables.shapes.get(shape)),
            range(track.process, row.range),
            cause(track.process, row.correlation),
            row.tid.unwrap_or(-1),
        ));
    }
    for row in &tables.copies {
        let track = tables.tracks.get(row.track);
        let [source, destination] = [row.source, row.destination].map(|agent| agent.map(gpu));
        rows.push(format!(
            "copy {} {} {} {:?} {:?} {:?} {source:?} {destination:?} {:?} {:?}",
            row.start,
            who(track.process),
            gpu(track.agent),
            row.duration,
            row.bytes,
            row.direction,
            (row.source_address, row.destination_address),
            range(track.process, row.range),
        ));
    }
    for row in &tables.barriers {
        rows.push(format!("barrier {} {:?}", row.start, row.duration));
    }
    for row in &tables.ranges {
        rows.push(format!(
            "range {} {} {} {:?} {:?} {}",
            text(row.name),
            who(row.process),
            row.start,
            row.duration,
            row.kind,
            text(row.category)
        ));
    }
    for (at, row) in tables.api_calls.iter().enumerate() {
        let arguments: Vec<String> = (tables.api_calls.arguments.iter())
            .filter(|argument| argument.call as usize == at)
            .map(|argument| format!("{} {}", text(argument.name), text(argument.value)))
            .collect();
        rows.push(format!(
            "call {} {} {} {:?} {} {arguments:?}",
            text(row.name),
            who(row.process),
            row.start,
            row.duration,
            text(row.args)
        ));
    }
    for row in &tables.allocations {
        let agent = row.agent.map(gpu);
        rows.push(format!("allocation {} {:?} {:?} {agent:?}", row.start, row.address, row.bytes));
    }
    for row in &tables.counters {
        rows.push(format!("counter {} {}", text(row.name), row.value));
    }
    for row in &tables.monitors {
        rows.push(format!("monitor {} {} {}", text(row.name), row.start, text(row.value)));
    }
    rows.extend(tables.stack_frames.iter().map(|row| format!("frame {} {}", row.depth, text(row.name))));
    for extra in &tables.opaque_tables {
        rows.extend(extra.rows.iter().map(|row| format!("extra {row:?}")));
    }
    rows.sort();
    rows
}

/// GPUs that say what they are.
fn by_uuid(tables: &Tables) -> impl Fn(AgentId) -> String + '_ {
    |agent| tables.agent(agent).uuid.clone().unwrap_or_default()
}

fn all_rows(folder: &Folder, files: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let tables = folder.tables(file);
            rows(&tables, by_uuid(&tables))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_row_of_every_input_is_found_again() {
    let folder = Folder::of(&Job { api: true, steps: 6, ..Job::default() });
    folder.merge(&format!("--align never -o all.db {}", ranks(8)));
    let files: Vec<String> = (0..8).map(|rank| format!("rank{rank}.db")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let merged = folder.tables("all.db");
    let found = rows(&merged, by_uuid(&merged));
    assert_eq!(found, all_rows(&folder, &files));
    assert_eq!(found.len(), 8 * 6 * (13 * 2 + 1));
}

#[test]
fn traces_of_all_layouts_are_merged_into_one() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for name in support::fixture_names() {
        for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
            // RPD's tables hold no bad rows.
            if name == "bad-rows" && layout == Layout::Rpd3 {
                continue;
            }
            let file = format!("{name}-{layout:?}.db");
            folder.story(&name, layout, &file);
            files.push(file);
        }
    }
    let report = folder.merge(&format!("-o all.db {}", files.join(" ")));
    let sums = report["rows"].as_array().unwrap().iter();
    assert!(sums.clone().all(|table| table["rows_in"] == table["rows_out"]), "{report:#}");
    let merged = folder.tables("all.db");
    let anonymous = |_| String::new();
    let mut expected: Vec<String> =
        files.iter().flat_map(|file| rows(&folder.tables(file), anonymous)).collect();
    expected.sort();
    assert_eq!(rows(&merged, anonymous), expected);
}

#[test]
fn real_and_made_traces_of_other_tools_are_merged() {
    let Some(shared) = support::shared() else { return };
    let mut folders = vec![shared.join("traces"), shared.join("golden/rocprofv3")];
    let mut files: Vec<String> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.metadata().unwrap().len() < 4 << 20 && rtl_schema::Trace::open(&path).is_ok() {
                files.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    let folder = Folder::new();
    let report = folder.merge(&format!("--allow missing-ranks,different-runs -o all.db {}", files.join(" ")));
    let sums = report["rows"].as_array().unwrap().iter();
    assert!(sums.clone().all(|table| table["rows_in"] == table["rows_out"]), "{report:#}");
    // The CSV files are those of one run of rocprofv3.
    let of_one_run = files.iter().filter(|file| file.ends_with(".csv")).count();
    assert!(of_one_run > 1);
    assert_eq!(report["inputs"].as_array().unwrap().len(), files.len() - of_one_run + 1);
}

#[test]
fn the_two_ranks_of_rocprofv3_share_a_gpu_and_keep_all_rows() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    let files = ["rocprofv3-rank0.db", "rocprofv3-rank1.db"];
    for file in files {
        std::fs::copy(shared.join("traces/made").join(file), folder.path(file)).unwrap();
    }
    let report = folder.merge(&format!("-o all.db {}", files.join(" ")));
    assert_eq!(report["gpus"].as_array().unwrap().len(), 1);
    assert_eq!(report["gpus"][0]["ranks"], serde_json::json!([0, 1]));
    let merged = folder.tables("all.db");
    assert_eq!(rows(&merged, by_uuid(&merged)), all_rows(&folder, &files));
    let rank = |at: usize| merged.process(merged.tracks.get(merged.dispatches.track[at]).process).rank;
    let of_rank_1 = (0..merged.dispatches.len()).filter(|&at| rank(at) == Some(1)).count();
    assert_eq!((merged.dispatches.len(), of_rank_1), (48, 24));
}

#[test]
fn what_the_generator_can_write_is_found_again_whatever_the_layout() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for (at, layout) in [Layout::Native, Layout::Lite, Layout::Rpd3].into_iter().enumerate() {
        let seed = at as u64 + 1;
        let options =
            Options { layout, ops: 3_000, gpus: 2, api: true, ranges: true, seed, ..Options::default() };
        let file = format!("{at}.db");
        support::generate(&options, &folder.path(&file)).unwrap();
        files.push(file);
    }
    folder.merge(&format!("-o all.db {}", files.join(" ")));
    let merged = folder.tables("all.db");
    let anonymous = |_| String::new();
    let mut expected: Vec<String> =
        files.iter().flat_map(|file| rows(&folder.tables(file), anonymous)).collect();
    expected.sort();
    assert_eq!(rows(&merged, anonymous), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(6), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_traces_makes_no_difference(seed in 0_u64..1_000, swap in any::<[prop::sample::Index; 3]>()) {
        let folder = Folder::of(&Job { nodes: 3, ranks_per_node: 1, steps: 4, kernels: 3, seed, ..Job::default() });
        let mut files: Vec<String> = (0..3).map(|rank| format!("rank{rank}.db")).collect();
        folder.merge(&format!("-o sorted.db {}", files.join(" ")));
        for (at, index) in swap.iter().enumerate() {
            files.swap(at, index.index(3));
        }
        folder.merge(&format!("-o shuffled.db {}", files.join(" ")));
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        prop_assert_eq!(bytes("sorted.db"), bytes("shuffled.db"));
    }
}

#[test]
fn six_hundred_traces_become_one() {
    // More than SQLite attaches at once, and than a compound select has terms.
    let job = Job { nodes: 75, ranks_per_node: 8, steps: 12, kernels: 2, ..Job::default() };
    let folder = Folder::of(&job);
    let report = folder.merge(&format!("-o all.db {}", ranks(600)));
    assert_eq!(report["rows"][0]["rows_out"], 600 * 12 * 3);
    assert_eq!(report["gpus"].as_array().unwrap().len(), 600);
    assert_eq!(report["clock"]["violations"], 0);
    let ranks: std::collections::BTreeSet<_> =
        folder.tables("all.db").processes.iter().map(|process| process.rank).collect();
    assert_eq!(ranks, (0..600).map(Some).collect());
}

/// The report of `rtl-summary` on a trace.
fn summary(folder: &Folder, file: &str) -> serde_json::Value {
    use clap::Parser;
    let path = folder.path(file).to_str().unwrap().to_owned();
    let line = ["rtl-summary", "--to", "json", "--section", "kernels,gpus,copies,api,ranges", &path];
    let arguments = rtl_summary::args::Arguments::try_parse_from(line).unwrap();
    let answer = folder.path("answer.json");
    let to = Box::new(std::fs::File::create(&answer).unwrap());
    let mut out = cli::Output::new("rtl-summary", to, Box::new(std::io::sink()));
    rtl_summary::run(arguments, &mut out).unwrap();
    drop(out);
    let mut document: serde_json::Value = serde_json::from_slice(&std::fs::read(answer).unwrap()).unwrap();
    // Who the file is differs; what it says must not.
    document.as_object_mut().unwrap().remove("inputs");
    document
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(4), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_parts_of_a_split_trace_become_what_it_was(seed in 0_u64..1_000, parts in 2_usize..4, api: bool) {
        let job = Job { nodes: 1, ranks_per_node: 1, steps: 5, kernels: 4, api, seed, ..Job::default() };
        let folder = Folder::of(&job);
        let mut files = String::new();
        for part in 0..parts {
            // Every part has what belongs to the process, and some of its rows.
            let file = format!("part{part}.db");
            std::fs::copy(folder.path("rank0.db"), folder.path(&file)).unwrap();
            let split = support::rusqlite::Connection::open(folder.path(&file)).unwrap();
            for table in ["rocpd_op", "rocpd_api"] {
                let sql = format!("delete from {table} where id % {parts} <> {part}");
                if api || table == "rocpd_op" {
                    split.execute(&sql, []).unwrap();
                }
            }
            files += &format!("{file} ");
        }
        folder.merge(&format!("-o whole.db {files}"));
        let [original, merged] = ["rank0.db", "whole.db"].map(|file| folder.tables(file));
        prop_assert_eq!(rows(&merged, by_uuid(&merged)), rows(&original, by_uuid(&original)));
        prop_assert_eq!(merged.processes.len(), 1);
        prop_assert_eq!(summary(&folder, "whole.db"), summary(&folder, "rank0.db"));
    }
}
