//! Ranks beside each other, in the report of a merge and in that of the merged trace.

use clap::Parser;
use serde_json::Value;
use support::Job;

use crate::{Folder, ranks};

/// The report of `rtl-summary --by rank` on a trace.
fn summary(folder: &Folder, file: &str) -> Value {
    let trace = folder.path(file);
    let line = ["rtl-summary", "--by", "rank", "--to", "json", trace.to_str().unwrap()];
    let arguments = rtl_summary::args::Arguments::try_parse_from(line).unwrap();
    let answer = folder.path("answer.json");
    let to = Box::new(std::fs::File::create(&answer).unwrap());
    let mut out = cli::Output::new("rtl-summary", to, Box::new(std::io::sink()));
    rtl_summary::run(arguments, &mut out).unwrap();
    drop(out);
    let report: Value = serde_json::from_slice(&std::fs::read(answer).unwrap()).unwrap();
    report["ranks"].clone()
}

/// One machine, whose clocks are never moved: not a nanosecond may differ.
fn job() -> Job {
    Job { nodes: 1, ranks_per_node: 8, steps: 30, slow: Some((2, 1.2)), ..Job::default() }
}

#[test]
fn the_report_says_of_ranks_what_rtl_summary_says_of_the_merged_trace() {
    let folder = Folder::of(&job());
    for rank in 0..8 {
        // Without ranges both tell steps by collectives.
        let trace = support::rusqlite::Connection::open(folder.path(&format!("rank{rank}.db"))).unwrap();
        trace.execute("delete from rocpd_op where gpuId = -1", []).unwrap();
    }
    let told = folder.merge(&format!("-o all.db {}", ranks(8)));
    let told = &told["imbalance"];
    let exact = summary(&folder, "all.db");
    let all = exact["ranks"].as_array().unwrap();
    assert_eq!(told["ranks"].as_array().unwrap().len(), all.len());
    for (told, exact) in told["ranks"].as_array().unwrap().iter().zip(all) {
        assert_eq!(told["member"], exact["name"]);
        for field in ["rank", "gpu", "busy_ns", "compute_ns"] {
            assert_eq!(told[field], exact[field], "{field} of {}", exact["name"]);
        }
    }
    for part in ["steps", "kernels", "outliers"] {
        assert_eq!(told[part], exact[part], "{part}");
    }
    assert_eq!(told["steps"]["steps"], 29);
    let outliers = told["outliers"].as_array().unwrap();
    let is_slow = |outlier: &&Value| outlier["quantity"] != "wait" && outlier["rank"] == "rank 2";
    assert!(outliers.iter().filter(is_slow).count() >= 3, "{outliers:?}");
}

#[test]
fn what_is_only_checked_is_told_too_and_the_text_tells_what_matters() {
    let folder = Folder::of(&job());
    let [checked, merged] =
        ["--check", "-o all.db"].map(|line| folder.merge(&format!("{line} {}", ranks(8))));
    assert_eq!(checked["imbalance"], merged["imbalance"]);
    let text = folder.run(&format!("--check {}", ranks(8))).answer;
    assert!(text.contains("29 steps lie between calls of"), "{text}");
    assert!(text.contains("rank 2 stands out: its own work takes"), "{text}");
}

#[test]
fn a_rank_alone_is_compared_with_nobody() {
    let folder = Folder::of(&job());
    let told = folder.merge("--check rank0.db");
    let told = &told["imbalance"];
    assert!(told["ranks"][0]["busy_ns"].as_i64().unwrap() > 0);
    assert_eq!((&told["steps"], told["kernels"].as_array().unwrap().len()), (&Value::Null, 0));
}

#[test]
fn parts_of_one_process_are_one_rank() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 5, kernels: 4, ..Job::default() });
    let whole = folder.merge("--check rank0.db rank1.db");
    for (file, other) in [("early.db", ">"), ("late.db", "<=")] {
        std::fs::copy(folder.path("rank0.db"), folder.path(file)).unwrap();
        let part = support::rusqlite::Connection::open(folder.path(file)).unwrap();
        let sql = format!("delete from rocpd_op where id {other} (select max(id) / 2 from rocpd_op)");
        part.execute(&sql, []).unwrap();
    }
    let parts = folder.merge("--check early.db late.db rank1.db");
    assert_eq!(parts["imbalance"]["ranks"], whole["imbalance"]["ranks"]);
    assert_eq!(parts["imbalance"]["kernels"], whole["imbalance"]["kernels"]);
}

#[test]
fn the_report_fits_a_narrow_terminal() {
    let folder = Folder::of(&job());
    for width in [60, 80] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rtl-merge"));
        command
            .args(["--force", "--allow=different-runs", "-o", "job.db"])
            .args(ranks(8).split_whitespace())
            .current_dir(folder.path(""));
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(output.status.success() && widest.chars().count() <= width, "{width}: {widest}");
    }
}
