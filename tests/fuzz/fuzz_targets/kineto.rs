//! Any document of Kineto's structure: as `json`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use support::choices;

fuzz_target!(|bytes: &[u8]| {
    let document = choices::kineto(bytes);
    fuzz::trace(document.as_bytes());
});
