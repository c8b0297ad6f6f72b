//! The columns of a file, and its encoder: all that its rows have in common.

use std::ops::Range;

use columnar::{Encoder, Field, Options};
use rtl_schema::Tables;

use crate::csv;
use crate::rows::{Column, Piece};
use crate::table::Table;

#[derive(Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) table: &'static Table,
    /// A column that the file does not have.
    omitted: Option<&'a str>,
    pub(crate) format: Format,
    pub(crate) columns: usize,
}

#[derive(Debug)]
pub(crate) enum Format {
    Csv(String),
    Parquet(Encoder),
}

impl<'a> Layout<'a> {
    /// A file with the names of columns and one line a row.
    pub(crate) fn csv(table: &'static Table, omitted: Option<&'a str>) -> Self {
        let columns = all(table);
        let count = columns.len();
        let format = Format::Csv(csv::header(&kept(columns, omitted)));
        Self { table, omitted, format, columns: count }
    }

    /// Creates the layout of a file with row groups; an error where two columns have one name.
    pub(crate) fn parquet(table: &'static Table, omitted: Option<&'a str>) -> columnar::Result<Self> {
        let field = |column: Column| Field { kind: column.values.data.kind(), name: column.name };
        let columns = all(table);
        let count = columns.len();
        let fields: Vec<Field> = kept(columns, omitted).into_iter().map(field).collect();
        let format = Format::Parquet(Encoder::new(&fields, &Options::default())?);
        Ok(Self { table, omitted, format, columns: count })
    }

    pub(crate) fn columns(&self, piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
        kept((self.table.columns)(piece, rows), self.omitted)
    }
}

/// A table without rows still has columns with names and types.
fn all(table: &Table) -> Vec<Column> {
    (table.columns)((&Tables::default()).into(), 0..0)
}

fn kept(mut columns: Vec<Column>, omitted: Option<&str>) -> Vec<Column> {
    columns.retain(|column| omitted != Some(column.name.as_str()));
    columns
}
