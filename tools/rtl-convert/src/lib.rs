//! Can I look at this trace in another tool? The verb behind `rtl-convert`.
//!
//! It reads as the data flows: [`args`] is what was typed, [`target`] the file that is written, [`timeline`] the rows
//! as events in order of time, and one file for each format that writes them. What it is not: it computes no report
//! (that is `analysis`) and knows no table of any tool (that is `schema`).

/// What was typed.
pub mod args;
pub mod counters;
/// One row of a timeline.
pub mod event;
/// Which call launched which op.
pub mod flows;
pub mod lanes;
/// How names are shown.
pub mod names;
pub mod perfetto_json;
pub mod sort;
pub mod target;
pub mod timeline;
pub mod tracks;

use std::io::Write;
use std::path::Path;

use analysis::region;
use cli::{Exit, Failure, Output, Progress, units};
use schema::{Error, Select, Tables, Trace};

use crate::args::Arguments;
use crate::target::{Format, Target};
use crate::timeline::{Gather, Rows};

/// More slices than this are too many for the Perfetto UI in a browser.
const BROWSER: u64 = 3_000_000;

/// Why reading or gathering stopped.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Reading(#[from] Error),
    #[error("cannot sort the rows in a temporary file")]
    Sorting(#[from] std::io::Error),
}

/// Converts the trace.
///
/// # Errors
/// Where the command line makes no sense, the trace cannot be read or the output cannot be written; the output then
/// does not appear.
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let arguments = arguments.settled();
    let filter = rtl_summary::question::filter(&arguments.filter)?;
    let trace = Trace::open(&arguments.trace).map_err(unreadable)?;
    let target = Target::create(&arguments.output, arguments.format, arguments.force, &arguments.trace)?;
    let folder = target.folder().to_owned();
    let mut gather = Gather::new(&folder);
    let select = Select {
        ids: false,
        launch: !arguments.no_args,
        links: true,
        ranges: true,
        api: true,
        // Threads come with it, which say where ranges are drawn.
        args: true,
        rest: false,
    };
    let quiet = arguments.speech.quiet;
    let tables = match arguments.filter.is_empty() {
        true => {
            trace.stream(&select, |tables| gather.add(tables).map_err(Stopped::Sorting)).map_err(stopped)?
        }
        false => filtered(&trace, &select, &filter, &mut gather)?,
    };
    let timeline = gather.finish().map_err(|error| stopped(Stopped::Sorting(error)))?;
    let rows = timeline.rows;
    let progress = Progress::new("writing", rows.kept(), quiet);
    let unwritten = |error| unwritten(error, &arguments.output);
    let mut content = target.writer().map_err(unwritten)?;
    match target.format {
        Format::PerfettoJson => {
            perfetto_json::write(timeline, &tables, !arguments.no_args, &mut content, |rows| {
                progress.advance(rows)
            })
        }
    }
    .map_err(unwritten)?;
    content.finish().map_err(unwritten)?;
    target.finish()?;
    drop(progress);
    if !quiet {
        writeln!(out, "{}", closing(rows, &arguments.output))?;
        if rows.kept() > BROWSER {
            out.warning(&format!(
                "{} slices are more than the Perfetto UI opens in a browser (3 to 5 million); \
                 --from and --to write a part",
                units::count(rows.kept())
            ));
        }
    }
    Ok(Exit::Answered)
}

/// Reads the whole trace and keeps what the filter says: what a range or a share of the time is, only all rows tell.
fn filtered(
    trace: &Trace,
    select: &Select,
    filter: &region::Filter,
    gather: &mut Gather<'_>,
) -> Result<Tables, Failure> {
    let mut tables = trace.read(select).map_err(unreadable)?;
    region::apply(&mut tables, filter).map_err(Failure::input)?;
    gather.add(&tables).map_err(|error| stopped(Stopped::Sorting(error)))?;
    Ok(tables)
}

/// Rows in, rows out, rows left out and why.
fn closing(rows: Rows, output: &Path) -> String {
    let mut line = format!(
        "{} rows in, {} out: {}",
        units::count(rows.all),
        units::count(rows.kept()),
        output.display()
    );
    for (count, why) in [(rows.without_end, "without an end"), (rows.negative, "that end before they start")]
    {
        if count > 0 {
            line.push_str(&format!("; left out {} {why}", units::count(count)));
        }
    }
    line
}

fn unreadable(error: Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).with_hint(hint)
}

fn stopped(stopped: Stopped) -> Failure {
    match stopped {
        Stopped::Reading(error) => unreadable(error),
        Stopped::Sorting(_) => Failure::input(stopped)
            .with_hint("the folder of the output needs room for about 90 bytes a row, besides the output"),
    }
}

fn unwritten(error: std::io::Error, output: &Path) -> Failure {
    Failure::input(error).context(format!("cannot write {}", output.display()))
}
