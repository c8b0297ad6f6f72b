//! Idle time between ops.

use cli::units::TimeUnit;
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
            let long = rows.iter().filter(|gap| gap.duration_ns >= NOISE).count();
            let told = if long == 0 { rows.len() } else { long };
            let shown = if view.is_short { FEW.min(told) } else { told };
            let heading = "Longest gaps (At: after the first call, range or op of the trace)";
            Block::table(heading, longest_gaps(&rows[..shown], report.origin()))
        });
        buckets.chain(longest).collect()
    },
    ..Section::DEFAULT
};

/// The most gaps of the short report.
const FEW: usize = 3;

/// Shorter gaps, in ns, lie between any two ops and are listed only where all are such.
const NOISE: i64 = 1_000;

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

/// `origin` is the start of the trace in ns. The rows come longest first.
fn longest_gaps(rows: &[Gap], origin: i64) -> Table {
    let after = |gap: &Gap| gap.start_ns.saturating_sub(origin);
    // One unit, in which each moment has three digits at least, and never seconds, in which moments of a long trace would be equal.
    let is_early = |gap: &Gap| (1..100_000).contains(&after(gap));
    let unit = if rows.iter().any(is_early) { TimeUnit::Microseconds } else { TimeUnit::Milliseconds };
    let has_cause = rows.iter().any(|gap| gap.cause.is_some());
    Table::of(rows)
        .column(Column::right("GPU").field("gpu"), |gap| gpu_number(&gap.label, gap.gpu))
        .column(Column::right(format!("At ({})", unit.symbol())).field("start_ns").optional_late(), |gap| {
            Cell::number(unit.number(after(gap)), gap.start_ns)
        })
        .column(Column::right("Gap").field("duration_ns"), |gap| duration(gap.duration_ns))
        .column_if(has_cause, Column::name("Cause").field("cause"), |gap| {
            optional(gap.cause.as_ref(), |cause| Cell::text(cause.label()))
        })
        .column(Column::name("Op before").field("before"), |gap| Cell::text(&gap.before))
        .column(Column::name("Op after").field("after"), |gap| Cell::text(&gap.after))
        .build()
}
