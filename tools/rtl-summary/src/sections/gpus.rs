//! Busy and idle time of each GPU.

use cli::{Cell, Column, Table};
use rtl_analysis::sweep::Gpu;
use rtl_report::GpuRow;

use crate::section::{Block, Section};
use crate::tables::{Scale, count, share};

pub(crate) static GPUS: Section = Section {
    name: "gpus",
    help: "Busy and idle time of each GPU",
    prepare: |analysis| _ = analysis.sweep(),
    compute: |context, report| {
        let comparison = context.comparison.as_ref();
        let row = |gpu: Gpu| match comparison.and_then(|all| all.work(gpu.gpu)) {
            Some(work) => GpuRow::with_work(gpu, work),
            None => GpuRow { gpu, ops_ns: None, work: None },
        };
        report.sections.gpus = Some(context.analysis.sweep().gpus.iter().cloned().map(row).collect());
    },
    blocks: |report, _| report.sections.gpus.iter().map(|rows| Block::table("GPUs", gpus(rows))).collect(),
    ..Section::DEFAULT
};

fn gpus(rows: &[GpuRow]) -> Table {
    let scale = Scale::of_totals(rows.iter().map(|row| row.gpu.wall_ns));
    Table::of(rows.iter().map(|row| &row.gpu))
        .column(Column::left("GPU").field("gpu"), |gpu| Cell::number(&gpu.label, gpu.gpu))
        .column(Column::right("Ops").field("ops").optional(), |gpu| count(gpu.ops))
        .column(Column::right("Busy %").field("busy_share"), |gpu| share(gpu.busy_share))
        .column(Column::right(scale.head("Wall")).field("wall_ns"), |gpu| scale.time(gpu.wall_ns))
        .column(Column::right(scale.head("Busy")).field("busy_ns"), |gpu| scale.time(gpu.busy_ns))
        .column(Column::right(scale.head("Idle")).field("idle_ns"), |gpu| scale.time(gpu.idle_ns))
        .column(Column::right(scale.head("Kernels")).field("kernel_ns").optional(), |gpu| {
            scale.time(gpu.kernel_ns)
        })
        .column(Column::right(scale.head("Collectives")).field("collective_ns").optional_late(), |gpu| {
            scale.time(gpu.collective_ns)
        })
        .column(Column::right(scale.head("Copies")).field("copy_ns").optional(), |gpu| {
            scale.time(gpu.copy_ns)
        })
        .column(Column::right(scale.head("Overlap")).field("overlap_ns").optional(), |gpu| {
            scale.time(gpu.overlap_ns)
        })
        .column(
            Column::right(scale.head("Exposed coll.")).field("exposed_collective_ns").optional_late(),
            |gpu| scale.time(gpu.exposed_collective_ns),
        )
        .build()
}
