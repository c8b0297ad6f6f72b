//! The functions of DuckDB that are used, with their C signatures.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::handles::{
    BindInfo, ChunkHandle, ConfigHandle, ConnectionHandle, DatabaseHandle, ExtractedHandle, FunctionHandle,
    FunctionInfo, InitInfo, PreparedHandle, QueryProgress, ReplacementInfo, ResultHandle, SelectionHandle,
    TaskState, TypeHandle, ValueHandle, VectorHandle,
};

/// DuckDB calls it when it drops the object that the data belongs to.
pub(crate) type Delete = unsafe extern "C" fn(*mut c_void);
pub(crate) type BindFunction = unsafe extern "C" fn(BindInfo);
pub(crate) type InitFunction = unsafe extern "C" fn(InitInfo);
pub(crate) type ScanFunction = unsafe extern "C" fn(FunctionInfo, ChunkHandle);
pub(crate) type ReplaceFunction = unsafe extern "C" fn(ReplacementInfo, *const c_char, *mut c_void);

/// Declares the functions of the library: a table of pointers, and a function for each.
macro_rules! functions {
    (
        safe { $(fn $safe:ident($($safe_argument:ident: $safe_type:ty),*) $(-> $safe_result:ty)?;)* }
        unsafe { $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)* }
    ) => {
        struct Functions {
            $($safe: unsafe extern "C" fn($($safe_type),*) $(-> $safe_result)?,)*
            $($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Looks up every function with `symbol`.
            fn load(path: &Path, symbol: impl Fn(&CStr) -> *mut c_void) -> Result<Self> {
                let find = |name: &'static CStr| {
                    let pointer = symbol(name);
                    let function = name.to_str().unwrap_or_default();
                    (!pointer.is_null()).then_some(pointer).ok_or(Error::Function { path: path.to_owned(), function })
                };
                Ok(Self {
                    $($safe: {
                        let pointer = find(functions!(@name $safe))?;
                        // SAFETY: The symbol of DuckDB's stable C API has this signature.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($safe_type),*) $(-> $safe_result)?>(
                                pointer,
                            )
                        }
                    },)*
                    $($name: {
                        let pointer = find(functions!(@name $name))?;
                        // SAFETY: The symbol of DuckDB's stable C API has this signature.
                        unsafe {
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(pointer)
                        }
                    },)*
                })
            }
        }

        /// The functions of the DuckDB that is linked.
        #[cfg(feature = "linked")]
        mod linked {
            use std::ffi::{CStr, c_void};

            // The crate brings the library; its declarations are not used.
            #[cfg(feature = "bundled")]
            use libduckdb_sys as _;

            #[cfg_attr(not(feature = "bundled"), link(name = "duckdb"))]
            unsafe extern "C" {
                $(#[link_name = concat!("duckdb_", stringify!($safe))] fn $safe();)*
                $(#[link_name = concat!("duckdb_", stringify!($name))] fn $name();)*
            }

            /// Null for the name of any other function.
            pub(super) fn find(name: &CStr) -> *mut c_void {
                let known = [
                    $((functions!(@name $safe), $safe as *mut c_void),)*
                    $((functions!(@name $name), $name as *mut c_void),)*
                ];
                known.into_iter().find(|(known, _)| *known == name).map_or(std::ptr::null_mut(), |(_, address)| address)
            }
        }

        $(
            pub(crate) fn $safe($($safe_argument: $safe_type),*) $(-> $safe_result)? {
                // SAFETY: The function needs valid handles only, and a handle comes from DuckDB.
                unsafe { (functions().$safe)($($safe_argument),*) }
            }
        )*
        $(
            /// # Safety
            /// Pointers are valid for what the C API does with them.
            pub(crate) unsafe fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: The caller keeps the contract of the C API.
                unsafe { (functions().$name)($($argument),*) }
            }
        )*
    };
    (@name $name:ident) => {
        // A literal with a NUL at its end.
        match CStr::from_bytes_with_nul(concat!("duckdb_", stringify!($name), "\0").as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        }
    };
}

functions! {
    safe {
        fn library_version() -> *const c_char;
        fn interrupt(connection: ConnectionHandle);
        fn query_progress(connection: ConnectionHandle) -> QueryProgress;
        fn extract_statements_error(extracted: ExtractedHandle) -> *const c_char;
        fn prepare_error(statement: PreparedHandle) -> *const c_char;
        fn nparams(statement: PreparedHandle) -> u64;
        fn prepared_statement_type(statement: PreparedHandle) -> u32;
        fn parameter_name(statement: PreparedHandle, index: u64) -> *const c_char;
        fn bind_int64(statement: PreparedHandle, index: u64, value: i64) -> u32;
        fn bind_double(statement: PreparedHandle, index: u64, value: f64) -> u32;
        fn bind_null(statement: PreparedHandle, index: u64) -> u32;
        fn fetch_chunk(result: ResultHandle) -> ChunkHandle;
        fn get_type_id(of: TypeHandle) -> u32;
        fn decimal_scale(of: TypeHandle) -> u8;
        fn decimal_internal_type(of: TypeHandle) -> u32;
        fn enum_internal_type(of: TypeHandle) -> u32;
        fn enum_dictionary_size(of: TypeHandle) -> u32;
        fn enum_dictionary_value(of: TypeHandle, index: u64) -> *mut c_char;
        fn list_type_child_type(of: TypeHandle) -> TypeHandle;
        fn struct_type_child_count(of: TypeHandle) -> u64;
        fn struct_type_child_name(of: TypeHandle, index: u64) -> *mut c_char;
        fn struct_type_child_type(of: TypeHandle, index: u64) -> TypeHandle;
        fn list_vector_get_child(vector: VectorHandle) -> VectorHandle;
        fn struct_vector_get_child(vector: VectorHandle, index: u64) -> VectorHandle;
        fn create_logical_type(id: u32) -> TypeHandle;
        fn create_vector(of: TypeHandle, capacity: u64) -> VectorHandle;
        fn vector_reference_vector(to: VectorHandle, from: VectorHandle);
        fn vector_ensure_validity_writable(vector: VectorHandle);
        fn vector_get_validity(vector: VectorHandle) -> *mut u64;
        fn vector_get_data(vector: VectorHandle) -> *mut c_void;
        fn create_selection_vector(size: u64) -> SelectionHandle;
        fn selection_vector_get_data_ptr(selection: SelectionHandle) -> *mut u32;
        fn slice_vector(vector: VectorHandle, selection: SelectionHandle, length: u64);
        fn data_chunk_get_size(chunk: ChunkHandle) -> u64;
        fn data_chunk_set_size(chunk: ChunkHandle, size: u64);
        fn data_chunk_get_vector(chunk: ChunkHandle, index: u64) -> VectorHandle;
        fn create_table_function() -> FunctionHandle;
        fn table_function_add_parameter(function: FunctionHandle, of: TypeHandle);
        fn table_function_supports_projection_pushdown(function: FunctionHandle, supports: bool);
        fn table_function_set_bind(function: FunctionHandle, bind: BindFunction);
        fn table_function_set_init(function: FunctionHandle, init: InitFunction);
        fn table_function_set_function(function: FunctionHandle, scan: ScanFunction);
        fn register_table_function(connection: ConnectionHandle, function: FunctionHandle) -> u32;
        fn bind_get_extra_info(info: BindInfo) -> *mut c_void;
        fn bind_get_parameter_count(info: BindInfo) -> u64;
        fn bind_get_parameter(info: BindInfo, index: u64) -> ValueHandle;
        fn bind_set_cardinality(info: BindInfo, rows: u64, is_exact: bool);
        fn init_get_bind_data(info: InitInfo) -> *mut c_void;
        fn init_get_column_count(info: InitInfo) -> u64;
        fn init_get_column_index(info: InitInfo, index: u64) -> u64;
        fn init_set_max_threads(info: InitInfo, threads: u64);
        fn function_get_init_data(info: FunctionInfo) -> *mut c_void;
        fn is_null_value(value: ValueHandle) -> bool;
        fn get_varchar(value: ValueHandle) -> *mut c_char;
        fn replacement_scan_add_parameter(info: ReplacementInfo, value: ValueHandle);
    }
    unsafe {
        fn open_ext(path: *const c_char, database: *mut DatabaseHandle, config: ConfigHandle, error: *mut *mut c_char) -> u32;
        fn close(database: *mut DatabaseHandle);
        fn connect(database: DatabaseHandle, connection: *mut ConnectionHandle) -> u32;
        fn disconnect(connection: *mut ConnectionHandle);
        fn create_config(config: *mut ConfigHandle) -> u32;
        fn set_config(config: ConfigHandle, name: *const c_char, value: *const c_char) -> u32;
        fn destroy_config(config: *mut ConfigHandle);
        fn free(pointer: *mut c_void);
        fn extract_statements(connection: ConnectionHandle, text: *const c_char, extracted: *mut ExtractedHandle) -> u64;
        fn prepare_extracted_statement(connection: ConnectionHandle, extracted: ExtractedHandle, index: u64, statement: *mut PreparedHandle) -> u32;
        fn destroy_extracted(extracted: *mut ExtractedHandle);
        fn destroy_prepare(statement: *mut PreparedHandle);
        fn bind_varchar_length(statement: PreparedHandle, index: u64, text: *const c_char, length: u64) -> u32;
        fn execute_prepared_streaming(statement: PreparedHandle, result: *mut ResultHandle) -> u32;
        fn column_count(result: *mut ResultHandle) -> u64;
        fn column_name(result: *mut ResultHandle, column: u64) -> *const c_char;
        fn column_logical_type(result: *mut ResultHandle, column: u64) -> TypeHandle;
        fn result_error(result: *mut ResultHandle) -> *const c_char;
        fn destroy_result(result: *mut ResultHandle);
        fn destroy_data_chunk(chunk: *mut ChunkHandle);
        fn destroy_logical_type(of: *mut TypeHandle);
        fn destroy_vector(vector: *mut VectorHandle);
        fn destroy_selection_vector(selection: SelectionHandle);
        fn destroy_value(value: *mut ValueHandle);
        fn destroy_table_function(function: *mut FunctionHandle);
        fn vector_assign_string_element_len(vector: VectorHandle, row: u64, text: *const c_char, length: u64);
        fn table_function_set_name(function: FunctionHandle, name: *const c_char);
        fn table_function_set_extra_info(function: FunctionHandle, info: *mut c_void, delete: Delete);
        fn table_function_add_named_parameter(function: FunctionHandle, name: *const c_char, of: TypeHandle);
        fn bind_get_named_parameter(info: BindInfo, name: *const c_char) -> ValueHandle;
        fn bind_add_result_column(info: BindInfo, name: *const c_char, of: TypeHandle);
        fn bind_set_bind_data(info: BindInfo, data: *mut c_void, delete: Delete);
        fn bind_set_error(info: BindInfo, message: *const c_char);
        fn init_set_init_data(info: InitInfo, data: *mut c_void, delete: Delete);
        fn init_set_error(info: InitInfo, message: *const c_char);
        fn function_set_error(info: FunctionInfo, message: *const c_char);
        fn add_replacement_scan(database: DatabaseHandle, replace: ReplaceFunction, data: *mut c_void, delete: Delete);
        fn replacement_scan_set_function_name(info: ReplacementInfo, name: *const c_char);
        fn replacement_scan_set_error(info: ReplacementInfo, message: *const c_char);
        fn create_task_state(database: DatabaseHandle) -> TaskState;
        fn execute_tasks_state(state: TaskState);
        fn finish_execution(state: TaskState);
        fn destroy_task_state(state: TaskState);
        fn create_varchar_length(text: *const c_char, length: u64) -> ValueHandle;
    }
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// The functions; handles exist only once they are known.
fn functions() -> &'static Functions {
    FUNCTIONS.get().expect("the library is loaded before any handle is made")
}

pub(crate) fn are_known() -> bool {
    FUNCTIONS.get().is_some()
}

/// Looks up every function with `symbol`, once a process.
///
/// # Errors
/// [`Error::Function`] where one is missing.
pub(crate) fn look_up(path: &Path, symbol: impl Fn(&CStr) -> *mut c_void) -> Result<()> {
    let functions = Functions::load(path, symbol)?;
    // Another thread may have been faster.
    let _ = FUNCTIONS.set(functions);
    Ok(())
}

#[cfg(feature = "linked")]
pub(crate) fn linked(name: &CStr) -> *mut c_void {
    linked::find(name)
}

/// The text behind a pointer of DuckDB; empty where it is null.
pub(crate) fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: DuckDB returns texts that end with NUL, which live as long as the object that they are of.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

/// The text behind a pointer that DuckDB has allocated for the caller, which is freed.
pub(crate) fn owned_text(pointer: *mut c_char) -> String {
    let text = text(pointer);
    // SAFETY: The pointer is DuckDB's, or null, and used no more.
    unsafe { free(pointer.cast()) };
    text
}
