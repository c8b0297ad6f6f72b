//! Any bytes as a trace: a format, which the bytes choose, is written or refused, and what is written can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::count(fuzz::convert(bytes, fuzz::choice(bytes, 1 << 20) as usize)));
