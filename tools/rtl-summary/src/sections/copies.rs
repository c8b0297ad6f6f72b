//! Copies by direction.

use cli::{Cell, Column, Table, units};
use rtl_analysis::copies::CopyGroup;

use crate::section::{Block, Section};
use crate::tables::{count, duration, optional};

pub(crate) static COPIES: Section = Section {
    name: "copies",
    help: "Copies by direction",
    analysis: |needed| needed.copies = true,
    compute: |context, report| report.sections.copies = context.analysis.copies.take(),
    blocks: |report, _| {
        report.sections.copies.iter().map(|rows| Block::table("Copies", copies(rows))).collect()
    },
    ..Section::DEFAULT
};

fn copies(rows: &[CopyGroup]) -> Table {
    let mut table = Table::new([
        Column::left("Direction").field("direction"),
        Column::right("Count").field("count").optional_late(),
        Column::right("Bytes").field("bytes"),
        Column::right("Unknown size").field("unknown_bytes").optional_late(),
        Column::right("Time").field("total_ns"),
        Column::right("Bandwidth").field("bytes_per_second"),
    ]);
    for row in rows {
        let bandwidth = optional(row.bytes_per_second, |rate| {
            let (scale, unit) = if rate < 1e8 { (1e6, "MB/s") } else { (1e9, "GB/s") };
            Cell::number(format!("{} {unit}", units::fixed(rate / scale, 2)), rate)
        });
        let bytes = match row.unknown_bytes {
            all if all == row.count => Cell::number(units::NONE, row.bytes),
            _ => Cell::number(units::bytes(row.bytes), row.bytes),
        };
        table.row([
            Cell::text(&row.direction),
            count(row.count),
            bytes,
            count(row.unknown_bytes),
            duration(row.total_ns),
            bandwidth,
        ]);
    }
    table
}
