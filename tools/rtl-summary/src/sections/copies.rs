//! Copies by direction.

use cli::{Cell, Column, Table, units};
use rtl_analysis::copies::{self, CopyGroup};

use crate::section::{Block, Section};
use crate::tables::{count, duration, optional};

pub(crate) static COPIES: Section = Section {
    name: "copies",
    help: "Copies by direction",
    compute: |context, report| {
        report.sections.copies = Some(copies::by_direction(context.analysis.tables()));
    },
    blocks: |report, _| {
        report.sections.copies.iter().map(|rows| Block::table("Copies", table(rows))).collect()
    },
    ..Section::DEFAULT
};

fn table(rows: &[CopyGroup]) -> Table {
    Table::of(rows)
        .column(Column::left("Direction").field("direction"), |row| Cell::text(&row.direction))
        .column(Column::right("Count").field("count").optional_late(), |row| count(row.count))
        .column(Column::right("Bytes").field("bytes"), |row| match row.unknown_bytes {
            all if all == row.count => Cell::number(units::NONE, row.bytes),
            _ => Cell::number(units::bytes(row.bytes), row.bytes),
        })
        .column(Column::right("Unknown size").field("unknown_bytes").optional_late(), |row| {
            count(row.unknown_bytes)
        })
        .column(Column::right("Time").field("total_ns"), |row| duration(row.total_ns))
        .column(Column::right("Bandwidth").field("bytes_per_second"), |row| {
            optional(row.bytes_per_second, |rate| {
                let (scale, unit) = if rate < 1e8 { (1e6, "MB/s") } else { (1e9, "GB/s") };
                Cell::number(format!("{} {unit}", units::fixed(rate / scale, 2)), rate)
            })
        })
        .build()
}
