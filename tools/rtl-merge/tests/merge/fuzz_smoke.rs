//! The checks of the fuzz target `merge`, on its corpus.

use std::fs;

use crate::any_traces::{assert_merges, divide};

#[test]
fn any_two_traces_are_merged_or_refused() {
    for bytes in support::seeds("merge") {
        let folder = tempfile::tempdir().unwrap();
        let traces = ["one", "other"].map(|name| folder.path().join(name));
        for (path, bytes) in traces.iter().zip(divide(&bytes)) {
            fs::write(path, bytes).unwrap();
        }
        assert_merges([&traces[0], &traces[1]]);
    }
}
