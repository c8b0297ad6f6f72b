//! Which columns a table has in a data set.

use std::sync::LazyLock;

use columnar::{Field, Values};
use tables::{Column, Loaded, Table, Type};

use crate::buffer::{self, Texts};

#[derive(Debug)]
pub struct Stored {
    pub table: &'static Table,
    pub columns: Vec<&'static Column>,
    /// The files have [`INVALID_STOP`].
    pub has_times: bool,
}

/// The end of a row that has no duration: it is missing, or before the start.
pub const INVALID_STOP: &str = "invalid_stop";

/// Tables that are made of others: `ops` of dispatches, copies and barriers, `idle` in `idle_stats`.
const DERIVED: [&str; 2] = ["ops", "idle"];

/// The rank of rows, the last column of every file.
pub(crate) const RANK: &str = "rank";

/// Columns that are not columns of a table: folders state the trace, `kernel_stats` has the display names, and every table has the
/// rank. Beside a duration, `stop` is not stored either.
const LEFT_OUT: [&str; 3] = ["trace", RANK, "display_name"];

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

impl Stored {
    pub(crate) fn fields(&self) -> Vec<Field> {
        let field = |name: &str, of| Field { name: name.to_owned(), kind: kind(of) };
        let columns = self.columns.iter().map(|column| field(name_in_files(column), column.kind));
        columns.chain(self.has_times.then(|| field(INVALID_STOP, Type::Integer))).collect()
    }

    /// The position of the field by which the rows of a rank ascend.
    pub(crate) fn sorted_by(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.name == "start")
    }

    pub(crate) fn values(&self, trace: &Loaded, position: usize, rows: &[u32], texts: &mut Texts) -> Values {
        if let Some(column) = self.columns.get(position) {
            return buffer::values(trace, column, rows, texts);
        }
        let mut of = |name| {
            let column = column(self.table, name).expect("a table with times has both");
            buffer::values(trace, column, rows, texts)
        };
        let (duration, mut stop) = (of("duration"), of("stop"));
        stop.known = (0..rows.len()).map(|row| stop.is_known(row) && !duration.is_known(row)).collect();
        stop
    }
}

/// Only some tables of a trace are stored.
pub fn stored() -> &'static [Stored] {
    &STORED
}

/// The name of a column in files. The folders state a `kind`, the table.
pub fn name_in_files(column: &Column) -> &'static str {
    if column.name == "kind" { "type" } else { column.name }
}

pub(crate) fn column(table: &'static Table, name: &str) -> Option<&'static Column> {
    table.columns.iter().find(|column| column.name == name)
}

fn kind(of: Type) -> columnar::Type {
    match of {
        Type::Bool => columnar::Type::Bool,
        Type::Integer => columnar::Type::Integer,
        Type::Float => columnar::Type::Float,
        Type::Text => columnar::Type::Text,
    }
}
