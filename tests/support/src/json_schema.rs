//! JSON documents against their published descriptions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;

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

/// A description of JSON documents in the words of JSON Schema that this repository uses.
#[derive(Debug, Clone)]
pub struct JsonSchema(pub Value);

impl JsonSchema {
    /// Reads a description.
    ///
    /// # Panics
    /// Where it is no JSON: the test is wrong.
    pub fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap())
    }

    /// Each way in which `value`, found at `place`, breaks `rule`.
    ///
    /// # Panics
    /// Where a rule uses a word that is not known here.
    pub fn faults(&self, rule: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
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

    /// Checks that a document is as described.
    ///
    /// # Panics
    /// With every fault, where it is not.
    #[track_caller]
    pub fn describes(&self, document: &Value) {
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
