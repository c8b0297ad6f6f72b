//! Why GPUs were idle.

use cli::{Cell, Column, Table};
use rtl_analysis::Part;
use rtl_analysis::idle::{Cause, CauseIdle, GpuIdle, PlaceIdle};
use rtl_schema::Select;

use crate::section::{Block, Section};
use crate::tables::{Scale, count, duration, gpu_number, optional, share};

pub(crate) static IDLE: Section = Section {
    name: "idle",
    help: "Why GPUs were idle: causes, and calls that led to idle time [text: only where chosen]",
    select: select_causes,
    parts: &[Part::Idle],
    compute: |context, report| {
        let mut gpus = context.analysis.idle().to_vec();
        for gpu in &mut gpus {
            let by_cause = gpu.causes.iter_mut().flat_map(|cause| &mut cause.longest);
            let after_calls = gpu.after_blocking.iter_mut().flat_map(|after| &mut after.longest);
            for gap in gpu.longest.iter_mut().chain(by_cause).chain(after_calls) {
                context.names.rename(&mut gap.after);
            }
        }
        report.sections.idle = Some(gpus);
    },
    blocks: |report, view| {
        let Some(gpus) = report.sections.idle.as_ref().filter(|_| view.is_chosen) else { return Vec::new() };
        let causes = Block::table("Idle time by cause", causes(gpus));
        let after = Block::table("Idle time after blocking calls, part of the above", after_blocking(gpus));
        let mut blocks = vec![causes];
        if !view.is_csv {
            blocks.extend([after, Block::Remarks(remarks(gpus))]);
        }
        blocks
    },
    ..Section::DEFAULT
};

/// Selects the evidence for the causes of idle time.
pub(super) fn select_causes(select: &mut Select) {
    (select.links, select.api, select.ranges, select.operators, select.python) =
        (true, true, true, true, true);
}

fn causes(gpus: &[GpuIdle]) -> Table {
    let rows = || gpus.iter().flat_map(|gpu| gpu.causes.iter().map(move |cause| (gpu, cause)));
    let scale = Scale::for_totals(rows().map(|(_, cause)| cause.idle_ns));
    Table::of(rows())
        .column(Column::right("GPU").field("gpu"), |(gpu, _)| gpu_number(&gpu.label, gpu.gpu))
        .column(Column::left("Cause").field("cause"), |(_, cause)| Cell::text(cause.cause.label()))
        .column(Column::right(scale.head("Idle")).field("idle_ns"), |(_, cause)| scale.time(cause.idle_ns))
        .column(Column::right("Wall %").field("share"), |(_, cause)| share(cause.share))
        .column(Column::right("Gaps").field("gaps"), |(_, cause)| count(cause.gaps))
        .column(Column::right("Longest").field("longest_ns"), |(_, cause)| duration(cause.longest_ns))
        .column(Column::name("Mostly in").field("place"), |(_, cause)| place(&cause.places))
        .build()
}

fn after_blocking(gpus: &[GpuIdle]) -> Table {
    let rows = || gpus.iter().flat_map(|gpu| gpu.after_blocking.iter().map(move |after| (gpu, after)));
    let scale = Scale::for_totals(rows().map(|(_, after)| after.cost_ns));
    Table::of(rows())
        .column(Column::right("GPU").field("gpu"), |(gpu, _)| gpu_number(&gpu.label, gpu.gpu))
        .column(Column::left("Calls").field("cause"), |(_, after)| Cell::text(after.cause.label()))
        .column(Column::right(scale.head("Cost")).field("cost_ns"), |(_, after)| scale.time(after.cost_ns))
        .column(Column::right("Wall %").field("share"), |(_, after)| share(after.share))
        .column(Column::right("Gaps").field("gaps"), |(_, after)| count(after.gaps))
        .column(Column::right("Drained").field("drained_gaps").optional_late(), |(_, after)| {
            count(after.drained_gaps)
        })
        .column(Column::name("Mostly by").field("place"), |(_, after)| place(&after.places))
        .build()
}

fn place(places: &[PlaceIdle]) -> Cell {
    optional(places.first(), |row| Cell::text(row.place.label()))
}

fn remarks(gpus: &[GpuIdle]) -> Vec<String> {
    let is_unknown = |cause: &CauseIdle| cause.cause == Cause::Unknown;
    let unknown = gpus.iter().any(|gpu| gpu.causes.iter().any(is_unknown));
    let remark = "unknown: the trace does not say what launched the op that ended the gap";
    unknown.then(|| remark.to_owned()).into_iter().collect()
}
