//! The table of dependencies in ARCHITECTURE.md, which is made from the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use toml::{Table, Value};

use crate::checkout::{File, files, root};

const PAGE: &str = "ARCHITECTURE.md";

/// The line above the table.
const HEADING: &str = "## Dependencies\n";

/// Of each crate the crates of this repository that it depends on, and whether only with a feature.
type Dependencies = BTreeMap<String, BTreeMap<String, bool>>;

/// Crates of tests, whose dependencies are free, are left out.
fn dependencies(files: &[File]) -> Dependencies {
    let manifests: Vec<Table> = files
        .iter()
        .filter(|file| file.is_manifest() && !file.is_test())
        .map(|file| file.text.parse().expect("a manifest"))
        .collect();
    let name = |manifest: &Table| manifest["package"]["name"].as_str().expect("a name").to_owned();
    let names: BTreeSet<String> = manifests.iter().map(name).collect();
    let mut all = Dependencies::new();
    for manifest in &manifests {
        let of_systems = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
        let tables = of_systems.filter_map(|(_, target)| target.get("dependencies"));
        let of_crate = all.entry(name(manifest)).or_default();
        for (dependency, value) in
            tables.chain(manifest.get("dependencies")).filter_map(Value::as_table).flatten()
        {
            if names.contains(dependency) {
                let is_optional = value.get("optional").and_then(Value::as_bool) == Some(true);
                of_crate.insert(dependency.clone(), is_optional);
            }
        }
    }
    all
}

/// The crates in layers: each depends on crates of the layers before its own.
fn layers(all: &Dependencies) -> Vec<Vec<&str>> {
    let mut layers: Vec<Vec<&str>> = Vec::new();
    let mut placed = BTreeSet::new();
    while placed.len() < all.len() {
        let is_ready =
            |needed: &BTreeMap<String, bool>| needed.keys().all(|name| placed.contains(name.as_str()));
        let layer: Vec<&str> = all
            .iter()
            .filter(|(name, needed)| !placed.contains(name.as_str()) && is_ready(needed))
            .map(|(name, _)| name.as_str())
            .collect();
        assert!(!layer.is_empty(), "crates depend on each other");
        placed.extend(layer.iter().copied());
        layers.push(layer);
    }
    layers
}

/// One row a crate with a mark below the number of each crate that it depends on, so no mark is right of the diagonal.
fn matrix(all: &Dependencies) -> String {
    let layers = layers(all);
    let order: Vec<&str> = layers.concat();
    let width = order.iter().map(|name| name.len()).max().unwrap_or_default();
    let digits = |of: fn(usize) -> String| (1..=order.len()).map(of).collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    for line in [
        digits(|at| if at < 10 { " ".to_owned() } else { (at / 10).to_string() }),
        digits(|at| (at % 10).to_string()),
    ] {
        let _ = writeln!(text, "{}", format!("{:width$}    {line}", "").trim_end());
    }
    let mut at = 0;
    for layer in layers {
        for name in layer {
            let marks = order[..at].iter().map(|column| match all[name].get(*column) {
                None => "·",
                Some(true) => "o",
                Some(false) => "x",
            });
            let marks = marks.collect::<Vec<_>>().join(" ");
            at += 1;
            let _ = writeln!(text, "{}", format!("{name:width$} {at:2} {marks}").trim_end());
        }
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

#[test]
fn the_drawn_dependencies_are_those_of_the_manifests() {
    let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let (before, rest) = page.split_once(HEADING).expect("the heading");
    let (between, rest) = rest.split_once("```text\n").expect("the table");
    let (drawn, after) = rest.split_once("```").expect("the end of the table");
    let expected = matrix(&dependencies(&files()));
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        let page = [before, HEADING, between, "```text\n", &expected, "```", after].concat();
        std::fs::write(root().join(PAGE), page).unwrap();
        return;
    }
    assert!(
        drawn == expected,
        "{PAGE} has another table; `SNAPSHOTS=overwrite cargo test -p house` draws\n{expected}"
    );
}

#[test]
fn a_crate_is_below_what_it_depends_on() {
    let manifest = |path: &str, name: &str, rest: &str| {
        File::new(&format!("{path}/Cargo.toml"), &format!("[package]\nname = \"{name}\"\n{rest}"))
    };
    let files = [
        manifest(
            "tools/a",
            "a",
            "[dependencies]\nb.workspace = true\nregex = \"1\"\n[dev-dependencies]\nd.path = \"d\"\n",
        ),
        manifest("b", "b", "[target.'cfg(unix)'.dependencies]\nd = { workspace = true, optional = true }\n"),
        manifest("d", "d", ""),
        manifest("tests/e", "e", "[dependencies]\na.workspace = true\n"),
    ];
    assert_eq!(matrix(&dependencies(&files)), "\n     1 2 3\nd  1\n\nb  2 o\n\na  3 · x\n");
}
