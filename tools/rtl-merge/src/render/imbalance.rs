//! How evenly the ranks share their work: the few rows that matter most; JSON has all.

use std::io::{self, Write};

use cli::{Cell, Column, Layout, Table, units};
use rtl_analysis::ranks::steps::RankSteps;
use rtl_analysis::ranks::{Outlier, Quantity, Steps};

use crate::document::{Imbalance, RankWork};

/// The number of ranks in the table.
const RANKS: usize = 16;

/// The number of kernels and outliers in the tables.
const ROWS: usize = 5;

/// Prints the balance, where there are ranks to compare.
pub(super) fn text(imbalance: &Imbalance, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    if imbalance.ranks.len() < 2 {
        return Ok(());
    }
    writeln!(out)?;
    ranks(imbalance).render(layout, out)?;
    others(imbalance.ranks.len().saturating_sub(RANKS), "ranks", out)?;
    if let Some(steps) = &imbalance.steps {
        let line = format!(
            "{} steps lie between calls of {}: the last rank takes {} longer than the mean",
            units::count(steps.steps),
            cli::escape_control(&steps.name),
            units::percent(steps.imbalance)
        );
        writeln!(out, "{}", cli::terminal::wrapped(&line, 2))?;
    }
    if !imbalance.kernels.is_empty() {
        writeln!(out)?;
        kernels(imbalance).render(layout, out)?;
        let hidden = imbalance.kernels.len().saturating_sub(ROWS) + imbalance.other_kernels;
        others(hidden, "kernels", out)?;
    }
    for outlier in imbalance.outliers.iter().take(ROWS) {
        writeln!(out, "{}", cli::terminal::wrapped(&stands_out(outlier), 2))?;
    }
    let hidden = imbalance.outliers.len().saturating_sub(ROWS) + imbalance.other_outliers;
    others(hidden, "that stand out", out)
}

fn others(count: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    match count {
        0 => Ok(()),
        _ => writeln!(out, "and {} more {what}, see --print json", units::count(count as u64)),
    }
}

fn ranks(imbalance: &Imbalance) -> Table {
    let known = |text: Option<String>| text.map_or_else(Cell::none, Cell::text);
    let of_steps = |rank: &RankWork| {
        let steps = imbalance.steps.as_ref()?;
        Some((steps, steps.ranks.iter().find(|own| own.name == rank.member)?))
    };
    Table::of(imbalance.ranks.iter().take(RANKS))
        .column(Column::name("Work of"), |rank| Cell::text(&rank.member))
        .column(Column::right("Busy"), |rank| known(rank.busy_ns.map(units::duration)))
        .column(Column::right("Own work"), |rank| known(rank.compute_ns.map(units::duration)))
        .column(Column::right("A step"), |rank| {
            let mean = |(steps, own): (&Steps, &RankSteps)| own.total_ns / steps.steps.max(1) as i64;
            known(of_steps(rank).map(mean).map(units::duration))
        })
        .column(Column::right("Slowest"), |rank| {
            known(of_steps(rank).map(|(_, own)| units::count(own.slowest)))
        })
        .build()
}

fn kernels(imbalance: &Imbalance) -> Table {
    Table::of(imbalance.kernels.iter().take(ROWS))
        .column(Column::name("Kernel"), |kernel| Cell::text(&kernel.name))
        .column(Column::right("Ranks"), |kernel| Cell::text(units::count(kernel.ranks)))
        .column(Column::right("Mean"), |kernel| Cell::text(time(kernel.mean_ns)))
        .column(Column::right("Most"), |kernel| Cell::text(units::duration(kernel.most_ns)))
        .column(Column::right("More than the mean"), |kernel| Cell::text(units::percent(kernel.imbalance)))
        .column(Column::left("Of"), |kernel| Cell::text(&kernel.rank))
        .column(Column::right("A call").optional(), |kernel| {
            Cell::text(units::percent(kernel.call_imbalance))
        })
        .column(Column::left("of").optional(), |kernel| Cell::text(&kernel.call_rank))
        .build()
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
