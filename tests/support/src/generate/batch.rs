use rusqlite::Connection;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

/// Rows inserted by one statement: beyond this many, rows per CPU second no longer grow.
const ROWS: usize = 64;

/// One value of a row that waits to be inserted.
#[derive(Debug, Clone, Default)]
pub(super) enum Cell {
    #[default]
    Null,
    Int(i64),
    Real(f64),
    Text(Box<str>),
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
        }))
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The rows of one table on their way to the file. The table is created with the first of them.
#[derive(Debug)]
pub(super) struct Batch {
    create: String,
    insert: String,
    row: String,
    width: usize,
    waiting: Vec<Cell>,
    count: i64,
}

impl Batch {
    /// `create` is the statement that makes the table; rows give values to `columns` in this order.
    pub(super) fn new(create: &str, table: &str, columns: &[&str]) -> Self {
        let quoted: Vec<String> =
            columns.iter().map(|column| format!("\"{}\"", column.replace('"', "\"\""))).collect();
        Self {
            create: create.to_owned(),
            insert: format!("INSERT INTO \"{}\"({}) VALUES ", table.replace('"', "\"\""), quoted.join(",")),
            row: format!("({})", vec!["?"; columns.len()].join(",")),
            width: columns.len(),
            waiting: Vec::new(),
            count: 0,
        }
    }

    /// Creates the table although it may stay empty.
    pub(super) fn create(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if !self.create.is_empty() {
            connection.execute_batch(&self.create)?;
            self.create.clear();
        }
        Ok(())
    }

    /// Adds a row and returns how many there are now: its id where the table numbers its rows.
    #[inline]
    pub(super) fn push<const N: usize>(
        &mut self,
        connection: &Connection,
        row: [Cell; N],
    ) -> rusqlite::Result<i64> {
        self.waiting.extend(row);
        self.added(connection)
    }

    #[inline]
    fn added(&mut self, connection: &Connection) -> rusqlite::Result<i64> {
        self.count += 1;
        if self.waiting.len() >= self.width * ROWS {
            self.create(connection)?;
            self.insert(connection, 0, ROWS)?;
            self.waiting.clear();
        }
        Ok(self.count)
    }

    /// Inserts the rows that still wait.
    pub(super) fn flush(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.create(connection)?;
        for row in 0..self.waiting.len() / self.width {
            self.insert(connection, row, 1)?;
        }
        self.waiting.clear();
        Ok(())
    }

    fn insert(&self, connection: &Connection, first: usize, rows: usize) -> rusqlite::Result<()> {
        let sql = format!("{}{}", self.insert, vec![self.row.as_str(); rows].join(","));
        let mut statement = connection.prepare_cached(&sql)?;
        let cells = &self.waiting[first * self.width..(first + rows) * self.width];
        for (at, cell) in cells.iter().enumerate() {
            // A cached statement comes back with all its parameters NULL.
            if !matches!(cell, Cell::Null) {
                statement.raw_bind_parameter(at + 1, cell)?;
            }
        }
        statement.raw_execute()?;
        Ok(())
    }
}
