//! The tables of the native layout and their statements in `sql/`.

use crate::btree::{Database, TableId, Target};
use crate::script::{tables_of, views_of};

const TABLES: &str = include_str!("../../../../sql/tables.sql");
const VIEWS: &str = include_str!("../../../../sql/views.sql");

/// A table of a file. The order is that of `sql/tables.sql`, where its statement is found by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    // Every file has these.
    String,
    Metadata,
    Op,
    // And these if they have rows.
    Api,
    ApiOps,
    Kernelapi,
    Copyapi,
    Arg,
    Copy,
    Allocation,
    Monitor,
    Counter,
    Stackframe,
    Operator,
    MemoryEvent,
    PythonFrame,
    Collective,
    Span,
}

impl Table {
    /// Every file has these; their ids are their places here.
    pub(crate) const ALWAYS: [Self; 3] = [Self::String, Self::Metadata, Self::Op];
    pub(crate) const COUNT: usize = Self::Span as usize + 1;

    /// The id of a table that every file has.
    #[inline]
    pub(crate) fn always(self) -> Option<TableId> {
        ((self as usize) < Self::ALWAYS.len()).then_some(TableId(self as usize))
    }

    pub(crate) fn create<T: Target>(self, database: &mut Database<T>) -> TableId {
        let (name, sql) = tables_of(TABLES).nth(self as usize).unwrap_or_default();
        database.table(name, sql, self.always().is_some())
    }
}

/// The names of the views and the statements of `sql/views.sql` that create them.
pub(crate) fn views() -> impl Iterator<Item = (&'static str, &'static str)> {
    views_of(VIEWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_row_has_its_table() {
        let names: Vec<&str> = tables_of(TABLES).map(|(name, _)| name).collect();
        assert_eq!(names.len(), Table::COUNT);
        assert_eq!(names[Table::Metadata as usize], "rocpd_metadata");
        assert_eq!(names[Table::Op as usize], "rocpd_op");
        assert_eq!(names[Table::Copyapi as usize], "rocpd_copyapi");
        assert_eq!(names[Table::Copy as usize], "rocpd_copy");
        assert_eq!(names[Table::Stackframe as usize], "rocpd_stackframe");
        assert_eq!(names[Table::MemoryEvent as usize], "rocpd_memory_event");
        assert_eq!(names[Table::PythonFrame as usize], "rocpd_python_frame");
        assert_eq!(names[Table::Collective as usize], "rocpd_collective");
        assert_eq!(names[Table::Span as usize], "rocpd_span");
    }
}
