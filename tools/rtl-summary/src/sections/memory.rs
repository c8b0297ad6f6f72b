//! Memory of devices: of the allocators of frameworks, of the runtime, and scratch.

use cli::{Cell, Column, Table, units};
use rtl_analysis::memory::{self, DeviceMemory, MemorySource};

use crate::section::{Block, Section};
use crate::tables::{count, optional};

pub(crate) static MEMORY: Section = Section {
    name: "memory",
    help: "Memory of devices: what frameworks and the runtime allocate, and scratch",
    select: |select| select.memory = true,
    compute: |context, report| report.sections.memory = memory::by_device(context.analysis.tables()),
    blocks: |report, _| {
        report.sections.memory.iter().map(|rows| Block::table("Memory", table(rows))).collect()
    },
    ..Section::DEFAULT
};

fn table(rows: &[DeviceMemory]) -> Table {
    let bytes = |value: u64| Cell::number(units::bytes(value), value);
    let several = rows.iter().any(|row| row.pid != rows[0].pid);
    Table::of(rows)
        .column(Column::left("Device").field("device"), |row| Cell::text(&row.device))
        .column(Column::left("Source").field("source"), |row| {
            Cell::text(match row.source {
                MemorySource::Framework => "framework",
                MemorySource::Runtime => "runtime",
                MemorySource::Scratch => "scratch",
            })
        })
        .column_if(several, Column::right("Process").field("pid"), |row| {
            optional(row.pid, |pid| Cell::number(pid.to_string(), pid))
        })
        .column(Column::right("Peak").field("peak_bytes"), |row| optional(row.peak_bytes, bytes))
        .column(Column::right("Peak held").field("peak_reserved_bytes"), |row| {
            optional(row.peak_reserved_bytes, bytes)
        })
        .column(Column::right("At the end").field("last_bytes"), |row| optional(row.last_bytes, bytes))
        .column(Column::right("Allocations").field("allocations"), |row| count(row.allocations))
        .column(Column::right("Allocated").field("allocated_bytes"), |row| bytes(row.allocated_bytes))
        .column(Column::right("Releases").field("releases").optional_late(), |row| count(row.releases))
        .column(Column::right("Released").field("released_bytes").optional_late(), |row| {
            bytes(row.released_bytes)
        })
        .column(Column::right("Kept").field("kept_bytes").optional(), |row| bytes(row.kept_bytes))
        .build()
}
