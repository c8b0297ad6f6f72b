pub use rusqlite::types::Value;

/// A table without a meaning for rtl (RPD's `ext_*`), kept so that convert and merge lose nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpaqueTable {
    /// The table's name.
    pub name: String,
    /// The statement that creates it.
    pub create: String,
    /// Column names.
    pub columns: Vec<String>,
    /// All rows, in the order of the source.
    pub rows: Vec<Vec<Value>>,
}
