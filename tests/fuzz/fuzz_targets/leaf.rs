//! Damaged databases: a scan of any table gives what SQLite gives, or both report an error.
#![no_main]

#[path = "../../../schema/tests/it"]
mod it {
    pub(crate) mod databases;
}

use it::databases;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace.db");
    std::fs::write(&path, bytes).expect("room for a database");
    databases::assert_agreement(&path);
});
