//! The table of tables, `sqlite_schema`, whose root is the file's first page.

use std::io;

use super::encode::Record;
use super::store::{Store, Target, Use};
use super::tree::{Keep, Tree};
use crate::write::{Cell, VIEWS, statement};

/// Pages that it takes at most.
pub(super) const PAGES: usize = 8;

/// The views of every file.
const VIEW_NAMES: [&str; 2] = ["top", "busy"];

/// Publishes what was written, by the names and roots of all tables. Returns the pages of the new catalog, which
/// the next one replaces.
pub(super) fn publish<T: Target>(
    tables: &[(&'static str, u32)],
    before: Vec<u32>,
    store: &mut Store<T>,
) -> io::Result<Vec<u32>> {
    for page in before {
        store.give_back(page, Use::First);
    }
    let mut catalog = Tree::new();
    let mut record = Record::new();
    for &(name, root) in tables {
        let row = row("table", name, i64::from(root), statement(name));
        catalog.push(record.cells(&row), store, Keep::UntilNext)?;
    }
    // The first page is an inner node, which needs two children.
    catalog.finish_leaf(store, Keep::UntilNext)?;
    for name in VIEW_NAMES {
        let row = row("view", name, 0, view(name));
        catalog.push(record.cells(&row), store, Keep::UntilNext)?;
    }
    let (children, right) = catalog.publish_below_root(store)?;
    store.publish(children, right)?;
    Ok(catalog.into_pages())
}

fn row(kind: &str, name: &str, root: i64, sql: &str) -> [Cell; 5] {
    [kind.into(), name.into(), name.into(), root.into(), sql.trim_end_matches(';').into()]
}

/// The statement of `sql/views.sql` that creates a view.
fn view(name: &str) -> &'static str {
    let start = VIEWS.find(&format!("CREATE VIEW {name} ")).unwrap_or(VIEWS.len());
    let end = VIEWS[start..].find(";\n").map_or(VIEWS.len(), |end| start + end);
    &VIEWS[start..end]
}
