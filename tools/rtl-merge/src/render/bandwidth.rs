//! The bandwidth of collectives.

use std::io::{self, Write};

use cli::{Cell, Column, Layout, Table, units};
use rtl_analysis::ranks::{Bandwidth, Timing};

use crate::document::Document;

/// The number of rows in the table.
const ROWS: usize = 16;

/// Prints the table, where the traces state sizes of collectives.
pub(super) fn text(document: &Document, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let rows = &document.bandwidth;
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    table(&rows[..rows.len().min(ROWS)]).render(layout, out)?;
    if rows.len() > ROWS {
        writeln!(out, "and {} more sizes, see --print json", units::count((rows.len() - ROWS) as u64))?;
    }
    for (timing, meaning) in [
        (Timing::Shortest, "shortest: the shortest call of all ranks, because their clocks do not agree"),
        (Timing::Call, "call: the whole call, waiting included, because other ranks have no matching call"),
    ] {
        if rows.iter().any(|row| row.timing == timing) {
            writeln!(out, "{}", cli::terminal::wrapped(meaning, 2))?;
        }
    }
    Ok(())
}

fn table(rows: &[Bandwidth]) -> Table {
    let rate = |rate: Option<f64>| {
        rate.map_or_else(Cell::none, |rate| Cell::number(units::fixed(rate / 1e9, 2), rate))
    };
    Table::of(rows)
        .column(Column::left("Bandwidth of"), |row| Cell::text(&row.operation))
        .column(Column::left("Group"), |row| Cell::text(&row.communicator))
        .column(Column::right("Ranks").optional(), |row| {
            row.members.map_or_else(Cell::none, |members| Cell::text(members.to_string()))
        })
        .column(Column::right("Size from"), |row| Cell::text(units::bytes(row.from_bytes)))
        .column(Column::left("Timing"), |row| Cell::text(label(row.timing)))
        .column(Column::right("Count"), |row| Cell::text(units::count(row.count)))
        .column(Column::right("Algorithm (GB/s)"), |row| rate(row.algorithm_bytes_per_second))
        .column(Column::right("Bus (GB/s)"), |row| rate(row.bus_bytes_per_second))
        .build()
}

fn label(timing: Timing) -> &'static str {
    match timing {
        Timing::Transfer => "transfer",
        Timing::Shortest => "shortest",
        Timing::Call => "call",
    }
}
