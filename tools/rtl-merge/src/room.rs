//! Whether the disk has room for what will be written.

use std::path::Path;

use cli::{Failure, units};

use crate::survey::Survey;

/// Bytes that a row takes at most as a rule: an op, range or call with all of its columns.
const ROW: u64 = 80;
/// Strings and metadata, of which a trace has more the smaller its rows are in number.
const TRACE: u64 = 64 << 10;

/// Checks it for a file in `folder`.
///
/// # Errors
/// Where there is too little. A disk that does not say is taken to have enough.
pub fn check(folder: &Path, inputs: &[Survey]) -> Result<(), Failure> {
    let needed: u64 = inputs.iter().map(needed).sum();
    let Ok(disk) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= needed {
        return Ok(());
    }
    let what = format!(
        "{} has {} free and the merged trace needs up to {}",
        folder.display(),
        units::bytes(free),
        units::bytes(needed)
    );
    Err(Failure::input(anyhow::anyhow!(what)).with_hint("--output names a file on another disk"))
}

fn needed(input: &Survey) -> u64 {
    // Text that no row count tells, such as arguments, takes no more here than it did there.
    let text = input.bytes().saturating_sub(input.rows.ops() * ROW);
    input.rows.all() * ROW + TRACE + text
}
