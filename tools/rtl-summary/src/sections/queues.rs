//! Queue depth.

use cli::{Cell, Column, Table, units};
use rtl_analysis::Part;
use rtl_analysis::launches::{Depth, Queues};

use crate::section::{Block, Section};
use crate::tables::{count, counted, share};

pub(crate) static QUEUES: Section = Section {
    name: "queues",
    help: "Queue depth of GPUs",
    select: |select| (select.links, select.api) = (true, true),
    parts: &[Part::Launches],
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

fn remarks(queues: &Queues) -> Vec<String> {
    let gpus = || queues.depth.iter().filter(|depth| depth.queue.is_none());
    let unknown: u64 = gpus().map(|depth| depth.sources.unknown).sum();
    if unknown > 0 {
        vec![format!("{} without a known launch: counted only while running", counted(unknown, "op", "ops"))]
    } else if gpus().any(|depth| depth.sources.called > 0) {
        vec!["ops count as enqueued when their call returns".to_owned()]
    } else {
        Vec::new()
    }
}
