//! Columns of a row group.

use parquet::data_type::ByteArray;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Booleans.
    Bool,
    /// Signed integers of 64 bits.
    Integer,
    /// Floating-point numbers of 64 bits.
    Float,
    /// Texts in UTF-8.
    Text,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
}

/// A text that many rows share.
#[derive(Debug, Clone, PartialEq)]
pub struct Text(pub(crate) ByteArray);

impl Default for Text {
    fn default() -> Self {
        Self::from("")
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl Text {
    /// The text, where it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    /// Its bytes, in UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        if self.0.is_empty() { &[] } else { self.0.data() }
    }
}

/// The values of a column in some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// A value of each row; of null any value.
    pub data: Data,
    /// Whether each row is known; empty where all are.
    pub known: Vec<bool>,
}

/// Values of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Booleans.
    Bools(Vec<bool>),
    /// Integers.
    Integers(Vec<i64>),
    /// Floating-point numbers.
    Floats(Vec<f64>),
    /// Texts.
    Texts(Vec<Text>),
}

impl Values {
    /// Whether a row is known.
    pub fn is_known(&self, row: usize) -> bool {
        self.known.get(row).copied().unwrap_or(true)
    }
}
