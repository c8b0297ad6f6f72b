//! Ranges and markers with the GPU time that they enclose.

use cli::{Cell, Column, Table, units};
use rtl_analysis::Part;
use rtl_analysis::ranges::{RangeGroup, RangeMethod, RangeReport};

use crate::section::{Block, Section};
use crate::tables::{count, duration, mean_duration};

pub(crate) static RANGES: Section = Section {
    name: "ranges",
    help: "Ranges and markers with the GPU time they enclose",
    select: |select| (select.links, select.ranges, select.api) = (true, true, true),
    parts: &[Part::Ranges],
    compute: |context, report| report.sections.ranges = Some(context.analysis.ranges().clone()),
    blocks: |report, view| {
        let Some(all) = &report.sections.ranges else { return Vec::new() };
        vec![Block::top_table(&heading(all), all.groups.len(), view.top, |shown| {
            ranges(&all.groups[..shown])
        })]
    },
    ..Section::DEFAULT
};

fn heading(ranges: &RangeReport) -> String {
    let method = |method: &RangeMethod| match method {
        RangeMethod::Stored => "by stored range id",
        RangeMethod::Linked => "by launch in their thread (steps: in any)",
        RangeMethod::Contained => "by time",
    };
    let methods: Vec<&str> = ranges.methods.iter().map(method).collect();
    match methods.is_empty() {
        true => "Ranges and markers".to_owned(),
        false => format!("Ranges and markers, GPU work {}", methods.join(" or ")),
    }
}

fn ranges(rows: &[RangeGroup]) -> Table {
    // A marker has no duration and encloses no ops.
    let unless_marker = |row: &RangeGroup, cell: Cell| match row.marker {
        true => Cell::number(units::NONE, 0),
        false => cell,
    };
    Table::of(rows)
        .column(Column::name("Range").field("name"), |row| Cell::text(&row.name))
        .column(Column::left("Kind").field("kind").optional_late(), |row| {
            Cell::text(if row.marker { "marker" } else { "range" })
        })
        .column(Column::right("Count").field("count"), |row| count(row.count))
        .column(Column::right("Host total").field("total_ns"), |row| {
            unless_marker(row, duration(row.stats.total_ns))
        })
        .column(Column::right("Host mean").field("mean_ns").optional_late(), |row| {
            unless_marker(row, mean_duration(row.stats.mean_ns))
        })
        .column(Column::right("Ops").field("ops"), |row| unless_marker(row, count(row.ops)))
        .column(Column::right("GPU time").field("gpu_ns"), |row| unless_marker(row, duration(row.gpu_ns)))
        .column(Column::right("GPU busy").field("gpu_busy_ns").optional_late(), |row| {
            unless_marker(row, duration(row.gpu_busy_ns))
        })
        .build()
}
