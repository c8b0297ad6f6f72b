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

/// A text that many rows share; texts are ordered by their bytes.
#[derive(Debug, Clone)]
pub struct Text(pub(crate) ByteArray);

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

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

impl Data {
    /// The type of the values.
    pub fn kind(&self) -> Type {
        match self {
            Self::Bools(_) => Type::Bool,
            Self::Integers(_) => Type::Integer,
            Self::Floats(_) => Type::Float,
            Self::Texts(_) => Type::Text,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Bools(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Values {
    /// Adds rows of the same type.
    ///
    /// # Panics
    /// They have another type.
    pub fn append(&mut self, mut more: Self) {
        if !(self.known.is_empty() && more.known.is_empty()) {
            self.known.resize(self.data.len(), true);
            more.known.resize(more.data.len(), true);
            self.known.append(&mut more.known);
        }
        match (&mut self.data, more.data) {
            (Data::Bools(values), Data::Bools(mut more)) => values.append(&mut more),
            (Data::Integers(values), Data::Integers(mut more)) => values.append(&mut more),
            (Data::Floats(values), Data::Floats(mut more)) => values.append(&mut more),
            (Data::Texts(values), Data::Texts(mut more)) => values.append(&mut more),
            _ => unreachable!("rows of one column"),
        }
    }

    /// Takes room for more rows.
    pub fn reserve(&mut self, rows: usize) {
        match &mut self.data {
            Data::Bools(values) => values.reserve_exact(rows),
            Data::Integers(values) => values.reserve_exact(rows),
            Data::Floats(values) => values.reserve_exact(rows),
            Data::Texts(values) => values.reserve_exact(rows),
        }
    }

    /// Whether a row is known.
    pub fn is_known(&self, row: usize) -> bool {
        self.known.get(row).copied().unwrap_or(true)
    }
}
