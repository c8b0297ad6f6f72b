use std::fs::File;

use crate::btree::{Database, TableId};
use crate::native::layout::{table_of, views_of};

const TABLES: &str = include_str!("../../../../sql/rpd/tables.sql");
const VIEWS: &str = include_str!("../../../../sql/rpd/views.sql");
/// What SQLite itself adds.
pub(super) const FINISH: &str = include_str!("../../../../sql/rpd/finish.sql");

/// A table of a file; it has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Metadata,
    String,
    Ustring,
    Api,
    Copyapi,
    Kernelapi,
    Op,
    ApiOps,
    Monitor,
    Counter,
    Stackframe,
}

const NAMES: [&str; 12] = [
    "rocpd_metadata",
    "rocpd_string",
    "rocpd_ustring",
    "rocpd_api",
    "rocpd_copyapi",
    "rocpd_kernelapi",
    "rocpd_op",
    "rocpd_api_ops",
    "rocpd_monitor",
    "rocpd_counter",
    "rocpd_stackframe",
    "sqlite_sequence",
];

/// All tables, in the order of [`Table`].
#[derive(Debug)]
pub(super) struct TableIds([TableId; NAMES.len()]);

impl TableIds {
    pub(super) fn create(database: &mut Database<File>) -> Self {
        Self(NAMES.map(|name| database.table(name, table_of(TABLES, name), true)))
    }

    #[inline]
    pub(super) fn of(&self, table: Table) -> TableId {
        self.0[table as usize]
    }
}

/// The names and statements of the views.
pub(super) fn views() -> impl Iterator<Item = (&'static str, &'static str)> {
    views_of(VIEWS)
}
