//! A trace for RPD's own tools, schema 3: rows as they come.

use cli::Failure;
use rtl_schema::write::RpdWriter;

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
    let mut rpd = RpdWriter::within(target.path(), &arguments.output()).map_err(read_failure)?;
    let (last, rows) = database::stream(source, arguments, |piece| rpd.push(piece))?;
    let without_end = rpd.finish(&last).map_err(read_failure)?;
    Ok(RowCounts { without_end, ..rows })
}
