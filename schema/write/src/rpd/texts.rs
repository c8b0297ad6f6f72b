//! Texts as RPD stores them, in two tables.

use std::fs::File;

use rustc_hash::FxHashMap;

use super::layout::Table;
use crate::btree::Database;
use crate::native::{OpKind, StringId};
use rtl_schema::{NameId, Result, Tables, layout};

/// The empty text: the first of both tables. RPD has no other word for none.
pub(super) const EMPTY: i64 = StringId::EMPTY.0;
/// The name of calls that were not recorded; it comes behind the types of ops.
pub(super) const UNRECORDED: i64 = EMPTY + 1 + OpKind::LABELS.len() as i64;

/// The texts of the trace that a table has so far, with their ids.
#[derive(Debug)]
pub(super) struct Texts {
    table: Table,
    /// Texts that every file has.
    fixed: FxHashMap<&'static str, i64>,
    /// The id of each string of the trace; 0 where it is not there yet.
    known: Vec<i64>,
}

impl Texts {
    /// Names, which begin with the types of ops.
    pub(super) fn names(database: &mut Database<File>) -> Result<Self> {
        let fixed = [""].into_iter().chain(OpKind::LABELS).chain([layout::rpd::UNRECORDED]);
        Self::start(Table::String, fixed, database)
    }

    pub(super) fn arguments(database: &mut Database<File>) -> Result<Self> {
        Self::start(Table::Ustring, [""].into_iter(), database)
    }

    fn start(
        table: Table,
        fixed: impl Iterator<Item = &'static str>,
        database: &mut Database<File>,
    ) -> Result<Self> {
        let fixed = fixed.map(|text| Ok((text, database.push_row(table.id(), &[text.into()])?)));
        Ok(Self { table, fixed: fixed.collect::<Result<_>>()?, known: Vec::new() })
    }

    pub(super) fn extend(&mut self, tables: &Tables) {
        self.known.resize(tables.strings.len(), 0);
    }

    /// The id of a string, which is added when it is new.
    #[inline]
    pub(super) fn id(&mut self, database: &mut Database<File>, tables: &Tables, name: NameId) -> Result<i64> {
        match self.known.get(name.index()) {
            None => Ok(EMPTY),
            Some(0) => self.add(database, tables, name),
            Some(&id) => Ok(id),
        }
    }

    #[cold]
    fn add(&mut self, database: &mut Database<File>, tables: &Tables, name: NameId) -> Result<i64> {
        let text = tables.strings.get(name);
        let id = match self.fixed.get(text) {
            Some(&id) => id,
            None => database.push_row(self.table.id(), &[text.into()])?,
        };
        self.known[name.index()] = id;
        Ok(id)
    }
}
