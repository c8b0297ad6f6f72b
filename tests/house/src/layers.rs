//! The folders of the tracer: which one must not import which.

use crate::checkout::{File, files};
use crate::module_graph::ModuleGraph;

const SOURCES: &str = "tracer/src/";

/// A folder and those that it must not import. The data plane (events, collect, intercept, write) does not know the life
/// cycle, which starts and ends it, nor the C entry points.
const LAYERS: [(&str, &[&str]); 6] = [
    ("base", &["events", "collect", "intercept", "write", "lifecycle", "capi"]),
    ("events", &["collect", "intercept", "write", "lifecycle", "capi"]),
    ("collect", &["intercept", "write", "lifecycle", "capi"]),
    ("intercept", &["write", "lifecycle", "capi"]),
    ("write", &["intercept", "lifecycle", "capi"]),
    ("lifecycle", &["capi"]),
];

fn arrows(files: &[File]) -> Vec<String> {
    let sources = files.iter().filter(|file| file.is_rust() && !file.is_test());
    let sources = sources.filter_map(|file| Some((file.path.strip_prefix(SOURCES)?, file.text.as_str())));
    let graph = ModuleGraph::new(sources);
    let mut arrows = Vec::new();
    for (from, to) in graph.edges() {
        let is_forbidden = LAYERS.iter().any(|(folder, strangers)| {
            from.first().is_some_and(|first| first == folder)
                && to.first().is_some_and(|first| strangers.contains(&first.as_str()))
        });
        if is_forbidden {
            arrows.push(format!("{} -> {}", from.join("::"), to.join("::")));
        }
    }
    arrows
}

#[test]
fn the_data_plane_of_the_tracer_does_not_know_the_life_cycle() {
    assert_eq!(arrows(&files()), [""; 0]);
}

#[test]
fn an_import_of_the_life_cycle_is_found() {
    let file = |path: &str, text: &str| File::new(&format!("{SOURCES}{path}"), text);
    let found = arrows(&[
        file("lib.rs", "mod collect;\nmod lifecycle;\n"),
        file("collect/mod.rs", "mod slot;\n"),
        file("collect/slot.rs", "fn f() {\n    crate::lifecycle::load::begin();\n}\n"),
        file("lifecycle/mod.rs", "mod load;\n"),
        file("lifecycle/load.rs", "use crate::collect::slot::f;\npub fn begin() {}\n"),
    ]);
    assert_eq!(found, ["collect::slot -> lifecycle::load"]);
}
