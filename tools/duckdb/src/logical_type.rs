//! Types of columns.

use crate::functions;
use crate::handles::TypeHandle;

/// The type of a column of a table function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `BOOLEAN`.
    Bool,
    /// `BIGINT`.
    Integer,
    /// `DOUBLE`.
    Float,
    /// `VARCHAR`.
    Text,
}

impl Type {
    pub(crate) fn logical(self) -> LogicalType {
        // The numbers of `duckdb_type`.
        let id = match self {
            Self::Bool => 1,
            Self::Integer => 5,
            Self::Float => 11,
            Self::Text => 17,
        };
        LogicalType(functions::create_logical_type(id))
    }

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "BOOLEAN",
            Self::Integer => "BIGINT",
            Self::Float => "DOUBLE",
            Self::Text => "VARCHAR",
        }
    }
}

/// A `duckdb_logical_type` of which this crate is the owner.
pub(crate) struct LogicalType(pub(crate) TypeHandle);

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: The handle is used no more.
        unsafe { functions::destroy_logical_type(&mut self.0) };
    }
}
