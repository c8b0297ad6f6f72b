//! Names of tables that do not exist, and what stands for them.

use std::ffi::{CString, c_char, c_void};

use crate::callback::{delete, guarded, into_pointer, object};
use crate::database::Database;
use crate::functions;
use crate::handles::ReplacementInfo;

/// Stands where a statement has the name of a table that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replacement {
    /// The table function of this name, without parameters.
    Function(String),
    /// A query, as a view would have it.
    Query(String),
}

/// Finds what a name in lower case stands for, if anything, or a message for the user.
type Replace = dyn Fn(&str) -> Option<Result<Replacement, String>> + Send + Sync;

impl Database {
    /// Asks `replace` for what a name stands for where no table, view or other query of the statement has it. DuckDB binds the
    /// statement meanwhile: `replace` runs no statement.
    pub fn replace_tables(
        &self,
        replace: impl Fn(&str) -> Option<Result<Replacement, String>> + Send + Sync + 'static,
    ) {
        let data = into_pointer::<Replace>(Box::new(replace));
        // SAFETY: The data is what both functions expect; DuckDB frees it with the database.
        unsafe { functions::add_replacement_scan(self.handle, call, data, delete::<Replace>) };
    }
}

unsafe extern "C" fn call(info: ReplacementInfo, table: *const c_char, replace: *mut c_void) {
    let failure = guarded(|| {
        // SAFETY: The pointer is that of `replace_tables`.
        let replace = unsafe { object::<Replace>(replace) };
        let Some(found) = replace(&functions::text(table).to_lowercase()) else { return Ok(()) };
        let (function, query) = match found? {
            Replacement::Function(name) => (name, None),
            Replacement::Query(text) => ("query".to_owned(), Some(text)),
        };
        let function = CString::new(function).map_err(|error| error.to_string())?;
        // SAFETY: The name ends with NUL and is copied.
        unsafe { functions::replacement_scan_set_function_name(info, function.as_ptr()) };
        if let Some(query) = query {
            // SAFETY: The text has that length and is copied.
            let mut value =
                unsafe { functions::create_varchar_length(query.as_ptr().cast(), query.len() as u64) };
            functions::replacement_scan_add_parameter(info, value);
            // SAFETY: The value was copied and is used no more.
            unsafe { functions::destroy_value(&mut value) };
        }
        Ok(())
    });
    if let Some(message) = failure {
        // SAFETY: The message ends with NUL and is copied.
        unsafe { functions::replacement_scan_set_error(info, message.as_ptr()) };
    }
}
