//! A report as people read it.

mod bandwidth;
mod imbalance;
mod trust;

use std::io::{self, Write};

use cli::color::Paint;
use cli::{Cell, Column, Layout, Table, terminal, units};

use crate::document::{Document, Group, InputClock, Method};

/// Prints the report.
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
            let straggler = cli::escape_control(straggler);
            writeln!(out, "the others waited for {straggler} (computed without clocks)")?;
        }
        if !document.waits.missing.is_empty() {
            let missing = document.waits.missing.join(", ");
            let line = format!(
                "missing from these figures: {missing}; none of its collectives match those of other ranks"
            );
            writeln!(out, "{}", terminal::wrapped(&cli::escape_control(&line), 0))?;
        }
    }
    bandwidth::text(document, layout, out)?;
    imbalance::text(&document.imbalance, layout, out)?;
    trust::text(document, out)?;
    for note in &document.notes {
        let note = format!("note: {}", cli::escape_control(note));
        writeln!(out, "\n{}", terminal::wrapped(&note, 0))?;
    }
    writeln!(out, "\n{}", terminal::wrapped(&closing(document), 0))
}

fn inputs(document: &Document) -> Table {
    Table::of(&document.inputs)
        .column(Column::right("Rank"), |input| Cell::text(numbers(&input.ranks)))
        .column(Column::name("Trace"), |input| Cell::text(&input.path))
        .column(Column::left("Machine"), |input| known(input.machine.as_ref()))
        .column(Column::left("Layout"), |input| Cell::text(input.dialect))
        .column(Column::right("Processes").optional(), |input| Cell::text(input.processes.to_string()))
        .column(Column::right("Rows"), |input| Cell::text(units::count(input.rows)))
        .column(Column::right("Problems").optional(), |input| Cell::text(units::count(input.problems)))
        .build()
}

fn gpus(document: &Document) -> Table {
    let ranks = |ranks: &[u32]| match ranks {
        [] => String::new(),
        [rank] => format!(" (rank {rank})"),
        ranks => format!(" (ranks {})", numbers(ranks)),
    };
    Table::of(&document.gpus)
        .column(Column::right("GPU"), |gpu| Cell::text(gpu.number.to_string()))
        .column(Column::name("Where"), |gpu| Cell::text(format!("{}{}", gpu.place, ranks(&gpu.ranks))))
        .column(Column::left("What").optional(), |gpu| Cell::text(gpu.product.as_deref().unwrap_or_default()))
        .build()
}

/// The corrections of the clocks, if any.
fn clocks(document: &Document, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let clock = &document.clock;
    if clock.inputs.iter().any(|input| input.method != Method::Reference || input.error_ns.is_some()) {
        let by = |clock: &InputClock| match clock.method {
            Method::Collectives => {
                format!("{} collectives", units::count(clock.collectives.unwrap_or_default() as u64))
            }
            Method::Reference if clock.error_ns.is_some() => {
                let collectives = units::count(clock.collectives.unwrap_or_default() as u64);
                format!("nothing: {collectives} collectives agree with one clock")
            }
            Method::Reference => "nothing: the others follow it".to_owned(),
            Method::Anchors => "real time as each machine had it".to_owned(),
            Method::Given => "--offset".to_owned(),
            Method::Stored => "nothing".to_owned(),
        };
        let table = Table::of(document.inputs.iter().zip(&clock.inputs))
            .column(Column::name("Clock of"), |(input, _)| Cell::text(&input.path))
            .column(Column::left("Put right by"), |(_, clock)| Cell::text(by(clock)))
            .column(Column::right("Added"), |(_, clock)| Cell::text(units::duration(clock.added_first_ns)))
            .column(Column::right("May be off by"), |(_, clock)| {
                known(clock.error_ns.map(|error| units::duration(error.ceil() as i64)))
            })
            .column(Column::sentence("Why not better"), |(_, clock)| {
                Cell::text(clock.reason.as_deref().unwrap_or_default())
            });
        writeln!(out)?;
        table.build().render(layout, out)?;
    }
    if clock.collectives > 0 {
        let line = format!(
            "{} collectives matched, {} violated (a member ends before the last one starts), {} calls unmatched{}",
            units::count(clock.collectives),
            units::count(clock.violations),
            units::count(clock.unmatched),
            match clock.unmatched_at_edges {
                0 => String::new(),
                edges => format!(", {} of them where not all ranks were recorded", units::count(edges)),
            }
        );
        writeln!(out, "\n{}", terminal::wrapped(&line, 0))?;
    }
    Ok(())
}

fn groups(document: &Document) -> Table {
    let mean = |group: &Group, sum: i64| units::duration(sum / group.collectives.max(1) as i64);
    Table::of(&document.waits.groups)
        .column(Column::name("Collective"), |group| Cell::text(&group.kernel))
        .column(Column::right("Ranks"), |group| Cell::text(group.members.len().to_string()))
        .column(Column::right("Calls"), |group| Cell::text(units::count(group.collectives)))
        .column(Column::right("Mean arrival spread"), |group| {
            known(group.arrival_spread_ns.map(|sum| mean(group, sum)))
        })
        .column(Column::right("Mean transfer"), |group| known(group.transfer_ns.map(|sum| mean(group, sum))))
        .column(Column::right("without clocks").optional(), |group| {
            Cell::text(mean(group, group.clock_free_transfer_ns))
        })
        .build()
}

fn ranks(document: &Document) -> Table {
    let duration = |nanoseconds: i64| Cell::text(units::duration(nanoseconds));
    let count = |number: u64| Cell::text(units::count(number));
    Table::of(&document.waits.ranks)
        .column(Column::name("Waits of"), |rank| Cell::text(&rank.member))
        .column(Column::right("Calls"), |rank| count(rank.waits.collectives))
        .column(Column::right("Waited"), |rank| duration(rank.waits.wait_ns))
        .column(Column::right("Arrived last"), |rank| count(rank.waits.last))
        .column(Column::right("Held up the others"), |rank| duration(rank.waits.delay_ns))
        .column(Column::right("Waited, without clocks").optional(), |rank| {
            duration(rank.waits.clock_free_wait_ns)
        })
        .column(Column::right("last").optional(), |rank| count(rank.waits.clock_free_last))
        .build()
}

fn known(text: Option<impl Into<String>>) -> Cell {
    text.map_or_else(Cell::none, Cell::text)
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
    let what = cli::escape_control(what);
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
