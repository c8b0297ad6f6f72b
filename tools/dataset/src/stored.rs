//! Which columns a table has in a data set.

use std::sync::LazyLock;

use tables::{Column, Table, Type};

/// A table as it is stored.
#[derive(Debug)]
pub struct Stored {
    /// The table.
    pub table: &'static Table,
    /// The columns of its files.
    pub columns: Vec<&'static Column>,
    /// Whether the files have [`INVALID_STOP`].
    pub has_times: bool,
}

/// The end of a row that has no duration: it is missing, or before the start.
pub const INVALID_STOP: &str = "invalid_stop";

/// Tables that are made of others: `ops` of dispatches, copies and barriers, `idle` in `idle_stats`.
const DERIVED: [&str; 2] = ["ops", "idle"];

/// Columns that are not stored: names of folders state two of them, and `kernel_stats` has the display names. Beside a duration,
/// `stop` is not stored either.
const LEFT_OUT: [&str; 3] = ["trace", "rank", "display_name"];

static STORED: LazyLock<Vec<Stored>> = LazyLock::new(|| {
    let stored = |table: &'static Table| {
        let has_times = column(table, "stop").is_some() && column(table, "duration").is_some();
        let is_stored = |column: &&Column| match column.name {
            "stop" => !has_times,
            name => !LEFT_OUT.contains(&name),
        };
        Stored { table, columns: table.columns.iter().filter(is_stored).collect(), has_times }
    };
    tables::all().iter().filter(|table| !DERIVED.contains(&table.name)).map(stored).collect()
});

/// The tables of a data set that are tables of a trace.
pub fn stored() -> &'static [Stored] {
    &STORED
}

/// The name of a column in files. The folders state a `kind`, the table.
pub fn name_in_files(column: &Column) -> &'static str {
    if column.name == "kind" { "type" } else { column.name }
}

/// A column of a table by name.
pub(crate) fn column(table: &'static Table, name: &str) -> Option<&'static Column> {
    table.columns.iter().find(|column| column.name == name)
}

/// The type of a column in a file.
pub(crate) fn kind(of: Type) -> columnar::Type {
    match of {
        Type::Bool => columnar::Type::Bool,
        Type::Integer => columnar::Type::Integer,
        Type::Float => columnar::Type::Float,
        Type::Text => columnar::Type::Text,
    }
}
