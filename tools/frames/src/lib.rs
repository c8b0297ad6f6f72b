//! Tables of GPU traces as [polars](https://docs.pola.rs) dataframes, whatever tool has recorded the trace.
//!
//! A table has the columns that `rtl-sql` and the Python package show: `rtl-sql TRACE '.schema dispatches'` lists them. Times are
//! integers in ns, sizes integers in bytes, and a value that the source does not have is null.
//!
//! ```no_run
//! let trace = rtl_frames::Trace::open("trace.db")?;
//! let copies = trace.frame("copies")?;
//! let kernels = trace.columns("dispatches", &["name", "duration"])?;
//! println!("{} kernels, {} copies", kernels.height(), copies.height());
//! # Ok::<(), rtl_frames::Error>(())
//! ```
//!
//! The crate is no member of the workspace of the tools, because polars takes longer to compile than all of them.

mod values;

use std::path::{Path, PathBuf};

use polars::prelude::{Column, DataFrame, PolarsError};
use rtl_schema::Select;
use tables::{CHUNK, Loaded, Table};

use crate::values::Values;

/// Why there is no dataframe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is no trace, or it cannot be read.
    #[error(transparent)]
    Trace(#[from] rtl_schema::Error),
    /// [`tables`] lists the tables that there are.
    #[error("no such table: {0}")]
    NoTable(String),
    /// The table has no column of that name.
    #[error("no such column of {table}: {column}")]
    NoColumn {
        /// The name of the table.
        table: &'static str,
        /// The name that was asked for.
        column: String,
    },
    /// Polars refused the columns: there are more rows than it can number.
    #[error(transparent)]
    Polars(#[from] PolarsError),
}

/// The names of all tables. Every trace has all of them, perhaps without rows.
pub fn tables() -> impl Iterator<Item = &'static str> {
    tables::all().iter().map(|table| table.name)
}

/// A trace of any recorder. Each dataframe reads the file anew, and only the parts that its columns are made of.
#[derive(Debug, Clone)]
pub struct Trace {
    path: PathBuf,
    label: String,
}

impl Trace {
    /// A trace by its path.
    ///
    /// # Errors
    /// [`Error::Trace`] where the file is none.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        rtl_schema::Trace::open(&path)?;
        let label = tables::labels(std::slice::from_ref(&path)).concat();
        Ok(Self { path, label })
    }

    /// All columns of a table: a row for each row of the trace, in the order of the source.
    ///
    /// Integers are `Int64`, floating-point numbers `Float64`, truths `Boolean` and texts `String`. The first column, `trace`, has the
    /// name of the file, so that frames of several traces can be stacked.
    ///
    /// # Errors
    /// [`Error::NoTable`], [`Error::Trace`], [`Error::Polars`].
    pub fn frame(&self, table: &str) -> Result<DataFrame, Error> {
        let table = find(table)?;
        self.read(table, (0..table.columns.len()).collect())
    }

    /// Some columns of a table, in this order: what only other columns need is not read.
    ///
    /// # Errors
    /// As [`Self::frame`], and [`Error::NoColumn`].
    pub fn columns(&self, table: &str, columns: &[&str]) -> Result<DataFrame, Error> {
        let table = find(table)?;
        let position = |&name: &&str| {
            let position = table.columns.iter().position(|column| column.name == name);
            position.ok_or_else(|| Error::NoColumn { table: table.name, column: name.to_owned() })
        };
        self.read(table, columns.iter().map(position).collect::<Result<_, _>>()?)
    }

    fn read(&self, table: &'static Table, positions: Vec<usize>) -> Result<DataFrame, Error> {
        let columns = positions.iter().map(|&position| &table.columns[position]);
        let select = columns.clone().map(|column| column.needs).fold(table.needs, Select::union);
        let read = rtl_schema::Trace::open(&self.path)?.read(&select)?;
        let trace = Loaded::new(&self.label, select, read);
        let height = table.rows(&trace);
        let columns = columns.map(|column| column_of(column, &trace, height));
        Ok(DataFrame::new(height, columns.collect::<Result<_, _>>()?)?)
    }
}

fn find(name: &str) -> Result<&'static Table, Error> {
    tables::find(name).ok_or_else(|| Error::NoTable(name.to_owned()))
}

fn column_of(column: &tables::Column, trace: &Loaded, height: usize) -> Result<Column, PolarsError> {
    let mut values = Values::new(column.kind, height);
    for start in (0..height).step_by(CHUNK) {
        let rows = start..(start + CHUNK).min(height);
        values.begin_chunk(rows.clone());
        column.fill(trace, rows, &mut values);
    }
    values.finish(column.name, trace)
}
