//! Which crates may become part of the tools: their licences, their source and how their versions are named.

use std::collections::BTreeSet;
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

fn cargo(arguments: &[&str]) -> String {
    try_cargo(arguments).unwrap_or_else(|error| panic!("{error}"))
}

fn try_cargo(arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).arg("--locked").current_dir(root()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Every package that a build for Linux uses, as lines of name, version, source where it is not crates.io, a tab and the
/// licence. None where the workspace of the manifest has packages that this machine has not downloaded.
fn packages(manifest: &str) -> Vec<String> {
    let target = "--target=x86_64-unknown-linux-gnu";
    let line =
        ["tree", "--workspace", "--edges=normal,build,dev", target, "--prefix=none", "--format={p}\t{l}"];
    let line = line.into_iter().chain(["--manifest-path", manifest]);
    // No test compiles polars but a long one, so its packages are not downloaded for this one.
    let offline = (manifest != "Cargo.toml").then_some("--offline");
    let tree = try_cargo(&line.chain(offline).collect::<Vec<_>>());
    let tree = tree.unwrap_or_else(|error| if offline.is_some() { String::new() } else { panic!("{error}") });
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty());
    let lines: BTreeSet<&str> = lines.collect();
    lines.into_iter().map(str::to_owned).collect()
}

/// True if one alternative of the expression needs allowed licences only.
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

fn faults(line: &str) -> Vec<String> {
    let (package, licence) = line.split_once('\t').unwrap_or((line, ""));
    let mut words = package.splitn(3, ' ');
    let (name, _version, source) = (words.next(), words.next(), words.next().unwrap_or_default());
    let mut faults = Vec::new();
    if !is_allowed(licence) {
        faults.push(format!("{package}: licence `{licence}`"));
    }
    if name.is_some_and(|name| BANNED.contains(&name)) {
        faults.push(format!("{package}: banned"));
    }
    // A package of crates.io has no source here, one of this repository has its folder.
    if !["", "(proc-macro)"].contains(&source) && !source.starts_with("(/") {
        faults.push(format!("{package}: source"));
    }
    faults
}

/// Dependencies of a package of this repository that accept any version.
fn any_versions(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let any = dependencies.filter(|dependency| dependency["req"] == "*" && dependency["path"].is_null());
    any.map(|dependency| format!("{}: any version of {}", package["name"], dependency["name"])).collect()
}

/// The packages of this repository.
fn own_packages() -> Vec<Value> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version=1", "--no-deps"])).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Differences between a lock file and the manifests of this repository.
fn outdated(lock: &str, packages: &[Value]) -> Vec<String> {
    let lock: toml::Value = toml::from_str(lock).unwrap();
    let mut faults = Vec::new();
    for locked in lock["package"].as_array().unwrap() {
        let name = locked["name"].as_str().unwrap();
        let Some(package) = packages.iter().find(|package| package["name"] == name) else { continue };
        let locked = locked.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
        // A version follows where there are several.
        let locked: BTreeSet<&str> =
            locked.filter_map(|name| name.as_str()?.split_whitespace().next()).collect();
        let stated = package["dependencies"].as_array().unwrap();
        let needed = stated.iter().filter(|dependency| {
            dependency["kind"] != "dev" && dependency["optional"] == false && dependency["target"].is_null()
        });
        let names = |dependency: &Value| dependency["name"].as_str().unwrap().to_owned();
        let lacking = needed.map(names).filter(|name| !locked.contains(&**name));
        faults.extend(lacking.map(|dependency| format!("{name} lacks {dependency}")));
        let stated: BTreeSet<String> = stated.iter().map(names).collect();
        let unknown = locked.iter().filter(|&&name| !stated.contains(name));
        faults.extend(unknown.map(|dependency| format!("{name} has {dependency}")));
    }
    faults
}

#[test]
fn the_locks_of_other_workspaces_are_those_of_their_manifests() {
    let packages = own_packages();
    for folder in ["tests/fuzz", "tools/frames"] {
        let lock = std::fs::read_to_string(root().join(folder).join("Cargo.lock")).unwrap();
        let faults = outdated(&lock, &packages);
        assert!(
            faults.is_empty(),
            "`cargo update --workspace` in {folder} brings it up to date: {faults:#?}"
        );
    }
    let lock = "[[package]]\nname = \"threads\"\ndependencies = [\"regex 1.0.0\"]\n\
                [[package]]\nname = \"rtl-schema\"\n";
    let faults = outdated(lock, &packages);
    assert!(faults.iter().any(|fault| fault == "threads has regex"), "{faults:?}");
    assert!(faults.iter().any(|fault| fault == "rtl-schema lacks threads"), "{faults:?}");
}

#[test]
fn every_dependency_has_an_allowed_licence_and_source() {
    let tools = packages("Cargo.toml");
    assert!(tools.len() > 50, "{} packages", tools.len());
    let frames = packages("tools/frames/Cargo.toml");
    if frames.is_empty() {
        support::skip(
            support::Need::Programs,
            "packages of tools/frames (cargo fetch --manifest-path tools/frames/Cargo.toml)",
        );
    }
    let faults: Vec<String> = tools.iter().chain(&frames).flat_map(|line| faults(line)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_dependency_states_its_version() {
    let faults: Vec<String> = own_packages().iter().flat_map(any_versions).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let dependencies =
        serde_json::json!([{"name": "any", "req": "*"}, {"name": "near", "req": "*", "path": "/near"}]);
    let package = serde_json::json!({"name": "ours", "dependencies": dependencies});
    assert_eq!(any_versions(&package), ["\"ours\": any version of \"any\""]);
}

#[test]
fn a_dependency_that_breaks_a_rule_is_found() {
    assert_eq!(faults("good v1.0.0\tMIT OR GPL-3.0"), [""; 0]);
    assert_eq!(faults("derive v1.0.0 (proc-macro)\tMIT"), [""; 0]);
    assert_eq!(faults("ours v0.1.0 (/checkout/ours)\tMIT"), [""; 0]);
    assert_eq!(faults("bad v1.0.0\tGPL-3.0"), ["bad v1.0.0: licence `GPL-3.0`"]);
    assert_eq!(faults("hyper v1.0.0\tMIT"), ["hyper v1.0.0: banned"]);
    assert_eq!(faults("x v1.0.0 (git+ssh://x)\tMIT"), ["x v1.0.0 (git+ssh://x): source"]);
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
