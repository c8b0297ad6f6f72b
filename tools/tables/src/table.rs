//! A table: its columns, its rows, and the columns that most tables have.

use std::fmt;

use rtl_schema::{ProcessId, Select};

use crate::column::Column;
use crate::dictionary::Dictionary;
use crate::loaded::Loaded;

pub struct Table {
    /// In lower case.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The parts of a trace that its rows are made of.
    pub needs: Select,
    rows: fn(&Loaded) -> usize,
    /// The first one is `trace`.
    pub columns: Vec<Column>,
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("name", &self.name)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// A table whose first column is the name of the trace.
    pub(super) fn new(name: &'static str, about: &'static str, rows: fn(&Loaded) -> usize) -> Self {
        let trace = Column::dictionary("trace", "Name of the trace", Dictionary::Label, |_, _| 0);
        Self { name, about, needs: Select::ops(), rows, columns: vec![trace] }
    }

    /// Sets the parts of a trace that are read for its rows.
    pub(super) fn needing(self, needs: Select) -> Self {
        Self { needs, ..self }
    }

    pub(super) fn with(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// Adds the columns of the process of each row.
    pub(super) fn of_process(self, process: fn(&Loaded, usize) -> ProcessId) -> Self {
        self.with([
            Column::integer("rank", "Rank of its process", move |trace, row| trace.rank(process(trace, row))),
            Column::integer("pid", "Id of its process", move |trace, row| trace.pid(process(trace, row))),
        ])
    }

    /// Adds `start`, `stop` and `duration`.
    pub(super) fn with_times(
        self,
        start: impl Fn(&Loaded, usize) -> i64 + Copy + Send + Sync + 'static,
        duration: impl Fn(&Loaded, usize) -> Option<i64> + Copy + Send + Sync + 'static,
    ) -> Self {
        let stop = move |trace: &Loaded, row| {
            duration(trace, row).map(|length| start(trace, row).saturating_add(length))
        };
        let valid = move |trace: &Loaded, row| duration(trace, row).filter(|&length| length >= 0);
        self.with([
            Column::integer("start", "Start in ns", move |trace, row| Some(start(trace, row))),
            Column::integer("stop", "End in ns as stored", stop),
            Column::integer(
                "duration",
                "Length in ns; null where the end is missing or before the start",
                valid,
            ),
        ])
    }

    /// The number of its rows in a trace of which the parts were read that it needs.
    pub fn rows(&self, trace: &Loaded) -> usize {
        (self.rows)(trace)
    }
}

/// The id, unless it is 0.
pub(super) fn known(id: i64) -> Option<i64> {
    Some(id).filter(|&id| id != 0)
}
