//! Reads every trace once before anything is written, several at a time.

pub(crate) mod input;
pub(crate) mod ranges;
pub(crate) mod rows;

use std::convert::Infallible;
use std::mem::take;
use std::path::{Path, PathBuf};

use cli::{Failure, Output, Progress};
use rtl_analysis::ranks::streaming::KernelIndex;

use crate::args::{Allow, Options};
use crate::output;

pub(crate) use input::{Input, RowScan};
pub(crate) use rows::Rows;

/// The traces to merge, and the failures of those that were left out.
pub(crate) struct TraceSet {
    paths: Vec<PathBuf>,
    pub(crate) failures: Vec<Failure>,
}

impl TraceSet {
    pub(crate) fn new(options: &Options) -> Self {
        Self { paths: rtl_schema::join_files_of_runs(&options.traces), failures: Vec::new() }
    }

    /// Leaves out a trace that cannot be read any more.
    ///
    /// # Errors
    /// The failure, where it ends the merge: without `--allow unreadable`, or where no other trace is left.
    pub(crate) fn remove(
        &mut self,
        path: &Path,
        failure: Failure,
        options: &Options,
        out: &mut Output,
    ) -> Result<(), Failure> {
        if !options.allows(Allow::Unreadable) || self.paths.len() < 2 {
            return Err(failure);
        }
        out.failure(&failure);
        self.failures.push(failure);
        self.paths.retain(|trace| trace != path);
        Ok(())
    }

    /// Reads all traces and prints an error for each that cannot be read. Arguments and launches are only read for
    /// `--check`, and after a trace was found to be damaged late: then others may be. The kernels of the inputs have the numbers of the
    /// index.
    ///
    /// # Errors
    /// Where no trace can be read, or not all can without `--allow unreadable`.
    pub(crate) fn read(
        &mut self,
        options: &Options,
        out: &mut Output,
    ) -> Result<(Vec<Input>, KernelIndex), Failure> {
        let sizes = self.paths.iter().map(|path| output::size(path)).sum();
        let progress = Progress::files("reading", self.paths.len(), sizes, options.console.quiet);
        let whole = options.check || !self.failures.is_empty();
        let mut kernels = KernelIndex::default();
        let (mut inputs, mut readable) = (Vec::new(), Vec::new());
        let read = |path: PathBuf| {
            let input = Input::read(&path, whole).map_err(Failure::from);
            (path, input)
        };
        let Ok(()) = threads::in_order(take(&mut self.paths), read, |(path, input)| {
            progress.advance_file(output::size(&path));
            match input {
                Ok((input, own)) => {
                    // What stays of a trace lies between buffers that reading it has freed. A copy leaves these whole for the next
                    // one, else the heap of thousands of small traces is mostly holes.
                    let mut kept = input.clone();
                    drop(input);
                    kept.renumber(&kernels.append(own));
                    inputs.push(kept);
                    readable.push(path);
                }
                Err(failure) => {
                    out.failure(&failure);
                    self.failures.push(failure);
                }
            }
            Ok::<(), Infallible>(())
        });
        self.paths = readable;
        check_readable(&inputs, self.failures.len(), options, ["nothing is merged", "merges"])?;
        Ok((inputs, kernels))
    }
}

/// Fails if there is no input, or without `--allow unreadable` if some traces cannot be read. The words are the consequence, and the verb of
/// the hint.
pub(crate) fn check_readable(
    inputs: &[Input],
    failures: usize,
    options: &Options,
    [consequence, verb]: [&str; 2],
) -> Result<(), Failure> {
    if !inputs.is_empty() && (failures == 0 || options.allows(Allow::Unreadable)) {
        return Ok(());
    }
    let all = options.traces.len();
    let hint =
        if inputs.is_empty() { String::new() } else { format!("`--allow unreadable` {verb} the others") };
    Err(Failure::input(anyhow::anyhow!("{failures} of {all} traces cannot be read: {consequence}"))
        .with_hint(hint))
}
