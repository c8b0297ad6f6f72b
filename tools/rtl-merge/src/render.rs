//! A report as people read it.

mod imbalance;

use std::io::{self, Write};

use cli::color::Paint;
use cli::{Cell, Column, Layout, Table, terminal, units};

use crate::document::Document;

/// Prints it.
///
/// # Errors
/// Those of the writer.
pub(crate) fn text(document: &Document, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::Text { width: Some(terminal::width()), paint };
    inputs(document).render(layout, out)?;
    writeln!(out)?;
    gpus(document).render(layout, out)?;
    clocks(document, layout, out)?;
    if !document.waits.groups.is_empty() {
        writeln!(out)?;
        groups(document).render(layout, out)?;
        writeln!(out)?;
        ranks(document).render(layout, out)?;
        if let Some(straggler) = &document.waits.straggler {
            writeln!(out, "the others waited for {straggler}, told without clocks")?;
        }
    }
    imbalance::text(&document.imbalance, layout, out)?;
    for note in &document.notes {
        writeln!(out, "\nnote: {}", cli::escape_control(note))?;
    }
    writeln!(out, "\n{}", closing(document))
}

fn inputs(document: &Document) -> Table {
    let mut table = Table::new([
        Column::right("Rank"),
        Column::name("Trace"),
        Column::left("Machine"),
        Column::left("Layout"),
        Column::right("Processes").optional(),
        Column::right("Rows"),
        Column::right("Problems").optional(),
    ]);
    for input in &document.inputs {
        table.row([
            Cell::text(numbers(&input.ranks)),
            Cell::text(&input.path),
            Cell::text(input.machine.as_deref().unwrap_or(units::NONE)),
            Cell::text(input.dialect),
            Cell::text(input.processes.to_string()),
            Cell::text(units::count(input.rows)),
            Cell::text(units::count(input.problems)),
        ]);
    }
    table
}

fn gpus(document: &Document) -> Table {
    let mut table =
        Table::new([Column::right("GPU"), Column::name("Where"), Column::left("What").optional()]);
    for gpu in &document.gpus {
        let ranks = match gpu.ranks.as_slice() {
            [] => String::new(),
            [rank] => format!(" (rank {rank})"),
            ranks => format!(" (ranks {})", numbers(ranks)),
        };
        table.row([
            Cell::text(gpu.number.to_string()),
            Cell::text(format!("{}{ranks}", gpu.place)),
            Cell::text(gpu.product.as_deref().unwrap_or_default()),
        ]);
    }
    table
}

/// What was done to the clocks, if anything had to be.
fn clocks(document: &Document, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let clock = &document.clock;
    if clock.inputs.iter().any(|input| input.method != "reference") {
        let mut table = Table::new([
            Column::name("Clock of"),
            Column::left("Put right by"),
            Column::right("Added"),
            Column::right("May be off by"),
            Column::left("Why not better"),
        ]);
        for (input, clock) in document.inputs.iter().zip(&clock.inputs) {
            let error = clock.error_ns.map(|error| units::duration(error.ceil() as i64));
            table.row([
                Cell::text(&input.path),
                Cell::text(match (clock.method, clock.collectives) {
                    ("collectives", Some(count)) => format!("{} collectives", units::count(count as u64)),
                    ("reference", _) => "nothing: the others follow it".to_owned(),
                    ("anchors", _) => "real time as each machine had it".to_owned(),
                    ("given", _) => "--offset".to_owned(),
                    _ => "nothing".to_owned(),
                }),
                Cell::text(units::duration(clock.added_first_ns)),
                Cell::text(error.as_deref().unwrap_or(units::NONE)),
                Cell::text(clock.reason.as_deref().unwrap_or_default()),
            ]);
        }
        writeln!(out)?;
        table.render(layout, out)?;
    }
    if clock.collectives > 0 {
        writeln!(
            out,
            "\n{} collectives matched, {} violated (a member ends before the last one starts), {} calls unmatched",
            units::count(clock.collectives as u64),
            units::count(clock.violations as u64),
            units::count(clock.unmatched as u64)
        )?;
    }
    Ok(())
}

fn groups(document: &Document) -> Table {
    let mut table = Table::new([
        Column::name("Collective"),
        Column::right("Ranks"),
        Column::right("Calls"),
        Column::right("Arrival spread"),
        Column::right("Transfer"),
        Column::right("without clocks").optional(),
    ]);
    for group in &document.waits.groups {
        let mean = |sum: i64| units::duration(sum / group.collectives.max(1) as i64);
        let known = |sum: Option<i64>| sum.map_or_else(|| units::NONE.to_owned(), mean);
        table.row([
            Cell::text(&group.kernel),
            Cell::text(group.members.len().to_string()),
            Cell::text(units::count(group.collectives)),
            Cell::text(known(group.arrival_spread_ns)),
            Cell::text(known(group.transfer_ns)),
            Cell::text(mean(group.clock_free_transfer_ns)),
        ]);
    }
    table
}

fn ranks(document: &Document) -> Table {
    let mut table = Table::new([
        Column::name("Waits of"),
        Column::right("Calls"),
        Column::right("Waited"),
        Column::right("Came last"),
        Column::right("Held up the others"),
        Column::right("Waited, without clocks").optional(),
        Column::right("last").optional(),
    ]);
    for rank in &document.waits.ranks {
        table.row([
            Cell::text(&rank.member),
            Cell::text(units::count(rank.collectives)),
            Cell::text(units::duration(rank.wait_ns)),
            Cell::text(units::count(rank.last)),
            Cell::text(units::duration(rank.delay_ns)),
            Cell::text(units::duration(rank.clock_free_wait_ns)),
            Cell::text(units::count(rank.clock_free_last)),
        ]);
    }
    table
}

/// Sorted numbers with runs drawn together: `0-3, 8`.
fn numbers(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let words: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            [only] => only.to_string(),
            [] => String::new(),
        })
        .collect();
    if words.is_empty() { units::NONE.to_owned() } else { words.join(", ") }
}

/// The line that a merge closes with: no row is left out without a word.
fn closing(document: &Document) -> String {
    let tables: Vec<String> = (document.rows.iter())
        .map(|table| {
            let read = units::count(table.rows_in);
            match table.rows_out {
                Some(written) => format!("{} {read} in, {} out", table.table, units::count(written)),
                None => format!("{} {read}", table.table),
            }
        })
        .collect();
    let what = document.output.as_deref().unwrap_or("nothing was written");
    format!("{what}: {}", if tables.is_empty() { "no rows".to_owned() } else { tables.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_drawn_together() {
        assert_eq!(numbers(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert_eq!(numbers(&[]), "-");
    }
}
