//! Rows on their way from the pieces of a trace to row groups. On the thread that takes the pieces they are only moved; their
//! columns are made with the row group, on any thread.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;
use std::vec;

use columnar::Group;
use rtl_schema::Tables;

use crate::csv;
use crate::layout::{Format, Layout};
use crate::rows::{Column, Piece, Selected};

/// Rows of a row group, which are in memory on each thread.
pub(crate) const ROWS: usize = 1 << 16;

/// Rows whose columns are made at once, so that they are in a cache when they join the others.
const AT_ONCE: usize = 1 << 14;

/// Columns of a row group that are in memory at the same time: all of them would take several times the memory of its rows. Fewer
/// would find the rows of a piece again and again.
const TOGETHER: usize = 8;

/// So few rows of a piece wait as columns: tables of their own would take more memory than they do.
const FEW: usize = 1 << 10;

/// Rows of a row group from one piece, or from several in turn.
#[derive(Debug)]
enum Part {
    Rows(Arc<Tables>, Range<usize>),
    Columns(Vec<Column>),
}

/// Rows of a table that do not fill a row group yet.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    parts: Vec<Part>,
    rows: usize,
    pub(crate) all: u64,
}

impl Waiting {
    /// Adds rows of a piece; returns the row groups that they fill.
    pub(crate) fn add<'a>(
        &mut self,
        layout: &'a Layout<'a>,
        rows: &Arc<Tables>,
        piece: &Tables,
        references: &mut References,
    ) -> Vec<RowGroup<'a>> {
        let all = (layout.table.rows)(rows);
        self.all += all as u64;
        let (mut full, mut first) = (Vec::new(), 0);
        while first < all {
            let last = all.min(first + ROWS - self.rows);
            self.rows += last - first;
            if self.rows == ROWS {
                self.parts.push(Part::Rows(rows.clone(), first..last));
                full.extend(self.take(layout, piece, references));
            } else if last - first < FEW || all > ROWS {
                // A large piece would stay in memory for its last rows.
                let piece = Piece { rows, references: piece, columns: Selected::ALL };
                self.append(layout.columns(piece, first..last));
            } else {
                self.parts.push(Part::Rows(rows.clone(), first..last));
            }
            first = last;
        }
        full
    }

    fn append(&mut self, more: Vec<Column>) {
        match self.parts.last_mut() {
            Some(Part::Columns(columns)) => append(columns, more),
            _ => self.parts.push(Part::Columns(more)),
        }
    }

    /// A row group of the rows that wait, if there are any.
    pub(crate) fn take<'a>(
        &mut self,
        layout: &'a Layout<'a>,
        tables: &Tables,
        references: &mut References,
    ) -> Option<RowGroup<'a>> {
        let rows = take(&mut self.rows);
        let references = (rows > 0).then(|| references.share(tables))?;
        Some(RowGroup { layout, parts: take(&mut self.parts), rows, references })
    }
}

/// The tables that rows refer to, which row groups share until there is more in them.
#[derive(Debug, Default)]
pub(crate) struct References(Arc<Tables>);

impl References {
    fn share(&mut self, tables: &Tables) -> Arc<Tables> {
        let Tables { strings, processes, agents, tracks, shapes, symbols, .. } = tables;
        let known = &self.0;
        let is_known = known.strings.len() == strings.len()
            && known.tracks.rows().len() == tracks.rows().len()
            && known.shapes.rows().len() == shapes.rows().len()
            && known.symbols.len() == symbols.len()
            && known.processes == *processes
            && known.agents == *agents;
        if !is_known {
            self.0 = Arc::new(Tables {
                strings: strings.clone(),
                processes: processes.clone(),
                agents: agents.clone(),
                tracks: tracks.clone(),
                shapes: shapes.clone(),
                symbols: symbols.clone(),
                ..Tables::default()
            });
        }
        self.0.clone()
    }
}

#[derive(Debug)]
pub struct RowGroup<'a> {
    pub(crate) layout: &'a Layout<'a>,
    parts: Vec<Part>,
    rows: usize,
    references: Arc<Tables>,
}

/// Rows as they are in a file.
#[derive(Debug)]
pub enum Encoded {
    Csv(String),
    Parquet(Group),
}

impl<'a> RowGroup<'a> {
    /// A row group without rows.
    pub(crate) fn empty(layout: &'a Layout<'a>) -> Self {
        Self { layout, parts: Vec::new(), rows: 0, references: Arc::default() }
    }

    pub(crate) fn encode(self) -> columnar::Result<Encoded> {
        let layout = self.layout;
        Ok(match &layout.format {
            Format::Csv(_) => Encoded::Csv(self.lines()),
            Format::Parquet(encoder) => {
                let columns = self.columns();
                Encoded::Parquet(encoder.encode(columns.map(|column| column.values))?)
            }
        })
    }

    fn lines(self) -> String {
        let mut lines = String::new();
        for part in self.parts {
            match part {
                Part::Rows(rows, range) => {
                    let piece = Piece { rows: &rows, references: &self.references, columns: Selected::ALL };
                    for rows in at_once(range) {
                        csv::lines(&self.layout.columns(piece, rows), &mut lines);
                    }
                }
                Part::Columns(columns) => csv::lines(&columns, &mut lines),
            }
        }
        lines
    }

    /// All columns in turn, few of them in memory at a time.
    fn columns(self) -> impl Iterator<Item = Column> {
        let Self { layout, parts, rows, references } = self;
        let mut parts: Vec<UnreadPart> = parts.into_iter().map(UnreadPart::from).collect();
        (0..layout.columns).step_by(TOGETHER).flat_map(move |first| {
            let columns = Selected { first, count: TOGETHER };
            let none = Tables::default();
            let mut all = layout.columns(Piece { rows: &none, references: &references, columns }, 0..0);
            all.iter_mut().for_each(|column| column.values.reserve(rows));
            for part in &mut parts {
                match part {
                    UnreadPart::Rows(rows, range) => {
                        let piece = Piece { rows, references: &references, columns };
                        at_once(range.clone()).for_each(|rows| append(&mut all, layout.columns(piece, rows)));
                    }
                    UnreadPart::Columns(columns) => {
                        let next = columns.by_ref().take(all.len()).collect();
                        append(&mut all, next);
                    }
                }
            }
            all
        })
    }
}

/// A part of which some columns have been made.
enum UnreadPart {
    Rows(Arc<Tables>, Range<usize>),
    Columns(vec::IntoIter<Column>),
}

impl From<Part> for UnreadPart {
    fn from(part: Part) -> Self {
        match part {
            Part::Rows(rows, range) => Self::Rows(rows, range),
            Part::Columns(columns) => Self::Columns(columns.into_iter()),
        }
    }
}

/// Rows in parts whose columns fit into a cache.
fn at_once(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let last = rows.end;
    rows.step_by(AT_ONCE).map(move |first| first..last.min(first + AT_ONCE))
}

/// Adds rows to those of a table.
fn append(columns: &mut [Column], more: Vec<Column>) {
    for (column, more) in columns.iter_mut().zip(more) {
        column.values.append(more.values);
    }
}

/// Takes the rows out of a piece, apart by the tables that have common rows: few rows of one wait longer than many of another.
pub(crate) fn take_rows(piece: &mut Tables) -> impl Iterator<Item = Arc<Tables>> + use<> {
    macro_rules! rows {
        ($([$($rows:ident),*])*) => {
            [$(
                ($(!piece.$rows.is_empty())||*)
                    .then(|| {
                        let mut rows = Tables { $($rows: take(&mut piece.$rows),)* ..Tables::default() };
                        // Rows that wait grow no more, and their room is up to half of their memory.
                        $(rows.$rows.shrink_to_fit();)*
                        rows
                    })
            ),*]
        };
    }
    rows! {
        [dispatches, copies, barriers] [api_calls] [extra_links] [ranges] [allocations] [operators] [python_frames]
        [memory_events] [spans] [counters] [monitors] [stack_frames]
    }
    .into_iter()
    .flatten()
    .map(Arc::new)
}
