//! All that can be a side: any layout, several runs, ranks of one run, saved reports.

use support::Layout;

use crate::{Folder, STEADY, status};

#[test]
fn any_two_layouts_can_be_compared() {
    let folder = Folder::new();
    for (layout, file) in [(Layout::Native, "rtl.db"), (Layout::Lite, "lite.db"), (Layout::Rpd3, "trace.rpd")]
    {
        folder.trace_in(layout, file, 1, &STEADY);
    }
    folder.trace("after.db", 2, &STEADY);
    for file in ["rtl.db", "lite.db", "trace.rpd"] {
        let document = folder.json(0, &format!("--gate {file} after.db"));
        assert_eq!(
            (document["verdict"].as_str(), status(&document, "gemm")),
            (Some("pass"), "unchanged"),
            "{file}"
        );
    }
}

#[test]
fn several_files_that_do_not_say_what_they_are_need_a_word() {
    let folder = Folder::new();
    for file in ["a1.db", "a2.db", "b1.db"] {
        folder.trace(file, 1, &STEADY);
    }
    let run = folder.run("--baseline a1.db a2.db --candidate b1.db");
    assert_eq!(run.code, 3);
    assert!(run.messages.contains("a1.db does not say which run it is from"), "{}", run.messages);
    let runs = folder.json(0, "--as runs --baseline a1.db a2.db --candidate b1.db");
    assert_eq!(runs["baseline"]["runs"], serde_json::json!([["a1.db"], ["a2.db"]]));
    let ranks = folder.json(0, "--as ranks --allow incomparable --baseline a1.db a2.db --candidate b1.db");
    assert_eq!(ranks["baseline"]["runs"], serde_json::json!([["a1.db", "a2.db"]]));
}

#[test]
fn files_of_one_run_are_ranks_and_their_gpus_stay_apart() {
    let folder = Folder::new();
    for (file, run, rank) in
        [("a1.db", "7", "1"), ("a0.db", "7", "0"), ("b0.db", "8", "0"), ("b1.db", "8", "1")]
    {
        folder.trace(file, 1, &STEADY);
        folder.tag(file, "run_id", run);
        folder.tag(file, "rank", rank);
    }
    let document = folder.json(0, "--baseline a1.db a0.db --candidate b0.db b1.db");
    assert_eq!(document["baseline"]["runs"], serde_json::json!([["a0.db", "a1.db"]]));
    assert_eq!(document["decomposition"]["gpus"].as_array().unwrap().len(), 2);
    assert_eq!(document["kernels"][0]["baseline"]["runs"], 1);
}

#[test]
fn a_saved_report_stands_for_its_trace() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &[("gemm", 40, 120_000), ("softmax", 40, 20_000)]);
    report(&folder, "a.db", "a.json");
    let traces = folder.json(0, "a.db b.db");
    let mixed = folder.json(0, "a.json b.db");
    for field in ["wall_delta_ns", "terms", "gpus"] {
        assert_eq!(mixed["decomposition"][field], traces["decomposition"][field], "{field}");
    }
    let before = |document: &serde_json::Value| {
        let kernels = document["kernels"].as_array().unwrap();
        let gemm = kernels.iter().find(|kernel| kernel["name"] == "gemm").unwrap();
        gemm["baseline"].clone()
    };
    assert_eq!(before(&mixed), before(&traces));
    report(&folder, "b.db", "b.json");
    let run = folder.run("--gate a.json b.json --inconclusive fail --max-total 50%");
    assert_eq!(run.code, 4, "one report a side says nothing of how much kernels vary: {}", run.messages);
}

/// Saves the report of a trace, as `rtl-summary --to json` prints it.
pub(crate) fn report(folder: &Folder, traces: &str, file: &str) {
    let words = ["rtl-summary", "--to=json"].into_iter().map(str::to_owned);
    let paths = traces.split(' ').map(|trace| folder.path(trace).display().to_string());
    let arguments = <rtl_summary::args::Arguments as clap::Parser>::parse_from(words.chain(paths));
    let target = std::fs::File::create(folder.path(file)).unwrap();
    let mut out = cli::Output::new("rtl-summary", Box::new(target), Box::new(std::io::sink()));
    rtl_summary::run(arguments, &mut out).unwrap();
}

#[test]
fn a_report_of_all_ranks_by_rtl_merge_is_one_run_of_them() {
    let folder = Folder::new();
    for (rank, seed) in [("0", 1), ("1", 2)] {
        let file = format!("a{rank}.db");
        folder.trace(&file, seed, &STEADY);
        folder.tag(&file, "rank", rank);
        folder.tag(&file, "run_id", "a");
    }
    folder.trace("b.db", 3, &STEADY);
    let paths = ["a0.db", "a1.db"].map(|file| folder.path(file).display().to_string());
    let output = format!("--output={}", folder.path("all.json").display());
    let line = ["rtl-merge".to_owned(), "--to=summary".to_owned(), output].into_iter().chain(paths);
    let arguments = <rtl_merge::args::Arguments as clap::Parser>::parse_from(line);
    let mut out = cli::Output::new("rtl-merge", Box::new(std::io::sink()), Box::new(std::io::sink()));
    rtl_merge::run(arguments, &mut out).unwrap();
    let document = folder.json(0, "--allow incomparable all.json b.db");
    assert_eq!(document["baseline"]["runs"], serde_json::json!([["all.json"]]));
    let traces = folder.json(0, "--allow incomparable --baseline a0.db a1.db --candidate b.db");
    for field in ["wall_delta_ns", "terms", "gpus"] {
        assert_eq!(document["decomposition"][field], traces["decomposition"][field], "{field}");
    }
}

#[test]
fn a_part_of_the_traces_can_be_compared() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    let document = folder.json(0, "--kernel ^softmax$ --skip-warmup 3 a.db b.db");
    assert_eq!(document["kernels"].as_array().unwrap().len(), 1);
    assert_eq!(document["kernels"][0]["baseline"]["calls"], 37);
    let run = folder.run("--kernel ( a.db b.db");
    assert_eq!((run.code, run.messages.lines().count()), (2, 2), "{}", run.messages);
}

#[test]
fn differences_of_the_recording_are_told_and_can_be_forbidden() {
    let folder = Folder::new();
    for (file, version) in [("a.db", "6.4.1"), ("b.db", "7.0.2")] {
        folder.trace(file, 1, &STEADY);
        folder.tag(file, "rocm_version", version);
    }
    let document = folder.json(0, "a.db b.db");
    assert_eq!(
        document["differences"],
        serde_json::json!([{"what": "ROCm version", "baseline": "6.4.1", "candidate": "7.0.2"}])
    );
    let message = "the sides differ in ROCm version";
    let document = folder.json_of_failure(3, "--require-comparable a.db b.db", message);
    assert_eq!(document["gates"][0]["outcome"], "fail");
}
