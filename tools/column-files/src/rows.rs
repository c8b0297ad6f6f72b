//! Builds the columns of some rows.

use columnar::{Data, Text, Values};
use rtl_schema::{AgentId, NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    pub values: Values,
}

/// Rows, and the tables that they refer to. These may know more than the rows need: their ids stay while a trace is read.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// Tables of rows.
    pub rows: &'a Tables,
    pub references: &'a Tables,
    pub columns: Selected,
}

impl<'a> From<&'a Tables> for Piece<'a> {
    fn from(tables: &'a Tables) -> Self {
        Self { rows: tables, references: tables, columns: Selected::ALL }
    }
}

/// Some columns of a table in turn, by position.
#[derive(Debug, Clone, Copy)]
pub struct Selected {
    pub first: usize,
    /// The number of columns from `first` on; a table may have fewer.
    pub count: usize,
}

impl Selected {
    pub const ALL: Self = Self { first: 0, count: usize::MAX };

    fn has(self, position: usize) -> bool {
        position >= self.first && position - self.first < self.count
    }
}

/// A value of a column. Integers are signed and of 64 bits, because Spark reads unsigned ones as decimals; the bits of
/// an address stay as they are.
pub(crate) trait Value {
    type Stored: Stored;

    /// The value as it is stored; `None` is null.
    fn stored(self) -> Option<Self::Stored>;
}

pub(crate) trait Stored: Default {
    fn data(values: Vec<Self>) -> Data;
}

macro_rules! values {
    ($($value:ty => $stored:ty: $convert:expr;)*) => {
        $(impl Value for $value {
            type Stored = $stored;

            fn stored(self) -> Option<$stored> {
                Some($convert(self))
            }
        })*
    };
}

values! {
    bool => bool: std::convert::identity;
    i64 => i64: std::convert::identity;
    i32 => i64: i64::from;
    u32 => i64: i64::from;
    u64 => i64: u64::cast_signed;
    f64 => f64: std::convert::identity;
}

impl<T: Value> Value for Option<T> {
    type Stored = T::Stored;

    fn stored(self) -> Option<T::Stored> {
        self.and_then(T::stored)
    }
}

impl Stored for bool {
    fn data(values: Vec<Self>) -> Data {
        Data::Bools(values)
    }
}

impl Stored for i64 {
    fn data(values: Vec<Self>) -> Data {
        Data::Integers(values)
    }
}

impl Stored for f64 {
    fn data(values: Vec<Self>) -> Data {
        Data::Floats(values)
    }
}

impl Stored for Text {
    fn data(values: Vec<Self>) -> Data {
        Data::Texts(values)
    }
}

/// Columns with one value for each of `rows`.
pub(crate) struct Rows<'a, R> {
    references: &'a Tables,
    rows: &'a [R],
    selected: Selected,
    /// The position of the next column.
    next: usize,
    columns: Vec<Column>,
}

impl<'a, R> Rows<'a, R> {
    pub(crate) fn new(piece: Piece<'a>, rows: &'a [R]) -> Self {
        Self { references: piece.references, rows, selected: piece.columns, next: 0, columns: Vec::new() }
    }

    /// A column of numbers or booleans; its type does not depend on its values.
    pub(crate) fn add<T: Value>(self, name: &str, value: impl Fn(&'a R) -> T) -> Self {
        self.stored(name, |row| value(row).stored())
    }

    /// Three columns of sizes, which end in `x`, `y` and `z`.
    pub(crate) fn axes<T: Value + Copy>(self, name: &str, size: impl Fn(&'a R) -> Option<[T; 3]>) -> Self {
        ["x", "y", "z"].into_iter().enumerate().fold(self, |rows, (axis, letter)| {
            rows.add(&format!("{name}_{letter}"), |row| size(row).map(|size| size[axis]))
        })
    }

    /// A column of strings of the trace, each of which these rows share.
    pub(crate) fn text(self, name: &str, value: impl Fn(&'a R) -> NameId) -> Self {
        let strings = &self.references.strings;
        let mut texts = Distinct::new(|id: NameId| id.is_some().then(|| Text::from(strings.get(id))));
        self.stored(name, |row| texts.get(value(row)))
    }

    /// A column with few distinct strings.
    pub(crate) fn word(self, name: &str, value: impl Fn(&'a R) -> Option<&'a str>) -> Self {
        let mut texts = Distinct::new(|word: Option<&str>| word.map(Text::from));
        self.stored(name, |row| texts.get(value(row)))
    }

    /// The columns `pid` and `rank` of the process that each row belongs to.
    pub(crate) fn process(self, process: impl Fn(&'a R) -> ProcessId) -> Self {
        let processes = &self.references.processes;
        self.add("pid", |row| processes.get(process(row).index()).and_then(|process| process.pid))
            .add("rank", |row| processes.get(process(row).index()).and_then(|process| process.rank))
    }

    /// The columns `start_ns`, `end_ns` and `duration_ns`.
    pub(crate) fn times(self, start: impl Fn(&'a R) -> i64, duration: impl Fn(&'a R) -> Option<i64>) -> Self {
        self.add("start_ns", &start)
            .add("end_ns", |row| duration(row).map(|duration| start(row).saturating_add(duration)))
            .add("duration_ns", &duration)
    }

    pub(crate) fn finish(self) -> Vec<Column> {
        self.columns
    }

    fn stored<S: Stored>(mut self, name: &str, mut value: impl FnMut(&'a R) -> Option<S>) -> Self {
        self.next += 1;
        if !self.selected.has(self.next - 1) {
            return self;
        }
        let mut known = Vec::with_capacity(self.rows.len());
        let values = self.rows.iter().map(|row| {
            let value = value(row);
            known.push(value.is_some());
            value.unwrap_or_default()
        });
        let data = S::data(values.collect());
        if !known.contains(&false) {
            known = Vec::new();
        }
        self.columns.push(Column { name: name.to_owned(), values: Values { data, known } });
        self
    }
}

/// Texts of a column, each made once: rows in turn often have the same.
struct Distinct<K, F> {
    make: F,
    texts: FxHashMap<K, Option<Text>>,
    last: Option<(K, Option<Text>)>,
}

impl<K: Copy + Eq + std::hash::Hash, F: Fn(K) -> Option<Text>> Distinct<K, F> {
    fn new(make: F) -> Self {
        Self { make, texts: FxHashMap::default(), last: None }
    }

    fn get(&mut self, key: K) -> Option<Text> {
        match &self.last {
            Some((last, text)) if *last == key => text.clone(),
            _ => {
                let text = self.texts.entry(key).or_insert_with(|| (self.make)(key)).clone();
                self.last = Some((key, text.clone()));
                text
            }
        }
    }
}

/// The number of a GPU; none for other agents.
pub(crate) fn gpu(tables: &Tables, agent: Option<AgentId>) -> Option<i64> {
    let agent = tables.agents.get(agent?.index())?;
    (agent.kind == rtl_schema::table::AgentKind::Gpu).then_some(agent.number)
}

/// An id of 0 is none.
pub(crate) fn known(id: i64) -> Option<i64> {
    Some(id).filter(|&id| id != 0)
}
