//! The contents of a file (its tables and its metadata), which `--info` shows.

use std::collections::HashSet;
use std::io::Write;

use cli::{Cell, Column, Failure, Layout, Output, Table, units};
use rtl_schema::{Tables, Trace};

use crate::report::{FileInfo, Report};

pub(crate) fn file_info(trace: &Trace, tables: &Tables) -> rtl_schema::Result<FileInfo> {
    let kernels: HashSet<_> = tables.dispatches.name.iter().collect();
    Ok(FileInfo { size: trace.size(), tables: trace.row_counts()?, kernels: kernels.len() })
}

/// Prints the contents of a file, below the lines of the section `trace`, with the labels of rocm-trace-lite's
/// `rtl info`.
pub(crate) fn render(report: &Report, layout: Layout, out: &mut Output) -> Result<(), Failure> {
    let Some(file) = &report.file else { return Ok(()) };
    let bullet = match layout {
        Layout::Text { .. } => Some(" "),
        Layout::Markdown => Some("-"),
        Layout::Csv => None,
    };
    if let Some(bullet) = bullet {
        for line in lines(file) {
            writeln!(out, "{bullet} {}", cli::escape_control(&line))?;
        }
    }
    if report.input.metadata.is_empty() {
        return Ok(());
    }
    let table = Table::of(&report.input.metadata)
        .column(Column::left("Metadata").field("tag"), |entry| Cell::text(&entry.tag))
        .column(Column::name("Value").field("value"), |entry| Cell::text(&entry.value))
        .build();
    if bullet.is_some() {
        writeln!(out)?;
    }
    table.render(layout, out)?;
    Ok(())
}

fn lines(file: &FileInfo) -> Vec<String> {
    let mut lines =
        vec![format!("Size: {}", units::bytes(file.size)), format!("Unique kernels: {}", file.kernels)];
    if !file.tables.is_empty() {
        let names: Vec<&str> = file.tables.iter().map(|(name, _)| name.as_str()).collect();
        lines.push(format!("Tables: {}", names.join(", ")));
    }
    lines.extend(file.tables.iter().map(|(name, rows)| format!("{name}: {rows} rows")));
    lines
}
