//! A trace for viewers: its rows as events in order of time, on tracks.

use std::io;
use std::path::Path;

use cli::{Failure, Progress};
use rtl_schema::{Select, Tables};

use crate::args::Arguments;
use crate::counter_tracks::HardwareCounters;
use crate::layout::{RenderOptions, TimelineLayout, draw};
use crate::page_writer;
use crate::perfetto_json::Json;
use crate::pftrace::Pftrace;
use crate::rows::RowCounts;
use crate::source::{Source, StreamError, read_failure};
use crate::target::{Format, OutputFile};
use crate::timeline::TimelineBuilder;

/// Writes the target.
///
/// # Errors
/// Where the trace cannot be read, or a file cannot grow.
pub fn write(source: &Source, arguments: &Arguments, target: &OutputFile) -> Result<RowCounts, Failure> {
    let mut builder = TimelineBuilder::new(target.folder(), arguments.group_by, arguments.kernel_names);
    let select = Select {
        ids: false,
        shapes: false,
        launch: !arguments.no_args,
        links: true,
        ranges: true,
        api: true,
        // Threads come with it, which say where ranges are drawn.
        args: true,
        secondary: true,
    };
    let tables = source.stream(&select, |tables| builder.add(tables)).map_err(stopped)?;
    if let Some(mut hardware) = HardwareCounters::of(&tables) {
        // Counters come last and belong to dispatches by id: they are met a second time.
        let select = Select { ids: true, secondary: false, ..select };
        let add = |tables: &Tables| {
            hardware.add(tables);
            Ok::<(), io::Error>(())
        };
        source.stream(&select, add).map_err(stopped)?;
        builder.counter_tracks(hardware.counter_tracks(&tables));
    }
    let (timeline, drawn) = builder.finish().map_err(unsorted)?;
    let rows = timeline.rows;
    let progress = Progress::new("writing", rows.written(), arguments.console.quiet);
    let unwritten = |error| unwritten(error, &arguments.output());
    let mut content = target.writer().map_err(unwritten)?;
    let options = RenderOptions { arguments: !arguments.no_args, names: arguments.names };
    let layout = TimelineLayout::new(&timeline, &drawn.counter_tracks, &tables, options);
    let advance = |rows| progress.advance(rows);
    page_writer::write(&mut content, |pages| match target.format {
        Format::Pftrace => {
            let writer = Pftrace::new(&layout, arguments.gpu_events);
            draw(writer, &layout, drawn, pages, advance)
        }
        _ => draw(Json::new(&layout), &layout, drawn, pages, advance),
    })
    .map_err(unwritten)?;
    content.finish().map_err(unwritten)?;
    Ok(rows)
}

fn stopped(stopped: StreamError) -> Failure {
    match stopped {
        StreamError::Read(error) => read_failure(error),
        StreamError::Filter(error) => Failure::input(error),
        StreamError::Write(error) => unsorted(error),
    }
}

fn unsorted(error: io::Error) -> Failure {
    Failure::input(error)
        .context("cannot sort the rows in a temporary file")
        .with_hint("the folder of the output needs room for about 100 bytes a row, besides the output")
}

fn unwritten(error: io::Error, output: &Path) -> Failure {
    Failure::input(error).context(format!("cannot write {}", output.display()))
}
