//! The JSON document against its published description.

use cli::report::Document;
use rtl_summary::sections::SECTIONS;
use serde_json::Value;
use support::Layout;
use support::json_schema::JsonSchema;

use crate::Folder;

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-summary.schema.json");

fn schema() -> JsonSchema {
    JsonSchema::read(SCHEMA)
}

/// The types of the report read what they write.
#[track_caller]
fn is_read_back(report: &str) {
    let document: Document = serde_json::from_str(report).unwrap();
    let written: Value = serde_json::from_str(report).unwrap();
    assert!(serde_json::to_value(document).unwrap() == written, "{report}");
}

#[test]
fn the_report_on_every_fixture_is_as_described() {
    let schema = schema();
    let folder = Folder::new();
    for name in support::fixture_names() {
        for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
            // RPD's and rocm-trace-lite's columns refuse some of the bad rows.
            if name == "bad-rows" && layout != Layout::Native {
                continue;
            }
            folder.story(&name, layout, "trace.db");
            schema.describes(&folder.json("trace.db"));
            is_read_back(&folder.answer("trace.db --by rank --to json"));
        }
    }
}

#[test]
fn the_report_of_every_flag_is_as_described() {
    let schema = schema();
    let folder = Folder::of(&["steady-training-loop", "bad-rows", "copies-both-ways", "ranges-nested"]);
    for by in ["kernel", "category", "gpu", "queue", "range", "shape", "process", "rank"] {
        schema.describes(&folder.json(&format!("ranges-nested.db --by {by}")));
    }
    for section in SECTIONS.map(|section| section.name) {
        let document = folder.json(&format!("bad-rows.db --section {section}"));
        schema.describes(&document);
        let sections = document.as_object().unwrap().len();
        assert!((4..=6).contains(&sections), "{section} alone: {document:#}");
    }
    for line in [
        "--info",
        "--time steady --gpu 1",
        "--time 10%..-1ms --time active",
        "--range forward",
        "--top 3 --names short",
    ] {
        schema.describes(&folder.json(&format!("steady-training-loop.db {line}")));
    }
    let several = "bad-rows.db copies-both-ways.db ranges-nested.db";
    schema.describes(&folder.json(several));
    is_read_back(&folder.answer(&format!("{several} --to json")));
}

#[test]
fn the_reports_on_foreign_traces_are_as_described() {
    let Some(shared) = support::shared() else { return };
    let schema = schema();
    for folder in ["traces/made", "traces/real"] {
        for file in std::fs::read_dir(shared.join(folder)).unwrap() {
            schema.describes(&crate::report_on(&file.unwrap().path(), ""));
        }
    }
}

#[test]
fn the_names_that_scripts_rely_on_are_required() {
    let schema = schema();
    let requires = |rule: &Value, names: &str| {
        for name in names.split(' ') {
            assert!(rule["required"].as_array().unwrap().contains(&name.into()), "{name}");
        }
    };
    requires(&schema.0, "schema inputs");
    requires(
        &schema.0["$defs"]["row"],
        "name calls total_ns share mean_ns min_ns p50_ns p95_ns p99_ns max_ns stddev_ns",
    );
    requires(
        &schema.0["$defs"]["gpu"],
        "gpu busy_ns wall_ns busy_share kernel_ns copy_ns collective_ns idle_ns ops",
    );
    assert_eq!(schema.0["properties"]["schema"]["const"], "rtl-summary/1");
    assert_eq!(schema.0["properties"]["sanity"]["$ref"], "#/$defs/sanity");
}

#[test]
fn a_field_that_is_not_described_would_be_noticed() {
    let schema = schema();
    let mut document = Folder::of(&["two-kernels"]).json("two-kernels.db");
    document["gpus"][0]["speed"] = 7.into();
    document["kernels"][0]["calls"] = "2".into();
    document["kernels"][1].as_object_mut().unwrap().remove("share");
    let mut faults = Vec::new();
    schema.faults(&schema.0, &document, "$", &mut faults);
    faults.sort();
    assert_eq!(
        faults,
        [
            "$.gpus[0].speed: not described",
            "$.kernels[0].calls: \"2\" is no integer",
            "$.kernels[1]: \"share\" is missing",
        ]
    );
}

#[test]
fn every_field_is_described_in_words() {
    fn walk(rule: &Value, place: &str) {
        for (name, field) in rule["properties"].as_object().into_iter().flatten() {
            let told = field.get("$ref").is_some()
                || field["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(told, "{place}.{name}");
            assert!(
                !name.ends_with("_ns") || field["description"].as_str().unwrap().contains("ns"),
                "{place}.{name}"
            );
            walk(field, &format!("{place}.{name}"));
            walk(&field["items"], &format!("{place}.{name}[]"));
        }
    }
    let schema = schema();
    walk(&schema.0, "$");
    for (name, rule) in schema.0["$defs"].as_object().unwrap() {
        walk(rule, name);
    }
}
