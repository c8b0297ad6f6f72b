//! Every figure of a report is what SQLite says of the same file.

use support::{Layout, Options};

use crate::Folder;
use crate::trial::Trial;

#[test]
fn every_figure_of_every_story() {
    let folder = Folder::new();
    for name in support::fixture_names() {
        Trial::of(&folder.story(&name, Layout::Native, &format!("{name}.db")))
            .everything(Layout::Native, false);
    }
}

#[test]
fn every_figure_of_the_stories_as_rocm_trace_lite_tells_them() {
    let folder = Folder::new();
    // rocm-trace-lite's columns refuse some of the bad rows.
    for name in support::fixture_names().into_iter().filter(|name| name != "bad-rows") {
        Trial::of(&folder.story(&name, Layout::Lite, &format!("{name}.db"))).everything(Layout::Lite, false);
    }
}

/// Traces of 20,000 ops, out of order, with copies, collectives and nested ranges.
fn generated(layout: Layout, seeds: std::ops::Range<u64>) {
    let folder = Folder::new();
    for seed in seeds {
        let path = folder.path(&format!("{seed}.db"));
        let options = Options {
            layout,
            ops: 20_000,
            seed,
            gpus: 1 + seed as u32 % 3,
            kernels: 60,
            shuffle: seed % 2 == 0,
            api: true,
            ranges: true,
            ..Options::default()
        };
        support::generate(&options, &path).unwrap();
        Trial::of(&path).everything(layout, true);
    }
}

#[test]
fn every_figure_of_generated_traces() {
    generated(Layout::Native, 1..3);
}

#[test]
fn every_figure_of_generated_traces_of_rocm_trace_lite() {
    generated(Layout::Lite, 3..5);
}
