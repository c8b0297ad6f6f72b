//! A trace for viewers: its rows as events in order of time, on tracks.

use std::io;
use std::path::Path;

use cli::{Failure, Progress};
use schema::Select;

use crate::args::Arguments;
use crate::perfetto_json;
use crate::rows::Rows;
use crate::source::{Source, Stopped, unreadable};
use crate::target::{Format, Target};
use crate::timeline::Gather;

/// Writes the target.
///
/// # Errors
/// Where the trace cannot be read, or a file cannot grow.
pub fn write(source: &Source, arguments: &Arguments, target: &Target) -> Result<Rows, Failure> {
    let mut gather = Gather::new(target.folder());
    let select = Select {
        ids: false,
        shapes: false,
        launch: !arguments.no_args,
        links: true,
        ranges: true,
        api: true,
        // Threads come with it, which say where ranges are drawn.
        args: true,
        rest: false,
    };
    let tables = source.pieces(&select, |tables| gather.add(tables)).map_err(stopped)?;
    let timeline = gather.finish().map_err(unsorted)?;
    let rows = timeline.rows;
    let progress = Progress::new("writing", rows.kept(), arguments.speech.quiet);
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
    Ok(rows)
}

fn stopped(stopped: Stopped) -> Failure {
    match stopped {
        Stopped::Reading(error) => unreadable(error),
        Stopped::Choosing(error) => Failure::input(error),
        Stopped::Writing(error) => unsorted(error),
    }
}

fn unsorted(error: io::Error) -> Failure {
    Failure::input(error)
        .context("cannot sort the rows in a temporary file")
        .with_hint("the folder of the output needs room for about 90 bytes a row, besides the output")
}

fn unwritten(error: io::Error, output: &Path) -> Failure {
    Failure::input(error).context(format!("cannot write {}", output.display()))
}
