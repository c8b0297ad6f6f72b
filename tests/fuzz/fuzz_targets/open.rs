//! Any bytes: opening and reading everything gives a trace or an error, never a panic or a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::trace(bytes));
