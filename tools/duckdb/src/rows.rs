//! The rows of a result.

use std::sync::Arc;

use crate::database::SharedConnection;
use crate::error::{Error, Result};
use crate::functions;
use crate::handles::{ChunkHandle, Handle, ResultHandle};
use crate::value::Value;
use crate::vector::{Reader, VectorType};

/// The rows of a result, a chunk at a time.
#[derive(Debug)]
pub struct Rows {
    handle: ResultHandle,
    columns: Vec<(String, VectorType)>,
    _connection: Arc<SharedConnection>,
}

impl Rows {
    pub(crate) fn new(handle: ResultHandle, connection: Arc<SharedConnection>) -> Result<Self> {
        let mut rows = Self { handle, columns: Vec::new(), _connection: connection };
        // SAFETY: The result was filled in by DuckDB.
        let count = unsafe { functions::column_count(&mut rows.handle) };
        for column in 0..count {
            // SAFETY: As above; the column exists.
            let name = functions::text(unsafe { functions::column_name(&mut rows.handle, column) });
            // SAFETY: As above.
            let of = unsafe { functions::column_logical_type(&mut rows.handle, column) };
            let kind = VectorType::take(of).ok_or_else(|| Error::Type { column: name.clone() })?;
            rows.columns.push((name, kind));
        }
        Ok(rows)
    }

    /// The message of the statement, which has failed.
    pub(crate) fn message(mut self) -> String {
        // SAFETY: The result was filled in by DuckDB.
        functions::text(unsafe { functions::result_error(&mut self.handle) })
    }

    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    pub fn is_number(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|(_, kind)| kind.is_number())
    }

    /// The next rows; `None` after the last ones.
    ///
    /// # Errors
    /// Those of DuckDB while it computes the rows.
    pub fn next_rows(&mut self) -> Result<Option<Vec<Vec<Value>>>> {
        let chunk = FetchedChunk(functions::fetch_chunk(self.handle));
        if chunk.0 == ChunkHandle::NULL {
            // SAFETY: The result was filled in by DuckDB.
            let problem = functions::text(unsafe { functions::result_error(&mut self.handle) });
            return if problem.is_empty() { Ok(None) } else { Err(Error::Query(problem)) };
        }
        let rows = functions::data_chunk_get_size(chunk.0) as usize;
        let vector = |at| functions::data_chunk_get_vector(chunk.0, at as u64);
        let columns = self.columns.iter().enumerate();
        let readers: Vec<Reader<'_>> = columns.map(|(at, (_, kind))| Reader::new(vector(at), kind)).collect();
        let row = |row| readers.iter().map(|reader| reader.get(row)).collect();
        Ok(Some((0..rows).map(row).collect()))
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        // SAFETY: The result is used no more.
        unsafe { functions::destroy_result(&mut self.handle) };
    }
}

struct FetchedChunk(ChunkHandle);

impl Drop for FetchedChunk {
    fn drop(&mut self) {
        // SAFETY: The chunk is used no more; null is allowed.
        unsafe { functions::destroy_data_chunk(&mut self.0) };
    }
}
