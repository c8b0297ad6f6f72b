//! Where did the GPU time go? The library behind `rtl-summary`.
//!
//! [`args`] is the command line. `compute` turns the tables of a trace into a [`Report`],
//! section by section ([`sections`]), and `render` prints it. The JSON types are those of
//! `cli::report`; all figures come from `rtl-analysis`.

pub mod args;
mod bars;
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

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

use cli::destination::format_of;
use cli::report::Document;
use cli::{Exit, Failure, Output, Progress};
use rtl_analysis::Analysis;
use rtl_analysis::combine::Combined;
use rtl_analysis::trust::Trust;

use crate::args::Arguments;
pub use crate::args::Options;
use crate::choices::To;
use crate::report::Recording;
pub use crate::report::Report;
use crate::request::Request;

pub use rtl_schema::dialect::READABLE;

pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let Arguments { traces, to, destination, mut options } = arguments;
    let to = format_of(destination.output.as_deref(), to, To::Text)?;
    (options.display.format, options.style) = to.parts();
    if options.style.is_some()
        && (options.all || options.info || options.health || !options.section.is_empty())
    {
        return Err(Failure::usage("the report of another tool has no sections")
            .with_hint("leave out --to, or --all, --section, --info and --health"));
    }
    destination.write(&traces, out, |out| report(&options, &traces, out))
}

/// Prints a report on each trace, then one on all of them combined. Of several traces those that can be read are reported,
/// and the exit code is [`Exit::Input`]; traces without anything of the selection are left out with a warning.
pub fn report(options: &Options, traces: &[PathBuf], out: &mut Output) -> Result<Exit, Failure> {
    let traces = distinct(options, traces, out);
    let request = Request::new(options, traces.len())?;
    let Some(Computed { reports, combined, failed }) = read(&request, &traces, &mut |_| {}, out)? else {
        return Ok(Exit::Input);
    };
    let exit = if failed { Exit::Input } else { Exit::Success };
    let failures: Vec<String> = reports.iter().flat_map(Report::strict_failures).collect();
    let health = combined.as_ref().or(reports.first()).and_then(|report| report.sections.trust);
    render::render(&request, reports, combined, out)?;
    match failures.as_slice() {
        [first, others @ ..] if options.strict => {
            let more =
                if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            Err(Failure::input(anyhow::anyhow!("not sound: {first}{more}"))
                .with_hint("the section `sanity` has the details; without --strict they are only reported"))
        }
        _ if options.health && !failed => Ok(health_exit(health.unwrap_or_default())),
        _ => Ok(exit),
    }
}

/// The report on all traces as `--to json` prints it, and the result of `pictures` on the analysis behind it. `None` where
/// no trace could be read, as the messages say.
pub fn document<T>(
    options: &Options,
    traces: &[PathBuf],
    mut pictures: impl FnMut(&Analysis<'_>) -> T,
    out: &mut Output,
) -> Result<Option<Pictured<T>>, Failure> {
    let traces = distinct(options, traces, out);
    let request = Request::new(options, traces.len())?;
    let mut made = None;
    let computed = read(&request, &traces, &mut |analysis| made = Some(pictures(analysis)), out)?;
    let pictured = computed.zip(made).map(|(Computed { reports, combined, failed }, pictures)| {
        let exit = if failed { Exit::Input } else { Exit::Success };
        Pictured { document: render::document(reports, combined, &request), pictures, exit }
    });
    Ok(pictured)
}

#[derive(Debug)]
pub struct Pictured<T> {
    pub document: Document,
    pub pictures: T,
    /// [`Exit::Success`] if all traces could be read.
    pub exit: Exit,
}

struct Computed {
    reports: Vec<Report>,
    /// The report on all of several traces.
    combined: Option<Report>,
    /// True if a trace could not be read.
    failed: bool,
}

fn distinct(options: &Options, traces: &[PathBuf], out: &mut Output) -> Vec<PathBuf> {
    let (traces, warnings) = cli::without_repetitions(traces);
    if !options.display.console.quiet {
        warnings.iter().for_each(|warning| out.warning(warning));
    }
    traces
}

/// Reads the traces; `then` gets the analysis of all of them. `None` where no trace has anything of the selection.
fn read(
    request: &Request<'_>,
    traces: &[PathBuf],
    then: &mut dyn FnMut(&Analysis<'_>),
    out: &mut Output,
) -> Result<Option<Computed>, Failure> {
    let options = request.options;
    let quiet = options.display.console.quiet;
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |file| file.len());
    let progress = Progress::reading(traces.iter().map(size).sum(), "computing", quiet);
    let mut reports: Vec<Report> = Vec::new();
    let mut all: Option<Combined> = None;
    // By recording, the position of the first report on it.
    let mut recordings: HashMap<Recording, usize> = HashMap::new();
    let mut failed = false;
    // A trace without anything of the selection is an error only where all traces are such.
    let mut empty: Vec<Failure> = Vec::new();
    if let [path] = traces {
        let (report, tables) = compute::trace(path, request, then)?;
        reports.push(report);
        tables.free();
    } else {
        let read = |path: &Path| compute::trace(path, request, &mut |_| {});
        let Ok(()) = cli::read_in_order(traces, read, |read| {
            match read {
                Ok((mut report, tables)) => {
                    let recording = report.recording.take();
                    let first = recording.map_or(reports.len(), |recording| {
                        *recordings.entry(recording).or_insert(reports.len())
                    });
                    if let Some(first) = reports.get(first).filter(|_| !quiet) {
                        let [one, other] = [&first.input.path, &report.input.path];
                        out.warning(&format!(
                            "{one} and {other} are the same recording, which is counted twice"
                        ));
                    }
                    reports.push(report);
                    all.get_or_insert_default().append(tables);
                }
                Err(failure) if cli::filter::is_empty_selection(&failure) => empty.push(failure),
                Err(failure) => {
                    out.failure(&failure);
                    failed = true;
                }
            }
            Ok::<(), Infallible>(())
        });
    }
    drop(progress);
    if reports.is_empty() {
        empty.iter().for_each(|failure| out.failure(failure));
        return Ok(None);
    }
    if !quiet {
        empty.iter().for_each(|failure| out.warning(&format!("left out: {:#}", failure.error())));
    }
    // Several traces were named, but only one may have been read.
    let combined = all.filter(|_| reports.len() > 1 || !options.each).map(|all| {
        let tables = all.into_tables();
        let combined = compute::combined(&tables, &reports, request, then);
        tables.free();
        combined
    });
    Ok(Some(Computed { reports, combined, failed }))
}

fn health_exit(trust: Trust) -> Exit {
    match trust {
        Trust::Good => Exit::Success,
        Trust::Limited => Exit::GateFailed,
        Trust::Bad => Exit::Input,
    }
}
