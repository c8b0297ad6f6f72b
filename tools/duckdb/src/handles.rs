//! Pointers to objects of DuckDB.

use std::ffi::c_void;
use std::ptr::null_mut;

/// A pointer to an object.
pub(crate) trait Handle {
    /// No object: for DuckDB to write one to.
    const NULL: Self;
}

/// Declares handles.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub(crate) struct $name(*mut c_void);

        impl Handle for $name {
            const NULL: Self = Self(null_mut());
        }
    )*};
}

handles! {
    /// `duckdb_database`.
    DatabaseHandle;
    /// `duckdb_connection`.
    ConnectionHandle;
    /// `duckdb_config`.
    ConfigHandle;
    /// `duckdb_extracted_statements`.
    ExtractedHandle;
    /// `duckdb_prepared_statement`.
    PreparedHandle;
    /// `duckdb_data_chunk`.
    ChunkHandle;
    /// `duckdb_vector`.
    VectorHandle;
    /// `duckdb_selection_vector`.
    SelectionHandle;
    /// `duckdb_logical_type`.
    TypeHandle;
    /// `duckdb_value`.
    ValueHandle;
    /// `duckdb_table_function`.
    FunctionHandle;
    /// `duckdb_bind_info`.
    BindInfo;
    /// `duckdb_init_info`.
    InitInfo;
    /// `duckdb_function_info`.
    FunctionInfo;
    /// `duckdb_replacement_scan_info`.
    ReplacementInfo;
    /// `duckdb_task_state`.
    TaskState;
}

// SAFETY: A state is for several threads.
unsafe impl Send for TaskState {}
// SAFETY: As above.
unsafe impl Sync for TaskState {}

/// `duckdb_result`, which DuckDB fills in.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct ResultHandle {
    deprecated: [u64; 3],
    columns: *mut c_void,
    message: *mut c_void,
    internal: *mut c_void,
}

impl ResultHandle {
    /// For DuckDB to fill in.
    pub(crate) const EMPTY: Self =
        Self { deprecated: [0; 3], columns: null_mut(), message: null_mut(), internal: null_mut() };
}

/// `duckdb_query_progress_type`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct QueryProgress {
    pub(crate) percentage: f64,
    _rows: u64,
    _total: u64,
}
