//! A table: its name and its columns.

use std::fmt;

use rtl_schema::{ProcessId, Select};

use crate::column::Column;
use crate::dictionary::Dictionary;
use crate::loaded::Loaded;

/// A table.
pub struct Table {
    /// Its name, in lower case.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The parts of a trace that its rows are made of.
    pub needs: Select,
    rows: fn(&Loaded) -> usize,
    /// Its columns; the first one is `trace`.
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

    /// The same table, for which these parts of a trace are read.
    pub(super) fn needing(self, needs: Select) -> Self {
        Self { needs, ..self }
    }

    /// Adds columns.
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
        start: fn(&Loaded, usize) -> i64,
        duration: fn(&Loaded, usize) -> Option<i64>,
    ) -> Self {
        let stop = move |trace: &Loaded, row| {
            duration(trace, row).map(|length| start(trace, row).saturating_add(length))
        };
        let valid = move |trace: &Loaded, row| duration(trace, row).filter(|&length| length >= 0);
        self.with([
            Column::integer("start", START, move |trace, row| Some(start(trace, row))),
            Column::integer("stop", STOP, stop),
            Column::integer("duration", DURATION, valid),
        ])
    }

    /// The number of its rows in a trace of which the parts were read that it needs.
    pub fn rows(&self, trace: &Loaded) -> usize {
        (self.rows)(trace)
    }
}

/// What the column `start` is.
pub(super) const START: &str = "Start in ns";

/// What the column `stop` is.
pub(super) const STOP: &str = "End in ns as stored";

/// What the column `duration` is.
pub(super) const DURATION: &str = "Length in ns; null where the end is missing or before the start";

/// The id, unless it is 0.
pub(super) fn known(id: i64) -> Option<i64> {
    Some(id).filter(|&id| id != 0)
}
