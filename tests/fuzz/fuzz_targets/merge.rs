//! Any two files: a merged trace with the ops of both, or an error.
#![no_main]

#[path = "../../../tools/rtl-merge/tests/merge/any_traces.rs"]
mod any_traces;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let traces = ["one", "other"].map(|name| folder.path().join(name));
    for (path, bytes) in traces.iter().zip(any_traces::divide(bytes)) {
        std::fs::write(path, bytes).expect("room for a trace");
    }
    any_traces::assert_merges([&traces[0], &traces[1]]);
});
