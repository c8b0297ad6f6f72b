//! The bandwidth of collectives and the trust in a job, in the report of a merge and in that of the merged trace.

use std::path::PathBuf;

use clap::Parser;
use serde_json::Value;
use support::json_schema::JsonSchema;
use support::{Job, Need};

use crate::{Folder, ranks};

const SUMMARY: &str = include_str!("../../../../docs/reference/rtl-summary.schema.json");
const MERGE: &str = include_str!("../../../../docs/reference/rtl-merge.schema.json");

/// The four ranks of a real job; `None` where they are not beside the checkout.
fn job(name: &str) -> Option<String> {
    let folder = support::shared()?.join("kineto/h200");
    let files: Vec<PathBuf> =
        (0..4).map(|rank| folder.join(format!("gpt-dist_{name}-rank{rank}.json.gz"))).collect();
    if !files[0].is_file() {
        support::skip(Need::Shared, "no ranks of a torch job beside the checkout");
        return None;
    }
    Some(files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" "))
}

fn summary(folder: &Folder, line: &str) -> Value {
    let answer = folder.path("answer.json");
    let words = ["rtl-summary", "--to", "json"].into_iter().chain(line.split_whitespace());
    let arguments = rtl_summary::args::Arguments::try_parse_from(words).unwrap();
    let to = Box::new(std::fs::File::create(&answer).unwrap());
    let mut out = cli::Output::new("rtl-summary", to, Box::new(std::io::sink()));
    rtl_summary::run(arguments, &mut out).unwrap();
    drop(out);
    serde_json::from_slice(&std::fs::read(answer).unwrap()).unwrap()
}

#[test]
fn a_merge_states_the_bandwidth_that_rtl_summary_states_of_the_merged_trace() {
    for name in ["overlap", "exposed", "slowgpu", "slowhost"] {
        let Some(files) = job(name) else { return };
        let folder = Folder::new();
        let told = folder.merge(&format!("-o all.db {files}"));
        JsonSchema::read(MERGE).describes(&told);
        let all = folder.path("all.db");
        let exact = summary(&folder, &format!("--section bandwidth {}", all.display()));
        assert!(!told["bandwidth"].as_array().unwrap().is_empty(), "{name}");
        assert_eq!(told["bandwidth"], exact["ranks"]["bandwidth"], "{name}");
        assert_eq!(told["unsized_calls"], exact["ranks"]["unsized_calls"], "{name}");
        let run = folder.run(&format!("--check {files}"));
        assert!(run.answer.contains("Bandwidth of") && run.answer.contains("transfer"), "{}", run.answer);
    }
}

#[test]
fn a_summary_of_all_ranks_states_the_bandwidth_of_calls() {
    let Some(files) = job("exposed") else { return };
    let folder = Folder::new();
    let run = folder.run(&format!("--to summary {files}"));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    let told: Value = serde_json::from_str(&run.answer).unwrap();
    JsonSchema::read(SUMMARY).describes(&told);
    // Of one rank alone rtl-summary has no other timing.
    let mut expected = std::collections::BTreeMap::new();
    let mut unsized_calls = 0;
    for file in files.split_whitespace() {
        let own = summary(&folder, &format!("--section bandwidth {file}"));
        unsized_calls += own["ranks"]["unsized_calls"].as_u64().unwrap();
        for row in own["ranks"]["bandwidth"].as_array().unwrap() {
            assert_eq!(row["timing"], "call");
            let sum: &mut [u64; 3] = expected.entry(row["from_bytes"].as_u64().unwrap()).or_default();
            let more = ["count", "bytes", "time_ns"].map(|field| row[field].as_u64().unwrap());
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
    let rows = told["bandwidth"].as_array().unwrap();
    assert!(rows.len() > 1 && rows.len() == expected.len(), "{rows:?}");
    for row in rows {
        let figures = ["count", "bytes", "time_ns"].map(|field| row[field].as_u64().unwrap());
        assert_eq!(figures, expected[&row["from_bytes"].as_u64().unwrap()]);
        assert_eq!((&row["timing"], &row["members"]), (&"call".into(), &4.into()));
        let rate = figures[1] as f64 / figures[2] as f64 * 1e9;
        assert!((row["algorithm_bytes_per_second"].as_f64().unwrap() / rate - 1.0).abs() < 1e-12);
    }
    assert_eq!(told["unsized_calls"], unsized_calls);
}

/// The reasons that a report gives, with the trace concerned.
fn reasons(report: &Value) -> Vec<(String, Value)> {
    let all = report["trust_reasons"].as_array().unwrap().iter();
    all.map(|reason| (reason["id"].as_str().unwrap().to_owned(), reason["input"].clone())).collect()
}

#[test]
fn records_that_one_rank_lost_limit_the_trust_in_the_job() {
    let folder = Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 30, ..Job::default() });
    let sound = folder.merge(&format!("--check {}", ranks(2)));
    assert!(!reasons(&sound).iter().any(|(id, _)| id == "lost-records"), "{sound:#}");
    let trace = support::rusqlite::Connection::open(folder.path("rank1.db")).unwrap();
    trace.execute("insert into rocpd_metadata (tag, value) values ('lost:full', '3')", []).unwrap();
    drop(trace);
    let lost = ("lost-records".to_owned(), 1.into());
    let told = folder.merge(&format!("--check {}", ranks(2)));
    assert_eq!(told["trust"], "limited");
    assert!(reasons(&told).contains(&lost), "{told:#}");
    let count = |report: &Value| {
        let all = report["trust_reasons"].as_array().unwrap();
        let own = all.iter().find(|reason| reason["id"] == "lost-records").unwrap();
        (own["count"].clone(), own["of"].clone(), own["trust"].clone())
    };
    let run = folder.run(&format!("--to summary {}", ranks(2)));
    let short: Value = serde_json::from_str(&run.answer).unwrap();
    assert!(reasons(&short).contains(&lost), "{short:#}");
    let path = folder.path("rank1.db");
    let exact = summary(&folder, &format!("--section trust {}", path.display()));
    assert_eq!([count(&told), count(&short)], [count(&exact), count(&exact)]);
    assert!(told["trust_unexamined"].as_array().unwrap().contains(&"steps-incomplete".into()));
    let text = folder.run(&format!("--check {}", ranks(2))).answer;
    assert!(text.contains("trust limited: ") && text.contains("the recorder lost 3 records"), "{text}");
}

#[test]
fn a_trace_that_is_read_as_a_whole_is_trusted_as_rtl_summary_trusts_it() {
    let Some(shared) = support::shared() else {
        return support::skip(Need::Shared, "no traces of torch beside the checkout");
    };
    let folder = Folder::new();
    for (name, id) in [
        ("h100/adam_loop", "profiler-cost"),
        ("h200/averages", "profiler-cost"),
        ("h200/nostep-cut", "cut-off"),
    ] {
        let file = shared.join("kineto").join(format!("{name}.json.gz"));
        let file = file.display();
        // A remark of a single trace is none of the job.
        let limits = |report: &Value| -> Vec<[Value; 4]> {
            let all = report["trust_reasons"].as_array().unwrap().iter();
            let limits = all.filter(|reason| reason["trust"] != "good");
            limits.map(|reason| ["id", "trust", "count", "of"].map(|field| reason[field].clone())).collect()
        };
        let exact = limits(&summary(&folder, &format!("--section trust {file}")));
        assert!(exact.iter().any(|reason| reason[0] == id), "{name}: {exact:?}");
        let short: Value = serde_json::from_str(&folder.run(&format!("--to summary {file}")).answer).unwrap();
        for told in [folder.merge(&format!("--check {file}")), short] {
            assert_eq!(
                (limits(&told), &told["trust_unexamined"]),
                (exact.clone(), &Value::Array(Vec::new())),
                "{name}"
            );
        }
    }
}

#[test]
fn waiting_for_a_late_rank_limits_the_trust_in_busy_time() {
    let Some(files) = job("slowhost") else { return };
    let folder = Folder::new();
    let told = folder.merge(&format!("--check {files}"));
    let exact = summary(&folder, &format!("--section trust,ranks {files}"));
    let waiting = |report: &Value| {
        let all = report["trust_reasons"].as_array().unwrap();
        all.iter().find(|reason| reason["id"] == "collective-waiting").cloned()
    };
    assert!(waiting(&told).is_some());
    assert_eq!(waiting(&told), waiting(&exact));
}
