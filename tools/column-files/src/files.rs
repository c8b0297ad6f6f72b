//! A folder with a file for each table, written while the trace is read.

use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use columnar::Writer;
use rtl_schema::{PieceSink, Tables};

use crate::layout::{Format, Layout};
use crate::row_groups::{self, Encoded, References, RowGroup, Waiting};
use crate::table::Table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, one line a row.
    Csv,
    Parquet,
}

impl Kind {
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
    #[error("{0}")]
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
    pub kind: Kind,
    pub tables: &'a [&'static Table],
    /// A column that the name of the folder states, and no file has.
    pub partition: Option<&'a str>,
}

impl<'a> Files<'a> {
    /// Writes the rows of a trace, which `read` passes to its argument, as [`rtl_schema::Trace::stream_to`] does; then the tables
    /// that rows refer to, from the tables that `read` returns. Memory does not grow with the rows. Returns the number of rows of
    /// each table.
    ///
    /// # Errors
    /// That of `read`, or a file cannot grow.
    pub fn write<E: From<Error> + From<rtl_schema::Error>>(
        &self,
        read: impl FnOnce(&mut RowSink<'_, E>) -> Result<Tables, E>,
    ) -> Result<Vec<u64>, E> {
        let layouts: Vec<Layout<'a>> =
            self.tables.iter().map(|table| self.layout(table)).collect::<Result<_, _>>()?;
        let mut sink = RowSink {
            files: self,
            layouts: &layouts,
            waiting: layouts.iter().map(|_| Waiting::default()).collect(),
            references: References::default(),
            out: layouts.iter().map(|_| None).collect(),
            error: PhantomData,
        };
        let last = read(&mut sink)?;
        sink.finish(last)
    }

    fn layout(&self, table: &'static Table) -> Result<Layout<'a>, Error> {
        match self.kind {
            Kind::Csv => Ok(Layout::csv(table, self.partition)),
            Kind::Parquet => Layout::parquet(table, self.partition)
                .map_err(|source| Error { path: self.file(self.output, table), source: source.into() }),
        }
    }

    fn file(&self, folder: &Path, table: &Table) -> PathBuf {
        folder.join(table.name).with_extension(self.kind.ending())
    }

    fn create(&self, layout: &Layout<'_>) -> Result<Out, Cause> {
        let mut file = File::create_new(self.file(self.folder, layout.table))?;
        Ok(match &layout.format {
            Format::Csv(header) => {
                file.write_all(header.as_bytes())?;
                Out::Csv(file)
            }
            Format::Parquet(encoder) => Out::Parquet(Box::new(Writer::new(file, encoder)?)),
        })
    }
}

#[derive(Debug)]
pub struct RowSink<'a, E> {
    files: &'a Files<'a>,
    layouts: &'a [Layout<'a>],
    /// By table.
    waiting: Vec<Waiting>,
    references: References,
    /// By table.
    out: Vec<Option<Out>>,
    error: PhantomData<fn() -> E>,
}

impl<'a, E: From<Error> + From<rtl_schema::Error>> PieceSink for RowSink<'a, E> {
    type Task = (usize, RowGroup<'a>);
    type Output = (usize, columnar::Result<Encoded>);
    type Error = E;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<Self::Task>, E> {
        let mut full = Vec::new();
        for rows in row_groups::take_rows(piece) {
            for (position, (layout, waiting)) in self.layouts.iter().zip(&mut self.waiting).enumerate() {
                if !layout.table.is_reference {
                    let groups = waiting.add(layout, &rows, piece, &mut self.references);
                    full.extend(groups.into_iter().map(|group| (position, group)));
                }
            }
        }
        Ok(full)
    }

    fn work((position, group): Self::Task) -> Self::Output {
        (position, group.encode())
    }

    fn end(&mut self, (position, rows): Self::Output) -> Result<Vec<Self::Task>, E> {
        let (file, layout) = (&mut self.out[position], &self.layouts[position]);
        let append = || match file {
            Some(file) => file.append(rows?),
            None => file.insert(self.files.create(layout)?).append(rows?),
        };
        append().map(|()| Vec::new()).map_err(|source| self.failed(position, source))
    }
}

impl<E: From<Error> + From<rtl_schema::Error>> RowSink<'_, E> {
    /// Adds the rows of `last` that other rows refer to, and completes the files.
    fn finish(mut self, last: Tables) -> Result<Vec<u64>, E> {
        let last = Arc::new(last);
        let mut rest = Vec::new();
        for (position, (layout, waiting)) in self.layouts.iter().zip(&mut self.waiting).enumerate() {
            let mut groups = Vec::new();
            if layout.table.is_reference {
                groups = waiting.add(layout, &last, &last, &mut self.references);
            }
            groups.extend(waiting.take(layout, &last, &mut self.references));
            if layout.table == Table::OPS && waiting.all == 0 {
                // Readers open this file first; an empty trace has its columns too.
                groups.push(RowGroup::empty(layout));
            }
            rest.extend(groups.into_iter().map(|group| (position, group)));
        }
        self.finish_tasks(rest)?;
        for (position, file) in std::mem::take(&mut self.out).into_iter().enumerate() {
            file.map_or(Ok(()), Out::finish).map_err(|source| self.failed(position, source))?;
        }
        Ok(self.waiting.iter().map(|waiting| waiting.all).collect())
    }

    fn failed(&self, position: usize, source: Cause) -> E {
        let path = self.files.file(self.files.output, self.layouts[position].table);
        E::from(Error { path, source })
    }
}

#[derive(Debug)]
enum Out {
    Csv(File),
    Parquet(Box<Writer<File>>),
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
