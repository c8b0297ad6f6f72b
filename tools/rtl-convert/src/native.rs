//! A trace in our own layout: every row as it comes, nothing lost.

use cli::Failure;
use rtl_schema::write::{NativeWriter, TraceImport};

use crate::args::Arguments;
use crate::database;
use crate::rows::RowCounts;
use crate::source::{Source, read_failure};
use crate::target::OutputFile;

/// Writes the target.
///
/// # Errors
/// Where the trace cannot be read, or the file cannot grow.
pub fn write(source: &Source, arguments: &Arguments, target: &OutputFile) -> Result<RowCounts, Failure> {
    let mut writer = NativeWriter::within(target.path(), &arguments.output()).map_err(read_failure)?;
    let mut incoming = TraceImport::default();
    let (last, rows) = database::stream(source, arguments, |piece| incoming.push(&mut writer, piece))?;
    incoming.finish(&mut writer, &last).and_then(|()| writer.finish()).map_err(read_failure)?;
    Ok(rows)
}
