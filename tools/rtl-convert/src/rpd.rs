//! A trace for RPD's own tools, schema 3: rows as they come.

use cli::Failure;
use rtl_schema::write::RpdWriter;

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
    let mut rpd = RpdWriter::within(target.place(), &arguments.output()).map_err(unreadable)?;
    let (last, rows) = database::stream(source, arguments, |piece| rpd.push(piece))?;
    let without_end = rpd.finish(&last).map_err(unreadable)?;
    Ok(Rows { without_end, ..rows })
}
