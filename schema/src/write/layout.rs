//! The statements of `sql/`, and which tables a file has.

const TABLES: &str = include_str!("../../../sql/tables.sql");
const VIEWS: &str = include_str!("../../../sql/views.sql");

/// The views of every file.
const VIEW_NAMES: [&str; 2] = ["top", "busy"];

/// A table of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
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
    pub(super) const COUNT: usize = 13;

    pub(super) fn name(self) -> &'static str {
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
    let head = format!("CREATE TABLE {table} (");
    let start = TABLES.find(&head).unwrap_or(TABLES.len());
    let end = TABLES[start..].find("\n);").map_or(TABLES.len(), |end| start + end + "\n);".len());
    &TABLES[start..end]
}

/// The names of the views and the statements of `sql/views.sql` that create them.
pub(crate) fn views() -> impl Iterator<Item = (&'static str, &'static str)> {
    VIEW_NAMES.into_iter().map(|name| {
        let start = VIEWS.find(&format!("CREATE VIEW {name} ")).unwrap_or(VIEWS.len());
        let end = VIEWS[start..].find(";\n").map_or(VIEWS.len(), |end| start + end);
        (name, &VIEWS[start..end])
    })
}
