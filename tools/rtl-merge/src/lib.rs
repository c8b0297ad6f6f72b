//! One trace from many ranks. The library behind `rtl-merge`.
//!
//! [`merge`] is the table of contents: a job is read once (`read`), its traces are identified (`identity`), their clocks are
//! aligned (`clocks`) and everything gets its number in the merged trace (`plan`). Then the rows are written (`write`) while the
//! ranks are compared (`comparison`), and the [`document`] reports both. Each step is a module with one entry point, whose result is
//! the input of the next one. `summary` is `--to summary`, which merges nothing.

pub mod args;
mod clocks;
mod comparison;
mod data_set;
pub mod document;
mod errors;
mod identity;
mod output;
mod plan;
mod read;
mod render;
mod summary;
mod write;

use std::io::Write;

use cli::color::Paint;
use cli::{Exit, Failure, Output};

use crate::args::{Arguments, Format, Options, ReportFormat};
use crate::clocks::Clocks;
use crate::comparison::Comparison;
use crate::document::Document;
use crate::errors::MergeError;
use crate::identity::{Places, RankOverrides};
use crate::plan::Plan;
use crate::read::TraceSet;

/// Merges, or reports on all ranks, as the command line says.
///
/// # Errors
/// Those of [`merge`].
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let options = &arguments.options;
    if options.format()? == Format::Summary {
        return summary::run(options, out);
    }
    let document = merge(options, out)?;
    match arguments.print {
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

/// Merges the traces. With [`args::Allow::Unreadable`], unreadable traces are left out: `out` gets an error for each of them, and
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
    let mut traces = TraceSet::new(options);
    loop {
        match merge_readable(options, &overrides, &mut traces, out) {
            Ok(document) => return Ok(document),
            Err(MergeError::Other(failure)) => return Err(failure),
            // Neither its rows nor their numbers may stay, so the merge starts again without it.
            Err(MergeError::Input(path, failure)) => traces.remove(&path, failure, options, out)?,
        }
    }
}

fn merge_readable(
    options: &Options,
    overrides: &RankOverrides,
    traces: &mut TraceSet,
    out: &mut Output,
) -> Result<Document, MergeError> {
    let (mut inputs, kernels) = traces.read(options, out)?;
    let places = Places::find(&mut inputs, overrides, options)?;
    let clocks = Clocks::align(&mut inputs, &places.machines, &options.clock)?;
    let plan = Plan::new(&inputs, &places, &clocks);
    let compare = || Comparison::new(&inputs, clocks, &plan, &kernels);
    let (comparison, written) = if options.check {
        (compare(), None)
    } else {
        let (comparison, written) = threads::both(compare, || write::write(options, &inputs, &places, &plan));
        (comparison, Some(written?))
    };
    if let Some(written) = &written {
        written.warnings.iter().for_each(|warning| out.warning(warning));
    }
    let rows = written.map(|written| (written.rows, options.output()));
    Ok(Document::new(&inputs, &places, &traces.failures, comparison, rows))
}
