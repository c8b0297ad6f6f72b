//! Idle time between ops.

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::Part;
use rtl_analysis::sweep::{Gap, GpuGaps};

use crate::section::{Block, Printed, Section};
use crate::sections::idle::select_causes;
use crate::tables::{count, duration, gpu_number, optional};

pub(crate) static GAPS: Section = Section {
    name: "gaps",
    help: "Idle time between ops",
    printed: Printed::Always,
    select: select_causes,
    parts: &[Part::Sweep, Part::Idle],
    compute: |context, report| {
        report.sections.gaps = Some(context.analysis.sweep().gaps.clone());
        let longest = report.sections.longest_gaps.insert(context.analysis.longest_gaps());
        for gap in longest {
            context.names.rename(&mut gap.before);
            context.names.rename(&mut gap.after);
        }
    },
    blocks: |report, view| {
        let buckets = report.sections.gaps.iter().filter(|_| !view.is_short);
        let buckets = buckets.map(|rows| Block::table("Gaps", gaps(rows)));
        let longest = report.sections.longest_gaps.iter().map(|rows| {
            let shown = if view.is_short { FEW.min(rows.len()) } else { rows.len() };
            Block::table("Longest gaps", longest_gaps(&rows[..shown], report.origin()))
        });
        buckets.chain(longest).collect()
    },
    ..Section::DEFAULT
};

/// The most gaps of the short report.
const FEW: usize = 3;

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

/// The bound of a bucket: `10 us`, `1 ms`.
fn whole(nanoseconds: i64) -> String {
    let unit = TimeUnit::of(nanoseconds);
    let number = unit.number(nanoseconds);
    format!("{} {}", number.strip_suffix(".000").unwrap_or(&number), unit.symbol())
}

/// `origin` is the start of the trace in ns.
fn longest_gaps(rows: &[Gap], origin: i64) -> Table {
    let has_cause = rows.iter().any(|gap| gap.cause.is_some());
    Table::of(rows)
        .column(Column::right("GPU").field("gpu"), |gap| gpu_number(&gap.label, gap.gpu))
        .column(Column::right("At").field("start_ns").optional_late(), |gap| {
            Cell::number(units::duration(gap.start_ns.saturating_sub(origin)), gap.start_ns)
        })
        .column(Column::right("Gap").field("duration_ns"), |gap| duration(gap.duration_ns))
        .column_if(has_cause, Column::name("Cause").field("cause"), |gap| {
            optional(gap.cause.as_ref(), |cause| Cell::text(cause.label()))
        })
        .column(Column::name("Op before").field("before"), |gap| Cell::text(&gap.before))
        .column(Column::name("Op after").field("after"), |gap| Cell::text(&gap.after))
        .build()
}
