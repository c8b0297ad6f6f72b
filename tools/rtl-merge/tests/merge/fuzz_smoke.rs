//! The checks of the fuzz target `merge`, on its corpus.

use std::fs;
use std::path::Path;

use crate::any_traces::{assert_merges, divide};

#[test]
fn any_two_traces_are_merged_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/merge");
    let seeds: Vec<_> = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty(), "no corpus");
    for seed in seeds {
        let folder = tempfile::tempdir().unwrap();
        let traces = ["one", "other"].map(|name| folder.path().join(name));
        let bytes = fs::read(seed).unwrap();
        for (path, bytes) in traces.iter().zip(divide(&bytes)) {
            fs::write(path, bytes).unwrap();
        }
        assert_merges([&traces[0], &traces[1]]);
    }
}
