//! The table of tables, `sqlite_schema`, whose root is the file's first page.

use std::io;

use super::encode::{Datum, Record};
use super::store::{ReadOrder, Store, Target};
use super::tree::{Lifetime, Tree};

/// Pages that the catalog of a native file takes at most.
pub(crate) const PAGES: usize = 8;

/// A row of the catalog.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// `table` or `view`.
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    /// Its first page, 0 for a view.
    pub(crate) root: u32,
    /// The statement that creates it.
    pub(crate) sql: &'a str,
}

/// Publishes what was written, by the names and roots of all tables, and the views. Returns the pages of the new
/// catalog, which the next one replaces.
pub(crate) fn publish<'a, T: Target>(
    tables: impl Iterator<Item = Entry<'a>>,
    views: impl Iterator<Item = Entry<'a>>,
    before: Vec<u32>,
    store: &mut Store<T>,
) -> io::Result<Vec<u32>> {
    for page in before {
        store.give_back(page, ReadOrder::First);
    }
    let mut catalog = Tree::new();
    let mut record = Record::new();
    for table in tables {
        catalog.push(record.cells(&row(table)), store, Lifetime::Publication)?;
    }
    // The first page is an inner node, which needs two children.
    catalog.finish_leaf(store, Lifetime::Publication)?;
    for view in views {
        catalog.push(record.cells(&row(view)), store, Lifetime::Publication)?;
    }
    let (children, right) = catalog.publish_below_root(store)?;
    store.publish(children, right)?;
    Ok(catalog.into_pages())
}

fn row(entry: Entry<'_>) -> [Datum<'_>; 5] {
    let sql = entry.sql.trim_end_matches(';');
    [entry.kind.into(), entry.name.into(), entry.name.into(), i64::from(entry.root).into(), sql.into()]
}
