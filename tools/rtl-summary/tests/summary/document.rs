//! The JSON document against its published description.

use serde_json::Value;
use support::Layout;

use crate::Folder;

const SCHEMA: &str = include_str!("../../../../docs/rtl-summary.schema.json");

/// The words of JSON Schema that the description uses, so that no rule of it is passed over.
const WORDS: [&str; 15] = [
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "minimum",
    "maximum",
];

struct Schema(Value);

impl Schema {
    fn read() -> Self {
        Self(serde_json::from_str(SCHEMA).unwrap())
    }

    /// Each way in which `value`, found at `place`, breaks `rule`.
    fn faults(&self, rule: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        let mut fault = |what: String| faults.push(format!("{place}: {what}"));
        for word in rule.as_object().unwrap().keys() {
            assert!(WORDS.contains(&word.as_str()), "this test does not know the rule {word}");
        }
        if let Some(name) = rule.get("$ref") {
            let name = name.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
            return self.faults(&self.0["$defs"][name], value, place, faults);
        }
        if let Some(expected) = rule.get("const").filter(|&expected| expected != value) {
            fault(format!("{value} is not {expected}"));
        }
        if let Some(allowed) = rule.get("enum").filter(|allowed| !allowed.as_array().unwrap().contains(value))
        {
            fault(format!("{value} is none of {allowed}"));
        }
        let types: Vec<&str> = match &rule["type"] {
            Value::Null => vec![],
            Value::String(one) => vec![one],
            several => several.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect(),
        };
        if !types.is_empty() && !types.iter().any(|name| is(name, value)) {
            return fault(format!("{value} is no {}", types.join(" and no ")));
        }
        if let Some(number) = value.as_f64() {
            if rule.get("minimum").is_some_and(|least| number < least.as_f64().unwrap()) {
                fault(format!("{number} is too small"));
            }
            if rule.get("maximum").is_some_and(|most| number > most.as_f64().unwrap() + 1e-9) {
                fault(format!("{number} is too large"));
            }
        }
        if let Value::Array(values) = value {
            for (position, value) in values.iter().enumerate() {
                self.faults(&rule["items"], value, &format!("{place}[{position}]"), faults);
            }
        } else if let Value::Object(fields) = value {
            let required = rule["required"].as_array().into_iter().flatten();
            for name in required.filter(|name| !fields.contains_key(name.as_str().unwrap())) {
                faults.push(format!("{place}: {name} is missing"));
            }
            for (name, value) in fields {
                match rule["properties"].get(name) {
                    Some(rule) => self.faults(rule, value, &format!("{place}.{name}"), faults),
                    None => faults.push(format!("{place}.{name}: not described")),
                }
            }
        }
    }

    #[track_caller]
    fn describes(&self, document: &Value) {
        let mut faults = Vec::new();
        self.faults(&self.0, document, "$", &mut faults);
        assert!(faults.is_empty(), "{faults:#?}");
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("no type {other}"),
    }
}

#[test]
fn every_story_in_every_layout_is_as_described() {
    let schema = Schema::read();
    let folder = Folder::new();
    for name in support::fixture_names() {
        for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
            // RPD's and rocm-trace-lite's columns refuse some of the bad rows.
            if name == "bad-rows" && layout != Layout::Native {
                continue;
            }
            folder.story(&name, layout, "trace.db");
            schema.describes(&folder.json("trace.db"));
        }
    }
}

#[test]
fn every_question_is_answered_as_described() {
    let schema = Schema::read();
    let folder = Folder::of(&["steady-training-loop", "bad-rows", "copies-both-ways", "ranges-nested"]);
    for by in ["kernel", "category", "gpu", "queue", "range", "shape", "process", "rank"] {
        schema.describes(&folder.json(&format!("ranges-nested.db --by {by}")));
    }
    for section in ["trace", "kernels", "categories", "gpus", "gaps", "copies", "api", "ranges", "sanity"] {
        let document = folder.json(&format!("bad-rows.db --section {section}"));
        schema.describes(&document);
        let sections = document.as_object().unwrap().len();
        assert!((4..=6).contains(&sections), "{section} alone: {document:#}");
    }
    for line in [
        "--info",
        "--steady --gpu 1",
        "--from 10% --to -1ms --trim-idle",
        "--range forward",
        "--top 3 --names short",
    ] {
        schema.describes(&folder.json(&format!("steady-training-loop.db {line}")));
    }
    schema.describes(&folder.json("bad-rows.db copies-both-ways.db ranges-nested.db"));
}

#[test]
fn foreign_traces_are_answered_as_described() {
    let Some(shared) = support::shared() else { return };
    let schema = Schema::read();
    for folder in ["traces/made", "traces/real"] {
        for file in std::fs::read_dir(shared.join(folder)).unwrap() {
            schema.describes(&crate::report_on(&file.unwrap().path(), ""));
        }
    }
}

#[test]
fn the_names_that_scripts_rely_on_are_required() {
    let schema = Schema::read();
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
    let schema = Schema::read();
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
    let schema = Schema::read();
    walk(&schema.0, "$");
    for (name, rule) in schema.0["$defs"].as_object().unwrap() {
        walk(rule, name);
    }
}
