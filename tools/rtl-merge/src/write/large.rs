//! Large traces: threads read and encode the pieces of one, then of the next.

use rtl_schema::{Error, OpenTrace, PreparedTrace, Select, Trace};

use super::checkpoint::{Checkpoint, MergeState};
use super::source::Sources;
use crate::errors::MergeError;
use crate::read::Input;

/// A checkpoint is saved as soon as this many bytes of traces are merged since the last one: the work of a second.
const UNSAVED: u64 = 256 << 20;

/// Writes the traces of a group, which follow each other. While the last pieces of one are on the way, the next one is opened.
pub(super) fn write(
    sources: &Sources<'_>,
    group: &[usize],
    state: &mut MergeState,
    checkpoint: &Checkpoint,
) -> Result<(), MergeError> {
    let (mut next, mut unsaved) = (None, 0);
    for (position, &at) in group.iter().enumerate() {
        let input = &sources.inputs[at];
        let opened = next.take().unwrap_or_else(|| open(input));
        let follower = group.get(position + 1).map(|&at| &sources.inputs[at]);
        let follower = follower.map(|input| Box::new(|| open(input)) as OpenTrace<'_>);
        next = sources.source(at).write_pieces(state, opened, follower)?;
        unsaved += input.bytes();
        if unsaved >= UNSAVED {
            checkpoint.save(state, at + 1)?;
            unsaved = 0;
        }
    }
    Ok(())
}

fn open(input: &Input) -> Result<PreparedTrace, Error> {
    Trace::open(&input.path)?.prepare(&Select::everything())
}
