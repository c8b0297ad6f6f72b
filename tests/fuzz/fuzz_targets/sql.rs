//! Any text of SQL and any condition: no function that is refused, and no run that a query needs left out.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::sql(bytes));
