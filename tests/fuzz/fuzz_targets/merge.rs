//! Any two files: a merged trace with the ops of both, or an error.
#![no_main]

#[path = "../../../tools/rtl-merge/tests/merge/any_traces.rs"]
mod any_traces;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [one, other] = any_traces::divide(bytes);
    fuzz::alone(one, |one| {
        let second = one.with_file_name("other");
        std::fs::write(&second, other).expect("room for a trace");
        fuzz::count(any_traces::assert_merges([one, &second]));
    });
});
