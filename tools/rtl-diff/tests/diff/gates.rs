//! Gates that fail and gates that pass, with their exit codes.

use crate::{Folder, STEADY, status};

/// `gemm` takes a fifth longer.
fn slowed(folder: &Folder) {
    folder.trace("a.db", 1, &STEADY);
    folder.trace(
        "b.db",
        2,
        &[("gemm", 40, 120_000), ("softmax", 40, 20_000), ("ncclDevKernel_AllReduce", 20, 9_000)],
    );
}

#[test]
fn a_slower_kernel_fails_the_gate_and_is_named() {
    let folder = Folder::new();
    slowed(&folder);
    let document = folder.json(1, "--gate a.db b.db");
    assert_eq!((document["verdict"].as_str(), status(&document, "gemm")), (Some("fail"), "slower"));
    assert_eq!(document["gates"][0]["rule"], "kernel");
    assert_eq!(document["gates"][0]["kernels"], serde_json::json!(["gemm"]));
    assert_eq!(status(&document, "softmax"), "unchanged");
    let text = folder.answer(1, "--gate a.db b.db");
    assert!(text.starts_with("fail: gemm +20.00% (95% interval +19.81% .. "), "{text}");
}

#[test]
fn a_gate_that_no_kernel_is_large_enough_for_says_so() {
    let folder = Folder::new();
    slowed(&folder);
    let message = "the gate on any kernel cannot be measured: no kernel reaches the least number of calls";
    let document = folder.json_of_failure(3, "--max-kernel 5% --min-calls 1000 a.db b.db", message);
    assert_eq!(document["gates"][0]["outcome"], "not-measured");
}

#[test]
fn two_runs_of_the_same_work_pass() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    let document = folder.json(0, "--gate a.db b.db");
    assert_eq!((document["verdict"].as_str(), status(&document, "gemm")), (Some("pass"), "unchanged"));
    assert!(
        document["kernels"][0]["detectable"].as_f64().unwrap() > 0.05,
        "what would have been found is told"
    );
}

#[test]
fn without_a_gate_nothing_fails_whatever_changed() {
    let folder = Folder::new();
    slowed(&folder);
    let document = folder.json(0, "a.db b.db");
    assert_eq!(
        (document["verdict"].as_str(), document["gates"].as_array().map(Vec::len)),
        (Some("pass"), Some(0))
    );
    assert_eq!(status(&document, "gemm"), "slower");
}

#[test]
fn an_improvement_passes() {
    let folder = Folder::new();
    slowed(&folder);
    let document = folder.json(0, "--gate b.db a.db");
    assert_eq!((document["verdict"].as_str(), status(&document, "gemm")), (Some("pass"), "faster"));
}

#[test]
fn a_collective_is_shown_and_not_gated() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace(
        "b.db",
        2,
        &[("gemm", 40, 100_000), ("softmax", 40, 20_000), ("ncclDevKernel_AllReduce", 20, 90_000)],
    );
    let document = folder.json(0, "--max-kernel 5% a.db b.db");
    assert_eq!(document["gates"][0]["outcome"], "pass");
    assert_eq!(status(&document, "ncclDevKernel_AllReduce"), "slower");
}

#[test]
fn thresholds_of_runs_fail_on_their_own() {
    let folder = Folder::new();
    slowed(&folder);
    let outcome =
        |line: &str, code| folder.json(code, &format!("{line} a.db b.db"))["gates"][0]["outcome"].clone();
    assert_eq!(outcome("--max-total 5%", 1), "fail");
    assert_eq!(outcome("--max-total 30%", 0), "pass");
    assert_eq!(outcome("--max-wall 5%", 1), "fail");
    assert_eq!(outcome("--max-launches 0%", 0), "pass");
    assert_eq!(outcome("--max-idle 1pp", 0), "pass");
}

#[test]
fn a_new_and_a_removed_kernel_fail_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 40, 100_000), ("gone", 40, 50_000)]);
    folder.trace("b.db", 2, &[("gemm", 40, 100_000), ("zzz", 40, 10)]);
    assert_eq!(folder.json(0, "--gate a.db b.db")["verdict"], "pass");
    let removed = folder.json(1, "--fail-on-removed a.db b.db");
    assert_eq!(removed["gates"][0]["kernels"], serde_json::json!(["gone"]));
    assert_eq!(
        folder.json(0, "--fail-on-new=5% a.db b.db")["gates"][0]["outcome"],
        "pass",
        "below that share"
    );
    assert_eq!(
        folder.json(1, "--fail-on-new=0% a.db b.db")["gates"][0]["kernels"],
        serde_json::json!(["zzz"])
    );
}

#[test]
fn settings_allow_a_kernel_until_a_day_and_for_a_reason() {
    let folder = Folder::new();
    slowed(&folder);
    let entry = |day: &str| {
        format!(
            "[gate]\nkernel = \"5%\"\n[[allow]]\nmatch = \"^gemm$\"\nexpires = \"{day}\"\nreason = \"#7\"\n"
        )
    };
    std::fs::write(folder.path("rtl-diff.toml"), entry("2999-12-31")).unwrap();
    let document = folder.json(0, "a.db b.db");
    assert_eq!(document["gates"][0]["allowed"][0]["reason"], "#7 (until 2999-12-31)");
    std::fs::write(folder.path("rtl-diff.toml"), entry("2020-01-31")).unwrap();
    let document = folder.json(1, "a.db b.db");
    let note = document["notes"]
        .as_array()
        .unwrap()
        .iter()
        .any(|note| note.as_str().unwrap().contains("2020-01-31"));
    assert!(note, "an allowance that ended is told: {}", document["notes"]);
}

#[test]
fn settings_can_give_a_kernel_its_own_threshold_and_flags_are_stronger() {
    let folder = Folder::new();
    slowed(&folder);
    std::fs::write(
        folder.path("mine.toml"),
        "[gate]\nkernel = \"5%\"\n[[kernel]]\nmatch = \"gemm\"\nmax = \"30%\"\n",
    )
    .unwrap();
    assert_eq!(folder.json(0, "--config mine.toml a.db b.db")["verdict"], "pass");
    std::fs::write(folder.path("loose.toml"), "[gate]\nkernel = \"50%\"\n").unwrap();
    assert_eq!(folder.json(1, "--config loose.toml --max-kernel 5% a.db b.db")["verdict"], "fail");
}

#[test]
fn what_several_runs_cannot_decide_fails_only_where_that_is_asked_for() {
    let folder = Folder::new();
    // Runs of one build that differ by more than what is allowed.
    for (file, duration) in [("a1", 90_000), ("a2", 100_000), ("a3", 110_000)] {
        folder.trace(&format!("{file}.db"), 1, &[("gemm", 40, duration)]);
    }
    for (file, duration) in [("b1", 98_000), ("b2", 108_000), ("b3", 120_000)] {
        folder.trace(&format!("{file}.db"), 1, &[("gemm", 40, duration)]);
    }
    let line = "--max-kernel 5% --as runs --baseline a1.db a2.db a3.db --candidate b1.db b2.db b3.db";
    let run = folder.run(line);
    assert_eq!(run.code, 0);
    assert!(run.messages.contains("undecided"), "{}", run.messages);
    assert_eq!(folder.run(&format!("{line} --inconclusive fail")).code, 4);
    assert_eq!(folder.answer(0, &format!("{line} --inconclusive pass --to github")).lines().count(), 2);
}

#[test]
fn what_creeps_in_over_many_runs_is_found() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("past")).unwrap();
    for run in 0..12 {
        folder.trace(
            &format!("past/{run:02}.db"),
            run % 3,
            &[("gemm", 40, 100_000 + run * 1_500), ("add", 40, 50_000)],
        );
    }
    folder.trace("now.db", 1, &[("gemm", 40, 118_000), ("add", 40, 50_000)]);
    let document = folder.json(1, "--gate --inconclusive pass --history past --candidate now.db");
    assert_eq!(document["gates"][1]["rule"], "drift");
    assert_eq!(document["gates"][1]["kernels"], serde_json::json!(["gemm"]));
    let few = folder.run("--gate --history no-folder --candidate now.db");
    assert_eq!((few.code, few.messages.lines().count()), (3, 2), "{}", few.messages);
}

#[test]
fn calibration_raises_the_threshold_to_what_runs_differ_by() {
    let folder = Folder::new();
    for run in 0..4 {
        folder.trace(&format!("c{run}.db"), run, &[("gemm", 40, 100_000 + run * 4_000)]);
    }
    folder.answer(0, "calibrate --as runs c0.db c1.db c2.db c3.db -o noise.toml");
    assert!(folder.read("noise.toml").contains("rtl-diff-noise/1"));
    folder.trace("a.db", 1, &[("gemm", 40, 100_000)]);
    folder.trace("b.db", 2, &[("gemm", 40, 107_000)]);
    assert_eq!(
        folder.json(1, "--max-kernel 2% a.db b.db")["verdict"],
        "fail",
        "nothing tells how runs differ"
    );
    let document = folder.json(0, "--max-kernel 2% --noise noise.toml a.db b.db");
    assert_eq!(document["kernels"][0]["threshold_source"], "noise-floor");
    assert!(document["kernels"][0]["threshold"].as_f64().unwrap() > 0.07);
}
