//! The tables of the native layout and their statements in `sql/`.

use crate::btree::TableId;

const TABLES: &str = include_str!("../../../../sql/tables.sql");
const VIEWS: &str = include_str!("../../../../sql/views.sql");

/// A table of a file.
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
}

impl Table {
    /// Every file has these; their ids are their places here.
    pub(crate) const ALWAYS: [Self; 3] = [Self::String, Self::Metadata, Self::Op];
    pub(crate) const COUNT: usize = 13;
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::String,
        Self::Metadata,
        Self::Op,
        Self::Api,
        Self::ApiOps,
        Self::Kernelapi,
        Self::Copyapi,
        Self::Arg,
        Self::Copy,
        Self::Allocation,
        Self::Monitor,
        Self::Counter,
        Self::Stackframe,
    ];

    /// The id of a table that every file has.
    #[inline]
    pub(crate) fn always(self) -> Option<TableId> {
        ((self as usize) < Self::ALWAYS.len()).then_some(TableId(self as usize))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::String => "rocpd_string",
            Self::Metadata => "rocpd_metadata",
            Self::Op => "rocpd_op",
            Self::Api => "rocpd_api",
            Self::ApiOps => "rocpd_api_ops",
            Self::Kernelapi => "rocpd_kernelapi",
            Self::Copyapi => "rocpd_copyapi",
            Self::Arg => "rocpd_arg",
            Self::Copy => "rocpd_copy",
            Self::Allocation => "rocpd_allocation",
            Self::Monitor => "rocpd_monitor",
            Self::Counter => "rocpd_counter",
            Self::Stackframe => "rocpd_stackframe",
        }
    }
}

/// The statement of `sql/tables.sql` that creates `table`.
pub(crate) fn statement(table: &str) -> &'static str {
    table_of(TABLES, table)
}

/// The names of the views and the statements of `sql/views.sql` that create them.
pub(crate) fn views() -> impl Iterator<Item = (&'static str, &'static str)> {
    views_of(VIEWS)
}

/// The statement of a script that creates `table`.
pub(crate) fn table_of(script: &'static str, table: &str) -> &'static str {
    let head = format!("CREATE TABLE {table} (");
    let start = script.find(&head).unwrap_or(script.len());
    let end = script[start..].find("\n);").map_or(script.len(), |end| start + end + "\n);".len());
    &script[start..end]
}

/// The names of the views of a script and the statements that create them.
pub(crate) fn views_of(script: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    const HEAD: &str = "CREATE VIEW ";
    script.match_indices(HEAD).map(|(start, _)| {
        let end = script[start..].find(";\n").map_or(script.len(), |end| start + end);
        let name = script[start + HEAD.len()..].split_whitespace().next().unwrap_or_default();
        (name, &script[start..end])
    })
}
