//! Any manifest, or other facts, of a run of a data set: a trace or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::manifest(bytes));
