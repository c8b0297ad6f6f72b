//! The first bytes of a database file.

use std::fs::File;

use platform::positional::read_exact_at;

/// The header of a database file.
pub(super) const HEADER: usize = 100;
/// The version of SQLite that recordings name as their writer (`rtl-write`'s `btree/store.rs`).
const RECORDING: u32 = 3_031_000;

/// True for a file by `rtl-write`: its header names that version, and counts changes of pages and schema
/// together.
pub(super) fn is_recording(header: &[u8; HEADER]) -> bool {
    let count = be32(header, 24);
    header[18..20] == [1, 1]
        && be32(header, 96) == RECORDING
        && [40, 92].iter().all(|&at| be32(header, at) == count)
}

pub(super) fn read_header(file: &File) -> Option<[u8; HEADER]> {
    let mut header = [0; HEADER];
    read_exact_at(file, &mut header, 0).ok()?;
    Some(header)
}

/// A big-endian number.
pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
