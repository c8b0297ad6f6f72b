//! The result of a query as a Parquet file, which DuckDB writes.

use std::sync::Arc;

use atomic_file::AtomicFile;
use cli::Failure;

use crate::args::Arguments;
use crate::engine::Engine;
use crate::failure;
use crate::literal::quoted;
use crate::source::Source;

/// Writes the rows of one query into `file`.
pub(crate) fn write(
    arguments: &Arguments,
    query: &str,
    source: &Arc<Source>,
    file: &AtomicFile,
) -> Result<(), Failure> {
    let place = file.place();
    let engine = Engine::open(source, Some(&place)).map_err(failure::from_duckdb)?;
    let query = query.trim().trim_end_matches(';');
    // The query may end with a comment.
    let copy = format!(
        "COPY ({query}\n) TO '{}' (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
        quoted(&place)
    );
    let rows = engine.execute_around(query, &copy, &arguments.parameters).map_err(failure::from_duckdb)?;
    rows.map_or(Ok(None), |mut rows| rows.next_rows()).map_err(failure::from_duckdb)?;
    engine.leave();
    Ok(())
}
