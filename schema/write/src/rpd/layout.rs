//! The tables of RPD's layout and their statements in `sql/rpd/`.

use std::fs::File;

use crate::btree::{Database, TableId};
use crate::script::tables_of;

const TABLES: &str = include_str!("../../../../sql/rpd/tables.sql");
pub(super) const VIEWS: &str = include_str!("../../../../sql/rpd/views.sql");
/// The objects that SQLite itself adds.
pub(super) const FINISH: &str = include_str!("../../../../sql/rpd/finish.sql");

/// A table of a file, in the order of `sql/rpd/tables.sql`; a file has all of them.
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

impl Table {
    /// Adds all tables to a file; their ids are their places here.
    pub(super) fn create_all(database: &mut Database<File>) {
        for (name, sql) in tables_of(TABLES) {
            database.table(name, sql, true);
        }
    }

    #[inline]
    pub(super) fn id(self) -> TableId {
        TableId(self as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_row_has_its_table() {
        let names: Vec<&str> = tables_of(TABLES).map(|(name, _)| name).collect();
        assert_eq!(names[Table::Metadata as usize], "rocpd_metadata");
        assert_eq!(names[Table::Ustring as usize], "rocpd_ustring");
        assert_eq!(names[Table::Op as usize], "rocpd_op");
        assert_eq!(names[Table::Stackframe as usize..], ["rocpd_stackframe", "sqlite_sequence"]);
    }
}
