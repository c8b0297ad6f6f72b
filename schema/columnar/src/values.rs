//! Columns of a row group.

use parquet::data_type::ByteArray;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Bool,
    Integer,
    Float,
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
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

    pub fn as_bytes(&self) -> &[u8] {
        if self.0.is_empty() { &[] } else { self.0.data() }
    }
}

/// The values of a column in some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// A value of each row; of null any value.
    pub data: Data,
    /// False of unknown rows; empty where all are known.
    pub known: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    Bools(Vec<bool>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<Text>),
}

impl Data {
    pub fn kind(&self) -> Type {
        match self {
            Self::Bools(_) => Type::Bool,
            Self::Integers(_) => Type::Integer,
            Self::Floats(_) => Type::Float,
            Self::Texts(_) => Type::Text,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Bools(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Values {
    /// Adds rows of the same type; panics where they have another one.
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

    pub fn reserve(&mut self, rows: usize) {
        match &mut self.data {
            Data::Bools(values) => values.reserve_exact(rows),
            Data::Integers(values) => values.reserve_exact(rows),
            Data::Floats(values) => values.reserve_exact(rows),
            Data::Texts(values) => values.reserve_exact(rows),
        }
    }

    pub fn is_known(&self, row: usize) -> bool {
        self.known.get(row).copied().unwrap_or(true)
    }
}
