//! Busy and idle time of each GPU.

use cli::{Cell, Column, Table};
use rtl_report::GpuRow;

use crate::section::{Block, Section};
use crate::tables::{Scale, count, share};

pub(crate) static GPUS: Section = Section {
    name: "gpus",
    help: "Busy and idle time of each GPU",
    analysis: |needed| needed.gpus = true,
    compute: |context, report| {
        let comparison = context.comparison.as_ref();
        let row = |gpu: rtl_analysis::sweep::Gpu| match comparison.and_then(|all| all.work(gpu.gpu)) {
            Some(work) => GpuRow::with_work(gpu, work),
            None => GpuRow { gpu, ops_ns: None, work: None },
        };
        let gpus = context.analysis.gpus.take();
        report.sections.gpus = gpus.map(|gpus| gpus.into_iter().map(row).collect());
    },
    blocks: |report, _| report.sections.gpus.iter().map(|rows| Block::table("GPUs", gpus(rows))).collect(),
    ..Section::DEFAULT
};

fn gpus(rows: &[GpuRow]) -> Table {
    let scale = Scale::of_totals(rows.iter().map(|row| row.gpu.wall_ns));
    let mut table = Table::new([
        Column::left("GPU").field("gpu"),
        Column::right("Ops").field("ops").optional(),
        Column::right("Busy %").field("busy_share"),
        Column::right(scale.head("Wall")).field("wall_ns"),
        Column::right("Busy").field("busy_ns"),
        Column::right("Idle").field("idle_ns"),
        Column::right("Kernels").field("kernel_ns").optional(),
        Column::right("Collectives").field("collective_ns").optional_late(),
        Column::right("Copies").field("copy_ns").optional(),
        Column::right("Overlap").field("overlap_ns").optional(),
        Column::right("Exposed coll.").field("exposed_collective_ns").optional_late(),
    ]);
    for GpuRow { gpu, .. } in rows {
        table.row([
            Cell::number(gpu.label.clone(), gpu.gpu),
            count(gpu.ops),
            share(gpu.busy_share),
            scale.time(gpu.wall_ns),
            scale.time(gpu.busy_ns),
            scale.time(gpu.idle_ns),
            scale.time(gpu.kernel_ns),
            scale.time(gpu.collective_ns),
            scale.time(gpu.copy_ns),
            scale.time(gpu.overlap_ns),
            scale.time(gpu.exposed_collective_ns),
        ]);
    }
    table
}
