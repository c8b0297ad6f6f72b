//! A report does not depend on the number of threads.

use std::path::Path;

use support::Options;

use crate::Folder;

/// Flags that together print every part of a report.
const FLAGS: [&str; 3] = ["--to json", "--all", "--by rank --to csv"];

/// Compares the reports with those of one thread.
fn assert_same(folder: &Folder, traces: &str, flags: &[&str]) {
    for flags in flags {
        let report = |threads| {
            let line = format!("{traces} {flags} --threads {threads}");
            let output = folder.program(&line).output().unwrap();
            (output.status.code(), output.stdout, output.stderr)
        };
        let alone = report(1);
        for threads in [2, 5] {
            assert!(report(threads) == alone, "{traces} {flags}: {threads} threads");
        }
    }
}

#[test]
fn fixtures_are_reported_as_by_one_thread() {
    let names = support::fixture_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = Folder::of(&names);
    for name in names {
        assert_same(&folder, &format!("{name}.db"), &FLAGS);
    }
}

#[test]
fn a_trace_that_threads_share_is_reported_as_by_one_thread() {
    let folder = Folder::new();
    let options = Options { ops: 210_000, shuffle: true, ranges: true, ..Options::default() };
    support::generate(&options, &folder.path("large.db")).unwrap();
    assert_same(&folder, "large.db", &FLAGS);
}

#[test]
fn real_traces_are_reported_as_by_one_thread() {
    let Some(shared) = support::shared() else { return };
    let paths = ["rpd2-vllm-fp8.rpd.gz", "rpd2-matmul-mi200.rpd", "rocprofv3-gfx950.json.gz"];
    let paths = paths.map(|name| shared.join("traces/real").join(name));
    for path in paths.iter().filter(|path| Path::exists(path)) {
        assert_same(&Folder::new(), &path.display().to_string(), &FLAGS[1..2]);
    }
}
