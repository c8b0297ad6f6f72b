//! Results as text.

mod json;

use std::io::Write;

use cli::color::Paint;
use cli::{Cell, Column, Layout, Table};
use duckdb::{Rows, Value};

use crate::args::{Format, Rendering};

/// The most rows of a table for people in memory; more are counted and left out.
const MOST_ROWS: usize = 10_000;

/// How a result is printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) layout: Layout,
}

impl Style {
    /// The style that the flags ask for.
    pub(crate) fn new(rendering: &Rendering, is_terminal: bool) -> Self {
        let width = (!rendering.full_names).then(cli::terminal::width);
        let layout = match rendering.format {
            Format::Csv => Layout::Csv,
            Format::Markdown => Layout::Markdown,
            _ => Layout::Text { width, paint: Paint::new(rendering.console.color, is_terminal) },
        };
        Self { format: rendering.format, layout }
    }
}

/// Prints the rows in the format of the style.
///
/// # Errors
/// Those of DuckDB while it computes them, and those of the writer.
pub(crate) fn render(mut rows: Rows, style: Style, out: &mut dyn Write) -> anyhow::Result<()> {
    if style.format == Format::Json {
        return json::render(rows, out);
    }
    if style.format == Format::Csv {
        return csv(rows, style.layout, out);
    }
    let mut table = Table::new(headers(&rows));
    let (mut all, mut kept) = (0, 0);
    while let Some(next) = rows.next_rows()? {
        all += next.len();
        for row in next.into_iter().take(MOST_ROWS - kept) {
            table.row(row.iter().map(cell).collect::<Vec<_>>());
            kept += 1;
        }
    }
    table.render(style.layout, out)?;
    if all > kept {
        writeln!(out, "{} more rows; --to csv prints all", all - kept)?;
    }
    Ok(())
}

/// Prints rows while they come: a table of each chunk, without its header.
fn csv(mut rows: Rows, layout: Layout, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut header = Vec::new();
    Table::new(headers(&rows)).render(layout, &mut header)?;
    out.write_all(&header)?;
    while let Some(next) = rows.next_rows()? {
        let mut table = Table::new(headers(&rows));
        for row in next {
            table.row(row.iter().map(cell).collect::<Vec<_>>());
        }
        let mut text = Vec::new();
        table.render(layout, &mut text)?;
        out.write_all(&text[header.len()..])?;
    }
    Ok(())
}

fn headers(rows: &Rows) -> Vec<Column> {
    let header = |(at, name): (usize, &str)| {
        if rows.is_number(at) { Column::right(name) } else { Column::name(name) }
    };
    rows.columns().enumerate().map(header).collect()
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::none(),
        Value::Text(text) => Cell::text(text.clone()),
        Value::Bool(_) | Value::List(_) | Value::Struct(_) => Cell::text(value.to_string()),
        number => Cell::number(for_people(number), number),
    }
}

/// A number with at most six decimal places.
fn for_people(value: &Value) -> String {
    match value {
        Value::Float(number) if number.is_finite() && number.abs() >= 1e-3 && number.abs() < 1e15 => {
            let text = format!("{number:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        other => other.to_string(),
    }
}
