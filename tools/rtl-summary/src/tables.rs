//! Cells and columns that several sections share.

use std::borrow::Cow;

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::Stats;
use rtl_analysis::kernels::GroupBy;
use rtl_report::Row;

use crate::choices::label;

/// The width of a kernel name within a sentence.
const NAME: usize = 60;

/// The unit and the number of decimals of the times in some columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
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

    /// For totals: the largest has at least two digits, so that smaller totals keep theirs.
    pub(crate) fn of_totals(totals: impl Iterator<Item = i64>) -> Self {
        let largest = totals.max().unwrap_or(0);
        Self::new(TimeUnit::of(largest / 10).max(TimeUnit::Microseconds), largest)
    }

    /// For single calls. The median row decides: the unit of the longest call would round short calls to 0.
    pub(crate) fn of_calls<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
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

/// The scales of a table of calls: one for totals, one for single calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales {
    pub(crate) total: Scale,
    pub(crate) call: Scale,
}

impl Scales {
    pub(crate) fn of<'a>(rows: impl Iterator<Item = &'a Stats> + Clone) -> Self {
        Self {
            total: Scale::of_totals(rows.clone().map(|stats| stats.total_ns)),
            call: Scale::of_calls(rows),
        }
    }
}

/// A table of kernels or other groups of dispatches.
pub(crate) fn groups(rows: &[Row], by: GroupBy) -> Table {
    let label = label(by);
    let header = match by {
        GroupBy::Gpu => "GPU".to_owned(),
        _ => label[..1].to_uppercase() + &label[1..],
    };
    let scales = Scales::of(rows.iter().map(|row| &row.stats));
    // Kernels share shapes, so a shape is printed with its kernel.
    let with_kernel = by == GroupBy::Shape;
    let mut columns: Vec<Column> =
        with_kernel.then(|| Column::name("Kernel").field("kernel")).into_iter().collect();
    columns.extend([
        Column::name(header).field("name"),
        Column::right("Calls").field("calls"),
        Column::right(scales.total.head("Total")).field("total_ns"),
        Column::right("%").field("share"),
        Column::right("Cum %").field("cumulative_share").optional(),
    ]);
    columns.extend(stat_columns(scales.call));
    let mut table = Table::new(columns);
    for row in rows {
        let kernel = with_kernel.then(|| Cell::text(row.kernel.as_deref().unwrap_or_default()));
        let cells = [
            Cell::text(&row.name),
            count(row.stats.calls),
            scales.total.time(row.stats.total_ns),
            share(row.share),
            share(row.cumulative_share),
        ];
        table.row(kernel.into_iter().chain(cells).chain(stat_cells(&row.stats, scales.call)));
    }
    table
}

/// The columns of durations of calls.
pub(crate) fn stat_columns(scale: Scale) -> impl Iterator<Item = Column> {
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
        // All columns share the unit in the header of the first.
        let header = if at == 0 { scale.head(name) } else { name.to_owned() };
        let column = Column::right(header).field(field);
        match name {
            "Min" | "p95" | "p99" | "Stddev" => column.optional(),
            "p50" | "Max" => column.optional_late(),
            _ => column,
        }
    })
}

/// The cells of [`stat_columns`].
pub(crate) fn stat_cells(stats: &Stats, scale: Scale) -> impl Iterator<Item = Cell> {
    let deviation = match stats.calls {
        // A single call has no deviation.
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

pub(crate) fn count(number: u64) -> Cell {
    Cell::number(units::count(number), number)
}

pub(crate) fn duration(nanoseconds: i64) -> Cell {
    Cell::number(units::duration(nanoseconds), nanoseconds)
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

/// The cell of a value that may be unknown.
pub(crate) fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
    value.map_or_else(Cell::none, cell)
}

/// `1 copy`, `2 copies`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", units::count(count), if count == 1 { one } else { many })
}

/// A kernel name within a sentence.
pub(crate) fn kernel_name(name: &str, full_names: bool) -> Cow<'_, str> {
    if full_names {
        return name.into();
    }
    cli::shorten_distinct(&[name], NAME).pop().map_or(name.into(), Cow::from)
}
