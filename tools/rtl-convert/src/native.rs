//! A trace in our own layout: every row as it comes, nothing lost.

use cli::Failure;
use rtl_schema::write::{NativeWriter, TraceImport};

use crate::args::Arguments;
use crate::database;
use crate::rows::Rows;
use crate::source::{Source, unreadable};
use crate::target::Target;

/// Writes the target.
///
/// # Errors
/// Where the trace cannot be read, or the file cannot grow.
pub fn write(source: &Source, arguments: &Arguments, target: &Target) -> Result<Rows, Failure> {
    let mut writer = NativeWriter::within(target.place(), &arguments.output()).map_err(unreadable)?;
    let mut incoming = TraceImport::default();
    let (last, rows) = database::stream(source, arguments, |piece| incoming.push(&mut writer, piece))?;
    incoming.finish(&mut writer, &last).and_then(|()| writer.finish()).map_err(unreadable)?;
    Ok(rows)
}
