//! Where did the GPU time go? The library behind `rtl-summary`.
//!
//! [`args`] is the command line. `compute` turns the tables of a trace into a [`Report`],
//! section by section ([`sections`]), and `render` prints it. The JSON types are those of
//! `rtl-report`; all figures come from `rtl-analysis`.

/// The command line.
pub mod args;
pub mod choices;
mod comparison;
mod compute;
mod file_info;
mod kernel_names;
mod render;
pub mod report;
mod request;
pub mod section;
pub mod sections;
pub mod style;
mod tables;

use std::path::{Path, PathBuf};

use cli::{Exit, Failure, Output, Progress};
use rtl_analysis::combine;
use rtl_schema::Tables;

use crate::args::Arguments;
pub use crate::args::Options;
pub use crate::report::Report;
use crate::request::Request;

/// Runs the command line.
///
/// # Errors
/// As [`report()`].
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    report(&arguments.options, &arguments.traces, out)
}

/// Prints a report on each trace, then one on all of them combined.
///
/// # Errors
/// Where flags contradict each other, no trace can be read, and, with [`Options::strict`], where a trace has findings. Of several traces those that
/// can be read are reported, and the exit code is [`Exit::Input`].
pub fn report(options: &Options, traces: &[PathBuf], out: &mut Output) -> Result<Exit, Failure> {
    let request = Request::new(options)?;
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    let progress =
        Progress::new("reading", traces.iter().map(|path| size(path)).sum(), options.display.console.quiet);
    let mut reports = Vec::new();
    let mut all: Option<Tables> = None;
    for path in traces {
        match compute::trace(path, &request) {
            Ok((report, tables)) => {
                reports.push(report);
                match &mut all {
                    Some(all) => combine::append(all, tables),
                    None if traces.len() > 1 => all = Some(tables),
                    None => {}
                }
            }
            Err(failure) if traces.len() > 1 => out.failure(&failure),
            Err(failure) => return Err(failure),
        }
        progress.advance(size(path));
    }
    drop(progress);

    let exit = if reports.len() == traces.len() { Exit::Success } else { Exit::Input };
    let failures: Vec<String> = reports.iter().flat_map(Report::strict_failures).collect();
    let combined = all.filter(|_| reports.len() > 1).map(|tables| compute::combined(&tables, &request));
    if !reports.is_empty() {
        render::render(&request, reports, combined, out)?;
    }
    match failures.as_slice() {
        [first, others @ ..] if options.strict => {
            let more =
                if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            Err(Failure::input(anyhow::anyhow!("not sound: {first}{more}"))
                .with_hint("the section `sanity` has the details; without --strict they are only reported"))
        }
        _ => Ok(exit),
    }
}
