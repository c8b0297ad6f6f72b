use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement};
use unicode_width::UnicodeWidthStr;

use super::model::{Align, Optional, Table};
use crate::color::Paint;
use crate::{escape_control, shorten_distinct};

/// Spaces between two columns.
const SPACE: usize = 2;

/// The shortest column of names; a table that needs less gets wider than allowed instead.
const MIN_NAME: usize = 16;

/// Optional columns are omitted before a column of names gets narrower than this.
const READABLE_NAME: usize = 24;

/// comfy-table counts columns in 16 bits.
const MAX_WIDTH: usize = 60_000;

/// Headers, a rule and aligned cells, two spaces apart.
pub(super) fn render(
    table: &Table,
    width: Option<usize>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let narrow;
    let table = match width.map(|width| omitted_columns(table, width)) {
        Some(omitted) if !omitted.is_empty() => {
            narrow = without(table, &omitted);
            &narrow
        }
        _ => table,
    };
    let cells = cells(table, width);
    let mut drawn = comfy_table::Table::new();
    let mut style = NOTHING;
    style.header_separator.fill = Some('─');
    drawn.load_style(style);
    drawn.set_content_arrangement(ContentArrangement::Disabled);
    drawn.set_header(table.columns.iter().map(|column| escape_control(&column.header).into_owned()));
    for row in 0..table.len() {
        drawn.add_row(cells.iter().map(|column| column[row].as_str()));
    }
    for (position, (column, drawn)) in table.columns.iter().zip(drawn.column_iter_mut()).enumerate() {
        drawn.set_padding((if position == 0 { 0 } else { SPACE as u16 }, 0));
        drawn.set_cell_alignment(match column.align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    for (position, line) in drawn.lines().enumerate() {
        let line = line.trim_end();
        if position == 0 { writeln!(out, "{}", paint.bold(line))? } else { writeln!(out, "{line}")? }
    }
    Ok(())
}

/// The width of a column in full.
fn natural(table: &Table, column: usize) -> usize {
    let texts = table.texts(column).map(|text| escape_control(text).width());
    texts.chain([table.columns[column].header.width()]).max().unwrap_or(0)
}

/// The optional columns to omit so that the others fit `width`.
fn omitted_columns(table: &Table, width: usize) -> Vec<usize> {
    let natural: Vec<usize> = (0..table.columns.len()).map(|column| natural(table, column)).collect();
    let mut omitted: Vec<usize> = Vec::new();
    for (optional, name) in [(Optional::Early, READABLE_NAME), (Optional::Late, MIN_NAME)] {
        let needs = |column: usize| {
            let full = natural[column];
            SPACE + if table.columns[column].shortens { full.min(name) } else { full }
        };
        let kept = (0..table.columns.len()).filter(|column| !omitted.contains(column));
        let mut needed: usize = kept.map(needs).sum::<usize>().saturating_sub(SPACE);
        for column in (0..table.columns.len()).rev() {
            if needed > width && table.columns[column].optional == Some(optional) {
                needed -= needs(column);
                omitted.push(column);
            }
        }
    }
    omitted
}

fn without(table: &Table, omitted: &[usize]) -> Table {
    fn kept<T: Clone>(values: &[T], omitted: &[usize]) -> Vec<T> {
        let values = values.iter().enumerate().filter(|(column, _)| !omitted.contains(column));
        values.map(|(_, value)| value.clone()).collect()
    }
    Table {
        columns: kept(&table.columns, omitted),
        rows: table.rows.iter().map(|row| kept(row, omitted)).collect(),
    }
}

/// The text of each column, with names shortened so that the table fits `width`.
fn cells(table: &Table, width: Option<usize>) -> Vec<Vec<String>> {
    let full: Vec<Vec<String>> = (0..table.columns.len())
        .map(|column| table.texts(column).map(|text| escape_control(text).into_owned()).collect())
        .collect();
    let width = width.unwrap_or(MAX_WIDTH);
    let natural: Vec<usize> = (0..table.columns.len()).map(|column| natural(table, column)).collect();
    let fixed: usize = natural.iter().zip(&table.columns).filter(|(_, c)| !c.shortens).map(|(n, _)| n).sum();
    let spaces = SPACE * table.columns.len().saturating_sub(1);
    let names: Vec<usize> =
        (0..table.columns.len()).filter(|&column| table.columns[column].shortens).collect();
    let shares = share(
        &names.iter().map(|&column| natural[column]).collect::<Vec<_>>(),
        width.saturating_sub(fixed + spaces),
    );
    let mut cells = full;
    for (column, room) in names.into_iter().zip(shares) {
        let originals: Vec<&str> = table.texts(column).collect();
        cells[column] = shorten_distinct(&originals, room);
    }
    cells
}

/// Divides `room` among columns: each gets what it needs, at most an even part of what is left.
fn share(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&column| needs[column]);
    let mut shares = vec![0; needs.len()];
    let mut left = room;
    for (done, column) in order.into_iter().enumerate() {
        let even = left / (needs.len() - done);
        shares[column] = needs[column].min(even.max(MIN_NAME));
        left = left.saturating_sub(shares[column]);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_column_leaves_its_room_to_the_others() {
        assert_eq!(share(&[100, 20, 100], 120), [50, 20, 50]);
        assert_eq!(share(&[30, 40], 200), [30, 40]);
    }

    #[test]
    fn a_name_keeps_a_readable_width_in_a_narrow_terminal() {
        assert_eq!(share(&[100, 3], 10), [MIN_NAME, 3]);
    }
}
