//! Small traces: each is read and encoded by one thread, many at a time.

use std::collections::VecDeque;

use rtl_schema::{Error, Select, Tables, Trace};
use rtl_write::{EncodedPiece, PieceImport};

use super::checkpoint::{Checkpoint, MergeState};
use super::source::Sources;
use crate::errors::MergeError;
use crate::read::Input;

/// The bytes of traces after which a checkpoint is saved, when none of them is on the way: with few of them, threads would wait for the
/// last ones. Test builds have several.
const BATCH: u64 = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 20 };

/// Writes the traces of a group, which follow each other.
pub(super) fn write(
    sources: &Sources<'_>,
    mut group: &[usize],
    state: &mut MergeState,
    checkpoint: &mut Checkpoint,
) -> Result<(), MergeError> {
    while let Some(&first) = group.first() {
        let mut bytes = 0;
        let is_last = |&at: &usize| {
            bytes += sources.inputs[at].bytes();
            bytes >= BATCH
        };
        let count = group.iter().position(is_last).map_or(group.len(), |last| last + 1);
        let (batch, rest) = group.split_at(count);
        write_batch(sources, batch, state)?;
        checkpoint.save(state, first + count)?;
        group = rest;
    }
    Ok(())
}

/// Work on one trace.
enum Step {
    Read(usize),
    Encode(Box<PieceImport>),
}

/// The result of a [`Step`].
enum Done {
    Read(usize, Box<Result<Tables, Error>>),
    Encoded(Box<EncodedPiece>),
}

fn write_batch(sources: &Sources<'_>, batch: &[usize], state: &mut MergeState) -> Result<(), MergeError> {
    let mut numbered = VecDeque::new();
    let work = |step| match step {
        Step::Read(at) => Done::Read(at, Box::new(read(&sources.inputs[at]))),
        Step::Encode(piece) => Done::Encoded(Box::new(piece.encode())),
    };
    let consume = |done| match done {
        Done::Read(at, tables) => {
            let (source, piece) = sources.source(at).number(state, *tables)?;
            numbered.push_back(source);
            Ok(Some(Step::Encode(Box::new(piece))))
        }
        Done::Encoded(piece) => {
            if let Some(source) = numbered.pop_front() {
                source.write(state, *piece)?;
            }
            Ok::<_, MergeError>(None)
        }
    };
    threads::pipeline(threads::Results::Large, work, consume, |pipeline| {
        batch.iter().try_for_each(|&at| pipeline.push(Step::Read(at)))
    })
}

fn read(input: &Input) -> Result<Tables, Error> {
    Trace::open(&input.path)?.read(&Select::everything())
}
