//! One trace from many ranks. The library behind `rtl-merge`.
//!
//! The modules in the order of the data: [`args`] are the flags, `input` reads every trace once, `ranks`, `runs`,
//! `machines` and `gpus` identify them, `clocks` aligns their clocks, `waits` and `imbalance` compare the `members` of the
//! job, `plan` and `ranges` number everything in the merged trace, `write` reads the traces again and writes them into a `checkpoint`.
//! [`document`] is the versioned report and `render` prints it. `summary` is `--summary-only`: a report of all ranks without
//! a merged trace. Table names and pages of files are in `rtl_schema`.

pub mod args;
mod bandwidth;
mod checkpoint;
mod clocks;
mod data_set;
mod disk_space;
pub mod document;
mod errors;
mod gpus;
mod health;
pub mod imbalance;
mod input;
mod machines;
mod members;
mod output;
mod plan;
mod ranges;
mod ranks;
mod render;
mod rows;
mod runs;
mod summary;
pub mod waits;
mod write;

use std::convert::Infallible;
use std::io::Write;
use std::mem::take;
use std::path::{Path, PathBuf};

use cli::color::Paint;
use cli::{Exit, Failure, Output, Progress};
use rtl_analysis::ranks::streaming::KernelIndex;

use crate::args::{Arguments, Format, Options, ReportFormat};
use crate::checkpoint::Checkpoint;
use crate::clocks::Clocks;
use crate::document::Document;
use crate::errors::MergeError;
use crate::gpus::Devices;
use crate::input::Input;
use crate::machines::Machines;
use crate::members::Members;
use crate::plan::Plan;
use crate::ranks::RankOverrides;
use crate::rows::Rows;

/// Merges, or reports on all ranks, as the command line says.
///
/// # Errors
/// Those of [`merge`].
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let options = &arguments.options;
    if arguments.summary_only {
        return summary::run(options, out);
    }
    let document = merge(options, out)?;
    match arguments.format {
        ReportFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &document)?;
            writeln!(out)?;
        }
        ReportFormat::Text if options.console.quiet => {}
        ReportFormat::Text => {
            render::text(&document, Paint::new(options.console.color, out.is_terminal()), out)?;
        }
    }
    Ok(if document.failures.is_empty() { Exit::Success } else { Exit::Input })
}

/// Merges the traces. With `keep_going`, unreadable traces are left out: `out` gets an error for each of them, and
/// [`Document::failures`] lists them.
///
/// # Errors
/// Where the options are invalid, a trace cannot be read, the traces do not belong together or the output cannot be
/// written; an earlier output then stays.
pub fn merge(options: &Options, out: &mut Output) -> Result<Document, Failure> {
    let overrides = RankOverrides::parse(&options.identity.set_rank)?;
    data_set::check(options)?;
    if !options.check {
        output::check(options)?;
    }
    let paths = rtl_schema::join_files_of_runs(&options.traces);
    let mut traces = TraceSet { paths, failures: Vec::new() };
    loop {
        match attempt(options, &overrides, &mut traces, out) {
            Ok(document) => return Ok(document),
            Err(MergeError::Other(failure)) => return Err(failure),
            // Neither its rows nor their numbers may stay: start again without it.
            Err(MergeError::Input(path, failure)) => traces.remove(&path, failure, options, out)?,
        }
    }
}

/// The traces to merge, and the failures of those that were left out.
struct TraceSet {
    paths: Vec<PathBuf>,
    failures: Vec<Failure>,
}

impl TraceSet {
    /// Leaves out a trace that cannot be read any more.
    fn remove(
        &mut self,
        path: &Path,
        failure: Failure,
        options: &Options,
        out: &mut Output,
    ) -> Result<(), Failure> {
        if !options.keep_going || self.paths.len() < 2 {
            return Err(failure);
        }
        out.failure(&failure);
        self.failures.push(failure);
        self.paths.retain(|trace| trace != path);
        Ok(())
    }

    /// Reads all traces and prints an error for each that cannot be read. Arguments and launches are only read for
    /// `--check`, and after a trace was found to be damaged late: then others may be.
    fn read(
        &mut self,
        options: &Options,
        kernels: &mut KernelIndex,
        out: &mut Output,
    ) -> Result<Vec<Input>, Failure> {
        let sizes = self.paths.iter().map(|path| output::size(path)).sum();
        let progress = Progress::files("reading", self.paths.len(), sizes, options.console.quiet);
        let whole = options.check || !self.failures.is_empty();
        let (mut inputs, mut readable) = (Vec::new(), Vec::new());
        let read = |path: PathBuf| {
            let input = Input::of(&path, whole).map_err(Failure::from);
            (path, input)
        };
        let Ok(()) = threads::in_order(take(&mut self.paths), read, |(path, input)| {
            progress.advance_file(output::size(&path));
            match input {
                Ok((mut input, own)) => {
                    input.renumber(&kernels.append(own));
                    inputs.push(input);
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
        input::check_readable(&inputs, self.failures.len(), options, ["nothing is merged", "merges"])?;
        Ok(inputs)
    }
}

/// Merges the traces that are left.
fn attempt(
    options: &Options,
    overrides: &RankOverrides,
    traces: &mut TraceSet,
    out: &mut Output,
) -> Result<Document, MergeError> {
    let mut kernels = KernelIndex::default();
    let mut inputs = traces.read(options, &mut kernels, out)?;
    ranks::assign(&mut inputs, overrides, options.identity.allow_missing)?;
    let machines = Machines::of(&inputs);
    if !options.force {
        runs::check(&inputs, &machines)?;
    }
    let devices = Devices::of(&inputs, &machines, options.identity.same_gpus);
    let clocks = Clocks::of(&mut inputs, &machines, &options.clock)?;
    if options.clock.require_alignment {
        require_alignment(&clocks, &inputs)?;
    }
    let plan = Plan::of(&inputs, &machines, &devices, &clocks);
    let mut document = Document::of(&inputs, &machines, &devices, &traces.failures);
    let members = Members::of(&inputs, &plan, &devices);
    let add_ranks = || document.add_ranks(&inputs, clocks, &members, &kernels);
    if options.check {
        add_ranks();
        let mut read = Rows::default();
        inputs.iter().for_each(|input| read.append(&input.rows));
        document.add_rows(&read, None);
    } else {
        let ((), written) = threads::both(add_ranks, || write_output(options, &inputs, &plan, &devices));
        let Written { rows, warnings } = written?;
        warnings.iter().for_each(|warning| out.warning(warning));
        document.add_rows(&rows, Some(options.output()));
    }
    Ok(document)
}

/// Fails if a clock could not be aligned.
fn require_alignment(clocks: &Clocks, inputs: &[Input]) -> Result<(), Failure> {
    let reasons =
        inputs.iter().zip(&clocks.inputs).filter_map(|(input, clock)| Some((input, clock.reason.as_ref()?)));
    let unaligned: Vec<String> =
        reasons.map(|(input, reason)| format!("{} ({reason})", input.name())).collect();
    if unaligned.is_empty() {
        return Ok(());
    }
    let (count, all, names) = (unaligned.len(), inputs.len(), unaligned.join(", "));
    Err(Failure::input(anyhow::anyhow!("{count} of {all} traces are not aligned: {names}")).with_hint(
        "--offset RANK=NS sets an offset; without --require-alignment the times are merged unchanged",
    ))
}

/// What came of the output.
struct Written {
    rows: Rows,
    warnings: Vec<String>,
}

fn write_output(
    options: &Options,
    inputs: &[Input],
    plan: &Plan,
    devices: &Devices,
) -> Result<Written, MergeError> {
    disk_space::check(output::folder(options.output()), inputs)?;
    let sizes = inputs.iter().map(Input::bytes).sum();
    let progress = Progress::files("merging", inputs.len(), sizes, options.console.quiet);
    let mut checkpoint = Checkpoint::open(options.output(), inputs, plan.fingerprint(inputs))?;
    let rows = write::write(inputs, plan, devices, &mut checkpoint, options.resume, &progress)?;
    let (format, part) = (options.format(), checkpoint.part());
    // The disk takes what was written while threads read it back.
    let sync = || if format == Format::Native { checkpoint.sync() } else { Ok(()) };
    let (synced, checked) = threads::both(sync, || write::check(&part, &rows));
    checked.and(synced)?;
    let mut warnings = Vec::new();
    match format {
        Format::Native => checkpoint.finish()?,
        Format::Rpd => warnings = convert(&part, options.output())?,
        Format::Dataset => data_set::add(&part, options)?,
    }
    Ok(Written { rows, warnings })
}

/// Writes the merged trace as RPD. Returns warnings.
fn convert(merged: &Path, output: &Path) -> Result<Vec<String>, Failure> {
    let options = rtl_convert::Options::new(merged, &rtl_convert::databases::RPD, output);
    Ok(rtl_convert::convert(&rtl_convert::Options { force: true, ..options })?.warnings)
}
