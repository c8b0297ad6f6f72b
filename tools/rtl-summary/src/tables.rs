//! Cells and columns that several sections share.

use cli::report::Row;
use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table, TableOf};
use rtl_analysis::Stats;
use rtl_analysis::kernels::GroupBy;

use crate::bars;
use crate::choices::label;

/// The unit and the number of decimals of the times in some columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    unit: TimeUnit,
    short: bool,
}

impl Scale {
    fn new(unit: TimeUnit, largest: i64) -> Self {
        Self { unit, short: largest >= 1_000 * unit.nanoseconds() }
    }

    /// The largest total has at least two digits, so that smaller totals keep theirs.
    pub(crate) fn for_totals(totals: impl Iterator<Item = i64>) -> Self {
        let largest = totals.max().unwrap_or(0);
        Self::new(TimeUnit::of(largest / 10).max(TimeUnit::Microseconds), largest)
    }

    /// The median row decides, because the unit of the longest call would round short calls to 0.
    pub(crate) fn for_calls<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
        let mut medians: Vec<i64> = rows.clone().map(|stats| stats.p50_ns).collect();
        medians.sort_unstable();
        let typical = TimeUnit::of(medians.get(medians.len() / 2).copied().unwrap_or(0));
        let largest = rows.map(|stats| stats.max_ns).max().unwrap_or(0);
        Self::new(typical.clamp(TimeUnit::Microseconds, TimeUnit::Milliseconds), largest)
    }

    pub(crate) fn head(self, name: &str) -> String {
        format!("{name} ({})", self.unit.symbol())
    }

    fn text(self, nanoseconds: i64) -> String {
        if self.short { self.unit.short_number(nanoseconds) } else { self.unit.number(nanoseconds) }
    }

    pub(crate) fn time(self, nanoseconds: i64) -> Cell {
        Cell::number(self.text(nanoseconds), nanoseconds)
    }
}

/// The scale of totals and that of single calls of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales {
    pub(crate) total: Scale,
    pub(crate) call: Scale,
}

impl Scales {
    pub(crate) fn for_rows<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
        Self {
            total: Scale::for_totals(rows.clone().map(|stats| stats.total_ns)),
            call: Scale::for_calls(rows),
        }
    }
}

pub(crate) fn groups(rows: &[Row], scales: Scales, by: GroupBy, is_csv: bool) -> Table {
    // A single call has no distribution.
    let is_drawn = |row: &Row| row.stats.calls > 1 && row.bars.iter().any(|&height| height > 0);
    let has_bars = !is_csv && rows.iter().any(is_drawn);
    let label = label(by);
    let header = match by {
        GroupBy::Gpu => "GPU".to_owned(),
        _ => label[..1].to_uppercase() + &label[1..],
    };
    let table = Table::of(rows)
        // Kernels share shapes, so a shape is printed with its kernel.
        .column_if(by == GroupBy::Shape, Column::name("Kernel").field("kernel"), |row| {
            Cell::text(row.kernel.as_deref().unwrap_or_default())
        })
        .column(Column::name(header).field("name"), |row| Cell::text(&row.name))
        .column_if(rows.iter().any(|row| row.key.is_some()), Column::left("Key").field("key"), |row| {
            Cell::text(row.key.as_deref().unwrap_or_default())
        })
        .column(Column::right("Calls").field("calls"), |row| count(row.stats.calls))
        .column(Column::right(scales.total.head("Total")).field("total_ns"), |row| {
            scales.total.time(row.stats.total_ns)
        })
        .column(Column::right("%").field("share"), |row| share(row.share))
        .column(Column::right("Cum %").field("cumulative_share").optional(), |row| {
            share(row.cumulative_share)
        })
        .column_if(has_bars, Column::left("Duration").optional_late(), |row| match is_drawn(row) {
            true => Cell::text(bars::of_eighths(&row.bars)),
            false => Cell::none(),
        });
    stat_columns(table, scales.call, |row| &row.stats).build()
}

/// Adds the columns of the durations of calls. All share the unit in the header of the first.
pub(crate) fn stat_columns<R>(table: TableOf<R>, scale: Scale, stats: impl Fn(&R) -> &Stats) -> TableOf<R> {
    let rounded = |nanoseconds: f64| Cell::number(scale.text(nanoseconds.round() as i64), nanoseconds);
    table
        .column(Column::right(scale.head("Mean")).field("mean_ns"), |row| rounded(stats(row).mean_ns))
        .column(Column::right("Min").field("min_ns").optional(), |row| scale.time(stats(row).min_ns))
        .column(Column::right("p50").field("p50_ns").optional_late(), |row| scale.time(stats(row).p50_ns))
        .column(Column::right("p95").field("p95_ns").optional(), |row| scale.time(stats(row).p95_ns))
        .column(Column::right("p99").field("p99_ns").optional(), |row| scale.time(stats(row).p99_ns))
        .column(Column::right("Max").field("max_ns").optional_late(), |row| scale.time(stats(row).max_ns))
        .column(Column::right("Stddev").field("stddev_ns").optional(), |row| match stats(row) {
            // A single call has no deviation.
            stats if stats.calls < 2 => Cell::number(units::NONE, stats.stddev_ns),
            stats => rounded(stats.stddev_ns),
        })
}

pub(crate) fn count(number: u64) -> Cell {
    Cell::number(units::count(number), number)
}

pub(crate) fn gpu_number(label: &str, gpu: i64) -> Cell {
    Cell::number(label.trim_start_matches("GPU "), gpu)
}

pub(crate) fn duration(nanoseconds: i64) -> Cell {
    Cell::number(units::duration(nanoseconds), nanoseconds)
}

/// A moment in ns after the start of the trace, `origin`, in ms at most: seconds would make different moments of a long trace equal.
pub(crate) fn moment(ns: i64, origin: i64) -> String {
    let after = ns.saturating_sub(origin);
    let unit = TimeUnit::of(after).min(TimeUnit::Milliseconds);
    format!("{} {}", unit.number(after), unit.symbol())
}

pub(crate) fn share(fraction: f64) -> Cell {
    Cell::number(units::fixed(fraction * 100.0, 2), fraction)
}

pub(crate) fn mean_duration(nanoseconds: f64) -> Cell {
    Cell::number(round_duration(nanoseconds), nanoseconds)
}

pub(crate) fn round_duration(nanoseconds: f64) -> String {
    units::duration(nanoseconds.round() as i64)
}

pub(crate) fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
    value.map_or_else(Cell::none, cell)
}

/// `1 copy`, `2 copies`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", units::count(count), if count == 1 { one } else { many })
}
