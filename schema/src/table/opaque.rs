/// A value of an opaque table.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// An integer.
    Int(i64),
    /// A real number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

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
