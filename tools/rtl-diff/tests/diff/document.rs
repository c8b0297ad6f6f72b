//! The JSON document against its published description.

use support::json_schema::JsonSchema;

use crate::{Folder, STEADY};

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-diff.schema.json");

#[test]
fn every_kind_of_answer_is_as_described() {
    let schema = JsonSchema::read(SCHEMA);
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &[("gemm", 40, 130_000), ("softmax", 80, 20_000), ("Cijk_A_MT1x1", 9, 500)]);
    folder.trace("c.db", 2, &[("gemm", 40, 100_000), ("softmax_v2", 40, 20_000), ("Cijk_A_MT2x2", 9, 500)]);
    folder.trace("empty.db", 2, &[]);
    for (code, line) in [
        (0, "a.db b.db"),
        (
            1,
            "--gate --max-wall 1% --max-idle 1pp --max-launches 1% --fail-on-new --fail-on-removed a.db b.db",
        ),
        (0, "b.db c.db"),
        (0, "--by launch a.db b.db"),
        (0, "--as runs --baseline a.db c.db --candidate b.db c.db"),
        (0, "--allow no-baseline b.db"),
    ] {
        schema.describes(&folder.json(code, line));
    }
    let refused = folder.run("empty.db a.db --to json");
    schema.describes(&serde_json::from_str(&refused.answer).unwrap());
}

#[test]
fn every_field_is_described_in_words() {
    fn walk(rule: &serde_json::Value, place: &str) {
        for (name, field) in rule["properties"].as_object().into_iter().flatten() {
            let told = field.get("$ref").is_some()
                || field["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(told, "{place}.{name}");
            walk(field, &format!("{place}.{name}"));
            walk(&field["items"], &format!("{place}.{name}[]"));
        }
    }
    let JsonSchema(schema) = JsonSchema::read(SCHEMA);
    walk(&schema, "$");
    for (name, rule) in schema["$defs"].as_object().unwrap() {
        walk(rule, name);
    }
}
