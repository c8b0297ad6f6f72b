//! Every number of a page is that of the report.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{page, run};

const TABLES: [(&str, &str); 5] = [
    ("categories-table", "/categories"),
    ("kernels", "/kernels"),
    ("gpus", "/gpus"),
    ("ranks", "/ranks/ranks"),
    ("idle-table", ""),
];

/// Compares what the browser saw with the report, and looks for requests, errors and violations.
fn check(seen: &Value) -> Value {
    assert_eq!(seen["requests"], Value::Array(Vec::new()));
    assert_eq!(seen["errors"], Value::Array(Vec::new()));
    assert_eq!(seen["scripts"], 1);
    let report: Value = serde_json::from_str(seen["report"].as_str().unwrap()).unwrap();
    let mut cells = 0;
    for (table, path) in TABLES {
        let Some(rows) = seen["tables"].get(table) else { continue };
        let idle = idle(&report);
        let expected =
            if path.is_empty() { &idle } else { report.pointer(path).unwrap().as_array().unwrap() };
        for (row, expected) in rows.as_array().unwrap().iter().zip(expected) {
            for (field, cell) in row.as_object().unwrap() {
                same(table, field, cell, &expected[field]);
                cells += 1;
            }
        }
        assert!(!rows.as_array().unwrap().is_empty() && rows.as_array().unwrap().len() <= expected.len());
    }
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(seen["findings"].as_array().unwrap().len(), findings.len());
    for (shown, finding) in seen["findings"].as_array().unwrap().iter().zip(findings) {
        assert_eq!((&shown["id"], &shown["cost_ns"]), (&finding["id"], &finding["cost_ns"]));
    }
    let trust = report["trust"].as_str().unwrap();
    assert!(seen["badges"][0].as_str().unwrap().starts_with(&format!("trust {trust}")));
    assert!(cells > 20, "{cells}");
    report
}

/// The causes of all GPUs, most time first, as rows of one table.
fn idle(report: &Value) -> Vec<Value> {
    let gpus = report["idle"].as_array().map(Vec::as_slice).unwrap_or_default();
    let causes = gpus.iter().flat_map(|gpu| {
        gpu["causes"].as_array().unwrap().iter().map(move |cause| {
            let mut row = cause.clone();
            row["gpu"] = gpu["gpu"].clone();
            row["place"] = Value::Null;
            row
        })
    });
    let mut rows: Vec<Value> = causes.collect();
    rows.sort_by_key(|row| (-row["idle_ns"].as_i64().unwrap(), row["gpu"].as_i64()));
    rows
}

/// A cell has the exact value, and shows it rounded.
#[track_caller]
fn same(table: &str, field: &str, cell: &Value, expected: &Value) {
    let [value, shown] = ["value", "shown"].map(|key| cell[key].as_str().unwrap());
    match expected {
        Value::Number(number) => {
            // One parser reads both, because it may err by the last bit.
            assert_eq!(serde_json::from_str::<Value>(value).unwrap(), *expected, "{table} {field}");
            let expected = number.as_f64().unwrap();
            let is_right =
                readings(shown).iter().any(|(read, rounding)| (read - expected).abs() <= *rounding);
            assert!(is_right || field == "gpu", "{table} {field}: {shown} is shown for {expected}");
        }
        Value::String(text) => assert_eq!(value, text, "{table} {field}"),
        _ => assert!(matches!(value, "" | "–") || field == "place", "{table} {field}: {value}"),
    }
}

/// The figures that a text may have, each with how far it may be rounded: a number, a percentage, ns, or a change as a ratio.
fn readings(shown: &str) -> Vec<(f64, f64)> {
    if let Some(change) = shown.strip_suffix('%') {
        let change: f64 = change.parse().unwrap();
        return vec![(1.0 + change / 100.0, 0.000_051)];
    }
    let (digits, unit) = shown.split_once(' ').unwrap_or((shown, ""));
    let Ok(number) = digits.replace(',', "").parse::<f64>() else { return Vec::new() };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let rounding = 0.500_001 * 10_f64.powi(-decimals);
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, length)) => vec![(number * length, rounding * length)],
        None => vec![(number, rounding), (number / 100.0, rounding / 100.0)],
    }
}

fn shared(traces: &[&str]) -> Option<Vec<PathBuf>> {
    let folder = support::shared()?;
    Some(traces.iter().map(|trace| folder.join(trace)).collect())
}

fn examined(traces: &[PathBuf]) -> Option<(Value, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let seen = support::browser::examine(&page(folder.path(), traces))?;
    assert_eq!(seen["axe"], Value::Array(Vec::new()));
    let report = check(&seen);
    Some((seen, report))
}

#[test]
fn every_number_of_a_page_is_that_of_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.db");
    let options = support::Options { ops: 5_000, api: true, ranges: true, ..support::Options::default() };
    support::generate(&options, &trace).unwrap();
    let Some((seen, report)) = examined(&[trace]) else { return };
    assert_eq!(seen["tables"]["gpus"].as_array().unwrap().len(), 8);
    let kernels = seen["tables"]["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), report["kernels"].as_array().unwrap().len().min(150));
}

#[test]
fn a_page_is_used_by_keyboard_and_by_links() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.db");
    support::generate(&support::Options { ops: 3_000, ..support::Options::default() }, &trace).unwrap();
    let Some(seen) = support::browser::visit(&page(folder.path(), &[trace])) else { return };
    let focused: Vec<&str> = seen["focused"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for wanted in ["a", "button", "timeline-canvas", "kernels", "total_ns"] {
        assert!(focused.contains(&wanted), "{wanted}: {focused:?}");
    }
    let timeline = &seen["timeline"];
    assert!(timeline["zoomed"] != timeline["all"] && timeline["moved"] != timeline["zoomed"]);
    assert_eq!(timeline["reopened"], timeline["moved"], "the link leads to what was seen");
    let calls = |order: &str| -> Vec<i64> {
        seen["sorted"][order].as_array().unwrap().iter().filter_map(Value::as_i64).collect()
    };
    assert!(calls("up").is_sorted() && calls("down").is_sorted_by(|one, other| one >= other));
    let kernels = seen["tables"]["kernels"].as_array().unwrap();
    let name = kernels[0]["name"]["value"].as_str().unwrap();
    let filtered = seen["filtered"].as_array().unwrap();
    assert!(!filtered.is_empty() && filtered.iter().all(|row| row.as_str().unwrap().contains(name)));
    let copied = seen["copied"].as_str().unwrap();
    assert!(copied.starts_with("name,category,calls,total_ns,share,mean_ns,"), "{copied}");
    assert_eq!(copied.trim_end().lines().count(), filtered.len() + 1);
}

#[test]
fn a_page_without_javascript_has_all_tables_and_drawings() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.db");
    support::generate(&support::Options { ops: 3_000, ..support::Options::default() }, &trace).unwrap();
    let Some(seen) = support::browser::visit(&page(folder.path(), &[trace])) else { return };
    let plain = &seen["plain"];
    let tables: Vec<&str> = plain["tables"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(tables, ["idle-table", "kernels", "ranks", "gpus"]);
    assert!(plain["drawings"].as_u64().unwrap() > 10);
    assert_eq!(plain["canvases"], 0);
}

#[test]
fn the_ranks_of_a_job_show_their_straggler() {
    let traces = [0, 1, 2, 3].map(|rank| format!("kineto/h200/gpt-dist_slowhost-rank{rank}.json.gz"));
    let Some(traces) = shared(&traces.each_ref().map(String::as_str)) else { return };
    let Some((seen, report)) = examined(&traces) else { return };
    assert_eq!(seen["tables"]["ranks"].as_array().unwrap().len(), 4);
    assert!(report["findings"][0]["id"] == "straggler");
}

#[test]
fn a_page_with_a_baseline_has_the_figures_of_the_comparison_too() {
    let folder = tempfile::tempdir().unwrap();
    for (name, seed, slow) in [("before.db", 1, None), ("after.db", 2, Some((1, 1.4)))] {
        let options = support::Options {
            ops: 2_000,
            gpus: 2,
            kernels: 20,
            seed,
            workload: Some(7),
            slow,
            ..support::Options::default()
        };
        support::generate(&options, &folder.path().join(name)).unwrap();
    }
    let run = run(folder.path(), &["after.db", "--baseline", "before.db", "-o", "page.html"]);
    assert_eq!((run.code, run.messages.as_str()), (0, ""), "{}", run.messages);
    let Some(seen) = support::browser::examine(&folder.path().join("page.html")) else { return };
    assert_eq!(seen["axe"], Value::Array(Vec::new()));
    check(&seen);
    let comparison: Value = serde_json::from_str(seen["comparison"].as_str().unwrap()).unwrap();
    let kernels = comparison["kernels"].as_array().unwrap();
    let rows = seen["tables"]["changes-table"].as_array().unwrap();
    assert_eq!(rows.len(), kernels.len());
    for (row, kernel) in rows.iter().zip(kernels) {
        for field in ["name", "status", "ratio", "change_ns"] {
            same("changes-table", field, &row[field], &kernel[field]);
        }
    }
    assert_eq!(seen["badges"].as_array().unwrap().len(), 2, "of the trace, and of the comparison");
}

#[test]
fn pages_of_real_traces_have_the_numbers_of_the_report() {
    let traces = [
        "kineto/h200/gpt-memory-rank0.json.gz",
        "kineto/mi300-qwen.json.gz",
        "traces/real/rpd2-vllm-fp8.rpd.gz",
        "traces/real/rocprofv3-gfx950.json.gz",
    ];
    for trace in traces {
        let Some(traces) = shared(&[trace]) else { return };
        if examined(&traces).is_none() {
            return;
        }
    }
}

#[test]
fn a_page_of_a_story_has_the_numbers_of_the_story() {
    let folder = tempfile::tempdir().unwrap();
    let html = std::fs::read_to_string(page(folder.path(), &[support::fixture("two-kernels").to_path_buf()]));
    let html = html.unwrap();
    assert!(html.contains("<!DOCTYPE html>") && html.contains("data-f=\"total_ns\""));
    assert!(Path::new(folder.path()).join("page.html").is_file());
}
