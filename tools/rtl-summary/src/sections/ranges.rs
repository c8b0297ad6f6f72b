//! Ranges and markers with the GPU time that they enclose.

use cli::{Cell, Column, Table, units};
use rtl_analysis::ranges::{RangeGroup, RangeMethod, RangeReport};

use crate::section::{Block, Section};
use crate::tables::{count, duration};

pub(crate) static RANGES: Section = Section {
    name: "ranges",
    help: "Ranges and markers with the GPU time they enclose",
    select: |select| (select.links, select.ranges, select.api) = (true, true, true),
    analysis: |needed| needed.ranges = true,
    compute: |context, report| report.sections.ranges = context.analysis.ranges.take(),
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
        RangeMethod::Linked => "by launch link",
        RangeMethod::Contained => "by time",
    };
    let methods: Vec<&str> = ranges.methods.iter().map(method).collect();
    match methods.is_empty() {
        true => "Ranges and markers".to_owned(),
        false => format!("Ranges and markers, GPU work {}", methods.join(" or ")),
    }
}

fn ranges(rows: &[RangeGroup]) -> Table {
    let mut table = Table::new([
        Column::name("Range").field("name"),
        Column::left("Kind").field("kind").optional_late(),
        Column::right("Count").field("count"),
        Column::right("Host total").field("total_ns"),
        Column::right("Host mean").field("mean_ns").optional_late(),
        Column::right("Ops").field("ops"),
        Column::right("GPU time").field("gpu_ns"),
        Column::right("GPU busy").field("gpu_busy_ns").optional_late(),
    ]);
    for row in rows {
        let mean = Cell::number(units::duration(row.stats.mean_ns.round() as i64), row.stats.mean_ns);
        let mut cells = vec![Cell::text(&row.name)];
        if row.marker {
            // A marker has no duration and encloses no ops.
            cells.extend([Cell::text("marker"), count(row.count)]);
            cells.extend([0; 5].map(|nothing| Cell::number(units::NONE, nothing)));
        } else {
            cells.extend([Cell::text("range"), count(row.count), duration(row.stats.total_ns), mean]);
            cells.extend([count(row.ops), duration(row.gpu_ns), duration(row.gpu_busy_ns)]);
        }
        table.row(cells);
    }
    table
}
