//! Can I look at this trace in another tool? The verb behind `rtl-convert`.
//!
//! It reads as the data flows: [`args`] is what was typed, [`target`] the file that is written, [`timeline`] the rows
//! as events in order of time, and one file for each format that writes them. What it is not: it computes no report
//! (that is `analysis`) and knows no table of any tool (that is `schema`).

/// What was typed.
pub mod args;
#[cfg(feature = "columns")]
pub mod columns;
pub mod counter_tracks;
pub mod database;
/// One row of a timeline.
pub mod event;
pub mod event_args;
pub mod flows;
#[cfg(feature = "columns")]
pub mod folder;
pub mod lanes;
pub mod launched_kernels;
pub mod layout;
pub mod names;
pub mod native;
pub mod page_writer;
pub mod perfetto_json;
pub mod pftrace;
pub mod rocprofv3;
pub mod rows;
pub mod rpd;
pub mod sort;
pub mod source;
pub mod split;
pub mod target;
pub mod timeline;
pub mod tracks;
pub mod utilization;
pub mod viewer;

use std::io::Write;

use cli::{Exit, Failure, Output, units};

use crate::args::Arguments;
use crate::rocprofv3::Form;
use crate::rows::RowCounts;
use crate::source::Source;
use crate::target::{Format, OutputFile};

/// More slices than this are too many for the Perfetto UI in a browser.
const BROWSER: u64 = 3_000_000;

/// Converts the trace.
///
/// # Errors
/// Where the command line makes no sense, the trace cannot be read or the output cannot be written; the output then
/// does not appear.
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let arguments = arguments.settled();
    let source = Source::open(&arguments.trace, &arguments.filter)?;
    let exit = convert_all(&source, &arguments, out)?;
    if let Some(why) = source.cut_off().filter(|_| !arguments.console.quiet) {
        out.warning(&format!("{}: {why}; the last of its work is missing", arguments.trace.display()));
    }
    Ok(exit)
}

/// Writes every output.
fn convert_all(source: &Source, arguments: &Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let format = Format::choose(arguments.format, &arguments.output())?;
    #[cfg(feature = "columns")]
    if let Some(kind) = format.columns() {
        let rows = columns::write(source, arguments, kind)?;
        if !arguments.console.quiet {
            writeln!(out, "{}", rows.summary_line(&arguments.output()))?;
        }
        return Ok(Exit::Success);
    }
    let Some(by) = arguments.split else { return convert(source, arguments, format, out) };
    let parts = split::parts(source, by)?;
    let parts: Vec<_> = parts.into_iter().map(|part| (part.output(&arguments.output()), part)).collect();
    for (output, _) in &parts {
        target::may_be_written(output, arguments.force)?;
    }
    for (output, part) in parts {
        convert(&source.part(part), &Arguments { output: Some(output), ..arguments.clone() }, format, out)?;
    }
    Ok(Exit::Success)
}

/// Writes one output.
fn convert(
    source: &Source,
    arguments: &Arguments,
    format: Format,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let (rows, named) = match Form::of(format) {
        Some(form) => rocprofv3::write(source, arguments, form)?,
        None => (one_file(source, arguments, format)?, arguments.output()),
    };
    if !arguments.console.quiet {
        writeln!(out, "{}", rows.summary_line(&named))?;
        if format.is_drawn() && rows.written() > BROWSER {
            out.warning(&format!(
                "{} slices are more than the Perfetto UI opens in a browser (3 to 5 million); \
                 --from and --to write a part",
                units::count(rows.written())
            ));
        }
    }
    Ok(Exit::Success)
}

fn one_file(source: &Source, arguments: &Arguments, format: Format) -> Result<RowCounts, Failure> {
    let target = OutputFile::create(&arguments.output(), Some(format), arguments.force, &arguments.trace)?;
    let rows = match format {
        Format::Native => native::write(source, arguments, &target)?,
        Format::Rpd => rpd::write(source, arguments, &target)?,
        Format::Rocpd => rocprofv3::database(source, arguments, &target)?,
        _ => viewer::write(source, arguments, &target)?,
    };
    target.finish()?;
    Ok(rows)
}
