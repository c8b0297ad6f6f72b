use super::IdMap;
use crate::sqlite::Database;
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
        let mut names = IdMap::default();
        database.scan(table, &["id", "string"], |row| {
            // A view over another table has ids but no rowids.
            let id = row.int(0).unwrap_or_else(|| row.id());
            if wanted(id) {
                names.push(id, row.text(1).map_or(NameId::NONE, |text| strings.intern(&text)));
            }
        })?;
        Ok(Self(names))
    }

    /// The name behind `id`: `NONE` for NULL, `DANGLING` where the table has no such row.
    #[inline]
    pub(crate) fn get(&self, id: Option<Id>) -> NameId {
        match id {
            Some(id) => self.0.get(id).unwrap_or(NameId::DANGLING),
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
