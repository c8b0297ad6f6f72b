//! Every section that is a table, as rows with a text for people and a value for machines.

use analysis::kernels::Group;
use analysis::sweep::{Gap, Gpu, GpuGaps};
use analysis::{Stats, api::ApiGroup, copies::CopyGroup, ranges::RangeGroup};
use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};

use super::View;
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
        Section::Ranges => {
            let rows = report.ranges.as_ref().map(|ranges| ranges.groups.as_slice());
            rows.map(|rows| ranges(rows, view.top.of(rows.len())))
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

/// The units that a table's columns share: one for totals, one for single calls.
#[derive(Debug, Clone, Copy)]
struct Units {
    total: TimeUnit,
    call: TimeUnit,
}

impl Units {
    fn of<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
        let total = rows.clone().map(|stats| stats.total_ns).max().unwrap_or(0);
        let call = rows.map(|stats| stats.p50_ns).max().unwrap_or(0);
        // A table of nanoseconds is hard to read, one of seconds hides short kernels.
        let call = TimeUnit::of(call).clamp(TimeUnit::Microseconds, TimeUnit::Milliseconds);
        Self { total: TimeUnit::of(total).max(TimeUnit::Microseconds), call }
    }

    fn head(unit: TimeUnit, name: &str) -> String {
        format!("{name} ({})", unit.symbol())
    }
}

fn groups(rows: &[Group], by: By, shown: usize) -> Table {
    let header = match by {
        By::Kernel => "Kernel",
        By::Category => "Category",
        By::Gpu => "GPU",
        By::Queue => "Queue",
        By::Range => "Range",
        By::Shape => "Kernel and shape",
        By::Process => "Process",
        By::Rank => "Rank",
    };
    let units = Units::of(rows[..shown].iter().map(|group| &group.stats));
    let mut columns = vec![Column::name(header).field("name")];
    columns.extend([
        Column::right("Calls").field("calls"),
        Column::right(Units::head(units.total, "Total")).field("total_ns"),
        Column::right("%").field("share"),
        Column::right("Cum %").field("cumulative_share"),
    ]);
    columns.extend(stat_columns(units));
    let mut table = Table::new(columns);
    let mut cumulative = 0.0;
    for group in &rows[..shown] {
        cumulative += group.share;
        let mut cells = vec![Cell::text(&group.label), count(group.stats.calls)];
        cells.push(time(units.total, group.stats.total_ns));
        cells.push(share(group.share));
        cells.push(share(cumulative));
        cells.extend(stat_cells(&group.stats, units));
        table.row(cells);
    }
    table
}

fn stat_columns(units: Units) -> impl Iterator<Item = Column> {
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
        let header = if at == 0 { Units::head(units.call, name) } else { name.to_owned() };
        Column::right(header).field(field)
    })
}

fn stat_cells(stats: &Stats, units: Units) -> impl Iterator<Item = Cell> {
    let unit = units.call;
    [
        Cell::number(unit.number(stats.mean_ns.round() as i64), stats.mean_ns),
        time(unit, stats.min_ns),
        time(unit, stats.p50_ns),
        time(unit, stats.p95_ns),
        time(unit, stats.p99_ns),
        time(unit, stats.max_ns),
        Cell::number(unit.number(stats.stddev_ns.round() as i64), stats.stddev_ns),
    ]
    .into_iter()
}

fn gpus(rows: &[Gpu]) -> Table {
    let unit =
        TimeUnit::of(rows.iter().map(|gpu| gpu.wall_ns).max().unwrap_or(0)).max(TimeUnit::Microseconds);
    let mut table = Table::new([
        Column::right("GPU").field("gpu"),
        Column::right("Ops").field("ops"),
        Column::right("Busy %").field("busy_share"),
        Column::right(Units::head(unit, "Wall")).field("wall_ns"),
        Column::right("Busy").field("busy_ns"),
        Column::right("Idle").field("idle_ns"),
        Column::right("Kernels").field("kernel_ns"),
        Column::right("Collectives").field("collective_ns"),
        Column::right("Copies").field("copy_ns"),
        Column::right("Overlap").field("overlap_ns"),
        Column::right("Exposed coll.").field("exposed_collective_ns"),
    ]);
    for gpu in rows {
        table.row([
            Cell::number(gpu.label.trim_start_matches("GPU "), gpu.gpu),
            count(gpu.ops),
            share(gpu.busy_share),
            time(unit, gpu.wall_ns),
            time(unit, gpu.busy_ns),
            time(unit, gpu.idle_ns),
            time(unit, gpu.kernel_ns),
            time(unit, gpu.collective_ns),
            time(unit, gpu.copy_ns),
            time(unit, gpu.overlap_ns),
            time(unit, gpu.exposed_collective_ns),
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
            let from = bucket.from_ns / 1_000;
            let words = match bucket.below_ns {
                Some(below) if from == 0 => format!("<{}us", below / 1_000),
                Some(below) => format!("{from}us-{}us", below / 1_000),
                None => format!(">={from}us"),
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

/// The longest gaps; `origin` is the start of the trace in ns.
pub(super) fn longest_gaps(rows: &[Gap], origin: i64) -> Table {
    let mut table = Table::new([
        Column::right("GPU").field("gpu"),
        Column::right("At").field("start_ns"),
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
        Column::right("Count").field("count"),
        Column::right("Bytes").field("bytes"),
        Column::right("Unknown size").field("unknown_bytes"),
        Column::right("Time").field("total_ns"),
        Column::right("Bandwidth").field("bytes_per_second"),
    ]);
    for row in rows {
        let bandwidth = row.bytes_per_second.map_or_else(Cell::none, |rate| {
            Cell::number(format!("{} GB/s", units::fixed(rate / 1e9, 2)), rate)
        });
        table.row([
            Cell::text(&row.direction),
            count(row.count),
            Cell::number(units::bytes(row.bytes), row.bytes),
            count(row.unknown_bytes),
            duration(row.total_ns),
            bandwidth,
        ]);
    }
    table
}

fn api(rows: &[ApiGroup], shown: usize) -> Table {
    let units = Units::of(rows[..shown].iter().map(|row| &row.stats));
    let domains = rows.iter().any(|row| row.domain.is_some());
    let mut columns = vec![Column::name("Call").field("name")];
    columns.extend(domains.then(|| Column::left("Domain").field("domain")));
    columns.extend([
        Column::right("Calls").field("calls"),
        Column::right(Units::head(units.total, "Total")).field("total_ns"),
    ]);
    columns.extend(stat_columns(units));
    let mut table = Table::new(columns);
    for row in &rows[..shown] {
        let mut cells = vec![Cell::text(&row.name)];
        cells.extend(domains.then(|| Cell::text(row.domain.as_deref().unwrap_or_default())));
        cells.extend([count(row.stats.calls), time(units.total, row.stats.total_ns)]);
        cells.extend(stat_cells(&row.stats, units));
        table.row(cells);
    }
    table
}

fn ranges(rows: &[RangeGroup], shown: usize) -> Table {
    let mut table = Table::new([
        Column::name("Range").field("name"),
        Column::left("Kind").field("kind"),
        Column::right("Count").field("count"),
        Column::right("Host total").field("total_ns"),
        Column::right("Host mean").field("mean_ns"),
        Column::right("Ops").field("ops"),
        Column::right("GPU time").field("gpu_ns"),
        Column::right("GPU busy").field("gpu_busy_ns"),
    ]);
    for row in &rows[..shown] {
        table.row([
            Cell::text(&row.name),
            Cell::text(if row.marker { "marker" } else { "range" }),
            count(row.count),
            duration(row.stats.total_ns),
            Cell::number(units::duration(row.stats.mean_ns.round() as i64), row.stats.mean_ns),
            count(row.ops),
            duration(row.gpu_ns),
            duration(row.gpu_busy_ns),
        ]);
    }
    table
}

fn count(number: u64) -> Cell {
    Cell::number(units::count(number), number)
}

fn time(unit: TimeUnit, nanoseconds: i64) -> Cell {
    Cell::number(unit.number(nanoseconds), nanoseconds)
}

fn duration(nanoseconds: i64) -> Cell {
    Cell::number(units::duration(nanoseconds), nanoseconds)
}

fn share(fraction: f64) -> Cell {
    Cell::number(units::fixed(fraction * 100.0, 2), fraction)
}
