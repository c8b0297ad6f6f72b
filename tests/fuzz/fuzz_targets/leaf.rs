//! Damaged databases: a scan of any table gives what SQLite gives, or both report an error.
#![no_main]

#[path = "../../../schema/tests/it"]
mod it {
    pub(crate) mod databases;
}

use it::databases;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::count(databases::assert_agreement(&fuzz::input("trace.db", bytes)) > 0));
