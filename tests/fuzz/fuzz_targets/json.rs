//! Any document of rocprofv3's structure: a trace, a report, and one in 256 in a format of rtl-convert.
#![no_main]

use libfuzzer_sys::fuzz_target;
use support::choices;

fuzz_target!(|bytes: &[u8]| {
    let document = choices::rocprofv3(bytes);
    fuzz::trace(document.as_bytes());
});
