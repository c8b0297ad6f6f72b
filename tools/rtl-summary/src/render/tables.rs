//! Every section that is a table, as rows with a text for people and a value for machines.

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::kernels::Group;
use rtl_analysis::sweep::{Gap, Gpu, GpuGaps};
use rtl_analysis::{Stats, api::ApiGroup, copies::CopyGroup, ranges::RangeGroup};

use super::{View, launches, ranks};
use crate::answer::Answer;
use crate::args::{By, Section};

/// The table of a section; `None` where the section was not computed or is none.
pub(super) fn section(section: Section, answer: &Answer, view: View) -> Option<Table> {
    let report = &answer.report;
    match section {
        Section::Kernels => main(answer, view),
        Section::Categories => {
            report.categories.as_deref().map(|rows| groups(rows, By::Category, rows.len()))
        }
        Section::Gpus => report.gpus.as_deref().map(gpus),
        Section::Gaps => report.gaps.as_deref().map(gaps),
        Section::Copies => report.copies.as_deref().map(copies),
        Section::Api => report.api.as_deref().map(|rows| api(rows, view.top.of(rows.len()))),
        Section::Launches => {
            let latency = report.launches.as_ref();
            latency.map(|latency| launches::latency(latency, view.top.of(latency.kernels.len())))
        }
        Section::Queues => report.queues.as_ref().map(|queues| launches::depth(&queues.depth)),
        Section::Ranges => {
            let rows = report.ranges.as_ref().map(|ranges| ranges.groups.as_slice());
            rows.map(|rows| ranges(rows, view.top.of(rows.len())))
        }
        Section::Ranks => answer.ranks.as_ref().map(ranks::ranks),
        Section::Collectives => answer.ranks.as_ref().map(ranks::collectives),
        Section::Imbalance => {
            let kernels = answer.ranks.as_ref().map(|ranks| ranks.kernels.as_slice());
            kernels.map(|kernels| ranks::imbalance(&kernels[..view.top.of(kernels.len())]))
        }
        Section::Trace | Section::Sanity => None,
    }
}

/// The main table: kernels, or what they are grouped by.
fn main(answer: &Answer, view: View) -> Option<Table> {
    match &answer.groups {
        Some(rows) => Some(groups(rows, view.by, view.top.of(rows.len()))),
        None => {
            answer.report.kernels.as_deref().map(|rows| groups(rows, By::Kernel, view.top.of(rows.len())))
        }
    }
}

/// How the times of some columns are written: one unit, and as many decimals as there is room for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    unit: TimeUnit,
    short: bool,
}

impl Scale {
    fn new(unit: TimeUnit, largest: i64) -> Self {
        let thousand_units = match unit {
            TimeUnit::Nanoseconds => 1_000,
            TimeUnit::Microseconds => 1_000_000,
            TimeUnit::Milliseconds => 1_000_000_000,
            TimeUnit::Seconds => 1_000_000_000_000,
        };
        Self { unit, short: largest >= thousand_units }
    }

    /// For totals: the largest has at least two digits, so that smaller ones keep theirs.
    fn of_totals(totals: impl Iterator<Item = i64>) -> Self {
        let largest = totals.max().unwrap_or(0);
        Self::new(TimeUnit::of(largest / 10).max(TimeUnit::Microseconds), largest)
    }

    /// For single calls. The typical row decides: the unit of a long one would round the others to nothing.
    pub(super) fn of_calls<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
        let mut medians: Vec<i64> = rows.clone().map(|stats| stats.p50_ns).collect();
        medians.sort_unstable();
        let typical = TimeUnit::of(medians.get(medians.len() / 2).copied().unwrap_or(0));
        let largest = rows.map(|stats| stats.max_ns).max().unwrap_or(0);
        Self::new(typical.clamp(TimeUnit::Microseconds, TimeUnit::Milliseconds), largest)
    }

    fn head(self, name: &str) -> String {
        format!("{name} ({})", self.unit.symbol())
    }

    fn text(self, nanoseconds: i64) -> String {
        if self.short { self.unit.short_number(nanoseconds) } else { self.unit.number(nanoseconds) }
    }

    fn time(self, nanoseconds: i64) -> Cell {
        Cell::number(self.text(nanoseconds), nanoseconds)
    }
}

/// The scales of a table of calls: one for totals, one for single calls.
#[derive(Debug, Clone, Copy)]
struct Scales {
    total: Scale,
    call: Scale,
}

impl Scales {
    fn of<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
        Self {
            total: Scale::of_totals(rows.clone().map(|stats| stats.total_ns)),
            call: Scale::of_calls(rows),
        }
    }
}

fn groups(rows: &[Group], by: By, shown: usize) -> Table {
    let header = match by {
        By::Kernel => "Kernel",
        By::Category => "Category",
        By::Gpu => "GPU",
        By::Queue => "Queue",
        By::Range => "Range",
        By::Shape => "Shape",
        By::Process => "Process",
        By::Rank => "Rank",
    };
    let scales = Scales::of(rows[..shown].iter().map(|group| &group.stats));
    // A shape alone says nothing: kernels share them.
    let mut columns: Vec<Column> =
        (by == By::Shape).then(|| Column::name("Kernel").field("kernel")).into_iter().collect();
    columns.extend([
        Column::name(header).field("name"),
        Column::right("Calls").field("calls"),
        Column::right(scales.total.head("Total")).field("total_ns"),
        Column::right("%").field("share"),
        Column::right("Cum %").field("cumulative_share").optional(),
    ]);
    columns.extend(stat_columns(scales.call));
    let mut table = Table::new(columns);
    let mut cumulative = 0.0;
    for group in &rows[..shown] {
        cumulative += group.share;
        let kernel = (by == By::Shape).then(|| Cell::text(group.kernel.as_deref().unwrap_or_default()));
        let mut cells: Vec<Cell> = kernel.into_iter().collect();
        cells.extend([Cell::text(&group.label), count(group.stats.calls)]);
        cells.push(scales.total.time(group.stats.total_ns));
        cells.push(share(group.share));
        cells.push(share(cumulative));
        cells.extend(stat_cells(&group.stats, scales.call));
        table.row(cells);
    }
    table
}

pub(super) fn stat_columns(scale: Scale) -> impl Iterator<Item = Column> {
    [
        ("Mean", "mean_ns"),
        ("Min", "min_ns"),
        ("p50", "p50_ns"),
        ("p95", "p95_ns"),
        ("p99", "p99_ns"),
        ("Max", "max_ns"),
        ("Stddev", "stddev_ns"),
    ]
    .into_iter()
    .enumerate()
    .map(move |(at, (name, field))| {
        // One unit for the whole group of columns; the first says which.
        let header = if at == 0 { scale.head(name) } else { name.to_owned() };
        let column = Column::right(header).field(field);
        match name {
            "Min" | "p95" | "p99" | "Stddev" => column.optional(),
            "p50" | "Max" => column.optional_late(),
            _ => column,
        }
    })
}

pub(super) fn stat_cells(stats: &Stats, scale: Scale) -> impl Iterator<Item = Cell> {
    let deviation = match stats.calls {
        // One call does not deviate from anything.
        0 | 1 => units::NONE.to_owned(),
        _ => scale.text(stats.stddev_ns.round() as i64),
    };
    [
        Cell::number(scale.text(stats.mean_ns.round() as i64), stats.mean_ns),
        scale.time(stats.min_ns),
        scale.time(stats.p50_ns),
        scale.time(stats.p95_ns),
        scale.time(stats.p99_ns),
        scale.time(stats.max_ns),
        Cell::number(deviation, stats.stddev_ns),
    ]
    .into_iter()
}

fn gpus(rows: &[Gpu]) -> Table {
    let scale = Scale::of_totals(rows.iter().map(|gpu| gpu.wall_ns));
    let mut table = Table::new([
        Column::left("GPU").field("gpu"),
        Column::right("Ops").field("ops").optional(),
        Column::right("Busy %").field("busy_share"),
        Column::right(scale.head("Wall")).field("wall_ns"),
        Column::right("Busy").field("busy_ns"),
        Column::right("Idle").field("idle_ns"),
        Column::right("Kernels").field("kernel_ns").optional(),
        Column::right("Collectives").field("collective_ns").optional_late(),
        Column::right("Copies").field("copy_ns").optional(),
        Column::right("Overlap").field("overlap_ns").optional(),
        Column::right("Exposed coll.").field("exposed_collective_ns").optional_late(),
    ]);
    for gpu in rows {
        table.row([
            Cell::number(gpu.label.clone(), gpu.gpu),
            count(gpu.ops),
            share(gpu.busy_share),
            scale.time(gpu.wall_ns),
            scale.time(gpu.busy_ns),
            scale.time(gpu.idle_ns),
            scale.time(gpu.kernel_ns),
            scale.time(gpu.collective_ns),
            scale.time(gpu.copy_ns),
            scale.time(gpu.overlap_ns),
            scale.time(gpu.exposed_collective_ns),
        ]);
    }
    table
}

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
pub(super) fn longest_gaps(rows: &[Gap], origin: i64) -> Table {
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
        let bandwidth = row.bytes_per_second.map_or_else(Cell::none, |rate| {
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

fn api(rows: &[ApiGroup], shown: usize) -> Table {
    let scales = Scales::of(rows[..shown].iter().map(|row| &row.stats));
    let domains = rows.iter().any(|row| row.domain.is_some());
    let errors = rows.iter().any(|row| row.errors > 0);
    let unfinished = rows.iter().any(|row| row.unfinished > 0);
    let mut columns = vec![Column::name("Call").field("name")];
    columns.extend(domains.then(|| Column::left("Domain").field("domain").optional_late()));
    columns.extend([
        Column::right("Calls").field("calls"),
        Column::right(scales.total.head("Total")).field("total_ns"),
        Column::right("%").field("share").optional_late(),
    ]);
    columns.extend(errors.then(|| Column::right("Errors").field("errors")));
    columns.extend(unfinished.then(|| Column::right("Unfinished").field("unfinished")));
    columns.extend(stat_columns(scales.call));
    let mut table = Table::new(columns);
    for row in &rows[..shown] {
        let mut cells = vec![Cell::text(&row.name)];
        cells.extend(domains.then(|| Cell::text(row.domain.as_deref().unwrap_or_default())));
        cells.extend([count(row.stats.calls), scales.total.time(row.stats.total_ns), share(row.share)]);
        cells.extend(errors.then(|| count(row.errors)));
        cells.extend(unfinished.then(|| count(row.unfinished)));
        cells.extend(stat_cells(&row.stats, scales.call));
        table.row(cells);
    }
    table
}

fn ranges(rows: &[RangeGroup], shown: usize) -> Table {
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
    for row in &rows[..shown] {
        let mean = Cell::number(units::duration(row.stats.mean_ns.round() as i64), row.stats.mean_ns);
        let mut cells = vec![Cell::text(&row.name)];
        if row.marker {
            // An instant has no time and encloses nothing.
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

pub(super) fn count(number: u64) -> Cell {
    Cell::number(units::count(number), number)
}

pub(super) fn duration(nanoseconds: i64) -> Cell {
    Cell::number(units::duration(nanoseconds), nanoseconds)
}

pub(super) fn share(fraction: f64) -> Cell {
    Cell::number(units::fixed(fraction * 100.0, 2), fraction)
}
