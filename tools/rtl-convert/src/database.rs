//! What all formats share that hold rows as they come: nothing is sorted, nothing left out for its times.

use cli::Failure;
use rtl_schema::{Select, Tables};

use crate::args::Arguments;
use crate::rows::RowCounts;
use crate::source::{Source, StreamError, stream_failure};

/// Hands every piece of the trace to `each` and counts its rows. The result is what is left at the end, as
/// [`rtl_schema::Trace::stream`] says.
///
/// # Errors
/// Where the trace cannot be read, or what `each` fails with.
pub fn stream<E: Into<StreamError>>(
    source: &Source,
    arguments: &Arguments,
    mut each: impl FnMut(&Tables) -> Result<(), E>,
) -> Result<(Tables, RowCounts), Failure> {
    let wanted = !arguments.no_args;
    let select = Select { shapes: wanted, launch: wanted, args: wanted, ..Select::everything() };
    let mut rows = RowCounts::default();
    let last = source.stream(&select, |piece| {
        rows.all += RowCounts::of(piece);
        each(piece)
    });
    let last = last.map_err(|stopped| stream_failure(stopped, "cannot write"))?;
    Ok((last, rows))
}
