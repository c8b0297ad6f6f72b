//! Maps ids of `rocpd_string` to ids of [`Strings`], which has each text once.

use super::IdMap;
use crate::sqlite::{Database, Row};
use crate::{Id, NameId, ProblemKind, Problems, Result, Strings};

/// The string ids of one table of the source, each with our id of its text.
#[derive(Debug, Default)]
pub(crate) struct Names(IdMap<NameId>);

impl Names {
    /// Reads all of `table` into `strings`.
    pub(crate) fn read(database: &Database, table: &str, strings: &mut Strings) -> Result<Self> {
        Self::read_where(database, table, strings, |_| true)
    }

    /// Reads the rows of `table` whose ids are `wanted`.
    pub(crate) fn read_where(
        database: &Database,
        table: &str,
        strings: &mut Strings,
        wanted: impl Fn(Id) -> bool,
    ) -> Result<Self> {
        let mut names = Self::default();
        database.scan(table, &["id", "string"], |row| {
            if wanted(id(row)) {
                names.add(row, strings);
            }
        })?;
        Ok(names)
    }

    /// Adds a row of id and text.
    pub(crate) fn add(&mut self, row: &Row<'_>, strings: &mut Strings) {
        self.0.push(id(row), row.text(1).map_or(NameId::NONE, |text| strings.intern(&text)));
    }

    /// The name behind `id`: `NONE` for NULL, `DANGLING` where the table has no such row.
    #[inline]
    pub(crate) fn get(&self, id: Option<Id>) -> NameId {
        match id {
            Some(id) => self.0.get_or(id, NameId::DANGLING),
            None => NameId::NONE,
        }
    }

    /// As [`Self::get`], and counts a dangling id as a problem of row `row` in `place`.
    #[inline]
    pub(crate) fn checked(&self, id: Option<Id>, problems: &mut Problems, place: &str, row: Id) -> NameId {
        let name = self.get(id);
        if name == NameId::DANGLING {
            problems.add(ProblemKind::DanglingName, place, row);
        }
        name
    }
}

/// A view over another table has ids but no rowids.
fn id(row: &Row<'_>) -> Id {
    row.int(0).unwrap_or_else(|| row.id())
}
