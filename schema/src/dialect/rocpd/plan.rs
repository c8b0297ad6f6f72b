//! Columns of a scan by name. Versions of a layout lack some columns, which then read as NULL.

use std::borrow::Cow;

use crate::Result;
use crate::sqlite::{Database, Row};

/// The columns of one scan: the wanted ones that the table has, each with its position.
#[derive(Debug)]
pub(crate) struct Plan {
    present: Vec<String>,
    columns: Vec<&'static str>,
}

/// The position of a column in the rows of a scan; a column that the table lacks reads as NULL.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Field(Option<usize>);

impl Plan {
    pub(crate) fn new(database: &Database, table: &str) -> Result<Self> {
        Ok(Self { present: database.columns(table)?, columns: Vec::new() })
    }

    /// Adds `column` to the scan if the table has it.
    pub(crate) fn add(&mut self, column: &'static str) -> Field {
        if !self.present.iter().any(|name| name.eq_ignore_ascii_case(column)) {
            return Field(None);
        }
        self.columns.push(column);
        Field(Some(self.columns.len() - 1))
    }

    /// As [`Self::add`], but only where `wanted`.
    pub(crate) fn add_if(&mut self, wanted: bool, column: &'static str) -> Field {
        if wanted { self.add(column) } else { Field(None) }
    }

    /// The names to scan, in the order of their positions.
    pub(crate) fn columns(&self) -> &[&'static str] {
        &self.columns
    }
}

impl Field {
    /// The position, if the column is scanned.
    #[inline]
    pub(crate) fn position(self) -> Option<usize> {
        self.0
    }

    #[inline]
    pub(crate) fn int(self, row: &Row<'_>) -> Option<i64> {
        self.0.and_then(|at| row.int(at))
    }

    /// `None` also where the value is negative or does not fit.
    #[inline]
    pub(crate) fn unsigned<T: TryFrom<i64>>(self, row: &Row<'_>) -> Option<T> {
        self.0.and_then(|at| row.unsigned(at))
    }

    /// A column that the table lacks is NULL.
    #[inline]
    pub(crate) fn is_null(self, row: &Row<'_>) -> bool {
        self.0.is_none_or(|at| row.is_null(at))
    }

    /// The value as text, numbers spelled out.
    pub(crate) fn text<'a>(self, row: &'a Row<'_>) -> Option<Cow<'a, str>> {
        self.0.and_then(|at| row.text(at))
    }
}
