//! Idle time between ops.

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::sweep::{Gap, GpuGaps};

use crate::section::{Block, Section};
use crate::tables::{count, duration};

pub(crate) static GAPS: Section = Section {
    name: "gaps",
    help: "Idle time between ops",
    analysis: |needed| needed.gaps = true,
    compute: |context, report| {
        report.sections.gaps = context.analysis.gaps.take();
        let mut longest = context.analysis.longest_gaps.take();
        for gap in longest.iter_mut().flatten() {
            context.names.rename(&mut gap.before);
            context.names.rename(&mut gap.after);
        }
        report.sections.longest_gaps = longest;
    },
    blocks: |report, _| {
        let gaps = report.sections.gaps.iter().map(|rows| Block::table("Gaps", gaps(rows)));
        let longest = report.sections.longest_gaps.iter();
        let longest = longest.map(|rows| Block::table("Longest gaps", longest_gaps(rows, report.origin())));
        gaps.chain(longest).collect()
    },
    ..Section::DEFAULT
};

fn gaps(rows: &[GpuGaps]) -> Table {
    let mut table = Table::new([
        Column::right("GPU").field("gpu"),
        Column::left("Gap").field("bucket"),
        Column::right("Count").field("count"),
        Column::right("Total").field("total_ns"),
    ]);
    for gpu in rows {
        for bucket in gpu.buckets.iter().filter(|bucket| bucket.count > 0) {
            let words = match (bucket.from_ns, bucket.below_ns) {
                (0, Some(below)) => format!("below {}", whole(below)),
                (from, Some(below)) => format!("{} to {}", whole(from), whole(below)),
                (from, None) => format!("{} or more", whole(from)),
            };
            table.row([
                Cell::number(gpu.label.trim_start_matches("GPU "), gpu.gpu),
                Cell::text(words),
                count(bucket.count),
                duration(bucket.total_ns),
            ]);
        }
    }
    table
}

/// The bound of a bucket: `10 us`, `1 ms`.
fn whole(nanoseconds: i64) -> String {
    let unit = TimeUnit::of(nanoseconds);
    let number = unit.number(nanoseconds);
    format!("{} {}", number.strip_suffix(".000").unwrap_or(&number), unit.symbol())
}

/// The longest gaps; `origin` is the start of the trace in ns.
fn longest_gaps(rows: &[Gap], origin: i64) -> Table {
    let mut table = Table::new([
        Column::right("GPU").field("gpu"),
        Column::right("At").field("start_ns").optional_late(),
        Column::right("Gap").field("duration_ns"),
        Column::name("After").field("before"),
        Column::name("Before").field("after"),
    ]);
    for gap in rows {
        table.row([
            Cell::number(gap.label.trim_start_matches("GPU "), gap.gpu),
            Cell::number(units::duration(gap.start_ns.saturating_sub(origin)), gap.start_ns),
            duration(gap.duration_ns),
            Cell::text(&gap.before),
            Cell::text(&gap.after),
        ]);
    }
    table
}
