use std::io::{self, Write};

use super::model::{Align, Table};
use crate::escape_control;

/// A GitHub table: one line per row, alignment in the second line.
pub(super) fn render(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    line(table.columns.iter().map(|column| column.header.as_str()), out)?;
    let rule = |align| if align == Align::Right { "--:" } else { ":--" };
    line(table.columns.iter().map(|column| rule(column.align)), out)?;
    table.rows.iter().try_for_each(|row| line(row.iter().map(|cell| cell.text.as_str()), out))
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> io::Result<()> {
    for cell in cells {
        write!(out, "| {} ", escape(cell))?;
    }
    writeln!(out, "|")
}

/// `|` ends a cell, `<` of a template argument starts HTML, and `*` starts emphasis.
fn escape(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    for character in escape_control(cell).chars() {
        if matches!(character, '|' | '\\' | '<' | '*' | '`') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}
