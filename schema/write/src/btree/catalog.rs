//! The table of tables, `sqlite_schema`, whose root is the file's first page.

use std::io;

use super::encode::{Datum, Record};
use super::store::{ReadOrder, Store, Target};
use super::tree::{Lifetime, Tree};

/// Pages that the catalog of a native file takes at most.
pub(crate) const PAGES: usize = 8;

/// Publishes what was written, by the names, statements and roots of all tables, and the views. Returns the pages of the
/// new catalog, which the next one replaces.
pub(crate) fn publish<'a, 'b>(
    tables: impl Iterator<Item = (&'a str, &'a str, u32)>,
    views: impl Iterator<Item = (&'b str, &'b str)>,
    before: Vec<u32>,
    store: &mut Store<impl Target>,
) -> io::Result<Vec<u32>> {
    for page in before {
        store.give_back(page, ReadOrder::First);
    }
    let mut catalog = Tree::new(Lifetime::Publication);
    let mut record = Record::new();
    for (name, sql, root) in tables {
        catalog.push(record.cells(&row("table", name, sql, root)), store)?;
    }
    // The first page is an inner node, which needs two children.
    catalog.finish_leaf(store)?;
    for (name, sql) in views {
        catalog.push(record.cells(&row("view", name, sql, 0)), store)?;
    }
    let (children, right) = catalog.publish_below_root(store)?;
    store.publish(children, right)?;
    Ok(catalog.into_pages())
}

fn row<'a>(kind: &'a str, name: &'a str, sql: &'a str, root: u32) -> [Datum<'a>; 5] {
    let sql = sql.trim_end_matches(';');
    [kind.into(), name.into(), name.into(), i64::from(root).into(), sql.into()]
}
