//! Any bytes: opening and reading everything gives a trace or an error, never a panic or a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rtl_schema::{Select, Trace};

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace");
    std::fs::write(&path, bytes).expect("room for a trace");
    if let Ok(trace) = Trace::open(&path) {
        let _ = trace.read(&Select::everything());
    }
});
