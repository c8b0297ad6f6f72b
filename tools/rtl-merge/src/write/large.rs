//! Large traces: threads read and encode the pieces of one, then of the next.

use super::checkpoint::{Checkpoint, MergeState};
use super::source::Sources;
use crate::errors::MergeError;

/// A checkpoint is saved as soon as this many bytes of traces are merged since the last one: the work of a second.
const UNSAVED: u64 = 256 << 20;

/// Writes the traces of a group, which follow each other.
pub(super) fn write(
    sources: &Sources<'_>,
    group: &[usize],
    state: &mut MergeState,
    checkpoint: &mut Checkpoint,
) -> Result<(), MergeError> {
    let mut unsaved = 0;
    for &at in group {
        sources.source(at).write_pieces(state)?;
        unsaved += sources.inputs[at].bytes();
        if unsaved >= UNSAVED {
            checkpoint.save(state, at + 1)?;
            unsaved = 0;
        }
    }
    Ok(())
}
