//! A report as people read it.

use std::io::{self, Write};

use cli::color::Paint;
use cli::{Cell, Column, Layout, Table, terminal, units};

use crate::document::Document;

/// Prints it.
///
/// # Errors
/// Those of the writer.
pub fn text(document: &Document, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::Text { width: Some(terminal::width()), paint };
    inputs(document).render(layout, out)?;
    writeln!(out)?;
    gpus(document).render(layout, out)?;
    for note in &document.notes {
        writeln!(out, "\nnote: {}", cli::visible(note))?;
    }
    writeln!(out, "\n{}", closing(document))
}

fn inputs(document: &Document) -> Table {
    let mut table = Table::new([
        Column::right("Rank"),
        Column::name("Trace"),
        Column::left("Machine"),
        Column::left("Layout"),
        Column::right("Processes").spare(),
        Column::right("Rows"),
        Column::right("Problems").spare(),
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
    let mut table = Table::new([Column::right("GPU"), Column::name("Where"), Column::left("What").spare()]);
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
