//! Any planes of XLA: as `json`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use support::choices;

fuzz_target!(|bytes: &[u8]| fuzz::trace(&choices::xplane(bytes)));
