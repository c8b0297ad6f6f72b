//! Any bytes as a trace: every format is written or refused, and what is written can be read.
#![no_main]

#[path = "../../../tools/rtl-convert/tests/it/any_trace.rs"]
mod any_trace;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace");
    std::fs::write(&path, bytes).expect("room for a trace");
    any_trace::assert_converts(&path);
});
