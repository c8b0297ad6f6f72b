//! Every table of a trace: the same names and units whatever tool has recorded it. Times are in ns.
//!
//! A [`Table`] has [`Column`]s; a column writes the values of some rows of a [`Loaded`] trace into a [`Sink`], the vector of an
//! engine. Strings are places in a [`Dictionary`], so that an engine copies each text once. `ops`, `gpu`, `host`, `idle` and
//! `reference` declare the tables.

mod column;
mod dictionary;
mod gpu;
mod host;
mod idle;
mod labels;
mod loaded;
mod ops;
mod reference;
mod sink;
mod table;

use std::sync::LazyLock;

pub use self::column::{Column, Type};
pub use self::dictionary::Dictionary;
pub use self::labels::labels;
pub use self::loaded::Loaded;
pub use self::sink::{CHUNK, Sink, Validity};
pub use self::table::Table;

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    vec![
        ops::ops(),
        ops::dispatches(),
        ops::copies(),
        ops::barriers(),
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

pub fn all() -> &'static [Table] {
    &TABLES
}

/// The table of a name, in any case.
pub fn find(name: &str) -> Option<&'static Table> {
    all().iter().find(|table| table.name.eq_ignore_ascii_case(name))
}
