//! Viewer formats: rows become events in time order, on tracks.

use std::io;

use atomic_file::AtomicFile;
use cli::{Failure, Progress, units};
use rtl_schema::{PieceSink, Select, Tables};

use crate::counter_tracks::HardwareCounters;
use crate::event::Event;
use crate::format::{Job, Written};
use crate::layout::EventWriter;
use crate::page_writer::{self, PageSender};
use crate::sort::{SortedRun, UnsortedRun};
use crate::timeline::TimelineBuilder;

/// The Perfetto UI opens no more slices than this in a browser.
const BROWSER: u64 = 3_000_000;

/// Writes the output of a job in the format of `W`.
pub fn write<W: EventWriter>(job: &Job<'_>) -> Result<Written, Failure> {
    let file = AtomicFile::create(job.output, &job.rules())?;
    let mut builder = TimelineBuilder::new(file.folder(), job.render.group_by, job.render.kernel_names);
    // Arguments include threads, which place ranges on tracks.
    let select = Select { ids: false, launch: !job.render.no_args, ..Select::everything() };
    let tables = job.source.stream_to(&select, &mut Timeline(&mut builder))?;
    if let Some(mut hardware) = HardwareCounters::from_tables(&tables) {
        // Counters follow their dispatches in the trace, so a second pass finds the dispatches by id.
        let select = Select { ids: true, secondary: false, ..select };
        job.source.stream(&select, |batch| {
            hardware.add(batch);
            Ok(())
        })?;
        builder.counter_tracks(hardware.counter_tracks(&tables));
    }
    let rows = builder.rows;
    let (layout, stream) = builder.finish(&tables, *job.render).map_err(unsorted)?;
    let written = rows.written();
    let progress = Progress::new("writing", written, !job.render.progress);
    let unwritten = |error| Failure::input(error).context(format!("cannot write {}", job.output.display()));
    let mut content = file.writer().map_err(unwritten)?;
    let renderings = W::renderings(&layout);
    let render = |batch| W::render(batch, &renderings, &layout);
    let draw =
        |pages: &mut PageSender<'_, W::Batch>| stream.write::<W>(&layout, &renderings, pages, &progress);
    page_writer::write(&mut content, render, draw).map_err(unwritten)?;
    content.finish().map_err(unwritten)?;
    file.commit()?;
    let warnings = (written > BROWSER).then(|| {
        format!(
            "{} slices are more than the Perfetto UI opens in a browser (3 to 5 million); \
             --time START..END writes a part",
            units::count(written)
        )
    });
    Ok(Written { warnings: warnings.into_iter().collect(), ..Written::one(job, rows) })
}

struct Timeline<'b, 'a>(&'b mut TimelineBuilder<'a>);

impl PieceSink for Timeline<'_, '_> {
    type Task = UnsortedRun<Event>;
    type Output = SortedRun<Event>;
    type Error = Failure;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Self::Task>, Failure> {
        self.0.add(piece).map_err(unsorted)?;
        Ok(self.0.take_full())
    }

    fn work(run: Self::Task) -> SortedRun<Event> {
        run.sort()
    }

    fn end(&mut self, run: SortedRun<Event>) -> Result<Vec<Self::Task>, Failure> {
        self.0.add_sorted(run).map(|()| Vec::new()).map_err(unsorted)
    }
}

fn unsorted(error: io::Error) -> Failure {
    Failure::input(error)
        .context("cannot sort the rows in a temporary file")
        .with_hint("the folder of the output needs room for about 100 bytes a row, besides the output")
}
