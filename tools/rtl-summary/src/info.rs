//! What the file holds: its tables, and its metadata as stored.

use std::collections::HashSet;
use std::io::Write;

use cli::{Cell, Column, Failure, Layout, Output, Table};
use rtl_schema::{Tables, Trace};

use crate::answer::Answer;

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// In bytes, compressed or not.
    pub size: u64,
    /// Each table of a database with its number of rows.
    pub tables: Vec<(String, u64)>,
    /// How many kernels have a name of their own.
    pub kernels: usize,
    /// All metadata.
    pub metadata: Vec<(String, String)>,
}

impl Stored {
    pub(crate) fn of(trace: &Trace, tables: &Tables) -> rtl_schema::Result<Self> {
        let names: HashSet<_> = tables.dispatches.name.iter().collect();
        Ok(Self {
            size: std::fs::metadata(trace.path()).map_or(0, |file| file.len()),
            tables: trace.row_counts()?,
            kernels: names.len(),
            metadata: tables.info.metadata.clone(),
        })
    }

    /// The lines under those that say what the trace is, in the words of rocm-trace-lite's `rtl info`.
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("Size: {}", cli::units::bytes(self.size)),
            format!("Unique kernels: {}", self.kernels),
        ];
        if !self.tables.is_empty() {
            let names: Vec<&str> = self.tables.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(format!("Tables: {}", names.join(", ")));
        }
        lines.extend(self.tables.iter().map(|(name, rows)| format!("{name}: {rows} rows")));
        lines
    }
}

/// Prints what the file of one trace holds, under the lines that say what the trace is.
pub(crate) fn render(answer: &Answer, layout: Layout, out: &mut Output) -> Result<(), Failure> {
    let Some(stored) = &answer.stored else { return Ok(()) };
    let bullet = match layout {
        Layout::Text { .. } => Some(" "),
        Layout::Markdown => Some("-"),
        Layout::Csv => None,
    };
    for (bullet, line) in stored.lines().iter().flat_map(|line| bullet.map(|bullet| (bullet, line))) {
        writeln!(out, "{bullet} {}", cli::escape_control(line))?;
    }
    if stored.metadata.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([Column::left("Metadata").field("tag"), Column::name("Value").field("value")]);
    for (tag, value) in &stored.metadata {
        table.row([Cell::text(tag), Cell::text(value)]);
    }
    if !matches!(layout, Layout::Csv) {
        writeln!(out)?;
    }
    table.render(layout, out)?;
    Ok(())
}
