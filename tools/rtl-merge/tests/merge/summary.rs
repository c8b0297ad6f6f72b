//! `--to summary`: what all ranks ran, without a merged trace.

use serde_json::Value;
use support::json_schema::JsonSchema;
use support::{Job, Options};

use crate::{Folder, ranks};

fn report(folder: &Folder, line: &str) -> Value {
    let run = folder.run(&format!("--to summary {line}"));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    let report = serde_json::from_str(&run.answer).unwrap();
    JsonSchema::read(include_str!("../../../../docs/reference/rtl-summary.schema.json")).describes(&report);
    report
}

/// The report of `rtl-summary` on the same traces.
fn whole(folder: &Folder, files: &str) -> Value {
    use clap::Parser;
    let paths = files.split_whitespace().map(|file| folder.path(file).to_str().unwrap().to_owned());
    let line = ["rtl-summary", "--each", "--to", "json"].map(str::to_owned).into_iter().chain(paths);
    let arguments = rtl_summary::args::Arguments::try_parse_from(line).unwrap();
    let answer = folder.path("answer.json");
    let to = Box::new(std::fs::File::create(&answer).unwrap());
    let mut out = cli::Output::new("rtl-summary", to, Box::new(std::io::sink()));
    rtl_summary::run(arguments, &mut out).unwrap();
    drop(out);
    serde_json::from_slice(&std::fs::read(answer).unwrap()).unwrap()
}

/// Compares two reports but for fields that one states to be approximate.
fn agree(told: &Value, exact: &Value, error: f64) {
    match (told, exact) {
        (Value::Object(told), Value::Object(exact)) => {
            for (field, told) in told {
                let Some(exact) = exact.get(field) else { panic!("{field} is no field there") };
                if matches!(field.as_str(), "p50_ns" | "p95_ns" | "p99_ns" | "trimmed_mean_ns") {
                    let [told, exact] = [told, exact].map(|number| number.as_f64().unwrap());
                    assert!((told - exact).abs() <= error * exact, "{field}: {told} for {exact}");
                } else {
                    agree(told, exact, error);
                }
            }
        }
        (Value::Array(told), Value::Array(exact)) => {
            assert_eq!(told.len(), exact.len(), "{told:?}");
            told.iter().zip(exact).for_each(|(told, exact)| agree(told, exact, error));
        }
        (Value::Number(told), Value::Number(exact)) if told.is_f64() => {
            let [told, exact] = [told, exact].map(|number| number.as_f64().unwrap());
            assert!((told - exact).abs() <= 1e-9 * exact.abs(), "{told} for {exact}");
        }
        _ => assert_eq!(told, exact),
    }
}

/// Rows in an order that does not depend on how equal ones are told apart.
fn sorted(mut report: Value) -> Value {
    for gpu in report["gpus"].as_array_mut().unwrap() {
        let work = gpu["work"].as_array_mut().unwrap();
        work.sort_by_key(|part| part.to_string());
    }
    report
}

#[test]
fn it_says_of_all_ranks_together_and_of_each_what_rtl_summary_says() {
    let folder = Folder::of(&Job { ranks_per_node: 2, steps: 30, slow: Some((2, 1.2)), ..Job::default() });
    let before = folder.files();
    let told = report(&folder, &ranks(4));
    assert_eq!(folder.files(), before, "nothing is written");
    let exact = sorted(whole(&folder, &ranks(4)));
    let told = sorted(told);
    let error = told["percentile_error"].as_f64().unwrap();
    assert!(error <= 0.004);
    for part in ["kernels", "gpus"] {
        agree(&told[part], &exact[part], error);
    }
    for (rank, own) in told["reports"].as_array().unwrap().iter().enumerate() {
        assert_eq!((&own["rank"], &own["input"]), (&rank.into(), &rank.into()));
        agree(&own["kernels"], &exact["reports"][rank]["kernels"], error);
        agree(&own["gpus"], &exact["reports"][rank]["gpus"], error);
    }
    for (own, other) in told["inputs"].as_array().unwrap().iter().zip(exact["inputs"].as_array().unwrap()) {
        for field in ["path", "facts", "run", "processes", "ranks", "dialect", "tool", "mode"] {
            let is_path = field == "path";
            assert!(own[field] == other[field] || is_path, "{field}: {} {}", own[field], other[field]);
        }
    }
}

#[test]
fn traces_of_any_order_and_layout_say_the_same() {
    let folder = Folder::new();
    for (shuffle, layout, file) in [
        (false, support::Layout::Native, "a.db"),
        (true, support::Layout::Native, "b.db"),
        (true, support::Layout::Lite, "c.db"),
        (true, support::Layout::Rpd3, "d.db"),
    ] {
        let options = Options { ops: 4_000, gpus: 2, shuffle, layout, ..Options::default() };
        support::generate(&options, &folder.path(file)).unwrap();
    }
    for file in ["a.db", "b.db", "c.db", "d.db"] {
        let (told, exact) = (sorted(report(&folder, file)), sorted(whole(&folder, file)));
        let error = told["percentile_error"].as_f64().unwrap();
        agree(&told["kernels"], &exact["kernels"], error);
        agree(&told["gpus"], &exact["gpus"], error);
    }
}

#[test]
fn the_ranks_of_a_merged_trace_are_told_apart() {
    let folder = Folder::of(&Job { ranks_per_node: 2, steps: 5, ..Job::default() });
    folder.merge(&format!("-o all.db {}", ranks(4)));
    let [merged, apart] = ["all.db", &ranks(4)].map(|line| report(&folder, line));
    let kernels = |report: &Value, rank: usize| report["reports"][rank]["kernels"].clone();
    for rank in 0..4 {
        assert_eq!(merged["reports"][rank]["rank"], rank);
        // Moved clocks may make an op of another node a nanosecond longer or shorter.
        let calls = |report: &Value| {
            let rows = kernels(report, rank);
            let mut calls: Vec<_> = rows
                .as_array()
                .unwrap()
                .iter()
                .map(|row| (row["name"].to_string(), row["calls"].clone()))
                .collect();
            calls.sort_by(|one, other| one.0.cmp(&other.0));
            calls
        };
        assert_eq!(calls(&merged), calls(&apart));
    }
    assert_eq!(merged["gpus"].as_array().unwrap().len(), 4);
}

#[test]
fn a_report_is_written_whole_and_replaces_nothing_without_being_told() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 2, ..Job::default() });
    for force in ["", "--force"] {
        let run = folder.run(&format!("--to summary {force} -o all.json rank0.db rank1.db"));
        assert_eq!((run.code, run.answer.as_str(), run.messages.as_str()), (0, "", ""));
    }
    let before = std::fs::read(folder.path("all.json")).unwrap();
    std::fs::write(folder.path("bad.db"), "no trace").unwrap();
    let files = folder.files();
    let run = folder.run("--to summary --force -o all.json rank0.db bad.db");
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.messages.ends_with("hint: `--allow unreadable` reports on the others\n"), "{run:?}");
    assert_eq!(std::fs::read(folder.path("all.json")).unwrap(), before);
    assert_eq!(folder.files(), files);
    let run = folder.run("--to summary -o all.json rank0.db");
    assert!(run.code == 2 && run.messages.contains("all.json exists"), "{run:?}");
    let run = folder.run("-o rank0.db rank0.db");
    assert!(run.code == 2 && run.messages.contains("rank0.db is one of the traces"), "{run:?}");
}

#[test]
fn keep_going_leaves_out_what_cannot_be_read() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 2, ..Job::default() });
    std::fs::write(folder.path("bad.db"), "no trace").unwrap();
    let run = folder.run("--to summary --allow unreadable rank0.db bad.db rank1.db");
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.messages.contains("bad.db"), "{run:?}");
    let told: Value = serde_json::from_str(&run.answer).unwrap();
    let good = report(&folder, "rank0.db rank1.db");
    assert_eq!(told, good);
}

#[test]
fn traces_that_do_not_belong_together_are_refused() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 2, ..Job::default() });
    std::fs::copy(folder.path("rank0.db"), folder.path("copy.db")).unwrap();
    let run = folder.run("--to summary rank0.db copy.db");
    assert_eq!((run.code, run.answer.as_str()), (3, ""));
    assert!(run.messages.contains("copy.db and rank0.db have the same rows\n"), "{run:?}");
    let told = report(&folder, "--set-rank rank0.db=7 rank0.db");
    assert_eq!((&told["reports"][0]["rank"], &told["inputs"][0]["ranks"][0]), (&7.into(), &7.into()));
}
