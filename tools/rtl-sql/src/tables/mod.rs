//! Every table: the same names and units whatever tool has recorded the trace. Times are in ns.

pub(crate) mod column;
mod gpu;
mod host;
mod idle;
mod ops;
mod reference;
mod table;

use std::sync::LazyLock;

pub(crate) use self::table::Table;

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    vec![
        ops::ops(),
        ops::dispatches(),
        ops::copies(),
        gpu::collectives(),
        gpu::counters(),
        idle::idle(),
        host::api_calls(),
        host::operators(),
        host::ranges(),
        host::allocations(),
        reference::agents(),
        reference::processes(),
        reference::metadata(),
    ]
});

/// All tables.
pub(crate) fn all() -> &'static [Table] {
    &TABLES
}

/// The table of a name.
pub(crate) fn find(name: &str) -> Option<&'static Table> {
    all().iter().find(|table| table.name.eq_ignore_ascii_case(name))
}
