//! Idle time between ops.

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::sweep::{Gap, GpuGaps, Sweep};

use crate::section::{Block, Section};
use crate::tables::{count, duration};

pub(crate) static GAPS: Section = Section {
    name: "gaps",
    help: "Idle time between ops",
    prepare: |analysis| _ = analysis.sweep(),
    compute: |context, report| {
        let Sweep { gaps, longest, .. } = context.analysis.sweep();
        report.sections.gaps = Some(gaps.clone());
        let longest = report.sections.longest_gaps.insert(longest.clone());
        for gap in longest {
            context.names.rename(&mut gap.before);
            context.names.rename(&mut gap.after);
        }
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
    let buckets = rows.iter().flat_map(|gpu| gpu.buckets.iter().map(move |bucket| (gpu, bucket)));
    Table::of(buckets.filter(|(_, bucket)| bucket.count > 0))
        .column(Column::right("GPU").field("gpu"), |(gpu, _)| gpu_number(&gpu.label, gpu.gpu))
        .column(Column::left("Gap").field("bucket"), |(_, bucket)| {
            Cell::text(match (bucket.from_ns, bucket.below_ns) {
                (0, Some(below)) => format!("below {}", whole(below)),
                (from, Some(below)) => format!("{} to {}", whole(from), whole(below)),
                (from, None) => format!("{} or more", whole(from)),
            })
        })
        .column(Column::right("Count").field("count"), |(_, bucket)| count(bucket.count))
        .column(Column::right("Total").field("total_ns"), |(_, bucket)| duration(bucket.total_ns))
        .build()
}

fn gpu_number(label: &str, gpu: i64) -> Cell {
    Cell::number(label.trim_start_matches("GPU "), gpu)
}

/// The bound of a bucket: `10 us`, `1 ms`.
fn whole(nanoseconds: i64) -> String {
    let unit = TimeUnit::of(nanoseconds);
    let number = unit.number(nanoseconds);
    format!("{} {}", number.strip_suffix(".000").unwrap_or(&number), unit.symbol())
}

/// The longest gaps; `origin` is the start of the trace in ns.
fn longest_gaps(rows: &[Gap], origin: i64) -> Table {
    Table::of(rows)
        .column(Column::right("GPU").field("gpu"), |gap| gpu_number(&gap.label, gap.gpu))
        .column(Column::right("At").field("start_ns").optional_late(), |gap| {
            Cell::number(units::duration(gap.start_ns.saturating_sub(origin)), gap.start_ns)
        })
        .column(Column::right("Gap").field("duration_ns"), |gap| duration(gap.duration_ns))
        .column(Column::name("Op before").field("before"), |gap| Cell::text(&gap.before))
        .column(Column::name("Op after").field("after"), |gap| Cell::text(&gap.after))
        .build()
}
