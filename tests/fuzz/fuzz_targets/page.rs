//! Any names, one a line: they are texts of a page, and its elements are those of the program.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::page(bytes));
