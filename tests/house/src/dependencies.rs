//! Which crates may become part of the tools: their licences, their source and how their versions are named.

use std::process::Command;

use serde_json::Value;

use crate::checkout::root;

const LICENCES: [&str; 10] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Nothing that reaches the network and no other SQLite belongs into a tool that reads files.
const BANNED: [&str; 5] = ["openssl-sys", "reqwest", "hyper", "sqlx", "sqlite3-sys"];

/// Every package that a build for Linux uses, as `cargo metadata` describes it.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--format-version=1", "--locked"]);
    metadata.args(["--filter-platform", "x86_64-unknown-linux-gnu"]).current_dir(root());
    let output = metadata.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

/// Whether one alternative of the expression needs allowed licences only.
fn is_allowed(expression: &str) -> bool {
    // What is in parentheses is decided first.
    if let Some(close) = expression.find(')') {
        let Some(open) = expression[..close].rfind('(') else { return false };
        let inner = if is_allowed(&expression[open + 1..close]) { "MIT" } else { "none" };
        return is_allowed(&[&expression[..open], inner, &expression[close + 1..]].concat());
    }
    let expression = expression.replace('/', " OR ");
    expression.split(" OR ").any(|all| all.split(" AND ").all(|one| LICENCES.contains(&one.trim())))
}

fn faults(package: &Value) -> Vec<String> {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let mut faults = Vec::new();
    if !is_allowed(text("license")) {
        faults.push(format!("{name} {version}: licence `{}`", text("license")));
    }
    if BANNED.contains(&name) {
        faults.push(format!("{name} {version}: banned"));
    }
    let is_ours = package["source"].is_null();
    if !is_ours && !(text("source").starts_with("registry+") && text("source").ends_with("/crates.io-index"))
    {
        faults.push(format!("{name} {version}: source `{}`", text("source")));
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten().filter(|_| is_ours) {
        if dependency["req"] == "*" && dependency["path"].is_null() {
            faults
                .push(format!("{name}: any version of {}", dependency["name"].as_str().unwrap_or_default()));
        }
    }
    faults
}

#[test]
fn every_dependency_has_an_allowed_licence_and_source() {
    let packages = packages();
    assert!(packages.len() > 50, "{} packages", packages.len());
    let faults: Vec<String> = packages.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_dependency_that_breaks_a_rule_is_found() {
    let registry = "registry+https://example.org/crates.io-index";
    let package = |name: &str, license: &str, source: Option<&str>| serde_json::json!({"name": name, "version": "1.0.0", "license": license, "source": source, "dependencies": []});
    assert_eq!(faults(&package("good", "MIT OR GPL-3.0", Some(registry))), [""; 0]);
    assert_eq!(faults(&package("bad", "GPL-3.0", Some(registry))), ["bad 1.0.0: licence `GPL-3.0`"]);
    assert_eq!(faults(&package("hyper", "MIT", Some(registry))), ["hyper 1.0.0: banned"]);
    assert_eq!(faults(&package("x", "MIT", Some("git+ssh://x"))), ["x 1.0.0: source `git+ssh://x`"]);
    let mut ours = package("ours", "MIT", None);
    ours["dependencies"] =
        serde_json::json!([{"name": "any", "req": "*"}, {"name": "near", "req": "*", "path": "/near"}]);
    assert_eq!(faults(&ours), ["ours: any version of any"]);
}

#[test]
fn a_licence_expression_needs_one_allowed_alternative() {
    assert!(is_allowed("MIT/Apache-2.0"));
    assert!(is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0"));
    assert!(is_allowed("GPL-3.0 OR (Apache-2.0 WITH LLVM-exception AND ISC)"));
    assert!(!is_allowed("MIT AND GPL-3.0"));
    assert!(!is_allowed("(MIT AND GPL-3.0) OR LGPL-2.1"));
    assert!(!is_allowed(""));
}
