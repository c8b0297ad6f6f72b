//! Writes the merged trace: numbers and names of the job first, then the rows of the inputs in their order, of which small ones are read
//! at once and large ones in pieces. The file is read back before it gets its name.

mod checkpoint;
mod disk_space;
mod head;
mod large;
mod read_back;
mod small;
mod source;

use std::path::Path;

use cli::{Failure, Progress};
use rtl_convert::databases::RPD;

use self::checkpoint::Checkpoint;
use self::source::Sources;
use crate::args::{Format, Options};
use crate::errors::MergeError;
use crate::identity::Places;
use crate::plan::Plan;
use crate::read::{Input, Rows};
use crate::{data_set, output};

/// A merged trace under its name.
pub(crate) struct Written {
    pub(crate) rows: Rows,
    pub(crate) warnings: Vec<String>,
}

/// Writes the merged trace, or with `--resume` the rest of it.
///
/// # Errors
/// Where an input has changed, or the output cannot be written.
pub(crate) fn write(
    options: &Options,
    inputs: &[Input],
    places: &Places,
    plan: &Plan,
) -> Result<Written, MergeError> {
    disk_space::check(output::folder(options.output()), inputs)?;
    let sizes = inputs.iter().map(Input::bytes).sum();
    let progress = Progress::files("merging", inputs.len(), sizes, options.console.quiet);
    let mut checkpoint = Checkpoint::open(options.output(), inputs, plan)?;
    let rows =
        write_rows(&Sources { inputs, plan, progress: &progress }, places, &mut checkpoint, options.resume)?;
    let (format, part) = (options.format()?, checkpoint.part());
    // The disk takes what was written while threads read it back.
    let sync = || if format == Format::Native { checkpoint.sync() } else { Ok(()) };
    let (synced, checked) = threads::both(sync, || read_back::check(&part, &rows));
    checked.and(synced)?;
    let mut warnings = Vec::new();
    match format {
        Format::Native | Format::Summary => checkpoint.finish()?,
        Format::Rpd => warnings = write_rpd(&part, options.output())?,
        Format::Dataset => data_set::add(&part, options)?,
    }
    Ok(Written { rows, warnings })
}

/// Returns the number of rows of the inputs.
fn write_rows(
    sources: &Sources<'_>,
    places: &Places,
    checkpoint: &mut Checkpoint,
    resume: bool,
) -> Result<Rows, MergeError> {
    let mut state = checkpoint.start(resume)?;
    let done = match state.done {
        None => {
            head::write(&mut state.writer, sources.inputs, places, sources.plan)?;
            0
        }
        Some(done) => {
            sources.skip(&mut state.writer, done)?;
            done
        }
    };
    let left: Vec<usize> = (done..sources.inputs.len()).collect();
    for group in left.chunk_by(|&one, &next| sources.is_small(one) == sources.is_small(next)) {
        if sources.is_small(group[0]) {
            small::write(sources, group, &mut state, checkpoint)?;
        } else {
            large::write(sources, group, &mut state, checkpoint)?;
        }
    }
    state.writer.finish()?;
    Ok(state.rows)
}

fn write_rpd(merged: &Path, output: &Path) -> Result<Vec<String>, Failure> {
    let options = rtl_convert::Options::new(merged, &RPD, output);
    let converted = rtl_convert::convert(&rtl_convert::Options { force: true, ..options })?;
    Ok(converted.warnings)
}
