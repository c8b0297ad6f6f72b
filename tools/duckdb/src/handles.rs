//! Pointers to objects of DuckDB.

use std::ffi::c_void;
use std::ptr::null_mut;

pub(crate) trait Handle {
    /// Stands for no object, and is where DuckDB writes one to.
    const NULL: Self;
}

/// Each handle is a type of its own, so that the compiler tells a vector from a chunk, which are both pointers in C.
macro_rules! handles {
    ($($name:ident;)*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub(crate) struct $name(*mut c_void);

        impl Handle for $name {
            const NULL: Self = Self(null_mut());
        }
    )*};
}

handles! {
    DatabaseHandle;
    ConnectionHandle;
    ConfigHandle;
    ExtractedHandle;
    PreparedHandle;
    ChunkHandle;
    VectorHandle;
    SelectionHandle;
    TypeHandle;
    ValueHandle;
    FunctionHandle;
    BindInfo;
    InitInfo;
    FunctionInfo;
    ReplacementInfo;
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
    pub(crate) const EMPTY: Self =
        Self { deprecated: [0; 3], columns: null_mut(), message: null_mut(), internal: null_mut() };
}

/// The C type is `duckdb_query_progress_type`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct QueryProgress {
    pub(crate) percentage: f64,
    _rows: u64,
    _total: u64,
}
