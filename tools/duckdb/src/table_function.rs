//! Table functions of one's own.

use std::ffi::{CStr, CString};

use crate::callback::{delete, guarded, into_pointer, object};
use crate::database::Connection;
use crate::error::{Error, Result};
use crate::functions;
use crate::handles::{BindInfo, ChunkHandle, FunctionHandle, FunctionInfo, Handle, InitInfo, ValueHandle};
use crate::logical_type::Type;
use crate::output::Chunk;

/// A function that stands where a table can stand. All its parameters are texts.
pub trait TableFunction: Send + Sync + 'static {
    fn name(&self) -> &str;
    fn parameters(&self) -> usize {
        0
    }
    /// Parameters that a call may give by name, as `trace := 'a.db'`.
    fn named_parameters(&self) -> &[&str] {
        &[]
    }
    /// Checks the parameters of a call.
    ///
    /// # Errors
    /// A message for the user.
    fn bind(&self, call: &Call) -> std::result::Result<Box<dyn Bound>, String>;
}

/// A call of a table function.
#[derive(Debug)]
pub struct Call {
    /// The parameters in order, `None` of null.
    pub parameters: Vec<Option<String>>,
    /// The named parameters that the call has.
    pub named: Vec<(String, String)>,
}

/// A call whose parameters were checked.
pub trait Bound: Send + Sync {
    fn columns(&self) -> Vec<(String, Type)>;
    /// About how many rows there are, where that is known.
    fn estimate(&self) -> Option<u64>;
    /// Starts to read these columns, by their places in [`Self::columns`].
    ///
    /// # Errors
    /// A message for the user.
    fn scan(&self, columns: &[usize]) -> std::result::Result<Box<dyn Scan>, String>;
}

/// A scan, which several threads continue at the same time.
pub trait Scan: Send + Sync {
    /// How many threads it is worth.
    fn threads(&self) -> usize;
    /// Fills the next chunk; without rows, all are read.
    ///
    /// # Errors
    /// A message for the user.
    fn next(&self, chunk: &mut Chunk<'_>) -> std::result::Result<(), String>;
}

impl Connection {
    /// Adds a table function.
    ///
    /// # Errors
    /// Where a function of this name exists.
    pub fn register(&self, function: impl TableFunction) -> Result<()> {
        let text = Type::Text.logical();
        let owned = OwnedFunction(functions::create_table_function());
        let name = CString::new(function.name())?;
        // SAFETY: The name ends with NUL and is copied.
        unsafe { functions::table_function_set_name(owned.0, name.as_ptr()) };
        for _ in 0..function.parameters() {
            functions::table_function_add_parameter(owned.0, text.0);
        }
        for parameter in function.named_parameters() {
            let parameter = CString::new(*parameter)?;
            // SAFETY: As above.
            unsafe { functions::table_function_add_named_parameter(owned.0, parameter.as_ptr(), text.0) };
        }
        functions::table_function_supports_projection_pushdown(owned.0, true);
        functions::table_function_set_bind(owned.0, bind);
        functions::table_function_set_init(owned.0, init);
        functions::table_function_set_function(owned.0, scan);
        let info = into_pointer::<dyn TableFunction>(Box::new(function));
        // SAFETY: DuckDB passes the pointer to `bind` and frees it once.
        unsafe { functions::table_function_set_extra_info(owned.0, info, delete::<dyn TableFunction>) };
        match functions::register_table_function(self.shared.handle, owned.0) {
            0 => Ok(()),
            _ => Err(Error::Query(format!("a function {} exists", function_name(&name)))),
        }
    }
}

fn function_name(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}

struct OwnedFunction(FunctionHandle);

impl Drop for OwnedFunction {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more; a registered function is a copy.
        unsafe { functions::destroy_table_function(&mut self.0) };
    }
}

unsafe extern "C" fn bind(info: BindInfo) {
    let failure = guarded(|| {
        // SAFETY: The pointer is that of `register`.
        let function = unsafe { object::<dyn TableFunction>(functions::bind_get_extra_info(info)) };
        let count = functions::bind_get_parameter_count(info);
        let parameters = (0..count).map(|at| parameter(functions::bind_get_parameter(info, at))).collect();
        let named = function.named_parameters().iter().filter_map(|name| {
            let text = CString::new(*name).ok()?;
            // SAFETY: The name ends with NUL.
            let value = unsafe { functions::bind_get_named_parameter(info, text.as_ptr()) };
            Some(((*name).to_owned(), parameter(value)?))
        });
        let bound = function.bind(&Call { parameters, named: named.collect() })?;
        for (name, of) in bound.columns() {
            let (name, of) = (CString::new(name).unwrap_or_default(), of.logical());
            // SAFETY: The name ends with NUL; it and the type are copied.
            unsafe { functions::bind_add_result_column(info, name.as_ptr(), of.0) };
        }
        if let Some(rows) = bound.estimate() {
            functions::bind_set_cardinality(info, rows, false);
        }
        // SAFETY: DuckDB passes the pointer to `init` and frees it once.
        unsafe { functions::bind_set_bind_data(info, into_pointer(bound), delete::<dyn Bound>) };
        Ok(())
    });
    if let Some(message) = failure {
        // SAFETY: The message ends with NUL and is copied.
        unsafe { functions::bind_set_error(info, message.as_ptr()) };
    }
}

/// The text of a parameter, whose value is destroyed.
fn parameter(mut value: ValueHandle) -> Option<String> {
    if value == ValueHandle::NULL {
        return None;
    }
    let text =
        (!functions::is_null_value(value)).then(|| functions::owned_text(functions::get_varchar(value)));
    // SAFETY: The value is used no more.
    unsafe { functions::destroy_value(&mut value) };
    text
}

unsafe extern "C" fn init(info: InitInfo) {
    let failure = guarded(|| {
        // SAFETY: The pointer is that of `bind`.
        let bound = unsafe { object::<dyn Bound>(functions::init_get_bind_data(info)) };
        let count = functions::init_get_column_count(info);
        let columns: Vec<usize> =
            (0..count).map(|at| functions::init_get_column_index(info, at) as usize).collect();
        let scan = bound.scan(&columns)?;
        functions::init_set_max_threads(info, scan.threads().max(1) as u64);
        // SAFETY: DuckDB passes the pointer to `scan` and frees it once.
        unsafe { functions::init_set_init_data(info, into_pointer(scan), delete::<dyn Scan>) };
        Ok(())
    });
    if let Some(message) = failure {
        // SAFETY: The message ends with NUL and is copied.
        unsafe { functions::init_set_error(info, message.as_ptr()) };
    }
}

unsafe extern "C" fn scan(info: FunctionInfo, chunk: ChunkHandle) {
    let failure = guarded(|| {
        // SAFETY: The pointer is that of `init`.
        let scan = unsafe { object::<dyn Scan>(functions::function_get_init_data(info)) };
        scan.next(&mut Chunk::new(chunk))
    });
    if let Some(message) = failure {
        // SAFETY: The message ends with NUL and is copied.
        unsafe { functions::function_set_error(info, message.as_ptr()) };
    }
}
