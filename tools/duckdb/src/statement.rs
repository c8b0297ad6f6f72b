//! Statements and their parameters.

use std::ffi::CString;
use std::sync::Arc;

use crate::database::{Connection, SharedConnection};
use crate::error::{Error, Result};
use crate::functions;
use crate::handles::{ExtractedHandle, Handle, PreparedHandle, ResultHandle};
use crate::rows::Rows;

/// The statements of a text.
#[derive(Debug)]
pub struct Statements {
    handle: ExtractedHandle,
    count: u64,
    next: u64,
    connection: Arc<SharedConnection>,
}

#[derive(Debug)]
pub struct Statement {
    handle: PreparedHandle,
    connection: Arc<SharedConnection>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    Null,
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Connection {
    /// Splits a text into its statements, which are prepared one after the other: a statement may need what the one before
    /// it has created.
    ///
    /// # Errors
    /// Where the text is not SQL.
    pub fn statements(&self, text: &str) -> Result<Statements> {
        let text = CString::new(text)?;
        let mut handle = ExtractedHandle::NULL;
        // SAFETY: The text ends with NUL, the pointer is valid.
        let count = unsafe { functions::extract_statements(self.shared.handle, text.as_ptr(), &mut handle) };
        let statements = Statements { handle, count, next: 0, connection: Arc::clone(&self.shared) };
        let problem = functions::text(functions::extract_statements_error(handle));
        if count == 0 && !problem.is_empty() { Err(Error::Query(problem)) } else { Ok(statements) }
    }
}

impl Statements {
    pub fn has_next(&self) -> bool {
        self.next < self.count
    }
}

impl Iterator for Statements {
    type Item = Result<Statement>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.has_next() {
            return None;
        }
        let mut handle = PreparedHandle::NULL;
        let connection = self.connection.handle;
        // SAFETY: The index is below the count, the pointer is valid.
        let state = unsafe {
            functions::prepare_extracted_statement(connection, self.handle, self.next, &mut handle)
        };
        self.next += 1;
        let statement = Statement { handle, connection: Arc::clone(&self.connection) };
        Some(match state {
            0 => Ok(statement),
            _ => Err(Error::Query(functions::text(functions::prepare_error(handle)))),
        })
    }
}

impl Drop for Statements {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more.
        unsafe { functions::destroy_extracted(&mut self.handle) };
    }
}

/// The kinds of statements, as far as they differ in whether they write files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Query,
    /// It writes a file or opens one: `COPY`, `EXPORT`, `ATTACH`, `LOAD`.
    Files,
    /// Another statement is in it: `EXPLAIN`, `PREPARE`, `EXECUTE`.
    Other,
    /// It changes the database in memory.
    Memory,
}

impl Statement {
    pub fn effect(&self) -> Effect {
        // The numbers of `duckdb_statement_type`.
        match functions::prepared_statement_type(self.handle) {
            1 => Effect::Query,
            2 | 3 | 5 | 7 | 9 | 10 | 12 | 13 | 14 | 15 | 18 => Effect::Memory,
            4 | 6 | 8 => Effect::Other,
            _ => Effect::Files,
        }
    }

    /// The names of its parameters, `1`, `2`, ... where they have none.
    pub fn parameters(&self) -> Vec<String> {
        let count = functions::nparams(self.handle);
        (1..=count)
            .map(|index| functions::owned_text(functions::parameter_name(self.handle, index).cast_mut()))
            .collect()
    }

    /// Sets the parameter at `index`, from 0.
    ///
    /// # Errors
    /// Where there is no such parameter.
    pub fn bind(&self, index: usize, value: &Parameter) -> Result<()> {
        let (handle, place) = (self.handle, index as u64 + 1);
        let state = match value {
            Parameter::Null => functions::bind_null(handle, place),
            Parameter::Integer(value) => functions::bind_int64(handle, place, *value),
            Parameter::Float(value) => functions::bind_double(handle, place, *value),
            Parameter::Text(text) => {
                // SAFETY: The text has that length and is copied.
                unsafe {
                    functions::bind_varchar_length(handle, place, text.as_ptr().cast(), text.len() as u64)
                }
            }
        };
        if state == 0 { Ok(()) } else { Err(Error::Query(format!("there is no parameter {place}"))) }
    }

    /// Starts the statement; its rows are computed while they are read.
    ///
    /// # Errors
    /// Those of DuckDB.
    pub fn execute(self) -> Result<Rows> {
        let mut result = ResultHandle::EMPTY;
        // SAFETY: The pointer is valid.
        let state = unsafe { functions::execute_prepared_streaming(self.handle, &mut result) };
        let rows = Rows::new(result, Arc::clone(&self.connection))?;
        if state == 0 { Ok(rows) } else { Err(Error::Query(rows.message())) }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more; a result lives on its own.
        unsafe { functions::destroy_prepare(&mut self.handle) };
    }
}
