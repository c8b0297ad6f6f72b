//! A trace for viewers: its rows as events in order of time, on tracks.

use std::io;
use std::path::Path;

use cli::{Failure, Progress};
use rtl_schema::{Select, Tables};

use crate::args::Arguments;
use crate::gauges::Hardware;
use crate::pages;
use crate::perfetto_json::Json;
use crate::pftrace::Pftrace;
use crate::rows::Rows;
use crate::scene::{Scene, Style, draw};
use crate::source::{Source, Stopped, unreadable};
use crate::target::{Format, Target};
use crate::timeline::Gather;

/// Writes the target.
///
/// # Errors
/// Where the trace cannot be read, or a file cannot grow.
pub fn write(source: &Source, arguments: &Arguments, target: &Target) -> Result<Rows, Failure> {
    let mut gather = Gather::new(target.folder(), arguments.group_by, arguments.kernel_names);
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
    let tables = source.pieces(&select, |tables| gather.add(tables)).map_err(stopped)?;
    if let Some(mut hardware) = Hardware::of(&tables) {
        // Counters come last and belong to dispatches by id: they are met a second time.
        let select = Select { ids: true, secondary: false, ..select };
        let add = |tables: &Tables| {
            hardware.add(tables);
            Ok::<(), io::Error>(())
        };
        source.pieces(&select, add).map_err(stopped)?;
        gather.gauges(hardware.gauges(&tables));
    }
    let (timeline, drawn) = gather.finish().map_err(unsorted)?;
    let rows = timeline.rows;
    let progress = Progress::new("writing", rows.kept(), arguments.console.quiet);
    let unwritten = |error| unwritten(error, &arguments.output());
    let mut content = target.writer().map_err(unwritten)?;
    let style = Style { arguments: !arguments.no_args, names: arguments.names };
    let scene = Scene::new(&timeline, &drawn.gauges, &tables, style);
    let advance = |rows| progress.advance(rows);
    pages::write(&mut content, |pages| match target.format {
        Format::Pftrace => {
            let pen = Pftrace::new(&scene, arguments.gpu_events);
            draw(pen, &scene, drawn, pages, advance)
        }
        _ => draw(Json::new(&scene), &scene, drawn, pages, advance),
    })
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
        .with_hint("the folder of the output needs room for about 100 bytes a row, besides the output")
}

fn unwritten(error: io::Error, output: &Path) -> Failure {
    Failure::input(error).context(format!("cannot write {}", output.display()))
}
