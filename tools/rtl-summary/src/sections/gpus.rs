//! Busy and idle time of each GPU.

use cli::report::GpuRow;
use cli::{Cell, Column, Table, units};
use rtl_analysis::Part;
use rtl_analysis::sweep::{Gpu, PARTS};

use crate::bars;
use crate::section::{Block, Printed, RenderOptions, Section};
use crate::tables::{Scale, count, share};

pub(crate) static GPUS: Section = Section {
    name: "gpus",
    help: "Busy and idle time of each GPU",
    printed: Printed::Always,
    parts: &[Part::Sweep],
    compute: |context, report| {
        let comparison = context.comparison.as_ref();
        let row = |(gpu, busy): (&Gpu, &[f64; PARTS])| GpuRow {
            busy_over_time: busy.to_vec(),
            ..match comparison.and_then(|all| all.work(gpu.gpu)) {
                Some(work) => GpuRow::with_work(gpu.clone(), work),
                None => GpuRow { gpu: gpu.clone(), busy_over_time: Vec::new(), ops_ns: None, work: None },
            }
        };
        let sweep = context.analysis.sweep();
        report.sections.gpus = Some(sweep.gpus.iter().zip(&sweep.busy_over_time).map(row).collect());
    },
    blocks: |report, view| {
        let Some(rows) = &report.sections.gpus else { return Vec::new() };
        let all: Vec<&GpuRow> = rows.iter().collect();
        if !view.is_short || all.len() <= FEW {
            return vec![Block::table("GPUs", gpus(&all, view))];
        }
        let mut few = all;
        few.sort_by(|one, other| one.gpu.busy_share.total_cmp(&other.gpu.busy_share));
        few.truncate(FEW);
        let heading = format!("GPUs ({FEW} of {}, the least busy)", units::count(rows.len() as u64));
        vec![Block::table(heading, gpus(&few, view))]
    },
    ..Section::DEFAULT
};

/// The most GPUs of the short report.
const FEW: usize = 8;

/// The short report leaves out the parts of busy time.
fn gpus(rows: &[&GpuRow], view: RenderOptions<'_>) -> Table {
    let is_whole = !view.is_short;
    let has_collectives = is_whole || rows.iter().any(|row| row.gpu.exposed_collective_ns > 0);
    let scale = Scale::for_totals(rows.iter().map(|row| row.gpu.wall_ns));
    let bars: Vec<String> = rows.iter().map(|row| bars::of_shares(&row.busy_over_time)).collect();
    Table::of(rows.iter().map(|row| &row.gpu).zip(&bars))
        .column(Column::left("GPU").field("gpu"), |(gpu, _)| Cell::number(&gpu.label, gpu.gpu))
        .column(Column::right("Ops").field("ops").optional(), |(gpu, _)| count(gpu.ops))
        .column(Column::right("Busy %").field("busy_share"), |(gpu, _)| share(gpu.busy_share))
        .column(Column::right(scale.head("Wall")).field("wall_ns"), |(gpu, _)| scale.time(gpu.wall_ns))
        .column_if(is_whole, Column::right(scale.head("Busy")).field("busy_ns"), |(gpu, _)| {
            scale.time(gpu.busy_ns)
        })
        .column(Column::right(scale.head("Idle")).field("idle_ns"), |(gpu, _)| scale.time(gpu.idle_ns))
        .column_if(
            is_whole,
            Column::right(scale.head("Kernels")).field("kernel_ns").optional(),
            |(gpu, _)| scale.time(gpu.kernel_ns),
        )
        .column_if(
            is_whole,
            Column::right(scale.head("Collectives")).field("collective_ns").optional_late(),
            |(gpu, _)| scale.time(gpu.collective_ns),
        )
        .column_if(is_whole, Column::right(scale.head("Copies")).field("copy_ns").optional(), |(gpu, _)| {
            scale.time(gpu.copy_ns)
        })
        .column_if(
            is_whole,
            Column::right(scale.head("Overlap")).field("overlap_ns").optional(),
            |(gpu, _)| scale.time(gpu.overlap_ns),
        )
        .column_if(
            has_collectives,
            Column::right(scale.head("Exposed coll.")).field("exposed_collective_ns").optional_late(),
            |(gpu, _)| scale.time(gpu.exposed_collective_ns),
        )
        .column_if(!view.is_csv, Column::left("Busy over time").optional(), |(_, bars)| Cell::text(*bars))
        .build()
}
