//! A folder with a file for each table, written while the trace is read.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use columnar::{Encoder, Field, Group, Options, Writer};
use rtl_schema::Tables;

use crate::csv;
use crate::rows::Column;
use crate::table::Table;

/// Rows of a row group, which are in memory on each thread.
const ROWS: usize = 1 << 16;

/// The format of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, one line a row.
    Csv,
    /// Columns, compressed by zstd.
    Parquet,
}

impl Kind {
    /// The ending of file names.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// The file of a table cannot grow.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", path.display())]
pub struct Error {
    path: PathBuf,
    source: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    File(#[from] io::Error),
    #[error(transparent)]
    Parquet(columnar::Error),
}

impl From<columnar::Error> for Cause {
    fn from(error: columnar::Error) -> Self {
        match columnar::io_error(error) {
            Ok(file) => Self::File(file),
            Err(other) => Self::Parquet(other),
        }
    }
}

/// The files of one folder: those of `tables` that have rows, and always that of the ops.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// A folder that exists, without these files.
    pub folder: &'a Path,
    /// Where the folder will be: errors name its files there.
    pub output: &'a Path,
    /// The format of all files.
    pub kind: Kind,
    /// The tables that are written.
    pub tables: &'a [&'static Table],
    /// A column that the name of the folder states, and no file has.
    pub partition: Option<&'a str>,
}

impl Files<'_> {
    /// Writes the batches of rows that `read` passes to its argument, as [`rtl_schema::Trace::stream`] does, then the
    /// tables that rows refer to, from the tables that `read` returns. Memory does not grow with the rows.
    ///
    /// # Errors
    /// That of `read`, or a file cannot grow.
    pub fn write<E: From<Error>>(
        &self,
        read: impl FnOnce(&mut dyn FnMut(&Tables) -> Result<(), E>) -> Result<Tables, E>,
    ) -> Result<(), E> {
        let layouts: Vec<Layout> =
            self.tables.iter().map(|table| self.layout(table)).collect::<Result<_, _>>()?;
        let mut files: Vec<Option<Out>> = self.tables.iter().map(|_| None).collect();
        let failed = |position: usize| {
            move |source: Cause| Error { path: self.file(self.output, self.tables[position]), source }
        };
        let encode =
            |(position, columns): (usize, Vec<Column>)| (position, layouts[position].encode(&columns));
        let append = |(position, rows): (usize, Result<Encoded, Cause>)| {
            let file = &mut files[position];
            let append = || match file {
                Some(file) => file.append(rows?),
                None => file.insert(self.create(position, &layouts[position])?).append(rows?),
            };
            append().map(|()| None).map_err(failed(position)).map_err(E::from)
        };
        threads::pipeline(encode, append, |encoding| {
            let mut waiting: Vec<Waiting> = self.tables.iter().map(|_| Waiting::default()).collect();
            let mut push = |tables: &Tables, is_reference: bool| -> Result<(), E> {
                for (position, &table) in self.tables.iter().enumerate() {
                    let rows = if table.is_reference == is_reference { (table.rows)(tables) } else { 0 };
                    let mut first = 0;
                    while first < rows {
                        let waiting = &mut waiting[position];
                        let last = rows.min(first + ROWS - waiting.rows);
                        waiting.append(self.columns(table, tables, first..last), last - first);
                        if waiting.rows == ROWS {
                            encoding.push((position, waiting.take()))?;
                        }
                        first = last;
                    }
                }
                Ok(())
            };
            let last = read(&mut |batch| push(batch, false))?;
            push(&last, true)?;
            for (position, (waiting, &table)) in waiting.iter_mut().zip(self.tables).enumerate() {
                if waiting.rows > 0 {
                    encoding.push((position, waiting.take()))?;
                } else if table == Table::OPS && !waiting.has_group {
                    // Readers open this file first; an empty trace has its columns too.
                    encoding.push((position, self.columns(table, &Tables::default(), 0..0)))?;
                }
            }
            Ok(())
        })?;
        for (position, file) in files.into_iter().enumerate() {
            file.map_or(Ok(()), Out::finish).map_err(failed(position))?;
        }
        Ok(())
    }

    fn columns(&self, table: &Table, tables: &Tables, rows: std::ops::Range<usize>) -> Vec<Column> {
        let mut columns = (table.columns)(tables, rows);
        columns.retain(|column| self.partition != Some(column.name.as_str()));
        columns
    }

    fn layout(&self, table: &'static Table) -> Result<Layout, Error> {
        let columns = self.columns(table, &Tables::default(), 0..0);
        Ok(match self.kind {
            Kind::Csv => Layout::Csv(csv::header(&columns)),
            Kind::Parquet => {
                let field = |column: Column| Field { kind: column.values.data.kind(), name: column.name };
                let fields: Vec<Field> = columns.into_iter().map(field).collect();
                let encoder = Encoder::new(&fields, &Options::default())
                    .map_err(|source| Error { path: self.file(self.output, table), source: source.into() })?;
                Layout::Parquet(encoder)
            }
        })
    }

    fn file(&self, folder: &Path, table: &Table) -> PathBuf {
        folder.join(table.name).with_extension(self.kind.ending())
    }

    /// Creates the file of a table.
    fn create(&self, position: usize, layout: &Layout) -> Result<Out, Cause> {
        let mut file = File::create_new(self.file(self.folder, self.tables[position]))?;
        Ok(match layout {
            Layout::Csv(header) => {
                file.write_all(header.as_bytes())?;
                Out::Csv(file)
            }
            Layout::Parquet(encoder) => Out::Parquet(Box::new(Writer::new(file, encoder)?)),
        })
    }
}

/// Rows of a table on their way to a row group. Batches are smaller.
#[derive(Default)]
struct Waiting {
    columns: Vec<Column>,
    rows: usize,
    /// Whether a row group was made.
    has_group: bool,
}

impl Waiting {
    fn append(&mut self, columns: Vec<Column>, rows: usize) {
        self.rows += rows;
        if self.columns.is_empty() {
            self.columns = columns;
            return;
        }
        for (column, more) in self.columns.iter_mut().zip(columns) {
            column.values.append(more.values);
        }
    }

    fn take(&mut self) -> Vec<Column> {
        (self.rows, self.has_group) = (0, true);
        std::mem::take(&mut self.columns)
    }
}

/// What the rows of a file have in common.
enum Layout {
    /// The first line.
    Csv(String),
    Parquet(Encoder),
}

/// Rows as they are in a file.
enum Encoded {
    Csv(String),
    Parquet(Group),
}

enum Out {
    Csv(File),
    Parquet(Box<Writer<File>>),
}

impl Layout {
    fn encode(&self, columns: &[Column]) -> Result<Encoded, Cause> {
        Ok(match self {
            Self::Csv(_) => Encoded::Csv(csv::lines(columns)),
            Self::Parquet(encoder) => {
                Encoded::Parquet(encoder.encode(columns.iter().map(|column| &column.values))?)
            }
        })
    }
}

impl Out {
    fn append(&mut self, rows: Encoded) -> Result<(), Cause> {
        match (self, rows) {
            (Self::Csv(file), Encoded::Csv(lines)) => file.write_all(lines.as_bytes())?,
            (Self::Parquet(writer), Encoded::Parquet(group)) => writer.append(group)?,
            _ => unreachable!("all files have one format"),
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Cause> {
        if let Self::Parquet(writer) = self {
            writer.finish()?;
        }
        Ok(())
    }
}
