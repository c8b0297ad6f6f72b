//! Builds a frame from rows.

use polars::prelude::*;
use rtl_schema::{AgentId, NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

/// A value of a column. Integers are signed and of 64 bits, because Spark reads unsigned ones as decimals; the bits of
/// an address stay as they are.
pub(crate) trait Value {
    /// The type of the column.
    type Stored;

    fn stored(self) -> Self::Stored;
}

/// Values of columns, and how they are stored.
macro_rules! values {
    ($($value:ty => $stored:ty: $convert:expr;)*) => {
        $(impl Value for $value {
            type Stored = $stored;

            fn stored(self) -> $stored {
                $convert(self)
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
    type Stored = Option<T::Stored>;

    fn stored(self) -> Self::Stored {
        self.map(T::stored)
    }
}

/// Columns with one value for each of `rows`.
pub(crate) struct Frame<'a, R> {
    tables: &'a Tables,
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<'a, R> Frame<'a, R> {
    pub(crate) fn of(tables: &'a Tables, rows: &'a [R]) -> Self {
        Self { tables, rows, columns: Vec::new() }
    }

    /// A column of numbers or booleans; its type does not depend on its values.
    pub(crate) fn add<T: Value>(mut self, name: &str, value: impl Fn(&'a R) -> T) -> Self
    where
        Series: NamedFrom<Vec<T::Stored>, [T::Stored]>,
    {
        let values: Vec<T::Stored> = self.rows.iter().map(|row| value(row).stored()).collect();
        self.columns.push(Series::new(name.into(), values).into_column());
        self
    }

    /// Three columns of sizes, which end in `x`, `y` and `z`.
    pub(crate) fn axes<T: Value + Copy>(self, name: &str, size: impl Fn(&'a R) -> Option<[T; 3]>) -> Self
    where
        Series: NamedFrom<Vec<Option<T::Stored>>, [Option<T::Stored>]>,
    {
        ["x", "y", "z"].into_iter().enumerate().fold(self, |frame, (axis, letter)| {
            frame.add(&format!("{name}_{letter}"), |row| size(row).map(|size| size[axis]))
        })
    }

    /// A column of strings of the trace, each stored once.
    pub(crate) fn text(mut self, name: &str, value: impl Fn(&'a R) -> NameId) -> PolarsResult<Self> {
        let mut places = FxHashMap::<NameId, IdxSize>::default();
        let mut distinct: Vec<Option<&str>> = Vec::new();
        let mut rows: Vec<IdxSize> = Vec::with_capacity(self.rows.len());
        let mut last = None;
        for row in self.rows {
            let id = value(row);
            let place = match last {
                Some((known, place)) if known == id => place,
                _ => *places.entry(id).or_insert_with(|| {
                    distinct.push(id.is_some().then(|| self.tables.strings.get(id)));
                    distinct.len() as IdxSize - 1
                }),
            };
            last = Some((id, place));
            rows.push(place);
        }
        let distinct = Series::new(name.into(), distinct);
        self.columns.push(distinct.take_slice(&rows)?.into_column());
        Ok(self)
    }

    /// A column with few distinct strings.
    pub(crate) fn word(mut self, name: &str, value: impl Fn(&'a R) -> Option<&'a str>) -> Self {
        let words: Vec<Option<&str>> = self.rows.iter().map(value).collect();
        self.columns.push(Series::new(name.into(), words).into_column());
        self
    }

    /// The columns `pid` and `rank` of the process that each row belongs to.
    pub(crate) fn process(self, process: impl Fn(&'a R) -> ProcessId) -> Self {
        let processes = &self.tables.processes;
        self.add("pid", |row| processes.get(process(row).index()).and_then(|process| process.pid))
            .add("rank", |row| processes.get(process(row).index()).and_then(|process| process.rank))
    }

    /// The columns `start_ns`, `end_ns` and `duration_ns`.
    pub(crate) fn times(self, start: impl Fn(&'a R) -> i64, duration: impl Fn(&'a R) -> Option<i64>) -> Self {
        self.add("start_ns", &start)
            .add("end_ns", |row| duration(row).map(|duration| start(row).saturating_add(duration)))
            .add("duration_ns", &duration)
    }

    pub(crate) fn finish(self) -> PolarsResult<DataFrame> {
        DataFrame::new_infer_height(self.columns)
    }
}

/// The number of a GPU; none for other agents.
pub(crate) fn gpu(tables: &Tables, agent: Option<AgentId>) -> Option<i64> {
    let agent = tables.agents.get(agent?.index())?;
    (agent.kind == rtl_schema::table::AgentKind::Gpu).then_some(agent.number)
}

/// The id, unless it is 0.
pub(crate) fn known(id: i64) -> Option<i64> {
    Some(id).filter(|&id| id != 0)
}
