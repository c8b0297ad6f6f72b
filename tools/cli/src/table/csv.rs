//! Tables as CSV (RFC 4180): CRLF, quotes only where needed, quotes doubled.

use std::borrow::Cow;
use std::io::{self, Write};

use super::model::{Cell, Table};

pub(super) fn render(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    record(table.columns.iter().map(|column| Cow::Borrowed(column.field.as_str())), out)?;
    table.rows.iter().try_for_each(|row| record(row.iter().map(field), out))
}

/// Spreadsheets execute texts that begin like a formula, so those get an apostrophe in front, and
/// so do texts that begin with an apostrophe: removing one leading apostrophe restores any text. Numbers are unchanged.
fn field(cell: &Cell) -> Cow<'_, str> {
    let value = cell.value();
    match cell.is_text() && value.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) {
        true => Cow::Owned(format!("'{value}")),
        false => Cow::Borrowed(value),
    }
}

fn record<'a>(fields: impl Iterator<Item = Cow<'a, str>>, out: &mut dyn Write) -> io::Result<()> {
    for (position, field) in fields.enumerate() {
        if position > 0 {
            out.write_all(b",")?;
        }
        if field.contains([',', '"', '\r', '\n']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}
