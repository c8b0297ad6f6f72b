//! Busy and idle time of each GPU, as a table.

use cli::report::GpuRow;
use cli::units;
use html_page::Section;
use html_page::table::{Cell, Table};

use crate::view::View;

const ROWS: usize = 256;

pub(super) fn section(view: &View<'_>) -> Option<Section> {
    let gpus = view.sections().gpus.as_deref().filter(|gpus| !gpus.is_empty())?;
    let time = |ns: i64| Cell::number(units::duration(ns), ns);
    let cells = |GpuRow { gpu, .. }: &GpuRow| {
        vec![
            Cell::number(&gpu.label, gpu.gpu),
            Cell::number(units::count(gpu.ops), gpu.ops),
            Cell::number(units::fixed(gpu.busy_share * 100.0, 2), gpu.busy_share),
            time(gpu.wall_ns),
            time(gpu.busy_ns),
            time(gpu.idle_ns),
            time(gpu.kernel_ns),
            time(gpu.collective_ns),
            time(gpu.copy_ns),
            time(gpu.overlap_ns),
            time(gpu.exposed_collective_ns),
        ]
    };
    let heads = [
        ("GPU", "gpu"),
        ("Ops", "ops"),
        ("Busy %", "busy_share"),
        ("Wall", "wall_ns"),
        ("Busy", "busy_ns"),
        ("Idle", "idle_ns"),
        ("Kernels", "kernel_ns"),
        ("Collectives", "collective_ns"),
        ("Copies", "copy_ns"),
        ("Overlap", "overlap_ns"),
        ("Exposed coll.", "exposed_collective_ns"),
    ];
    let table = Table {
        id: "gpus",
        caption: "Busy and idle time of GPUs".to_owned(),
        columns: heads.to_vec(),
        rows: gpus.iter().take(ROWS).map(cells).collect(),
        all: gpus.len(),
        filter: None,
    };
    let note = "Busy is the union of kernels and copies. Kernels, collectives and copies are unions of their own, overlap the time \
                with at least two of them.";
    Some(Section { id: "gpus-section", title: "GPUs", note: note.to_owned(), content: table.render() })
}
