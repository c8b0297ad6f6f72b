//! What the rows of a file have in common.

use std::ops::Range;

use columnar::{Encoder, Field, Options};
use rtl_schema::Tables;

use crate::csv;
use crate::rows::{Column, Piece};
use crate::table::Table;

/// How a table becomes a file.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) table: &'static Table,
    /// A column that the file does not have.
    omitted: Option<&'a str>,
    pub(crate) format: Format,
}

#[derive(Debug)]
pub(crate) enum Format {
    /// The first line.
    Csv(String),
    Parquet(Encoder),
}

impl<'a> Layout<'a> {
    /// A file with the names of columns and one line a row.
    pub(crate) fn csv(table: &'static Table, omitted: Option<&'a str>) -> Self {
        let format = Format::Csv(csv::header(&columns(table, omitted, (&Tables::default()).into(), 0..0)));
        Self { table, omitted, format }
    }

    /// A file with row groups.
    ///
    /// # Errors
    /// Two columns have one name.
    pub(crate) fn parquet(table: &'static Table, omitted: Option<&'a str>) -> columnar::Result<Self> {
        let field = |column: Column| Field { kind: column.values.data.kind(), name: column.name };
        let columns = columns(table, omitted, (&Tables::default()).into(), 0..0);
        let fields: Vec<Field> = columns.into_iter().map(field).collect();
        Ok(Self { table, omitted, format: Format::Parquet(Encoder::new(&fields, &Options::default())?) })
    }

    /// The columns of some rows.
    pub(crate) fn columns(&self, piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
        columns(self.table, self.omitted, piece, rows)
    }
}

fn columns(table: &Table, omitted: Option<&str>, piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let mut columns = (table.columns)(piece, rows);
    columns.retain(|column| omitted != Some(column.name.as_str()));
    columns
}
