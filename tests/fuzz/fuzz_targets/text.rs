//! Any text as a trace: JSON of rocprofv3 and of Kineto, lines of RTG. The dictionary has their words.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use rtl_schema::{Select, Trace};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    // Databases are for `open`.
    if bytes.starts_with(b"SQLite format 3") {
        return Corpus::Reject;
    }
    let path = fuzz::input("trace", bytes);
    let tables = Trace::open(&path).and_then(|trace| trace.read(&Select::everything()));
    fuzz::count(tables.is_ok());
    Corpus::Keep
});
