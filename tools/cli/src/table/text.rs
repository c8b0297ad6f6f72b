//! Tables for people: aligned cells under headers and a rule, in the width of the terminal.

use std::borrow::Cow;
use std::io::{self, Write};

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement};
use unicode_width::UnicodeWidthStr;

use super::model::{Align, Optional, Table};
use crate::color::Paint;
use crate::shorten::shorten_with_forms;
use crate::{escape_control, terminal};

const SPACE: usize = 2;

/// The shortest column of names; a table that needs less loses other columns.
const MIN_NAME: usize = 16;

/// Columns that are optional late are omitted before a column of names gets narrower than this.
const READABLE_NAME: usize = 24;

/// Optional columns are omitted before a column of names gets narrower than this. Display names of kernels fit.
const DISPLAY_NAME: usize = 36;

/// comfy-table counts columns in 16 bits.
const MAX_WIDTH: usize = 60_000;

pub(super) fn render(
    table: &Table,
    width: Option<usize>,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let natural = natural(table);
    let columns = shown_columns(table, &natural, width.unwrap_or(usize::MAX));
    let cells = cells(table, &natural, &columns, width.unwrap_or(MAX_WIDTH));
    let mut drawn = comfy_table::Table::new();
    let mut style = NOTHING;
    style.header_separator.fill = Some('─');
    drawn.load_style(style);
    drawn.set_content_arrangement(ContentArrangement::Disabled);
    let headers = columns.iter().map(|&column| &table.columns[column].header);
    drawn.set_header(headers.map(|header| escape_control(header).into_owned()));
    for row in 0..table.len() {
        drawn.add_row(cells.iter().map(|column| column[row].as_ref()));
    }
    for (position, (&column, drawn)) in columns.iter().zip(drawn.column_iter_mut()).enumerate() {
        drawn.set_padding((if position == 0 { 0 } else { SPACE as u16 }, 0));
        drawn.set_cell_alignment(match table.columns[column].align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    for (position, line) in drawn.lines().enumerate() {
        let line = line.trim_end();
        if position == 0 { writeln!(out, "{}", paint.bold(line))? } else { writeln!(out, "{line}")? }
    }
    let hidden = (0..table.columns.len()).filter(|column| !columns.contains(column));
    let hidden: Vec<&str> = hidden.map(|column| table.columns[column].header.as_str()).collect();
    if !hidden.is_empty() {
        let line = escape_control(&format!("not shown: {}", hidden.join(", "))).into_owned();
        writeln!(out, "{}", paint.dim(&terminal::wrapped_to(&line, width.unwrap_or(MAX_WIDTH), 0)))?;
    }
    Ok(())
}

fn natural(table: &Table) -> Vec<usize> {
    let width = |column: usize| {
        let texts = table.texts(column).map(|text| escape_control(text).width());
        texts.chain([table.columns[column].header.width()]).max().unwrap_or(0)
    };
    (0..table.columns.len()).map(width).collect()
}

/// The columns that remain when some are omitted so that the others fit `width`: optional ones first, then any from the
/// right except the first.
fn shown_columns(table: &Table, natural: &[usize], width: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..table.columns.len()).collect();
    let phases =
        [(Some(Optional::Early), DISPLAY_NAME), (Some(Optional::Late), READABLE_NAME), (None, MIN_NAME)];
    for (optional, name) in phases {
        let needs = |column: usize| {
            let full = natural[column];
            SPACE + if table.columns[column].is_flexible() { full.min(name) } else { full }
        };
        let mut needed = shown.iter().copied().map(needs).sum::<usize>().saturating_sub(SPACE);
        for position in (1..shown.len()).rev() {
            if needed > width && table.columns[shown[position]].optional == optional {
                needed -= needs(shown.remove(position));
            }
        }
    }
    shown
}

/// The texts of the columns, with names shortened so that the table fits `width`.
fn cells<'a>(table: &'a Table, natural: &[usize], columns: &[usize], width: usize) -> Vec<Vec<Cow<'a, str>>> {
    let (names, others): (Vec<usize>, Vec<usize>) =
        columns.iter().partition(|&&column| table.columns[column].is_flexible());
    let fixed: usize = others.iter().map(|&column| natural[column]).sum();
    let spaces = SPACE * columns.len().saturating_sub(1);
    let shares = share(
        &names.iter().map(|&column| natural[column]).collect::<Vec<_>>(),
        width.saturating_sub(fixed + spaces),
    );
    let mut shares = shares.into_iter();
    let cells = columns.iter().map(|&column| {
        let mut room = || shares.next().unwrap_or(MIN_NAME);
        if table.columns[column].shortens {
            let originals: Vec<(&str, Option<&str>)> = table.names(column).collect();
            return shorten_with_forms(&originals, room()).into_iter().map(Cow::Owned).collect();
        }
        if table.columns[column].wraps {
            let room = room();
            return table
                .texts(column)
                .map(|text| Cow::Owned(terminal::wrapped_to(&escape_control(text), room, 0)))
                .collect();
        }
        table.texts(column).map(escape_control).collect()
    });
    cells.collect()
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
