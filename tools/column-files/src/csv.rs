//! Rows as lines of CSV. The crate `csv` would write null and the empty text alike.

use std::fmt::Write;

use columnar::Data;

use crate::rows::Column;

pub(crate) fn header(columns: &[Column]) -> String {
    let mut line = String::new();
    for (position, column) in columns.iter().enumerate() {
        begin(&mut line, position);
        text(&mut line, &column.name);
    }
    line + "\n"
}

/// Adds a line for each row. Null is an empty field, the empty text is two quotes.
pub(crate) fn lines(columns: &[Column], lines: &mut String) {
    let rows = columns.first().map_or(0, |column| column.values.data.len());
    for row in 0..rows {
        for (position, column) in columns.iter().enumerate() {
            begin(lines, position);
            if column.values.is_known(row) {
                field(lines, &column.values.data, row);
            }
        }
        lines.push('\n');
    }
}

fn begin(line: &mut String, position: usize) {
    if position > 0 {
        line.push(',');
    }
}

fn field(line: &mut String, data: &Data, row: usize) {
    match data {
        Data::Bools(values) => line.push_str(if values[row] { "true" } else { "false" }),
        Data::Integers(values) => line.push_str(itoa::Buffer::new().format(values[row])),
        Data::Floats(values) => {
            let _ = write!(line, "{:?}", values[row]);
        }
        Data::Texts(values) => text(line, values[row].as_str().unwrap_or_default()),
    }
}

/// Quotes a text where RFC 4180 needs it.
fn text(line: &mut String, text: &str) {
    let is_plain = |text: &str| !text.is_empty() && !text.contains(['"', ',', '\n', '\r']);
    if is_plain(text) {
        return line.push_str(text);
    }
    line.push('"');
    for (part, piece) in text.split('"').enumerate() {
        if part > 0 {
            line.push_str("\"\"");
        }
        line.push_str(piece);
    }
    line.push('"');
}
