//! How evenly the ranks share their work: the few rows that matter most; JSON has all.

use std::io::{self, Write};

use cli::{Cell, Column, Layout, Table, units};
use rtl_analysis::ranks::{Outlier, Quantity};

use crate::imbalance::Imbalance;

/// So many ranks are told.
const RANKS: usize = 16;

/// So many kernels and outliers are told.
const ROWS: usize = 5;

/// Prints it, where there are ranks to compare.
pub(super) fn text(imbalance: &Imbalance, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    if imbalance.ranks.len() < 2 {
        return Ok(());
    }
    writeln!(out)?;
    ranks(imbalance).render(layout, out)?;
    others(imbalance.ranks.len().saturating_sub(RANKS), "ranks", out)?;
    if let Some(steps) = &imbalance.steps {
        writeln!(
            out,
            "{} steps lie between calls of {}: the last rank takes {} longer than the mean",
            units::count(steps.steps),
            cli::escape_control(&steps.name),
            units::percent(steps.imbalance)
        )?;
    }
    if !imbalance.kernels.is_empty() {
        writeln!(out)?;
        kernels(imbalance).render(layout, out)?;
        let hidden = imbalance.kernels.len().saturating_sub(ROWS) + imbalance.other_kernels;
        others(hidden, "kernels", out)?;
    }
    for outlier in imbalance.outliers.iter().take(ROWS) {
        writeln!(out, "{}", stands_out(outlier))?;
    }
    let hidden = imbalance.outliers.len().saturating_sub(ROWS) + imbalance.other_outliers;
    others(hidden, "that stand out", out)
}

fn others(count: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match count {
        0 => Ok(()),
        _ => writeln!(out, "and {} more {what}, see --format json", units::count(count as u64)),
    }
}

fn ranks(imbalance: &Imbalance) -> Table {
    let mut table = Table::new([
        Column::name("Work of"),
        Column::right("Busy"),
        Column::right("Own work"),
        Column::right("A step"),
        Column::right("Slowest"),
    ]);
    let known =
        |duration: Option<i64>| Cell::text(duration.map_or_else(|| units::NONE.to_owned(), units::duration));
    for rank in imbalance.ranks.iter().take(RANKS) {
        let steps = imbalance.steps.as_ref();
        let own = steps.and_then(|steps| {
            let own = steps.ranks.iter().find(|own| own.name == rank.member)?;
            Some((own.total_ns / steps.steps.max(1) as i64, own.slowest))
        });
        table.row([
            Cell::text(&rank.member),
            known(rank.busy_ns),
            known(rank.compute_ns),
            known(own.map(|(mean, _)| mean)),
            Cell::text(own.map_or_else(|| units::NONE.to_owned(), |(_, slowest)| units::count(slowest))),
        ]);
    }
    table
}

fn kernels(imbalance: &Imbalance) -> Table {
    let mut table = Table::new([
        Column::name("Kernel"),
        Column::right("Ranks"),
        Column::right("Mean"),
        Column::right("Most"),
        Column::right("More than the mean"),
        Column::left("Of"),
        Column::right("A call").optional(),
        Column::left("of").optional(),
    ]);
    for kernel in imbalance.kernels.iter().take(ROWS) {
        table.row([
            Cell::text(&kernel.name),
            Cell::text(units::count(kernel.ranks)),
            Cell::text(time(kernel.mean_ns)),
            Cell::text(units::duration(kernel.most_ns)),
            Cell::text(units::percent(kernel.imbalance)),
            Cell::text(&kernel.rank),
            Cell::text(units::percent(kernel.call_imbalance)),
            Cell::text(&kernel.call_rank),
        ]);
    }
    table
}

fn stands_out(outlier: &Outlier) -> String {
    let what = match outlier.quantity {
        Quantity::Compute => "its own work takes".to_owned(),
        Quantity::Steps => "a step takes".to_owned(),
        Quantity::Wait => "its wait in a collective is".to_owned(),
        Quantity::Kernel => {
            format!("a call of {} takes", cli::escape_control(outlier.kernel.as_deref().unwrap_or_default()))
        }
    };
    format!(
        "{} stands out: {what} {}, the median of ranks is {} ({} spreads away)",
        cli::escape_control(&outlier.rank),
        time(outlier.value_ns),
        time(outlier.median_ns),
        units::fixed(outlier.spreads.abs(), 1)
    )
}

fn time(nanoseconds: f64) -> String {
    units::duration(nanoseconds.round() as i64)
}
