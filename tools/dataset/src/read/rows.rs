//! The rows of a table of a run: one row group of one file after another.

use std::path::Path;

use columnar::{Data, Reader, Text, Values};
use rtl_schema::{NameId, Result, Strings};
use rustc_hash::FxHashMap;

use crate::damage::damaged;
use crate::files::files;
use crate::manifest::TableManifest;
use crate::stored::{INVALID_STOP, RANK};

/// A row group of a table.
pub(super) struct Group<'a> {
    file: &'a Reader,
    pub(super) path: &'a Path,
    group: usize,
    pub(super) rows: usize,
    ranks: Column<i64>,
}

/// Passes all row groups of a table to `each`, by rank. `run` is the folder of the run.
pub(super) fn each_group(
    run: &Path,
    (table, manifest): (&str, &TableManifest),
    mut each: impl FnMut(&Group<'_>) -> Result<()>,
) -> Result<()> {
    let mut all = 0;
    for path in &files(run, table, manifest, |_| true)? {
        let file = Reader::open(path).map_err(|error| damaged(path, error))?;
        for group in 0..file.groups() {
            let rows = file.rows(group);
            all += rows as u64;
            let mut group = Group { file: &file, path, group, rows, ranks: Column::default() };
            group.ranks = group.integers(RANK)?;
            each(&group)?;
        }
    }
    if all != manifest.rows {
        let folder = run.join(format!("kind={table}"));
        return Err(damaged(&folder, format!("{all} of {} rows are there", manifest.rows)));
    }
    Ok(())
}

/// A column of a row group; every row of a column that the file lacks is unknown.
#[derive(Default)]
pub(super) struct Column<T> {
    values: Vec<T>,
    known: Vec<bool>,
}

impl<T: Clone> Column<T> {
    pub(super) fn get(&self, row: usize) -> Option<T> {
        let known = self.known.get(row).copied().unwrap_or(true);
        self.values.get(row).filter(|_| known).cloned()
    }
}

impl Column<i64> {
    /// The value of a row, unless it exceeds the type.
    pub(super) fn as_type<T: TryFrom<i64>>(&self, row: usize) -> Option<T> {
        T::try_from(self.get(row)?).ok()
    }

    /// The bits of a row, which may be an address.
    pub(super) fn bits(&self, row: usize) -> Option<u64> {
        self.get(row).map(i64::cast_unsigned)
    }

    /// The id of a row; 0 is unknown.
    pub(super) fn id(&self, row: usize) -> i64 {
        self.get(row).unwrap_or(0)
    }
}

macro_rules! of_type {
    ($name:ident, $variant:ident, $type:ty) => {
        pub(super) fn $name(&self, name: &str) -> Result<Column<$type>> {
            match self.values(name)? {
                None => Ok(Column { values: Vec::new(), known: Vec::new() }),
                Some(Values { data: Data::$variant(values), known }) => Ok(Column { values, known }),
                Some(_) => Err(damaged(self.path, format!("column {name} is of another type"))),
            }
        }
    };
}

impl Group<'_> {
    of_type!(integers, Integers, i64);
    of_type!(floats, Floats, f64);
    of_type!(bools, Bools, bool);
    of_type!(texts, Texts, Text);

    pub(super) fn rank(&self, row: usize) -> Option<u32> {
        self.ranks.as_type(row)
    }

    pub(super) fn integers_if(&self, selected: bool, name: &str) -> Result<Column<i64>> {
        if selected { self.integers(name) } else { Ok(Column::default()) }
    }

    pub(super) fn names(&self, name: &str, strings: &mut Strings) -> Result<Vec<NameId>> {
        let texts = self.texts(name)?;
        // Rows share the texts of a dictionary.
        let mut known: FxHashMap<(usize, usize), NameId> = FxHashMap::default();
        let mut id = |row: usize| {
            let Some(text) = texts.values.get(row).filter(|_| texts.known.get(row) != Some(&false)) else {
                return Ok(NameId::NONE);
            };
            let bytes = text.as_bytes();
            let place = (bytes.as_ptr().addr(), bytes.len());
            if let Some(&id) = known.get(&place) {
                return Ok(id);
            }
            let text = text.as_str().ok_or_else(|| damaged(self.path, format!("{name} is no UTF-8")))?;
            let id = match text {
                text if text == strings.get(NameId::DANGLING) => NameId::DANGLING,
                text => strings.intern(text),
            };
            known.insert(place, id);
            Ok(id)
        };
        (0..self.rows).map(&mut id).collect()
    }

    /// The column `start`, of which every row is known.
    pub(super) fn starts(&self) -> Result<Vec<i64>> {
        let starts = self.integers("start")?;
        let start = |row| starts.get(row).ok_or_else(|| damaged(self.path, "a row without a start"));
        (0..self.rows).map(start).collect()
    }

    /// Durations, negative where the end is before the start.
    pub(super) fn durations(&self, starts: &[i64]) -> Result<Vec<Option<i64>>> {
        let (durations, ends) = (self.integers("duration")?, self.integers(INVALID_STOP)?);
        let duration = |(row, start): (usize, &i64)| {
            durations.get(row).or_else(|| Some(ends.get(row)?.saturating_sub(*start)))
        };
        Ok(starts.iter().enumerate().map(duration).collect())
    }

    fn values(&self, name: &str) -> Result<Option<Values>> {
        let Some(position) = self.file.fields().iter().position(|field| field.name == name) else {
            return Ok(None);
        };
        let values = self.file.read(self.group, position);
        values.map(Some).map_err(|error| damaged(self.path, error))
    }
}
