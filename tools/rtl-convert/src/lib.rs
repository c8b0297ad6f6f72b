//! `rtl-convert`: writes a trace in the format of another tool.
//!
//! [`args`] turns flags into [`Options`], [`convert`] executes them, [`formats`] lists the target formats. Viewer formats
//! go through [`timeline`] (rows to events in time order) and [`layout`] (events to tracks); [`rocprofv3`] turns rows
//! into records. The crate computes no reports (`rtl-analysis` does) and knows no table of any tool (`rtl-schema` does).

pub mod args;
pub mod autograd;
#[cfg(feature = "columns")]
pub mod columns;
pub mod counter_tracks;
pub mod databases;
#[cfg(feature = "columns")]
pub mod dataset;
pub mod event;
pub mod event_args;
pub mod flows;
pub mod format;
pub mod formats;
pub mod idle_causes;
pub mod kineto_header;
mod labelled_enum;
pub mod lanes;
pub mod launched_kernels;
pub mod layout;
pub mod loopback;
pub mod names;
pub mod open;
pub mod options;
pub mod page_writer;
pub mod partition;
pub mod perfetto_json;
pub mod pftrace;
pub mod render_options;
pub mod rocprof;
pub mod rocprofv3;
pub mod rows;
pub mod run_name;
pub mod sort;
pub mod source;
pub mod split;
pub mod text;
pub mod timeline;
pub mod tracks;
pub mod utilization;
pub mod viewer;

use std::io::Write;

use atomic_file::Destination;
use cli::{Exit, Failure, Output, units};
use platform::streams::stdout_at;

use crate::args::Arguments;
use crate::format::{Job, Written};
use crate::open::Opening;
pub use crate::options::Options;
use crate::source::{OfFrameworks, Source};

/// The outputs of a conversion, with warnings about them and the trace.
#[derive(Debug)]
pub struct Converted {
    /// One for each part of a split trace, otherwise exactly one.
    pub outputs: Vec<Written>,
    pub warnings: Vec<String>,
}

/// Converts a trace.
///
/// # Errors
/// The trace cannot be read, the options contradict each other, or an output cannot be written. An output that failed
/// does not appear.
pub fn convert(options: &Options) -> Result<Converted, Failure> {
    let mut converted = Converted { outputs: Vec::new(), warnings: Vec::new() };
    let warnings = convert_each(options, |mut written| {
        converted.warnings.append(&mut written.warnings);
        converted.outputs.push(written);
        Ok(())
    })?;
    converted.warnings.extend(warnings);
    Ok(converted)
}

/// Converts the trace that the command line names, and prints one line for each output.
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let quiet = arguments.quiet;
    let is_opened = arguments.open;
    let options = arguments.options()?;
    let opening = is_opened.then(|| opening(&options)).transpose()?;
    let mut written_paths = Vec::new();
    let warnings = convert_each(&options, |written| {
        written_paths.extend_from_slice(&written.paths);
        if !quiet {
            // Behind an output on standard output, a line would be part of it.
            if !written.paths.iter().any(|path| stdout_at(path).is_some()) {
                writeln!(out, "{}", written.summary_line())?;
            }
            written.warnings.iter().for_each(|warning| out.warning(warning));
        }
        Ok(())
    })?;
    if !quiet {
        warnings.iter().for_each(|warning| out.warning(warning));
    }
    if let (Some(opening), [path]) = (opening, written_paths.as_slice()) {
        opening.show(path, quiet, out)?;
    }
    Ok(Exit::Success)
}

/// Checks before the conversion that its output can be opened.
fn opening(options: &Options) -> Result<Opening, Failure> {
    let output = options.output();
    let format = formats::choose(options.format, &output)?;
    if options.split.is_some() || !VIEWED.contains(&format.name) || stdout_at(&output).is_some() {
        return Err(Failure::usage("--open shows one file for Perfetto")
            .with_hint("without --split, to a file in the format perfetto-json or pftrace"));
    }
    Opening::new()
}

/// Perfetto's page opens these formats.
const VIEWED: [&str; 2] = ["perfetto-json", "pftrace"];

/// Passes every output to `each` when it is complete; returns warnings where the trace ends early and where rows of it have no
/// place in any format.
fn convert_each(
    options: &Options,
    mut each: impl FnMut(Written) -> Result<(), Failure>,
) -> Result<Vec<String>, Failure> {
    let Options { trace, force, split, run, render, .. } = options;
    if options.output.is_none() && rtl_schema::Input::is_stream(trace) {
        return Err(Failure::usage(format!("{} has no name for the output", trace.display()))
            .with_hint("-o FILE names the output"));
    }
    let source = Source::open(trace, options.filter.clone())?.with_progress(render.progress);
    let output = options.output();
    let format = formats::choose(options.format, &output)?;
    let job = Job { source: &source, trace, output: &output, force: *force, split: *split, run, render };
    match split.filter(|_| !format.partitioned) {
        None => each((format.write)(&job)?)?,
        Some(by) => {
            let parts = split::partitions(&source, by)?;
            let outputs: Vec<_> = parts.iter().map(|part| part.output(&output)).collect();
            for output in &outputs {
                Destination::check(output, &job.rules())?;
            }
            for (part, output) in parts.into_iter().zip(outputs) {
                each((format.write)(&Job { source: &source.part(part), output: &output, ..job })?)?;
            }
        }
    }
    let cut_off = source.cut_off().map(|why| format!("{why}; the last of its work is missing"));
    let OfFrameworks { events, collectives } = source.of_frameworks();
    let unwritten = [
        (events, "operators, Python frames, memory events and profiler spans are"),
        (collectives, "descriptions of collectives are"),
    ];
    let unwritten = unwritten.into_iter().filter(|&(rows, _)| rows > 0 && !format.has_operators);
    let unwritten = unwritten.map(|(rows, what)| {
        format!("{} {what} left out: {} has no place for them", units::count(rows), format.name)
    });
    Ok(cut_off.into_iter().chain(unwritten).map(|what| format!("{}: {what}", trace.display())).collect())
}
