//! A folder with a file for each table, written while the trace is read.

use std::fs::File;
use std::path::{Path, PathBuf};

use polars::prelude::*;
use polars_io::SerWriter;
use polars_io::csv::write::{self as csv, CsvWriter};
use polars_io::parquet::write::{self as parquet, ParquetCompression, ParquetWriter};
use rtl_schema::Tables;

use crate::table::Table;

/// Rows of a frame and of a row group: the rows in memory.
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

/// The files of one folder: those of `tables` that have rows, and always that of the ops.
pub struct Files<'a> {
    folder: &'a Path,
    kind: Kind,
    tables: &'a [&'static Table],
    /// A column that the name of the folder states.
    partition: Option<&'a str>,
    open: Vec<(&'static Table, Out)>,
}

enum Out {
    Csv(csv::BatchedWriter<File>),
    Parquet(Box<parquet::BatchedWriter<File>>),
}

impl<'a> Files<'a> {
    /// Files in an existing folder, without the column `partition`.
    pub fn new(
        folder: &'a Path,
        kind: Kind,
        tables: &'a [&'static Table],
        partition: Option<&'a str>,
    ) -> Self {
        Self { folder, kind, tables, partition, open: Vec::new() }
    }

    /// Writes a batch of rows, as [`rtl_schema::Trace::stream`] passes it. Memory does not grow with the rows.
    ///
    /// # Errors
    /// A file cannot grow.
    pub fn push(&mut self, batch: &Tables) -> PolarsResult<()> {
        for &table in self.tables.iter().filter(|table| !table.is_reference) {
            self.rows(table, batch)?;
        }
        Ok(())
    }

    /// Writes the tables that rows refer to, from the tables that remain after the last batch, and completes the files.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self, last: &Tables) -> PolarsResult<()> {
        for &table in self.tables.iter().filter(|table| table.is_reference) {
            self.rows(table, last)?;
        }
        if self.tables.contains(&Table::OPS) && self.open.iter().all(|(table, _)| *table != Table::OPS) {
            // Readers open this file first; an empty trace has its columns too.
            let none = self.frame(Table::OPS, &Tables::default(), 0..0)?;
            self.out(Table::OPS, &none)?.write(&none)?;
        }
        self.open.into_iter().try_for_each(|(_, out)| out.finish())
    }

    fn rows(&mut self, table: &'static Table, tables: &Tables) -> PolarsResult<()> {
        let rows = (table.rows)(tables);
        for first in (0..rows).step_by(ROWS) {
            let frame = self.frame(table, tables, first..rows.min(first + ROWS))?;
            self.out(table, &frame)?.write(&frame)?;
        }
        Ok(())
    }

    fn frame(
        &self,
        table: &'static Table,
        tables: &Tables,
        rows: std::ops::Range<usize>,
    ) -> PolarsResult<DataFrame> {
        let frame = (table.frame)(tables, rows)?;
        Ok(match self.partition {
            Some(column) => frame.drop_many([column]),
            None => frame,
        })
    }

    /// The file of a table, with the columns of `frame` where it is new.
    fn out(&mut self, table: &'static Table, frame: &DataFrame) -> PolarsResult<&mut Out> {
        let at = match self.open.iter().position(|(open, _)| *open == table) {
            Some(at) => at,
            None => {
                let path = self.path(table);
                let file = File::create_new(path)?;
                self.open.push((table, Out::new(self.kind, file, frame.schema())?));
                self.open.len() - 1
            }
        };
        Ok(&mut self.open[at].1)
    }

    fn path(&self, table: &'static Table) -> PathBuf {
        self.folder.join(table.name).with_extension(self.kind.ending())
    }
}

impl Out {
    fn new(kind: Kind, file: File, schema: &Schema) -> PolarsResult<Self> {
        Ok(match kind {
            Kind::Csv => Self::Csv(CsvWriter::new(file).batched(schema)?),
            Kind::Parquet => {
                let writer = ParquetWriter::new(file).with_compression(ParquetCompression::Zstd(None));
                Self::Parquet(Box::new(writer.batched(schema)?))
            }
        })
    }

    fn write(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        match self {
            Self::Csv(writer) => writer.write_batch(frame),
            Self::Parquet(writer) => writer.write_batch(frame),
        }
    }

    fn finish(self) -> PolarsResult<()> {
        match self {
            Self::Csv(mut writer) => writer.finish(),
            Self::Parquet(writer) => {
                // Without Arrow's schema, which would tell readers to make string views of texts.
                let mut file = writer.get_writer().lock().expect("no thread has panicked with the file");
                file.end(Some(Vec::new())).map(drop)
            }
        }
    }
}
