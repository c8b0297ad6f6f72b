//! Checks that the disk has enough free space for the merged trace.

use std::path::Path;

use cli::{Failure, units};

use crate::read::Input;

/// Upper estimate of the bytes of a row: an op, range or call with all columns.
const BYTES_PER_ROW: u64 = 80;
/// Estimate of the strings and metadata of a trace.
const BYTES_PER_TRACE: u64 = 64 << 10;

/// # Errors
/// Where the disk of `folder` has too little; a file system that does not report its free space passes.
pub(crate) fn check(folder: &Path, inputs: &[Input]) -> Result<(), Failure> {
    let needed: u64 = inputs.iter().map(needed).sum();
    let Ok(free) = platform::disk::free_space(folder) else { return Ok(()) };
    if free >= needed {
        return Ok(());
    }
    let what = format!(
        "{} has {} free, and the merged trace needs up to {}",
        folder.display(),
        units::bytes(free),
        units::bytes(needed)
    );
    Err(Failure::input(anyhow::anyhow!(what)).with_hint("--output names a file on another disk"))
}

fn needed(input: &Input) -> u64 {
    // Text that row counts do not show, such as arguments, takes no more space than in the input.
    let text = input.bytes().saturating_sub(input.rows.ops() * BYTES_PER_ROW);
    input.rows.all() * BYTES_PER_ROW + BYTES_PER_TRACE + text
}
