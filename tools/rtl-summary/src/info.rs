//! What the file holds: its metadata as stored.

use std::io::Write;

use cli::{Cell, Column, Failure, Layout, Output, Table};

use crate::answer::Answer;

/// Prints the metadata of one trace, under the lines that say what it is.
pub(crate) fn render(answer: &Answer, layout: Layout, out: &mut Output) -> Result<(), Failure> {
    if answer.metadata.is_empty() {
        return Ok(());
    }
    let mut table = Table::new([Column::left("Metadata").field("tag"), Column::name("Value").field("value")]);
    for (tag, value) in &answer.metadata {
        table.row([Cell::text(tag), Cell::text(value)]);
    }
    if !matches!(layout, Layout::Csv) {
        writeln!(out)?;
    }
    table.render(layout, out)?;
    Ok(())
}
