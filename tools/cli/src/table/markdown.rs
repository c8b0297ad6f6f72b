//! Tables as GitHub shows them in issues and pull requests.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::model::{Align, Cell, Table};
use crate::{escape_control, markdown_name};

/// Names of more columns give way to their short forms.
const NAME: usize = 60;

pub(super) fn render(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    line(table.columns.iter().map(|column| escape_control(&column.header).into_owned()), out)?;
    let rule = |align| if align == Align::Right { "--:" } else { ":--" };
    line(table.columns.iter().map(|column| rule(column.align).to_owned()), out)?;
    table.rows.iter().try_for_each(|row| line(row.iter().map(text), out))
}

fn text(cell: &Cell) -> String {
    let text = match &cell.short {
        Some(short) if cell.text.width() > NAME => short,
        _ => &cell.text,
    };
    // In a table `|` ends a cell in code, too.
    markdown_name(text).replace('|', "\\|")
}

fn line(cells: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    for cell in cells {
        write!(out, "| {cell} ")?;
    }
    writeln!(out, "|")
}
