use std::io::{self, Write};

use super::model::{Cell, Table};

/// RFC 4180: CRLF, quotes only where needed, quotes doubled.
pub(super) fn render(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    record(table.columns.iter().map(|column| column.field.as_str()), out)?;
    table.rows.iter().try_for_each(|row| record(row.iter().map(Cell::value), out))
}

fn record<'a>(fields: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> io::Result<()> {
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
