//! Queue depth, and why GPUs were idle.

use cli::{Cell, Column, Table, units};
use rtl_analysis::launches::{Depth, Idle, Queues};

use crate::section::{Block, Section};
use crate::tables::{count, counted, share};

pub(crate) static QUEUES: Section = Section {
    name: "queues",
    help: "Queue depth of GPUs, and why they were idle",
    select: |select| (select.links, select.api) = (true, true),
    prepare: |analysis| _ = analysis.launches(),
    compute: |context, report| {
        report.sections.queues = context.analysis.launches().map(|(_, queues)| queues.clone());
    },
    blocks: |report, _| {
        let Some(queues) = &report.sections.queues else { return Vec::new() };
        let table = Block::table("Queue depth: ops enqueued and not ended", depth(&queues.depth));
        vec![table, Block::Remarks(remarks(queues))]
    },
    ..Section::DEFAULT
};

fn depth(rows: &[Depth]) -> Table {
    let mut table = Table::of(rows)
        .column(Column::left("Place").field("place"), |row| Cell::text(&row.label))
        .column(Column::right("Ops").field("ops"), |row| count(row.sources.known() + row.sources.unknown))
        .column(Column::right("Mean depth").field("mean"), |row| {
            Cell::number(units::fixed(row.mean, 2), row.mean)
        })
        .column(Column::right("Max").field("max"), |row| count(row.max))
        .column(Column::right("Empty %").field("empty_share"), |row| share(1.0 - row.at_least[0]));
    for (position, bound) in [(1, 2), (2, 10), (3, 100)] {
        let column = Column::right(format!("{bound} or more %")).field(format!("at_least_{bound}_share"));
        table = table.column(column.optional_late(), |row| share(row.at_least[position]));
    }
    table.build()
}

/// Why each GPU was idle, and what limits that statement.
fn remarks(queues: &Queues) -> Vec<String> {
    let mut lines: Vec<String> = queues.idle.iter().map(reason).collect();
    let gpus = || queues.depth.iter().filter(|depth| depth.queue.is_none());
    let unknown: u64 = gpus().map(|depth| depth.sources.unknown).sum();
    if unknown > 0 {
        lines.push(format!(
            "{} without a known launch: host-bound idle time may be overestimated",
            counted(unknown, "op", "ops")
        ));
    } else if gpus().any(|depth| depth.sources.called > 0) {
        lines.push(
            "ops count as enqueued when their call returns: host-bound idle time may be overestimated"
                .to_owned(),
        );
    }
    lines
}

/// `GPU 0: idle 3.200 s: 81 % host-bound (no work enqueued), 19 % waiting`.
fn reason(idle: &Idle) -> String {
    let percent = |part: f64| units::fixed(part * 100.0, 0);
    match idle.idle_ns {
        0 => format!("{}: never idle", idle.label),
        _ => format!(
            "{}: idle {}: {} % host-bound (no work enqueued), {} % waiting (enqueued, not started)",
            idle.label,
            units::duration(idle.idle_ns),
            percent(idle.host_share),
            percent(1.0 - idle.host_share),
        ),
    }
}
