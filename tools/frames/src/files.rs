//! A folder with a file for each table, written as a trace is read.

use std::fs::File;
use std::path::{Path, PathBuf};

use polars::prelude::*;
use polars_io::csv::write::{self as csv, CsvWriter};
use polars_io::parquet::write::{self as parquet, ParquetCompression, ParquetWriter};
use rtl_schema::Tables;

use crate::table::Table;

/// Rows of a frame, and of a row group: what is in memory at once.
const ROWS: usize = 1 << 16;

/// How tables are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, one line a row.
    Csv,
    /// Columns, compressed by zstd.
    Parquet,
}

impl Kind {
    /// What names of files end with.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// The files of one folder in the making: those of `tables` that have rows, and that of the ops.
pub struct Files<'a> {
    folder: &'a Path,
    kind: Kind,
    tables: &'a [Table],
    /// A column that the name of the folder says.
    partition: Option<&'a str>,
    open: Vec<(Table, Out)>,
}

enum Out {
    Csv(csv::BatchedWriter<File>),
    Parquet(Box<parquet::BatchedWriter<File>>),
}

impl<'a> Files<'a> {
    /// In a folder that exists. The column `partition`, if there is one, is left out of all files.
    pub fn new(folder: &'a Path, kind: Kind, tables: &'a [Table], partition: Option<&'a str>) -> Self {
        Self { folder, kind, tables, partition, open: Vec::new() }
    }

    /// Writes the rows of a piece, as [`rtl_schema::Trace::stream`] gives it out. Memory does not grow with them.
    ///
    /// # Errors
    /// Where a file cannot grow.
    pub fn piece(&mut self, piece: &Tables) -> PolarsResult<()> {
        for &table in self.tables.iter().filter(|table| !table.is_reference()) {
            self.rows(table, piece)?;
        }
        Ok(())
    }

    /// Writes the tables that rows refer to, from what is left when all pieces were given, and completes the files.
    ///
    /// # Errors
    /// As [`Self::piece`].
    pub fn finish(mut self, last: &Tables) -> PolarsResult<()> {
        for &table in self.tables.iter().filter(|table| table.is_reference()) {
            self.rows(table, last)?;
        }
        if self.tables.contains(&Table::Ops) && self.open.iter().all(|(table, _)| *table != Table::Ops) {
            // Whoever opens the folder asks for them first, and finds the columns of a trace without any.
            let none = self.frame(Table::Ops, &Tables::default(), 0..0)?;
            self.out(Table::Ops, &none)?.write(&none)?;
        }
        self.open.into_iter().try_for_each(|(_, out)| out.finish())
    }

    fn rows(&mut self, table: Table, tables: &Tables) -> PolarsResult<()> {
        let rows = table.rows(tables);
        for first in (0..rows).step_by(ROWS) {
            let frame = self.frame(table, tables, first..rows.min(first + ROWS))?;
            self.out(table, &frame)?.write(&frame)?;
        }
        Ok(())
    }

    fn frame(&self, table: Table, tables: &Tables, rows: std::ops::Range<usize>) -> PolarsResult<DataFrame> {
        let frame = table.frame(tables, rows)?;
        Ok(match self.partition {
            Some(column) => frame.drop_many([column]),
            None => frame,
        })
    }

    /// The file of a table, with the columns of `frame` where it is new.
    fn out(&mut self, table: Table, frame: &DataFrame) -> PolarsResult<&mut Out> {
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

    fn path(&self, table: Table) -> PathBuf {
        self.folder.join(table.name()).with_extension(self.kind.ending())
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
            Self::Parquet(writer) => writer.finish().map(drop),
        }
    }
}
